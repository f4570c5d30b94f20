//! The kernels under test, in a user's style.

use sarek::prelude::*;

/// The factor of the STREAM kernels and of saxpy.
pub const SCALE: f32 = 0.4;
/// Black-Scholes: the risk-free rate per year.
pub const RATE: f32 = 0.02;
/// Black-Scholes: the volatility.
pub const VOLATILITY: f32 = 0.3;
/// N-body: the softening term, which is added to each squared distance.
pub const SOFTENING: f32 = 0.01;
/// Mandelbrot: the number of iterations after which a point counts as part of the set.
pub const LIMIT: u32 = 256;

/// STREAM's copy.
#[kernel]
pub fn copy(a: &[f32], c: &mut [f32]) {
    let i = global_idx_x();
    c[i] = a[i];
}

/// STREAM's scale.
#[kernel]
pub fn mul(s: f32, c: &[f32], b: &mut [f32]) {
    let i = global_idx_x();
    b[i] = s * c[i];
}

/// STREAM's add.
#[kernel]
pub fn add(a: &[f32], b: &[f32], c: &mut [f32]) {
    let i = global_idx_x();
    c[i] = a[i] + b[i];
}

/// STREAM's triad.
#[kernel]
pub fn triad(s: f32, b: &[f32], c: &[f32], a: &mut [f32]) {
    let i = global_idx_x();
    a[i] = b[i] + s * c[i];
}

/// [`triad`] on vectors of 16 bytes.
#[kernel]
pub fn triad4(s: f32, b: &[f32x4], c: &[f32x4], a: &mut [f32x4]) {
    let i = global_idx_x();
    a[i] = b[i] + s * c[i];
}

/// `y = a x + y`
#[kernel]
pub fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    if i < y.len() {
        y[i] = a * x[i] + y[i];
    }
}

/// Like [`add`], with a bounds guard, as is usual on GPUs.
#[kernel]
pub fn vector_add(a: &[f32], b: &[f32], c: &mut [f32]) {
    let i = global_idx_x();
    if i < c.len() {
        c[i] = a[i] + b[i];
    }
}

/// Prices European options. The normal distribution is formula 26.2.17 of Abramowitz and Stegun.
#[kernel]
pub fn black_scholes(
    spot: &[f32],
    strike: &[f32],
    years: &[f32],
    call: &mut [f32],
    put: &mut [f32],
) {
    let i = global_idx_x();
    if i < spot.len() {
        let root = years[i].sqrt();
        let drift = (RATE + 0.5 * VOLATILITY * VOLATILITY) * years[i];
        let d1 = ((spot[i] / strike[i]).ln() + drift) / (VOLATILITY * root);
        let d2 = d1 - VOLATILITY * root;

        let k = 1.0 / (1.0 + 0.2316419 * d1.abs());
        let tail = 0.39894228
            * (-0.5 * d1 * d1).exp()
            * k
            * (0.31938153
                + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
        let n1 = if d1 > 0.0 { 1.0 - tail } else { tail };

        let k = 1.0 / (1.0 + 0.2316419 * d2.abs());
        let tail = 0.39894228
            * (-0.5 * d2 * d2).exp()
            * k
            * (0.31938153
                + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
        let n2 = if d2 > 0.0 { 1.0 - tail } else { tail };

        let discounted = strike[i] * (-RATE * years[i]).exp();
        call[i] = spot[i] * n1 - discounted * n2;
        put[i] = discounted * (1.0 - n2) - spot[i] * (1.0 - n1);
    }
}

/// The number of iterations until a point escapes.
#[kernel]
pub fn mandelbrot(width: usize, height: usize, limit: u32, counts: &mut [u32]) {
    let col = global_idx_x();
    let row = global_idx_y();
    if col < width && row < height {
        let cx = -2.0 + 3.0 * (col as f32 + 0.5) / width as f32;
        let cy = -1.0 + 2.0 * (row as f32 + 0.5) / height as f32;
        let mut x = 0.0f32;
        let mut y = 0.0f32;
        let mut count = 0;
        while count < limit && x * x + y * y <= 4.0 {
            let next = x * x - y * y + cx;
            y = 2.0 * x * y + cy;
            x = next;
            count += 1;
        }
        counts[row * width + col] = count;
    }
}

/// The number of iterations until a point escapes.
#[device]
fn escapes(cx: f32, cy: f32, limit: u32) -> u32 {
    let mut x = 0.0f32;
    let mut y = 0.0f32;
    for count in 0..limit {
        if x * x + y * y > 4.0 {
            return count;
        }
        let next = x * x - y * y + cx;
        y = 2.0 * x * y + cy;
        x = next;
    }
    limit
}

/// The same as [`mandelbrot`], with the loop in a function.
#[kernel]
pub fn mandelbrot_called(width: usize, height: usize, limit: u32, counts: &mut [u32]) {
    let col = global_idx_x();
    let row = global_idx_y();
    if col < width && row < height {
        let cx = -2.0 + 3.0 * (col as f32 + 0.5) / width as f32;
        let cy = -1.0 + 2.0 * (row as f32 + 0.5) / height as f32;
        counts[row * width + col] = escapes(cx, cy, limit);
    }
}

/// `c = a b` for square matrices of `n` rows, with one thread for each element of `c`.
#[kernel]
pub fn matmul(n: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
    let col = global_idx_x();
    let row = global_idx_y();
    if row < n && col < n {
        let mut sum = 0.0;
        for k in 0..n {
            sum += a[row * n + k] * b[k * n + col];
        }
        c[row * n + col] = sum;
    }
}

/// Transposes a matrix, with one thread for each element.
#[kernel]
pub fn transpose(width: usize, height: usize, input: &[f32], output: &mut [f32]) {
    let x = global_idx_x();
    let y = global_idx_y();
    if x < width && y < height {
        output[x * height + y] = input[y * width + x];
    }
}

/// A Jacobi step on the inner points of a grid. The border is copied.
#[kernel]
pub fn jacobi(width: usize, height: usize, old: &[f32], new: &mut [f32]) {
    let x = global_idx_x();
    let y = global_idx_y();
    if x >= width || y >= height {
        return;
    }
    let at = y * width + x;
    let inner = x > 0 && x + 1 < width && y > 0 && y + 1 < height;
    new[at] = if inner {
        0.5 * old[at] + 0.125 * (old[at - 1] + old[at + 1] + old[at - width] + old[at + width])
    } else {
        old[at]
    };
}

/// The accelerations of all bodies. A body is x, y, z, mass.
#[kernel]
pub fn accelerations(bodies: &[f32x4], result: &mut [f32]) {
    let i = global_idx_x();
    let n = bodies.len();
    if i < n {
        let body = bodies[i];
        let mut ax = 0.0;
        let mut ay = 0.0;
        let mut az = 0.0;
        for j in 0..n {
            let other = bodies[j];
            let dx = other.x - body.x;
            let dy = other.y - body.y;
            let dz = other.z - body.z;
            let inverse = (dx * dx + dy * dy + dz * dz + SOFTENING).rsqrt();
            let scale = other.w * inverse * inverse * inverse;
            ax += dx * scale;
            ay += dy * scale;
            az += dz * scale;
        }
        result[3 * i] = ax;
        result[3 * i + 1] = ay;
        result[3 * i + 2] = az;
    }
}
