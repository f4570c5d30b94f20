// Kernels that were tuned by hand for NVIDIA GPUs. Sizes are multiples of their tiles.

extern "C" {

// `n` words of 16 bytes.
__global__ void tuned_copy(uint n, const uint4 *__restrict__ x, uint4 *__restrict__ y) {
    uint i = ID(x);
    if (i < n) y[i] = x[i];
}

__global__ void tuned_triad(uint n, float scale, const float4 *__restrict__ b,
                            const float4 *__restrict__ c, float4 *__restrict__ a) {
    uint i = ID(x);
    if (i >= n) return;
    float4 p = b[i], q = c[i];
    a[i] = make_float4(p.x + scale * q.x, p.y + scale * q.y, p.z + scale * q.z, p.w + scale * q.w);
}

// A thread computes a strip of 16 rows. The rows above and below stay in registers.
__global__ void tuned_stencil(uint n, const float *__restrict__ old, float *__restrict__ next) {
    uint x = ID(x), y0 = blockIdx.y * 16;
    bool side = x == 0 || x == n - 1;
    float up = y0 > 0 ? old[(y0 - 1) * n + x] : 0.0f;
    float mid = old[y0 * n + x];
#pragma unroll 4
    for (uint y = y0; y < y0 + 16; y++) {
        uint at = y * n + x;
        float down = y + 1 < n ? old[at + n] : 0.0f;
        float v = mid;
        if (!side && y > 0 && y + 1 < n)
            v = 0.5f * mid + 0.125f * (old[at - 1] + old[at + 1] + up + down);
        next[at] = v;
        up = mid;
        mid = down;
    }
}

// Blocks of 32 x 8 threads, tiles of 32 x 32 elements.
__global__ void tuned_transpose(uint n, const float *__restrict__ in, float *__restrict__ out) {
    __shared__ float tile[32][33];
    uint x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
    for (uint r = 0; r < 32; r += 8) tile[threadIdx.y + r][threadIdx.x] = in[(y + r) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
    for (uint r = 0; r < 32; r += 8) out[(y + r) * n + x] = tile[threadIdx.x][threadIdx.y + r];
}

// Blocks of 256 threads, each of which computes the accelerations of two bodies.
__global__ void __launch_bounds__(256) tuned_accelerations(uint n, const float4 *__restrict__ bodies,
                                                           float *__restrict__ result) {
    __shared__ float4 tile[256];
    uint i = blockIdx.x * 512 + threadIdx.x;
    float4 me[2] = {bodies[i], bodies[i + 256]};
    float ax[2] = {0.0f, 0.0f}, ay[2] = {0.0f, 0.0f}, az[2] = {0.0f, 0.0f};
    for (uint first = 0; first < n; first += 256) {
        tile[threadIdx.x] = bodies[first + threadIdx.x];
        __syncthreads();
#pragma unroll 16
        for (uint k = 0; k < 256; k++) {
            float4 other = tile[k];
#pragma unroll
            for (uint b = 0; b < 2; b++) {
                float dx = other.x - me[b].x, dy = other.y - me[b].y, dz = other.z - me[b].z;
                float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
                float scale = other.w * inverse * inverse * inverse;
                ax[b] += dx * scale;
                ay[b] += dy * scale;
                az[b] += dz * scale;
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (uint b = 0; b < 2; b++) {
        uint at = 3 * (i + 256 * b);
        result[at] = ax[b];
        result[at + 1] = ay[b];
        result[at + 2] = az[b];
    }
}

}
