// Kernels that were tuned by hand for NVIDIA GPUs: histograms, filters, convolutions, grids of three dimensions, structs. Sizes are multiples of their tiles.

extern "C" {

// A histogram of the low 8 bits. Each warp of a block counts in bins of its own.
__global__ void tuned_histogram(uint n4, const uint4 *__restrict__ values, uint *out) {
    __shared__ uint bins[8][256];
    for (uint b = threadIdx.x; b < 8 * 256; b += 256) (&bins[0][0])[b] = 0;
    __syncthreads();
    uint *mine = bins[threadIdx.x / 32];
    for (uint i = ID(x); i < n4; i += gridDim.x * blockDim.x) {
        uint4 v = values[i];
        atomicAdd(&mine[v.x & 255u], 1u);
        atomicAdd(&mine[v.y & 255u], 1u);
        atomicAdd(&mine[v.z & 255u], 1u);
        atomicAdd(&mine[v.w & 255u], 1u);
    }
    __syncthreads();
    uint sum = 0;
#pragma unroll
    for (uint w = 0; w < 8; w++) sum += bins[w][threadIdx.x];
    atomicAdd(&out[threadIdx.x], sum);
}

}

// The mean of a box of (2 R + 1)^2 elements: sums along rows first, then along columns; 4 columns and 16 rows a thread.
// The border of the output is left alone.
template <int R> __device__ __forceinline__ void box(uint n, const float *__restrict__ in, float *__restrict__ out) {
    constexpr int D = 2 * R + 1, ROWS = 16;
    int x0 = ID(x) * 4, y0 = ID(y) * ROWS;
    float sum[D][4];
#pragma unroll
    for (int r = 0; r < ROWS + 2 * R; r++) {
        int y = y0 + r - R;
        float v[12] = {};
        if (y >= 0 && y < n) {
#pragma unroll
            for (int p = 0; p < 3; p++) {
                int x = x0 + 4 * p - 4;
                if (x >= 0 && x < n) {
                    float4 four = *(const float4 *)(in + y * n + x);
                    v[4 * p] = four.x, v[4 * p + 1] = four.y, v[4 * p + 2] = four.z, v[4 * p + 3] = four.w;
                }
            }
        }
#pragma unroll
        for (int c = 0; c < 4; c++) {
            float s = 0.0f;
#pragma unroll
            for (int d = 0; d < D; d++) s += v[4 - R + c + d];
            sum[r % D][c] = s;
        }
        int to = y0 + r - 2 * R;
        if (r >= 2 * R && to >= R && to + R < n) {
#pragma unroll
            for (int c = 0; c < 4; c++) {
                float s = 0.0f;
#pragma unroll
                for (int d = 0; d < D; d++) s += sum[d][c];
                int x = x0 + c;
                if (x >= R && x + R < n) out[to * n + x] = s * (1.0f / (D * D));
            }
        }
    }
}

// The sum of TAPS neighbours with weights, which lie in shared memory; 8 outputs a thread.
template <int TAPS>
__device__ __forceinline__ void convolution(uint n, const float *__restrict__ in, const float *__restrict__ weights,
                                            float *__restrict__ out) {
    constexpr int C = 8, E = (256 * C + TAPS - 1 + 7) / 4 * 4;
    __shared__ __align__(16) float tile[E + E / 32 * 4 + 4]; // four words of padding after every 32
    __shared__ float w[TAPS];
    auto at = [](uint e) { return e + e / 32 * 4; };
    uint first = blockIdx.x * 256u * C, all = n + TAPS - 1;
    for (uint e = threadIdx.x * 4; e < E; e += 1024) {
        float4 v = make_float4(0, 0, 0, 0);
        if (first + e + 4 <= all) v = *(const float4 *)(in + first + e);
        else {
            if (first + e < all) v.x = in[first + e];
            if (first + e + 1 < all) v.y = in[first + e + 1];
            if (first + e + 2 < all) v.z = in[first + e + 2];
        }
        *(float4 *)(tile + at(e)) = v;
    }
    for (uint t = threadIdx.x; t < TAPS; t += 256) w[t] = weights[t];
    __syncthreads();
    float sum[C] = {}, v[C + 4];
    uint f = threadIdx.x * C;
#pragma unroll
    for (int c = 0; c < C; c += 4) *(float4 *)(v + c) = *(const float4 *)(tile + at(f + c));
#pragma unroll
    for (int t = 0; t < TAPS; t += 4) {
        *(float4 *)(v + C) = *(const float4 *)(tile + at(f + t + C));
#pragma unroll
        for (int d = 0; d < 4; d++) {
            if (t + d < TAPS) {
#pragma unroll
                for (int c = 0; c < C; c++) sum[c] += w[t + d] * v[c + d];
            }
        }
#pragma unroll
        for (int c = 0; c < C; c++) v[c] = v[c + 4];
    }
#pragma unroll
    for (int c = 0; c < C; c++) out[first + f + c] = sum[c];
}

extern "C" {

__global__ void __launch_bounds__(256) tuned_box3(uint n, const float *__restrict__ in, float *__restrict__ out) {
    box<1>(n, in, out);
}

__global__ void __launch_bounds__(256) tuned_box7(uint n, const float *__restrict__ in, float *__restrict__ out) {
    box<3>(n, in, out);
}

__global__ void __launch_bounds__(256) tuned_convolution17(uint n, const float *__restrict__ in,
                                                           const float *__restrict__ weights, float *__restrict__ out) {
    convolution<17>(n, in, weights, out);
}

__global__ void __launch_bounds__(256) tuned_convolution65(uint n, const float *__restrict__ in,
                                                           const float *__restrict__ weights, float *__restrict__ out) {
    convolution<65>(n, in, weights, out);
}

// The 7-point stencil on a cube, whose sides are copied. A thread marches through 64 planes with four columns, and takes
// the columns beside them from its neighbours in the warp. The blocks of all planes lie along y.
__global__ void __launch_bounds__(256) tuned_stencil3d(uint n, const float *__restrict__ old, float *__restrict__ next) {
    uint x0 = ID(x) * 4, rows = n / 8, y = blockIdx.y % rows * 8 + threadIdx.y, z0 = blockIdx.y / rows * 64;
    uint plane = n * n, at = z0 * plane + y * n + x0;
    bool side = y == 0 || y == n - 1;
    float4 zero = make_float4(0, 0, 0, 0);
    auto four = [&](uint i) { return *(const float4 *)(old + i); };
    auto point = [](float m, float a, float b, float c, float d, float e, float f) {
        return 0.4f * m + 0.1f * (a + b + c + d + e + f);
    };
    float4 front = z0 > 0 ? four(at - plane) : zero, mid = four(at);
#pragma unroll 4
    for (uint z = z0; z < z0 + 64; z++, at += plane) {
        float4 back = z + 1 < n ? four(at + plane) : zero;
        float4 up = side ? zero : four(at - n), down = side ? zero : four(at + n);
        float left = __shfl_up_sync(~0u, mid.w, 1), right = __shfl_down_sync(~0u, mid.x, 1);
        if (threadIdx.x == 0 && x0 > 0) left = old[at - 1];
        if (threadIdx.x == 31 && x0 + 4 < n) right = old[at + 4];
        float4 v = mid;
        if (!side && z > 0 && z + 1 < n) {
            if (x0 > 0) v.x = point(mid.x, left, mid.y, up.x, down.x, front.x, back.x);
            v.y = point(mid.y, mid.x, mid.z, up.y, down.y, front.y, back.y);
            v.z = point(mid.z, mid.y, mid.w, up.z, down.z, front.z, back.z);
            if (x0 + 4 < n) v.w = point(mid.w, mid.z, right, up.w, down.w, front.w, back.w);
        }
        *(float4 *)(next + at) = v;
        front = mid, mid = back;
    }
}

// Structs of 8 words, scaled to length 1. A block copies its structs through shared memory.
__global__ void __launch_bounds__(256) tuned_structs(uint n, const float4 *__restrict__ in, float4 *__restrict__ out) {
    __shared__ float4 tile[512];
    uint t = threadIdx.x, first = blockIdx.x * 512;
    tile[t] = in[first + t];
    tile[t + 256] = in[first + t + 256];
    __syncthreads();
    float4 a = tile[2 * t], b = tile[2 * t + 1];
    float s = rsqrtf(a.x * a.x + a.y * a.y + a.z * a.z + a.w * a.w + b.x * b.x + b.y * b.y + b.z * b.z + b.w * b.w + 1e-12f);
    tile[2 * t] = make_float4(a.x * s, a.y * s, a.z * s, a.w * s);
    tile[2 * t + 1] = make_float4(b.x * s, b.y * s, b.z * s, b.w * s);
    __syncthreads();
    out[first + t] = tile[t];
    out[first + t + 256] = tile[t + 256];
}

}
