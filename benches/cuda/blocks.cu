// The kernels with shared memory in the usual style of CUDA C: tiles, and constant block sizes.

#define TILE 16
#define BLOCK 256

extern "C" {

__global__ void __launch_bounds__(TILE * TILE)
tiled_matmul(uint n, const float *__restrict__ a, const float *__restrict__ b,
             float *__restrict__ c) {
    __shared__ float ta[TILE][TILE], tb[TILE][TILE];
    uint tx = threadIdx.x, ty = threadIdx.y;
    uint col = blockIdx.x * TILE + tx, row = blockIdx.y * TILE + ty;
    float sum = 0.0f;
    for (uint first = 0; first < n; first += TILE) {
        ta[ty][tx] = row < n && first + tx < n ? a[row * n + first + tx] : 0.0f;
        tb[ty][tx] = col < n && first + ty < n ? b[(first + ty) * n + col] : 0.0f;
        __syncthreads();
        for (uint k = 0; k < TILE; k++) sum += ta[ty][k] * tb[k][tx];
        __syncthreads();
    }
    if (row < n && col < n) c[row * n + col] = sum;
}

__global__ void __launch_bounds__(BLOCK)
tree_sum(uint n, const float *__restrict__ x, float *__restrict__ sums) {
    __shared__ float tile[BLOCK];
    uint t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    tile[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (uint step = BLOCK / 2; step > 0; step /= 2) {
        if (t < step) tile[t] += tile[t + step];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = tile[0];
}

__global__ void __launch_bounds__(TILE * TILE)
tiled_transpose(uint width, uint height, const float *__restrict__ input,
                float *__restrict__ output) {
    __shared__ float tile[TILE][TILE + 1];
    uint tx = threadIdx.x, ty = threadIdx.y;
    uint x = blockIdx.x * TILE + tx, y = blockIdx.y * TILE + ty;
    if (x < width && y < height) tile[ty][tx] = input[y * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + tx;
    y = blockIdx.x * TILE + ty;
    if (x < height && y < width) output[y * height + x] = tile[tx][ty];
}

__global__ void __launch_bounds__(BLOCK)
histogram(uint n, const uint *__restrict__ x, uint *__restrict__ bins) {
    __shared__ uint own[BLOCK];
    uint t = threadIdx.x;
    own[t] = 0;
    __syncthreads();
    uint piece = (n + gridDim.x - 1) / gridDim.x, first = blockIdx.x * piece;
    uint end = min(first + piece, n);
    for (uint i = first + t; i < end; i += BLOCK) {
        atomicAdd(&own[x[i] % BLOCK], 1u);
    }
    __syncthreads();
    atomicAdd(&bins[t], own[t]);
}

__global__ void __launch_bounds__(BLOCK)
strided_histogram(uint n, const uint *__restrict__ x, uint *__restrict__ bins) {
    __shared__ uint own[BLOCK];
    uint t = threadIdx.x;
    own[t] = 0;
    __syncthreads();
    for (uint i = blockIdx.x * BLOCK + t; i < n; i += gridDim.x * BLOCK) {
        atomicAdd(&own[x[i] % BLOCK], 1u);
    }
    __syncthreads();
    atomicAdd(&bins[t], own[t]);
}

__global__ void __launch_bounds__(BLOCK)
tiled_accelerations(uint n, const float4 *__restrict__ bodies, float *__restrict__ result) {
    __shared__ float4 tile[BLOCK];
    uint t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    float4 body = i < n ? bodies[i] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (uint first = 0; first < n; first += BLOCK) {
        if (first + t < n) tile[t] = bodies[first + t];
        __syncthreads();
        uint count = min((uint)BLOCK, n - first);
        for (uint k = 0; k < count; k++) {
            float4 other = tile[k];
            float dx = other.x - body.x, dy = other.y - body.y, dz = other.z - body.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            float scale = other.w * inverse * inverse * inverse;
            ax += dx * scale;
            ay += dy * scale;
            az += dz * scale;
        }
        __syncthreads();
    }
    if (i < n) {
        result[3 * i] = ax;
        result[3 * i + 1] = ay;
        result[3 * i + 2] = az;
    }
}

__global__ void exp_sum(uint n, const float *__restrict__ x, float *__restrict__ y) {
    uint i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float sum = 0.0f;
        for (uint k = 0; k < 16; k++) sum += expf(-x[i] * k);
        y[i] = sum;
    }
}

}
