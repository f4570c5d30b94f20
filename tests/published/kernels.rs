//! The kernels, each with a reference to its source. They are reduced to the bug and the code that it needs.

use sarek::prelude::*;

/// A kernel with its source text.
pub trait Published {
    /// The source text as a plain `fn`, without `unsafe`.
    const AS_FN: &'static str;
}

macro_rules! published {
    ($(#[$doc:meta])* $([$($option:tt)*])? unsafe fn $name:ident $($rest:tt)*) => {
        $(#[$doc])*
        #[kernel $(($($option)*))?]
        pub unsafe fn $name $($rest)*

        impl Published for $name {
            const AS_FN: &'static str = stringify!(#[kernel $(($($option)*))?] fn $name $($rest)*);
        }
    };
}

published! {
    /// `surfel-cuda` of HeCBench, github.com/ORNL/HeCBench/issues/253: no barrier at the end of an iteration, so the next one
    /// overwrites a tile that other threads still read.
    unsafe fn surfel_render_tile(count: usize, surfels: &[f32], image: &mut [f32]) {
        let tile = shared_array::<f32, 32>();
        let t = thread_idx_x();
        let mut color = 0.0;
        let mut first = 0;
        while first < count {
            tile[t] = surfels[first + t];
            barrier();
            for k in 0..32 {
                color += tile[k];
            }
            first += 32;
        }
        image[global_idx_x()] = color;
    }
}

/// J. Sanders, E. Kandrot, *CUDA by Example*, 2010, section 5.3.2, "Dot Product Optimized (Incorrectly)", which the book shows as a
/// mistake: only some threads reach the barrier. It is a compile error here, even in an `unsafe fn`.
pub const SECTION_5_3_2: &str = "
    #[kernel]
    fn dot(a: &[f32], b: &[f32], c: &mut [f32]) {
        let cache = shared_array::<f32, 256>();
        let t = thread_idx_x();
        let i = global_idx_x();
        cache[t] = a[i] * b[i];
        barrier();
        let mut half = 128;
        while half != 0 {
            if t < half {
                cache[t] += cache[t + half];
                barrier();
            }
            half /= 2;
        }
        if t == 0 {
            c[block_idx_x()] = cache[0];
        }
    }";

published! {
    /// D. Storti, M. Yurtoglu, *CUDA for Engineers*, 2015, section 5.2.1, github.com/myurtoglu/cudaforengineers/issues/5: the first
    /// thread and the last one read past the ends.
    unsafe fn dd_kernel(h: f32, input: &[f32], out: &mut [f32]) {
        let i = global_idx_x();
        if i >= input.len() {
            return;
        }
        out[i] = (input[i - 1] + input[i + 1] - 2.0 * input[i]) / (h * h);
    }
}

published! {
    /// `dot_kernel` of miniFE, github.com/Mantevo/miniFE/issues/13: the last 32 threads continue without barriers, as if they ran in lockstep.
    [block = 64]
    unsafe fn dot_kernel(x: &[f32], y: &[f32], d: &mut [f32]) {
        let red = shared_array::<f32, 64>();
        let t = thread_idx_x();
        let mut sum = x[global_idx_x()] * y[global_idx_x()];
        red[t] = sum;
        barrier();
        if t < 32 {
            sum += red[t + 32];
            red[t] = sum;
        }
        if t < 16 {
            sum += red[t + 16];
            red[t] = sum;
        }
        if t < 8 {
            sum += red[t + 8];
            red[t] = sum;
        }
        if t == 0 {
            d[block_idx_x()] = sum;
        }
    }
}

published! {
    /// `renderCUDA_count` of LightGaussian, github.com/VITA-Group/LightGaussian/issues/24: counters without atomics.
    unsafe fn gaussian_count(collected: &[u32], counts: &mut [u32]) {
        let i = global_idx_x();
        if i < collected.len() {
            counts[collected[i] as usize] += 1;
        }
    }
}

published! {
    /// M. Harris, S. Sengupta, J. Owens, "Parallel Prefix Sum (Scan) with CUDA", *GPU Gems 3*, 2007, example 39-1: `+=` adds to the half
    /// of `temp` that is still uninitialised. The sum of two elements of the other half is intended.
    [block = 64]
    unsafe fn scan(input: &[f32], output: &mut [f32]) {
        let temp = shared_array::<f32, 128>();
        let t = thread_idx_x();
        let mut out = 0;
        temp[out * 64 + t] = if t > 0 { input[t - 1] } else { 0.0 };
        barrier();
        let mut offset = 1;
        while offset < 64 {
            out = 1 - out;
            if t >= offset {
                temp[out * 64 + t] += temp[(1 - out) * 64 + t - offset];
            } else {
                temp[out * 64 + t] = temp[(1 - out) * 64 + t];
            }
            barrier();
            offset *= 2;
        }
        output[global_idx_x()] = temp[out * 64 + t];
    }
}

published! {
    /// `sum` of the *CUDA C++ Programming Guide*, "Memory Fence Functions", without its `__threadfence()`, which the guide requires;
    /// github.com/NVIDIA/Fuser/pull/2391 adds such a missing fence to a library.
    unsafe fn sum_of_all(array: &[u32], parts: &mut [u32], count: &[Atomic<u32>]) {
        if thread_idx_x() == 0 {
            parts[block_idx_x()] = array[global_idx_x()];
            let before = count[0].fetch_add(1);
            if before as usize + 1 == grid_dim_x() {
                let mut sum = 0;
                for k in 0..grid_dim_x() {
                    sum += parts[k];
                }
                parts[grid_dim_x()] = sum;
            }
        }
    }
}

published! {
    /// *CUDA by Example*, appendix A.1.2, before its errata: the lock has no fences, a bug that J. Alglave and others found, "GPU
    /// Concurrency: Weak Behaviours and Programming Assumptions", ASPLOS 2015.
    unsafe fn locked_dot(x: &[u32], mutex: &[Atomic<u32>], result: &mut [u32]) {
        if thread_idx_x() == 0 {
            while mutex[0].compare_and_swap(0, 1) != 0 {}
            result[0] += x[block_idx_x()];
            mutex[0].swap(0);
        }
    }
}

published! {
    /// CAGRA's search in cuVS, github.com/NVIDIA/cuvs/pull/1807: the first lane of a warp shifts a word by its full width.
    unsafe fn has_invalid_below(votes: &[u32], found: &mut [u32]) {
        let i = global_idx_x();
        let lane = thread_idx_x() as u32;
        found[i] = if votes[i] << (32 - lane) != 0 { 1 } else { 0 };
    }
}

published! {
    /// `_GatherKernel` of ONNX Runtime, github.com/microsoft/onnxruntime/issues/28107: a 32-bit index overflows.
    unsafe fn gather(width: i32, rows: &[i32], table: &[f32], out: &mut [f32]) {
        let i = global_idx_x();
        let id = i as i32;
        let at = rows[(id / width) as usize] * width + id % width;
        out[i] = table[at as usize];
    }
}

published! {
    /// `get_pruning_lengths` of FBGEMM, github.com/pytorch/FBGEMM/pull/5831: threads return before a barrier at which others wait. Here
    /// that is well-defined: the barrier does not wait for threads that have returned.
    unsafe fn pruning_lengths(pruned: &[u32], lengths: &mut [u32]) {
        let kept = shared_array::<Atomic<u32>, 1>();
        let t = thread_idx_x();
        if t == 0 {
            kept[0].store(0);
        }
        barrier();
        if global_idx_x() >= pruned.len() {
            return;
        }
        if pruned[global_idx_x()] != 0 {
            kept[0].fetch_add(1);
        }
        barrier();
        if t == 0 {
            lengths[block_idx_x()] = kept[0].load();
        }
    }
}
