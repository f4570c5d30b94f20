//! The programs of Sarek's benchmarks (`benches/common`), written for CubeCL.

use cubecl::prelude::*;

/// The rows and the columns of a tile.
pub const TILE: u32 = 16;
/// The units of a one-dimensional cube.
pub const BLOCK: u32 = 256;

const RATE: f32 = 0.02;
const VOLATILITY: f32 = 0.3;
const SOFTENING: f32 = 0.01;

#[cube(launch_unchecked)]
pub fn copy(a: &[f32], c: &mut [f32]) {
    if ABSOLUTE_POS < c.len() {
        c[ABSOLUTE_POS] = a[ABSOLUTE_POS];
    }
}

#[cube(launch_unchecked)]
pub fn triad(b: &[f32], c: &[f32], a: &mut [f32], s: f32) {
    if ABSOLUTE_POS < a.len() {
        a[ABSOLUTE_POS] = b[ABSOLUTE_POS] + s * c[ABSOLUTE_POS];
    }
}

#[cube(launch_unchecked)]
pub fn tuned_triad<N: Size>(
    b: &[Vector<f32, N>],
    c: &[Vector<f32, N>],
    a: &mut [Vector<f32, N>],
    s: f32,
) {
    if ABSOLUTE_POS < a.len() {
        a[ABSOLUTE_POS] = b[ABSOLUTE_POS] + Vector::new(s) * c[ABSOLUTE_POS];
    }
}

#[cube]
fn normal(d: f32) -> f32 {
    let k = 1.0f32 / (1.0f32 + 0.2316419f32 * d.abs());
    let tail = 0.39894228f32
        * (-0.5f32 * d * d).exp()
        * k
        * (0.31938153f32
            + k * (-0.356_563_78f32
                + k * (1.781_477_9f32 + k * (-1.821_255_9f32 + k * 1.330_274_5f32))));
    select(d > 0.0f32, 1.0f32 - tail, tail)
}

#[cube(launch_unchecked)]
pub fn black_scholes(
    spot: &[f32],
    strike: &[f32],
    years: &[f32],
    call: &mut [f32],
    put: &mut [f32],
) {
    let i = ABSOLUTE_POS;
    if i < spot.len() {
        let root = years[i].sqrt();
        let drift = (RATE + 0.5f32 * VOLATILITY * VOLATILITY) * years[i];
        let d1 = ((spot[i] / strike[i]).ln() + drift) / (VOLATILITY * root);
        let d2 = d1 - VOLATILITY * root;
        let n1 = normal(d1);
        let n2 = normal(d2);
        let discounted = strike[i] * (-RATE * years[i]).exp();
        call[i] = spot[i] * n1 - discounted * n2;
        put[i] = discounted * (1.0f32 - n2) - spot[i] * (1.0f32 - n1);
    }
}

#[cube(launch_unchecked)]
pub fn mandelbrot(counts: &mut [u32], width: u32, height: u32, limit: u32) {
    let col = ABSOLUTE_POS_X;
    let row = ABSOLUTE_POS_Y;
    if col < width && row < height {
        let cx = -2.0f32 + 3.0f32 * (f32::cast_from(col) + 0.5f32) / f32::cast_from(width);
        let cy = -1.0f32 + 2.0f32 * (f32::cast_from(row) + 0.5f32) / f32::cast_from(height);
        let mut x = 0.0f32;
        let mut y = 0.0f32;
        let mut count = 0u32;
        while count < limit && x * x + y * y <= 4.0f32 {
            let next = x * x - y * y + cx;
            y = 2.0f32 * x * y + cy;
            x = next;
            count += 1u32;
        }
        counts[(row * width + col) as usize] = count;
    }
}

#[cube(launch_unchecked)]
pub fn matmul(a: &[f32], b: &[f32], c: &mut [f32], n: u32) {
    let col = ABSOLUTE_POS_X;
    let row = ABSOLUTE_POS_Y;
    if row < n && col < n {
        let mut sum = 0.0f32;
        for k in 0..n {
            sum += a[(row * n + k) as usize] * b[(k * n + col) as usize];
        }
        c[(row * n + col) as usize] = sum;
    }
}

#[cube(launch_unchecked)]
pub fn tiled_matmul(a: &[f32], b: &[f32], c: &mut [f32], n: u32) {
    let mut ta = Shared::<[f32]>::new_slice(256usize);
    let mut tb = Shared::<[f32]>::new_slice(256usize);
    let tx = UNIT_POS_X;
    let ty = UNIT_POS_Y;
    let col = ABSOLUTE_POS_X;
    let row = ABSOLUTE_POS_Y;
    let mut sum = 0.0f32;
    let tiles = n.div_ceil(TILE);
    for t in 0..tiles {
        let first = t * TILE;
        let mut x = 0.0f32;
        if row < n && first + tx < n {
            x = a[(row * n + first + tx) as usize];
        }
        ta[(ty * TILE + tx) as usize] = x;
        let mut y = 0.0f32;
        if col < n && first + ty < n {
            y = b[((first + ty) * n + col) as usize];
        }
        tb[(ty * TILE + tx) as usize] = y;
        sync_cube();
        #[unroll]
        for k in 0..16u32 {
            sum += ta[(ty * TILE + k) as usize] * tb[(k * TILE + tx) as usize];
        }
        sync_cube();
    }
    if row < n && col < n {
        c[(row * n + col) as usize] = sum;
    }
}

/// Register tiles: a cube of 256 units computes 128 × 128 elements, a unit 8 × 8. `n` is a multiple of 128.
#[cube(launch_unchecked)]
pub fn tuned_matmul<N: Size>(
    a: &[Vector<f32, N>],
    b: &[Vector<f32, N>],
    c: &mut [Vector<f32, N>],
    n: u32,
) {
    // `ta` holds 8 columns of `a`, transposed; `tb` 8 rows of `b`.
    let mut ta = Shared::<[f32]>::new_slice(1024usize);
    let mut tb = Shared::<[Vector<f32, N>]>::new_slice(256usize);
    let t = UNIT_POS;
    let row = CUBE_POS_Y * 128u32;
    let col = CUBE_POS_X * 128u32;
    let tx = t % 16u32;
    let ty = t / 16u32;
    let mut sums = Array::<f32>::new(64usize);
    #[unroll]
    for i in 0..64usize {
        sums[i] = 0.0f32;
    }
    let steps = n / 8u32;
    for step in 0..steps {
        let k0 = step * 8u32;
        // 128 rows of two vectors.
        let ar = t / 2u32;
        let ac = (t % 2u32) * 4u32;
        let va = a[(((row + ar) * n + k0 + ac) / 4u32) as usize];
        #[unroll]
        for l in 0..4usize {
            ta[(ac as usize + l) * 128 + ar as usize] = va.extract(l);
        }
        let br = t / 32u32;
        let bc = t % 32u32;
        tb[(br * 32u32 + bc) as usize] = b[(((k0 + br) * n + col) / 4u32 + bc) as usize];
        sync_cube();
        #[unroll]
        for k in 0..8u32 {
            let b0 = tb[(k * 32u32 + tx) as usize];
            let b1 = tb[(k * 32u32 + 16u32 + tx) as usize];
            #[unroll]
            for i in 0..8usize {
                let at = (k * 128u32) as usize + (ty * 8u32) as usize + i;
                let x = ta[at];
                #[unroll]
                for l in 0..4usize {
                    sums[i * 8 + l] += x * b0.extract(l);
                    sums[i * 8 + 4 + l] += x * b1.extract(l);
                }
            }
        }
        sync_cube();
    }
    #[unroll]
    for i in 0..8usize {
        let mut low = Vector::<f32, N>::new(0.0f32);
        let mut high = Vector::<f32, N>::new(0.0f32);
        #[unroll]
        for l in 0..4usize {
            low.insert(l, sums[i * 8 + l]);
            high.insert(l, sums[i * 8 + 4 + l]);
        }
        let at = (((row + ty * 8u32) * n + col) / 4u32 + tx) as usize + i * ((n / 4u32) as usize);
        c[at] = low;
        c[at + 16] = high;
    }
}

#[cube(launch_unchecked)]
pub fn transpose(input: &[f32], output: &mut [f32], n: u32) {
    let x = ABSOLUTE_POS_X;
    let y = ABSOLUTE_POS_Y;
    if x < n && y < n {
        output[(x * n + y) as usize] = input[(y * n + x) as usize];
    }
}

/// Tiles of 32 × 32, padded, in cubes of 32 × 8.
#[cube(launch_unchecked)]
pub fn tuned_transpose(input: &[f32], output: &mut [f32], n: u32) {
    let mut tile = Shared::<[f32]>::new_slice(1056usize);
    let tx = UNIT_POS_X;
    let ty = UNIT_POS_Y;
    let x = CUBE_POS_X * 32u32 + tx;
    let y = CUBE_POS_Y * 32u32 + ty;
    #[unroll]
    for k in 0..4u32 {
        tile[((ty + 8u32 * k) * 33u32 + tx) as usize] = input[((y + 8u32 * k) * n + x) as usize];
    }
    sync_cube();
    let x = CUBE_POS_Y * 32u32 + tx;
    let y = CUBE_POS_X * 32u32 + ty;
    #[unroll]
    for k in 0..4u32 {
        output[((y + 8u32 * k) * n + x) as usize] = tile[(tx * 33u32 + ty + 8u32 * k) as usize];
    }
}

#[cube(launch_unchecked)]
pub fn stencil(old: &[f32], new: &mut [f32], width: u32, height: u32) {
    let x = ABSOLUTE_POS_X;
    let y = ABSOLUTE_POS_Y;
    if x < width && y < height {
        let at = (y * width + x) as usize;
        let mut value = old[at];
        if x > 0u32 && x + 1u32 < width && y > 0u32 && y + 1u32 < height {
            value = 0.5f32 * value
                + 0.125f32
                    * (old[at - 1]
                        + old[at + 1]
                        + old[at - width as usize]
                        + old[at + width as usize]);
        }
        new[at] = value;
    }
}

#[cube(launch_unchecked)]
pub fn accelerations<N: Size>(bodies: &[Vector<f32, N>], result: &mut [f32]) {
    let i = ABSOLUTE_POS;
    let n = bodies.len();
    if i < n {
        let body = bodies[i];
        let mut ax = 0.0f32;
        let mut ay = 0.0f32;
        let mut az = 0.0f32;
        for j in 0..n {
            let other = bodies[j];
            let dx = other.extract(0usize) - body.extract(0usize);
            let dy = other.extract(1usize) - body.extract(1usize);
            let dz = other.extract(2usize) - body.extract(2usize);
            let inverse = (dx * dx + dy * dy + dz * dz + SOFTENING).inverse_sqrt();
            let scale = other.extract(3usize) * inverse * inverse * inverse;
            ax += dx * scale;
            ay += dy * scale;
            az += dz * scale;
        }
        result[3 * i] = ax;
        result[3 * i + 1] = ay;
        result[3 * i + 2] = az;
    }
}

#[cube(launch_unchecked)]
pub fn tree_sum(x: &[f32], sums: &mut [f32]) {
    let mut tile = Shared::<[f32]>::new_slice(256usize);
    let t = UNIT_POS as usize;
    let mut own = 0.0f32;
    if ABSOLUTE_POS < x.len() {
        own = x[ABSOLUTE_POS];
    }
    tile[t] = own;
    sync_cube();
    let mut half = 128usize;
    while half > 0 {
        if t < half {
            let other = tile[t + half];
            tile[t] += other;
        }
        sync_cube();
        half /= 2;
    }
    if t == 0 {
        sums[CUBE_POS] = tile[0];
    }
}

#[cube(launch_unchecked)]
pub fn histogram(x: &[u32], bins: &mut [Atomic<u32>]) {
    let own = Shared::<[Atomic<u32>]>::new_slice(256usize);
    let t = UNIT_POS as usize;
    own[t].store(0u32);
    sync_cube();
    let mut i = ABSOLUTE_POS;
    while i < x.len() {
        own[(x[i] % 256u32) as usize].fetch_add(1u32);
        i += CUBE_COUNT * 256;
    }
    sync_cube();
    bins[t].fetch_add(own[t].load());
}
