//! Kernels compiled with different shapes of the loops over lanes.
//!
//! Each kernel is compiled with no shape, with all shapes, with each shape alone, with all but each, and as in a debug build. A list omits the shapes that would
//! give the same code as another; `sarek-frontend/tests/shapes.rs` checks that. The shapes `stacks`, `masked` and `strides` apply only to
//! loops in strips, so they are tested together with `strips`.

use sarek::prelude::*;
use sarek::{Launch, Ready};

/// The index space of a launch.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// One thread for each column and row.
    Over(usize, usize),
    /// The numbers of blocks along x and y, and of threads per block.
    Blocks([usize; 2], [usize; 2]),
}

/// A function that launches a kernel in one of its shapes.
pub type Launched =
    for<'a> unsafe fn(usize, &'a Vector<u32>, &'a mut Vector<u32>, Place) -> Ready<'a>;

/// Launches a kernel whose block size is free.
fn free(launch: Launch<'_>, place: Place) -> Ready<'_> {
    match place {
        Place::Over(columns, rows) => launch.over((columns, rows)),
        Place::Blocks([x, y], [w, h]) => launch.grid((x, y)).block((w, h)),
    }
}

/// Launches a kernel with a fixed block size.
fn fixed(launch: Launch<'_, sarek::__private::FixedBlock>, place: Place) -> Ready<'_> {
    match place {
        Place::Over(columns, rows) => launch.over((columns, rows)),
        Place::Blocks([x, y], _) => launch.grid((x, y)),
    }
}

/// Defines a kernel with a list of shapes.
macro_rules! in_shapes {
    (free $shapes:tt $($function:tt)*) => {
        #[kernel(__shapes = $shapes)]
        $($function)*
    };
    (fixed $shapes:tt $($function:tt)*) => {
        #[kernel(block = (16, 8), __shapes = $shapes)]
        $($function)*
    };
}

/// Defines kernels. Each has a launch function, and a name and a list of shapes for every version.
macro_rules! shaped {
    ($($kernel:ident $launched:ident [$($name:ident $shapes:tt)*] $arguments:tt $body:tt)*) => {$(
        pub mod $kernel {
            use super::{Launched, $launched};
            use sarek::prelude::*;

            $(
                in_shapes!($launched $shapes unsafe fn $name $arguments $body);
            )*

            /// All versions, the plain one first.
            pub const SHAPES: &[(&str, Launched)] = &[
                // SAFETY: the caller's promise.
                $((stringify!($name), |n, x, out, place| $launched(unsafe { $name(n, x, out) }, place))),*
            ];
        }
    )*};
}

shaped! {
    // Loops that are uniform across lanes, with jumps and arrays inside.
    sums free [plain "" all "-" debug "debug" trim "trim" peel "peel" inside "inside" no_trim "-trim"]
    (n: usize, x: &[u32], out: &mut [u32]) {
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
    // A strided loop with branches inside.
    strides free [plain "" all "-" debug "debug" trim "trim" peel "peel" inside "inside" no_trim "-trim"]
    (n: usize, x: &[u32], out: &mut [u32]) {
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
    // Strided loops between barriers; strides with which an index could wrap, and counters that are used after their loops.
    turns free [plain "" all "-" debug "debug" trim "trim" peel "peel" masked "strips, masked" strides "strips, strides" no_trim "-trim" no_masked "-masked" no_strides "-strides"]
    (n: usize, x: &[u32], out: &mut [u32]) {
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
        // A stride with which a lane's index could wrap, and a counter that is used after its loop.
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
    // Strided loops over one chunk for each block, with computed bounds, and with constant steps.
    pieces free [plain "" all "-" debug "debug" trim "trim" peel "peel" strides "strips, strides" no_trim "-trim"]
    (n: usize, x: &[u32], out: &mut [u32]) {
        let counts = shared_array::<Atomic<u32>, 16>();
        let t = thread_idx_x();
        if t < 16 {
            counts[t].store(0);
        }
        barrier();
        let piece = x.len().div_ceil(grid_dim_x());
        let first = block_idx_x() * piece;
        let end = x.len().min(first + piece);
        let mut i = first + t;
        while i < end {
            let v = x[i];
            counts[v as usize % 16].fetch_add(v + i as u32);
            i += block_dim_x();
        }
        let mut sum = 0u32;
        let mut at = first + t;
        while at < end.max(n) {
            sum = sum.wrapping_mul(3) + x[at % x.len()];
            at += 64;
        }
        let mut by = t;
        while by < n % 9 * 100 {
            sum += 1000 + x[by % x.len()];
            by += 63;
        }
        barrier();
        out[global_idx_x()] = sum % 10_000_000 + counts[t % 16].load();
    }
    // A strided loop with any start and a constant step.
    starts free [plain "" all "-" debug "debug"]
    (n: usize, x: &[u32], out: &mut [u32]) {
        let mut sum = 1;
        let mut at = n + thread_idx_x();
        while at < x.len() {
            sum = sum % 10_007 * 3 + x[at] % 7;
            at += 128;
        }
        out[global_idx_x()] = sum;
    }
    // Conditions that detect the edges of a row.
    edges free [plain "" all "-" debug "debug"]
    (n: usize, x: &[u32], out: &mut [u32]) {
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
    // Guards between barriers, which whole rows pass.
    inside free [plain "" all "-" debug "debug"]
    (n: usize, x: &[u32], out: &mut [u32]) {
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
    // A block that writes along y, after a barrier.
    columns free [plain "" all "-" debug "debug" peel "peel" columns "columns" no_inside "-inside" stacks "strips, stacks" no_stacks "-stacks"]
    (n: usize, x: &[u32], out: &mut [u32]) {
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
    // A kernel without barriers that writes along y.
    across free [plain "" all "-" debug "debug"]
    (n: usize, x: &[u32], out: &mut [u32]) {
        let (i, j) = (global_idx_x(), global_idx_y());
        let height = global_dim_y();
        let value = x[(j * global_dim_x() + i) % x.len()] * 100 + n as u32;
        out[i * height + j] = value;
    }
    // Compound values, kept within strips and across barriers.
    parts free [plain "" all "-" debug "debug"]
    (n: usize, x: &[u32], out: &mut [u32]) {
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
    // Loops that lanes leave at different iterations.
    steps free [plain "" all "-" debug "debug" trim "trim" peel "peel" inside "inside" no_trim "-trim"]
    (n: usize, x: &[u32], out: &mut [u32]) {
        let n = n as u32;
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
    // A tiled product: a loop between barriers is interchanged with the strips, and values are kept across barriers.
    tiles free [plain "" all "-" debug "debug" strips "strips" no_strips "-strips"]
    (n: usize, x: &[u32], out: &mut [u32]) {
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
    // The same with a fixed block size.
    fixed_tiles fixed [plain "" all "-" debug "debug" strips "strips"]
    (n: usize, x: &[u32], out: &mut [u32]) {
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
    // Products in blocks with short rows, so one strip contains several rows.
    products fixed [plain "" all "-" debug "debug" strips "strips"]
    (n: usize, x: &[u32], out: &mut [u32]) {
        let a = shared_array::<[u32; 16], 8>();
        let b = shared_array::<[u32; 16], 8>();
        let tx = thread_idx_x();
        let ty = thread_idx_y();
        let mut sum = 0u32;
        for t in 0..n {
            a[ty][tx] = x[(t * 7 + ty * 16 + tx) % x.len()] % 100;
            b[ty][tx] = x[(t * 5 + tx * 3 + ty) % x.len()] % 10;
            barrier();
            for k in 0..8 {
                sum += a[ty][k] * b[k][tx];
            }
            barrier();
        }
        let at = global_idx_y() * global_dim_x() + global_idx_x();
        out[at] = sum;
    }
    // A tile of sums for each lane, kept in rows. Some lanes use it in a branch.
    register_tiles fixed [plain "" all "-" debug "debug" no_strips "-strips"]
    (n: usize, x: &[u32], out: &mut [u32]) {
        let a = shared_array::<[u32; 16], 8>();
        let b = shared_array::<[u32; 16], 8>();
        let tx = thread_idx_x();
        let ty = thread_idx_y();
        let mut sums = [[7u32; 4]; 4];
        for t in 0..n {
            a[ty][tx] = x[(t * 7 + ty * 16 + tx) % x.len()] % 100;
            b[ty][tx] = x[(t * 5 + tx * 3 + ty) % x.len()] % 10;
            barrier();
            if tx > n {
                sums[n % 4][ty % 4] += 1;
            }
            for k in 0..8 {
                let mut left = [0u32; 4];
                let mut right = [0u32; 4];
                for i in 0..4 {
                    left[i] = a[k][ty + i];
                    right[i] = b[k][tx / 4 * 4 + i];
                }
                for i in 0..4 {
                    for j in 0..4 {
                        sums[i][j] += left[i] * right[j];
                    }
                }
            }
            barrier();
        }
        let mut all = 0u32;
        for i in 0..4 {
            for j in 0..4 {
                all = all.wrapping_mul(31).wrapping_add(sums[i][j]);
            }
        }
        let at = global_idx_y() * global_dim_x() + global_idx_x();
        out[at] = all;
    }
    // Data that ends inside a block, so its last rows do not fill a stack.
    leftover fixed [plain "" all "-" debug "debug" trim "trim" inside "inside" no_trim "-trim" no_stacks "-stacks" peel "peel"]
    (n: usize, x: &[u32], out: &mut [u32]) {
        let (i, j) = (global_idx_x(), global_idx_y());
        let width = global_dim_x();
        if i < width && j < n {
            let mut sum = 0;
            for k in 0..24 {
                sum += x[(j * 3 + k) % x.len()] % 100 * (x[(k * 5 + i) % x.len()] % 10);
            }
            out[j * width + i] = sum;
        }
    }
    // Guards that the lanes of a strip pass together, except at the edges of a row.
    guarded free [plain "" all "-" debug "debug" no_strips "-strips" inside "inside"]
    (n: usize, x: &[u32], out: &mut [u32]) {
        let width = global_dim_x();
        let i = global_idx_x() + 1;
        let j = global_idx_y() * 3;
        if i + 2 >= width {
            return;
        }
        let mut above = x[(j * width + i) % x.len()] % 1000;
        for k in 0..3 {
            let at = (j + k) * width + i;
            let near = x[at % x.len()] % 1000;
            let inner = i > 2 && i + 4 < width && j + k > 0;
            out[at] = if inner { near * 10 + above + x[(at - 1) % x.len()] % 10 } else { near };
            if i >= n {
                above = near;
            }
        }
    }
    // Guards of rows whose lanes keep nothing between the turns of a loop.
    streams free [plain "" all "-" debug "debug" no_strips "-strips" inside "inside"]
    (n: usize, x: &[u32], out: &mut [u32]) {
        let width = global_dim_x();
        let i = global_idx_x();
        if i + 1 < width {
            for k in 0..n {
                let at = (global_idx_y() * n + k) * width + i;
                if i > 0 && i + k < width {
                    out[at] = x[(at + 1) % x.len()] % 1000 * 3 + k as u32;
                }
            }
        }
    }
    // Rows that are longer than a strip of several rows takes.
    long_rows free [plain "" all "-" debug "debug" trim "trim" no_stacks "-stacks"]
    (n: usize, x: &[u32], out: &mut [u32]) {
        let (i, j) = (global_idx_x(), global_idx_y());
        let width = global_dim_x();
        if i >= width || j >= n {
            return;
        }
        let mut sum = 0;
        for k in 0..24 {
            sum += x[(j * 3 + k) % x.len()] % 100 * (x[(k * 5 + i) % x.len()] % 10);
        }
        out[j * width + i] = sum;
    }
    // Divergent loops with values that are the same in all lanes left, and values that nothing reads afterwards.
    counted free [plain "" all "-" debug "debug" trim "trim" no_trim "-trim" no_masked "-masked" peel "peel" inside "inside"]
    (n: usize, x: &[u32], out: &mut [u32]) {
        let i = global_idx_x();
        if i < x.len() {
            let own = (x[i] % 100) as f32;
            let mut total = 0;
            for k in 0..n {
                let mut v = own * 0.1 + k as f32;
                let mut steps = 0u32;
                while steps < 30 && v < 50.0 {
                    v = v * 1.3 + 0.1;
                    steps += 1;
                }
                total = total * 7 % 101 + steps;
            }
            let mut w = own;
            let mut turns = 3u32;
            let mut odd = 0u32;
            loop {
                turns += 2;
                if w > 900.0 {
                    break;
                }
                w = w * 1.7 + 1.0;
                if w > 200.0 {
                    odd = turns;
                }
                if turns > 20 {
                    break;
                }
            }
            // Its value of the turn before counts, also in lanes that left then.
            let mut carried = 1.0f32;
            for _k in 0..3u32 {
                let mut c = 0u32;
                while c < 4 && carried < 5.0 + own * 0.2 {
                    carried = carried * 1.5;
                    c += 1;
                }
                total = total % 1000 * 3 + c;
            }
            out[i] = total * 1000 + turns * 20 + odd + w as u32 % 50;
        }
    }
    // Products in blocks whose rows fill strips of several rows, or do not.
    given_products free [plain "" all "-" debug "debug" strips "strips" no_strips "-strips" stacks "strips, stacks" no_stacks "-stacks" inside "inside"]
    (n: usize, x: &[u32], out: &mut [u32]) {
        let a = shared_array::<[u32; 32], 16>();
        let b = shared_array::<[u32; 32], 16>();
        let tx = thread_idx_x();
        let ty = thread_idx_y();
        let i = global_idx_x();
        let mut sum = 0u32;
        for t in 0..n {
            a[ty][tx] = if i + t < 30 { x[(t * 7 + ty * 16 + tx) % x.len()] % 100 } else { 3 };
            b[ty][tx] = x[(t * 5 + tx * 3 + ty) % x.len()] % 10;
            barrier();
            for k in 0..block_dim_y() {
                sum = sum.wrapping_mul(3).wrapping_add(a[ty][k % block_dim_x()] * b[k][tx]);
            }
            barrier();
        }
        let at = global_idx_y() * global_dim_x() + i;
        out[at] = sum;
    }
    // A prefix sum: a condition splits each row at a value that all lanes change together.
    doubling free [plain "" all "-" debug "debug"]
    (n: usize, x: &[u32], out: &mut [u32]) {
        let tile = shared_array::<u32, 1024>();
        let t = thread_idx_x();
        tile[t] = x[(global_idx_x() + n) % x.len()] % 100;
        barrier();
        let mut step = 1;
        while step < block_dim_x() {
            let mut before = 0;
            if t >= step {
                before = tile[t - step];
            }
            barrier();
            let here = tile[t];
            tile[t] = (here + before) % 10_000;
            barrier();
            let more = if t >= step { tile[t - step] % 7 } else { here % 5 };
            barrier();
            tile[t] += more;
            barrier();
            step *= 2;
        }
        out[global_idx_x()] = tile[t];
    }
    // Subgroups in a branch that only the first lanes take, and moves by distances on which all lanes agree.
    halves free [plain "" all "-" debug "debug" trim "trim" strips "strips"]
    (n: usize, x: &[u32], out: &mut [u32]) {
        let t = thread_idx_x();
        let mut v = x[global_idx_x() % x.len()] % 100;
        let mut step = 16usize;
        while step > 0 {
            v = (v + subgroup_shuffle_down(v, step) * 3) % 1000;
            v = (v + subgroup_shuffle_xor(v, step) * 5) % 1000;
            step /= 2;
        }
        v = (v + subgroup_shuffle_up(v, n) + subgroup_broadcast(v, 3)) % 1000;
        if t < 40 && n < 9 {
            let mut part = v % 50;
            for k in 0..3u32 {
                part = (part + subgroup_shuffle_down(part, 4usize >> k)) % 1000;
            }
            v = v + 1000 * part;
            if t == 0 {
                v += 7;
            }
        }
        out[global_idx_x()] = v;
    }
}
