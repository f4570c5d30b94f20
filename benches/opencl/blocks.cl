// The kernels with local memory in the usual style of OpenCL C: tiles, and constant work-group sizes.

#define TILE 16
#define BLOCK 256

kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void tiled_matmul(uint n, global const float *restrict a, global const float *restrict b,
                  global float *restrict c) {
    local float ta[TILE][TILE], tb[TILE][TILE];
    uint tx = get_local_id(0), ty = get_local_id(1);
    uint col = get_global_id(0), row = get_global_id(1);
    float sum = 0.0f;
    for (uint first = 0; first < n; first += TILE) {
        ta[ty][tx] = row < n && first + tx < n ? a[row * n + first + tx] : 0.0f;
        tb[ty][tx] = col < n && first + ty < n ? b[(first + ty) * n + col] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < TILE; k++) sum += ta[ty][k] * tb[k][tx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < n && col < n) c[row * n + col] = sum;
}

kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void tree_sum(uint n, global const float *restrict x, global float *restrict sums) {
    local float tile[BLOCK];
    uint t = get_local_id(0), i = get_global_id(0);
    tile[t] = i < n ? x[i] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = BLOCK / 2; step > 0; step /= 2) {
        if (t < step) tile[t] += tile[t + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0) sums[get_group_id(0)] = tile[0];
}

kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void tiled_transpose(uint width, uint height, global const float *restrict input,
                     global float *restrict output) {
    local float tile[TILE][TILE + 1];
    uint tx = get_local_id(0), ty = get_local_id(1);
    uint x = get_global_id(0), y = get_global_id(1);
    if (x < width && y < height) tile[ty][tx] = input[y * width + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    x = get_group_id(1) * TILE + tx;
    y = get_group_id(0) * TILE + ty;
    if (x < height && y < width) output[y * height + x] = tile[tx][ty];
}

kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void histogram(uint n, global const uint *restrict x, volatile global uint *restrict bins) {
    volatile local uint own[BLOCK];
    uint t = get_local_id(0);
    own[t] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint groups = get_num_groups(0), piece = (n + groups - 1) / groups;
    uint first = get_group_id(0) * piece, end = min(first + piece, n);
    for (uint i = first + t; i < end; i += BLOCK) {
        atomic_inc(&own[x[i] % BLOCK]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&bins[t], own[t]);
}

kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void strided_histogram(uint n, global const uint *restrict x, volatile global uint *restrict bins) {
    volatile local uint own[BLOCK];
    uint t = get_local_id(0);
    own[t] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < n; i += get_num_groups(0) * BLOCK) {
        atomic_inc(&own[x[i] % BLOCK]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&bins[t], own[t]);
}

kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void tiled_accelerations(uint n, global const float4 *restrict bodies,
                         global float *restrict result) {
    local float4 tile[BLOCK];
    uint t = get_local_id(0), i = get_global_id(0);
    float4 body = i < n ? bodies[i] : (float4)(0.0f);
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (uint first = 0; first < n; first += BLOCK) {
        if (first + t < n) tile[t] = bodies[first + t];
        barrier(CLK_LOCAL_MEM_FENCE);
        uint count = min((uint)BLOCK, n - first);
        for (uint k = 0; k < count; k++) {
            float4 other = tile[k];
            float dx = other.x - body.x, dy = other.y - body.y, dz = other.z - body.z;
            float inverse = rsqrt(dx * dx + dy * dy + dz * dz + 0.01f);
            float scale = other.w * inverse * inverse * inverse;
            ax += dx * scale;
            ay += dy * scale;
            az += dz * scale;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i < n) {
        result[3 * i] = ax;
        result[3 * i + 1] = ay;
        result[3 * i + 2] = az;
    }
}

kernel void exp_sum(uint n, global const float *restrict x, global float *restrict y) {
    uint i = get_global_id(0);
    if (i < n) {
        float sum = 0.0f;
        for (uint k = 0; k < 16; k++) sum += exp(-x[i] * k);
        y[i] = sum;
    }
}
