// The kernels in the usual style of CUDA C: 32-bit indices, `restrict` pointers.

#define ID(axis) (blockIdx.axis * blockDim.axis + threadIdx.axis)

typedef unsigned int uint;

extern "C" {

__global__ void copy(uint n, const float *__restrict__ a, float *__restrict__ c) {
    uint i = ID(x);
    if (i < n) c[i] = a[i];
}

__global__ void mul(uint n, float s, const float *__restrict__ c, float *__restrict__ b) {
    uint i = ID(x);
    if (i < n) b[i] = s * c[i];
}

__global__ void add(uint n, const float *__restrict__ a, const float *__restrict__ b,
                    float *__restrict__ c) {
    uint i = ID(x);
    if (i < n) c[i] = a[i] + b[i];
}

__global__ void vector_add(uint n, const float *__restrict__ a, const float *__restrict__ b,
                           float *__restrict__ c) {
    uint i = ID(x);
    if (i < n) c[i] = a[i] + b[i];
}

__global__ void triad(uint n, float s, const float *__restrict__ b, const float *__restrict__ c,
                      float *__restrict__ a) {
    uint i = ID(x);
    if (i < n) a[i] = b[i] + s * c[i];
}

__global__ void triad4(uint n, float s, const float4 *__restrict__ b,
                       const float4 *__restrict__ c, float4 *__restrict__ a) {
    uint i = ID(x);
    if (i >= n) return;
    float4 v = b[i], w = c[i];
    a[i] = make_float4(v.x + s * w.x, v.y + s * w.y, v.z + s * w.z, v.w + s * w.w);
}

__global__ void saxpy(uint n, float a, const float *__restrict__ x, float *__restrict__ y) {
    uint i = ID(x);
    if (i < n) y[i] = a * x[i] + y[i];
}

__device__ float normal(float d) {
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float poly = 0.31938153f
        + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)));
    float tail = 0.39894228f * expf(-0.5f * d * d) * k * poly;
    return d > 0.0f ? 1.0f - tail : tail;
}

__global__ void black_scholes(uint n, const float *__restrict__ spot,
                              const float *__restrict__ strike, const float *__restrict__ years,
                              float *__restrict__ call, float *__restrict__ put) {
    const float rate = 0.02f, volatility = 0.3f;
    uint i = ID(x);
    if (i < n) {
        float s = spot[i], k = strike[i], t = years[i];
        float root = sqrtf(t);
        float drift = (rate + 0.5f * volatility * volatility) * t;
        float d1 = (logf(s / k) + drift) / (volatility * root);
        float d2 = d1 - volatility * root;
        float n1 = normal(d1), n2 = normal(d2);
        float discounted = k * expf(-rate * t);
        call[i] = s * n1 - discounted * n2;
        put[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
    }
}

__global__ void mandelbrot(uint width, uint height, uint limit, uint *__restrict__ counts) {
    uint col = ID(x), row = ID(y);
    if (col < width && row < height) {
        float cx = -2.0f + 3.0f * (col + 0.5f) / width;
        float cy = -1.0f + 2.0f * (row + 0.5f) / height;
        float x = 0.0f, y = 0.0f;
        uint count = 0;
        while (count < limit && x * x + y * y <= 4.0f) {
            float next = x * x - y * y + cx;
            y = 2.0f * x * y + cy;
            x = next;
            count++;
        }
        counts[row * width + col] = count;
    }
}

__global__ void matmul(uint n, const float *__restrict__ a, const float *__restrict__ b,
                       float *__restrict__ c) {
    uint col = ID(x), row = ID(y);
    if (row < n && col < n) {
        float sum = 0.0f;
        for (uint k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + col];
        c[row * n + col] = sum;
    }
}

__global__ void transpose(uint width, uint height, const float *__restrict__ input,
                          float *__restrict__ output) {
    uint x = ID(x), y = ID(y);
    if (x < width && y < height) output[x * height + y] = input[y * width + x];
}

__global__ void jacobi(uint width, uint height, const float *__restrict__ old,
                       float *__restrict__ next) {
    uint x = ID(x), y = ID(y);
    if (x >= width || y >= height) return;
    uint at = y * width + x;
    if (x > 0 && x + 1 < width && y > 0 && y + 1 < height) {
        next[at] = 0.5f * old[at]
            + 0.125f * (old[at - 1] + old[at + 1] + old[at - width] + old[at + width]);
    } else {
        next[at] = old[at];
    }
}

__global__ void accelerations(uint n, const float4 *__restrict__ bodies,
                              float *__restrict__ result) {
    uint i = ID(x);
    if (i < n) {
        float4 body = bodies[i];
        float ax = 0.0f, ay = 0.0f, az = 0.0f;
        for (uint j = 0; j < n; j++) {
            float4 other = bodies[j];
            float dx = other.x - body.x, dy = other.y - body.y, dz = other.z - body.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            float scale = other.w * inverse * inverse * inverse;
            ax += dx * scale;
            ay += dy * scale;
            az += dz * scale;
        }
        result[3 * i] = ax;
        result[3 * i + 1] = ay;
        result[3 * i + 2] = az;
    }
}

}
