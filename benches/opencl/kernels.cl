// The kernels in the usual style of OpenCL C: 32-bit indices, `restrict` pointers.

kernel void copy(uint n, global const float *restrict a, global float *restrict c) {
    uint i = get_global_id(0);
    if (i < n) c[i] = a[i];
}

kernel void mul(uint n, float s, global const float *restrict c, global float *restrict b) {
    uint i = get_global_id(0);
    if (i < n) b[i] = s * c[i];
}

kernel void add(uint n, global const float *restrict a, global const float *restrict b,
                global float *restrict c) {
    uint i = get_global_id(0);
    if (i < n) c[i] = a[i] + b[i];
}

kernel void vector_add(uint n, global const float *restrict a, global const float *restrict b,
                       global float *restrict c) {
    uint i = get_global_id(0);
    if (i < n) c[i] = a[i] + b[i];
}

kernel void triad(uint n, float s, global const float *restrict b, global const float *restrict c,
                  global float *restrict a) {
    uint i = get_global_id(0);
    if (i < n) a[i] = b[i] + s * c[i];
}

kernel void triad4(uint n, float s, global const float4 *restrict b,
                   global const float4 *restrict c, global float4 *restrict a) {
    uint i = get_global_id(0);
    if (i < n) a[i] = b[i] + s * c[i];
}

kernel void saxpy(uint n, float a, global const float *restrict x, global float *restrict y) {
    uint i = get_global_id(0);
    if (i < n) y[i] = a * x[i] + y[i];
}

float normal(float d) {
    float k = 1.0f / (1.0f + 0.2316419f * fabs(d));
    float poly = 0.31938153f
        + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)));
    float tail = 0.39894228f * exp(-0.5f * d * d) * k * poly;
    return d > 0.0f ? 1.0f - tail : tail;
}

kernel void black_scholes(uint n, global const float *restrict spot,
                          global const float *restrict strike, global const float *restrict years,
                          global float *restrict call, global float *restrict put) {
    const float rate = 0.02f, volatility = 0.3f;
    uint i = get_global_id(0);
    if (i < n) {
        float s = spot[i], k = strike[i], t = years[i];
        float root = sqrt(t);
        float drift = (rate + 0.5f * volatility * volatility) * t;
        float d1 = (log(s / k) + drift) / (volatility * root);
        float d2 = d1 - volatility * root;
        float n1 = normal(d1), n2 = normal(d2);
        float discounted = k * exp(-rate * t);
        call[i] = s * n1 - discounted * n2;
        put[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
    }
}

kernel void mandelbrot(uint width, uint height, uint limit, global uint *restrict counts) {
    uint col = get_global_id(0), row = get_global_id(1);
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

kernel void matmul(uint n, global const float *restrict a, global const float *restrict b,
                   global float *restrict c) {
    uint col = get_global_id(0), row = get_global_id(1);
    if (row < n && col < n) {
        float sum = 0.0f;
        for (uint k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + col];
        c[row * n + col] = sum;
    }
}

kernel void transpose(uint width, uint height, global const float *restrict input,
                      global float *restrict output) {
    uint x = get_global_id(0), y = get_global_id(1);
    if (x < width && y < height) output[x * height + y] = input[y * width + x];
}

kernel void jacobi(uint width, uint height, global const float *restrict old,
                   global float *restrict next) {
    uint x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    uint at = y * width + x;
    if (x > 0 && x + 1 < width && y > 0 && y + 1 < height) {
        next[at] = 0.5f * old[at]
            + 0.125f * (old[at - 1] + old[at + 1] + old[at - width] + old[at + width]);
    } else {
        next[at] = old[at];
    }
}

kernel void accelerations(uint n, global const float4 *restrict bodies,
                          global float *restrict result) {
    uint i = get_global_id(0);
    if (i < n) {
        float4 body = bodies[i];
        float ax = 0.0f, ay = 0.0f, az = 0.0f;
        for (uint j = 0; j < n; j++) {
            float4 other = bodies[j];
            float dx = other.x - body.x, dy = other.y - body.y, dz = other.z - body.z;
            float inverse = rsqrt(dx * dx + dy * dy + dz * dz + 0.01f);
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
