//! Kernels in all shapes of loops over lanes, and in the plain one.

use sarek::prelude::*;

use super::{agree, input};

/// Kernels in all shapes, and in the plain one.
macro_rules! shaped {
    ($($plain:ident $shaped:ident ($($args:tt)*) $body:block)*) => {$(
        #[kernel(__shapes = "")]
        unsafe fn $plain($($args)*) $body
        #[kernel]
        unsafe fn $shaped($($args)*) $body
    )*};
}

shaped! {
    plain_sums shaped_sums(n: usize, x: &[u32], out: &mut [u32]) {
        let i = global_idx_x();
        if i < x.len() {
            let mut sum = x[i];
            let mut last = [1u32, 2];
            for k in 0..n {
                let near = x[(i + k) % x.len()];
                if near % 2 == 0 {
                    sum = sum.wrapping_mul(3) + near % 5;
                }
                for j in 0..k {
                    sum = sum ^ (j as u32 * near);
                    last[j % 2] = sum % 9;
                }
                if k > 5 {
                    break;
                }
            }
            out[i] = sum % 100_000 + last[0] + last[1];
        }
    }
    plain_strides shaped_strides(n: usize, x: &[u32], out: &mut [u32]) {
        let i = global_idx_x();
        if i < out.len() {
            let mut at = i;
            let mut sum = 0;
            while at < x.len() {
                let v = x[at];
                sum += v;
                if v % 3 == 1 {
                    for k in 0..v % 4 {
                        sum += k;
                    }
                }
                at += n + 1;
            }
            out[i] = sum;
        }
    }
    plain_turns shaped_turns(n: usize, x: &[u32], out: &mut [u32]) {
        let counts = shared_array::<Atomic<u32>, 16>();
        let t = thread_idx_x();
        if t < 16 {
            counts[t].store(0);
        }
        barrier();
        let mut sum = 0u32;
        let mut at = n + block_idx_x() * block_dim_x() + t;
        while x.len() > at {
            let v = x[at];
            counts[v as usize % 16].fetch_add(v);
            if v % 3 == 1 {
                sum += v + at as u32;
            }
            at += grid_dim_x() * block_dim_x();
        }
        let mut far = t;
        while far < usize::MAX / 2 {
            sum += 100 + x[far % x.len()];
            far += usize::MAX / 4 - n;
        }
        // Strides with which an index of lanes could wrap, and a counter that is used behind its loop.
        let mut huge = global_idx_x();
        while huge < n {
            sum += 1000;
            huge += usize::MAX / 2 + 1;
        }
        let mut last = global_idx_x();
        while last < n {
            last += x.len() + n;
        }
        barrier();
        out[global_idx_x()] = sum % 100_000 + counts[t % 16].load() + last as u32 * 7;
    }
    plain_edges shaped_edges(n: usize, x: &[u32], out: &mut [u32]) {
        let width = n + 2;
        let i = global_idx_x();
        let j = global_idx_y();
        let at = j * global_dim_x() + i;
        if at < out.len() {
            let inner = i > 1 && i + 3 < width && j >= 1 && j + 1 <= n;
            out[at] = if inner { x[at] + x[at - 1] * 10 } else { x[at] };
            if thread_idx_x() >= 3 && 4 >= thread_idx_x() {
                out[at] += 7;
            }
            if n < i && n > 3 {
                out[at] += 1000;
            }
        }
    }
    plain_inside shaped_inside(n: usize, x: &[u32], out: &mut [u32]) {
        let tile = shared_array::<u32, 1024>();
        let t = thread_idx_x();
        let i = global_idx_x();
        let mut first = 0;
        let mut sum = 0;
        while first < n {
            let j = first + t;
            tile[t] = if j < x.len() && first > 2 { x[j] } else { 1 };
            if x.len() > i && i >= n / 3 {
                sum += x[i];
            } else {
                sum += 1000;
            }
            barrier();
            if t < 3 || first + t >= n {
                sum += tile[(t + 1) % block_dim_x()];
            }
            barrier();
            first += block_dim_x();
        }
        let far = if i + n * 7 < x.len() && n != 3 { x[i + n * 7] } else { 5 };
        out[i] = sum * 10 + far;
    }
    plain_columns shaped_columns(n: usize, x: &[u32], out: &mut [u32]) {
        let tile = shared_array::<[u32; 8], 8>();
        let (tx, ty) = (thread_idx_x(), thread_idx_y());
        let (i, j) = (global_idx_x(), global_idx_y());
        let height = global_dim_y();
        let mut sum = x[(j * global_dim_x() + i) % x.len()];
        tile[ty][tx] = sum;
        if i > n {
            sum += j as u32;
        }
        barrier();
        out[i * height + j] = sum * 100 + tile[tx % block_dim_y()][ty % block_dim_x()];
        if j < n {
            out[i * height + j] += 7;
        }
    }
    plain_parts shaped_parts(n: usize, x: &[u32], out: &mut [u32]) {
        let tile = shared_array::<u32, 1024>();
        let t = thread_idx_x();
        let i = global_idx_x();
        let own = u32x4::new(x[i % x.len()], i as u32, t as u32, 3);
        let mut sums = u32x4::ZERO;
        let mut pair = (7u32, true);
        let mut many = [u32x4::ZERO; 2];
        for k in 0..n {
            let near = x[(i + k) % x.len()];
            sums = sums + own * u32x4::splat(near);
            sums.w += k as u32;
            if near % 2 == 0 {
                pair = (pair.0 + near, !pair.1);
            }
            many[k % 2].x += near;
        }
        tile[t] = sums.x % 1000 + own.y;
        barrier();
        for k in 0..block_dim_x() {
            sums = sums + u32x4::new(tile[k], own.z, pair.0, 1);
            pair.1 = pair.1 != (tile[k] % 3 == 0);
        }
        barrier();
        let (a, b, c, d) = (sums.x, sums.y, sums.z, sums.w);
        let flag = if pair.1 { 1 } else { 2 };
        out[i] = (a % 1000 + b % 1000 * 3 + c % 1000 * 5 + d % 1000 * 7) * 10 + flag + many[0].x + many[1].x;
    }
    plain_steps shaped_steps(n: u32, x: &[u32], out: &mut [u32]) {
        let i = global_idx_x();
        if i < x.len() {
            let mut v = x[i];
            let mut steps = 0;
            while v > 1 && steps < n {
                if v % 2 == 0 {
                    v /= 2;
                } else {
                    v = v * 3 + 1;
                }
                steps += 1;
            }
            let mut left = 200 - x[i];
            let mut turns = 0;
            loop {
                turns += 1;
                if left < 40 {
                    break;
                }
                left -= 40;
                if left % 3 == 0 {
                    continue;
                }
                turns += 100;
            }
            let mut f = 0.5f32;
            for k in 0..n {
                if f > 6.0 {
                    break;
                }
                let by = f * 0.25;
                f = f + by.sqrt() + k as f32 * 0.01 * (x[i] as f32).min(3.0);
                turns += k;
            }
            out[i] = steps * 100_000 + turns * 100 + (f * 8.0) as u32;
        }
    }
}

/// Turns of wide strips, of narrow ones, and of lanes that fill neither.
#[test]
fn turns_mean_the_same() {
    for len in [1, 31, 1000, 3000] {
        let x = input(len);
        for (grid, block) in [(1, 1), (3, 31), (2, 32), (2, 256), (1, 300), (2, 600)] {
            for n in [0, 1, 40, 700] {
                let what = format!("turns of {len} in {grid} by {block}, {n}");
                // SAFETY: each thread stores to an element of its own.
                let shaped = agree(&what, grid * block, |out, device| unsafe {
                    shaped_turns(n, &x, out)
                        .grid(grid)
                        .block(block)
                        .run_on(device)
                });
                // SAFETY: as above.
                let plain = agree(&what, grid * block, |out, device| unsafe {
                    plain_turns(n, &x, out)
                        .grid(grid)
                        .block(block)
                        .run_on(device)
                });
                assert_eq!(shaped, plain, "{what}");
            }
        }
    }
}

#[kernel]
fn transposed(input: View2<u32>, mut output: ViewMut2<u32>) {
    let (x, y) = (global_idx_x(), global_idx_y());
    if x < input.cols() && y < input.rows() {
        output[[x, y]] = input[[y, x]];
    }
}

#[test]
fn rows_inside_mean_the_same() {
    for len in [1, 16, 100, 400] {
        let x = input(len);
        for (grid, block) in [(3, 1), (3, 16), (2, 33), (2, 256)] {
            for n in [0, 1, 3, 40, 300] {
                let what = format!("inside {len}, {grid} by {block}, {n}");
                // SAFETY: each thread stores to an element of its own.
                let shaped = agree(&what, grid * block, |out, device| unsafe {
                    let launch = shaped_inside(n, &x, out);
                    launch.grid(grid).block(block).run_on(device)
                });
                // SAFETY: as above.
                let plain = agree(&what, grid * block, |out, device| unsafe {
                    let launch = plain_inside(n, &x, out);
                    launch.grid(grid).block(block).run_on(device)
                });
                assert_eq!(shaped, plain, "{what}");
            }
        }
    }
}

/// Values of several parts, kept by strips alone and across barriers.
#[test]
fn parts_mean_the_same() {
    for len in [1, 100] {
        let x = input(len);
        for (grid, block) in [(1, 1), (3, 31), (2, 32), (2, 77)] {
            for n in [0, 1, 9] {
                let what = format!("parts of {len} in {grid} by {block}, {n}");
                // SAFETY: barriers stand between the threads' uses of an element.
                let shaped = agree(&what, grid * block, |out, device| unsafe {
                    let launch = shaped_parts(n, &x, out);
                    launch.grid(grid).block(block).run_on(device)
                });
                // SAFETY: as above.
                let plain = agree(&what, grid * block, |out, device| unsafe {
                    let launch = plain_parts(n, &x, out);
                    launch.grid(grid).block(block).run_on(device)
                });
                assert_eq!(shaped, plain, "{what}");
            }
        }
    }
}

#[test]
fn columns_mean_the_same() {
    let x = input(300);
    for (w, h) in [(1, 1), (1, 8), (8, 3), (5, 8), (8, 8)] {
        for n in [0, 3, 100] {
            let what = format!("columns of {w} by {h}, {n}");
            // SAFETY: each thread stores to an element of its own.
            let shaped = agree(&what, w * h * 6, |out, device| unsafe {
                let launch = shaped_columns(n, &x, out);
                launch.grid((3, 2)).block((w, h)).run_on(device)
            });
            // SAFETY: as above.
            let plain = agree(&what, w * h * 6, |out, device| unsafe {
                let launch = plain_columns(n, &x, out);
                launch.grid((3, 2)).block((w, h)).run_on(device)
            });
            assert_eq!(shaped, plain, "{what}");
        }
    }
    for (w, h) in [(1, 1), (7, 300), (300, 7), (33, 65)] {
        let x = input(w * h);
        let out = agree(&format!("transposed {w} by {h}"), w * h, |out, device| {
            let (input, output) = (x.view2(h, w)?, out.view2_mut(w, h)?);
            transposed(input, output).over((w, h)).run_on(device)
        });
        let x = x.as_slice().unwrap();
        assert!((0..w * h).all(|i| out[i] == x[i % h * w + i / h]));
    }
}

#[test]
fn shapes_mean_the_same() {
    for len in [1, 7, 31, 32, 33, 100, 500] {
        let x = input(len);
        for n in [0, 1, 3, 9, 40] {
            let both = |what: &str, shaped: bool| {
                agree(
                    &format!("{what} of {len}, {n}"),
                    len,
                    // SAFETY: each thread stores to an element of its own.
                    |out, device| unsafe {
                        match (what, shaped) {
                            ("sums", true) => shaped_sums(n, &x, out).over(len).run_on(device),
                            ("sums", false) => plain_sums(n, &x, out).over(len).run_on(device),
                            ("strides", true) => {
                                shaped_strides(n, &x, out).over(len).run_on(device)
                            }
                            ("strides", false) => {
                                plain_strides(n, &x, out).over(len).run_on(device)
                            }
                            ("edges", true) => shaped_edges(n, &x, out)
                                .over((len.div_ceil(3), 3))
                                .run_on(device),
                            ("edges", false) => plain_edges(n, &x, out)
                                .over((len.div_ceil(3), 3))
                                .run_on(device),
                            (_, true) => shaped_steps(n as u32, &x, out).over(len).run_on(device),
                            (_, false) => plain_steps(n as u32, &x, out).over(len).run_on(device),
                        }
                    },
                )
            };
            for what in ["sums", "strides", "edges", "steps"] {
                assert_eq!(both(what, true), both(what, false), "{what} of {len}, {n}");
            }
        }
    }
}

/// A product in tiles: a loop that moves outside of strips, between barriers, with values kept across them.
macro_rules! tiled {
    ($($(#[$option:meta])* $name:ident)*) => {$(
        $(#[$option])*
        unsafe fn $name(n: usize, x: &[u32], out: &mut [u32]) {
            let a = shared_array::<[u32; 33], 32>();
            let b = shared_array::<[u32; 33], 32>();
            let tx = thread_idx_x();
            let ty = thread_idx_y();
            let width = block_dim_x();
            let mut sum = 0u32;
            let mut rest = [0u32; 3];
            for t in 0..n {
                a[ty][tx] = x[(t * 7 + ty * width + tx) % x.len()];
                b[ty][tx] = x[(t * 5 + tx * 3 + ty) % x.len()] % 10;
                barrier();
                for k in 0..block_dim_y() {
                    sum += a[ty][k % width] * b[k][tx];
                    rest[(k + tx) % 3] += sum % 7;
                }
                barrier();
                if t % 2 == 1 {
                    for k in 0..2u32 {
                        sum = sum % 1000 + k;
                    }
                }
            }
            let at = global_idx_y() * global_dim_x() + global_idx_x();
            out[at] = sum % 100_000 + rest[0] + rest[1] * 3 + rest[2] * 5;
        }
    )*};
}

tiled! {
    #[kernel] tiled
    #[kernel(__shapes = "")] tiled_plain
    #[kernel(block = (16, 8))] tiled_fixed
    #[kernel(block = (16, 8), __shapes = "trim")] tiled_fixed_plain
}

#[test]
fn tiles_agree() {
    let x = input(300);
    for (w, h) in [(1, 1), (5, 3), (8, 8), (16, 16), (32, 4), (24, 24)] {
        for n in [0, 1, 4] {
            let what = format!("tiles of {w} by {h}, {n}");
            // SAFETY: barriers stand between the threads' uses of an element.
            let shaped = agree(&what, w * h * 4, |out, device| unsafe {
                tiled(n, &x, out).grid((2, 2)).block((w, h)).run_on(device)
            });
            // SAFETY: barriers stand between the threads' uses of an element.
            let plain = agree(&what, w * h * 4, |out, device| unsafe {
                tiled_plain(n, &x, out)
                    .grid((2, 2))
                    .block((w, h))
                    .run_on(device)
            });
            assert_eq!(shaped, plain);
        }
    }
    for n in [0, 1, 4] {
        // SAFETY: barriers stand between the threads' uses of an element.
        let shaped = agree("fixed tiles", 512, |out, device| unsafe {
            tiled_fixed(n, &x, out).grid((2, 2)).run_on(device)
        });
        // SAFETY: barriers stand between the threads' uses of an element.
        let plain = agree("fixed tiles", 512, |out, device| unsafe {
            tiled_fixed_plain(n, &x, out).grid((2, 2)).run_on(device)
        });
        assert_eq!(shaped, plain);
    }
}
