//! The kernels written by hand for a CPU: with rayon, and compiled for AVX-512, AVX2 and the default target like compiled
//! bodies, of which the processor's best copy runs. Like compiled bodies, they round each product and each sum.

pub mod lanes;
pub mod options;
pub mod rows;

use rayon::prelude::*;
use sarek::prelude::*;

use crate::common::block::BLOCK;
use crate::common::kernels::SOFTENING;

/// The number of elements of a task.
const CHUNK: usize = 1 << 14;
/// The number of values computed side by side.
const LANES: usize = 16;
/// The number of rows of a task: rows of a product, or columns of the matrix to transpose.
const ROWS: usize = 32;

/// Defines functions that are compiled for three instruction sets and select the processor's best one at each call.
macro_rules! wide {
    ($($(#[$attribute:meta])* fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block)*) => {$(
        $(#[$attribute])*
        pub fn $name($($arg: $type),*) $(-> $result)? {
            #[inline(always)]
            fn body($($arg: $type),*) $(-> $result)? $body
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
                fn avx512($($arg: $type),*) $(-> $result)? { body($($arg),*) }
                #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
                fn avx2($($arg: $type),*) $(-> $result)? { body($($arg),*) }
                match $crate::hand::Set::best() {
                    // SAFETY: the processor has these sets.
                    $crate::hand::Set::Avx512 => return unsafe { avx512($($arg),*) },
                    // SAFETY: as above.
                    $crate::hand::Set::Avx2 => return unsafe { avx2($($arg),*) },
                    $crate::hand::Set::Default => {}
                }
            }
            body($($arg),*)
        }
    )*};
}
pub(crate) use wide;

/// An instruction set of x86-64.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Set {
    /// The one that the benchmark is compiled for.
    Default,
    /// AVX2, and what such processors have besides.
    Avx2,
    /// AVX-512 F, VL, DQ and BW.
    Avx512,
}

impl Set {
    /// The best set of this processor, or a lower one that `SAREK_NATIVE_ISA` names, as for kernels.
    pub fn best() -> Set {
        static BEST: std::sync::OnceLock<Set> = std::sync::OnceLock::new();
        *BEST.get_or_init(|| {
            let asked = std::env::var("SAREK_NATIVE_ISA").unwrap_or_default();
            match (asked.trim(), Set::detect()) {
                ("baseline", _) => Set::Default,
                ("avx2", Set::Avx512) => Set::Avx2,
                (_, best) => best,
            }
        })
    }

    fn detect() -> Set {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("lzcnt")
                && is_x86_feature_detected!("popcnt");
            let avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512bw");
            match (avx2, avx512) {
                (true, true) => return Set::Avx512,
                (true, false) => return Set::Avx2,
                (false, _) => {}
            }
        }
        Set::Default
    }
}

pub fn triad(s: f32, b: &[f32], c: &[f32], a: &mut [f32]) {
    wide! {
        fn task(s: f32, b: &[f32], c: &[f32], a: &mut [f32]) {
            for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
                *a = b + s * c;
            }
        }
    }
    a.par_chunks_mut(CHUNK)
        .zip(b.par_chunks(CHUNK))
        .zip(c.par_chunks(CHUNK))
        .for_each(|((a, b), c)| task(s, b, c, a));
}

/// The dot products of as many pieces as there are results.
pub fn dots(a: &[f32], b: &[f32], sums: &mut [f32]) {
    wide! {
        fn task(a: &[f32], b: &[f32]) -> f32 {
            let mut lanes = [0.0; 8 * LANES];
            for (a, b) in a.chunks(8 * LANES).zip(b.chunks(8 * LANES)) {
                for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
                    *lane += a * b;
                }
            }
            lanes.iter().sum()
        }
    }
    let piece = a.len().div_ceil(sums.len());
    sums.par_iter_mut()
        .zip(a.par_chunks(piece))
        .zip(b.par_chunks(piece))
        .for_each(|((sum, a), b)| *sum = task(a, b));
}

/// The sums of as many pieces as there are results.
pub fn totals(x: &[f32], sums: &mut [f32]) {
    wide! {
        fn task(x: &[f32]) -> f32 {
            let mut lanes = [0.0; 8 * LANES];
            for x in x.chunks(8 * LANES) {
                lanes.iter_mut().zip(x).for_each(|(lane, x)| *lane += x);
            }
            lanes.iter().sum()
        }
    }
    let piece = x.len().div_ceil(sums.len());
    sums.par_iter_mut()
        .zip(x.par_chunks(piece))
        .for_each(|(sum, x)| *sum = task(x));
}

/// The sum of each block's elements.
pub fn block_sums(x: &[f32], sums: &mut [f32]) {
    wide! {
        fn task(x: &[f32], sums: &mut [f32]) {
            for (sum, x) in sums.iter_mut().zip(x.chunks(BLOCK)) {
                let mut lanes = [0.0; 2 * LANES];
                for x in x.chunks(2 * LANES) {
                    lanes.iter_mut().zip(x).for_each(|(lane, x)| *lane += x);
                }
                *sum = lanes.iter().sum();
            }
        }
    }
    sums.par_chunks_mut(ROWS)
        .zip(x.par_chunks(ROWS * BLOCK))
        .for_each(|(sums, x)| task(x, sums));
}

/// By squares of [`LANES`] rows and columns.
pub fn transpose(width: usize, height: usize, input: &[f32], output: &mut [f32]) {
    wide! {
        fn task(width: usize, height: usize, first: usize, input: &[f32], columns: &mut [f32]) {
            for y in (0..height).step_by(LANES) {
                for (x, column) in columns.chunks_exact_mut(height).enumerate() {
                    for (dy, out) in column[y..y + LANES].iter_mut().enumerate() {
                        *out = input[(y + dy) * width + first + x];
                    }
                }
            }
        }
    }
    assert!(height.is_multiple_of(LANES) && width.is_multiple_of(LANES));
    let columns = output.par_chunks_mut(LANES * height).enumerate();
    columns.for_each(|(i, columns)| task(width, height, i * LANES, input, columns));
}

pub fn jacobi(width: usize, height: usize, old: &[f32], new: &mut [f32]) {
    wide! {
        fn inner(above: &[f32], here: &[f32], below: &[f32], new: &mut [f32]) {
            let width = new.len();
            let (above, here, below) = (&above[..width], &here[..width], &below[..width]);
            for x in 1..width - 1 {
                new[x] = 0.5 * here[x] + 0.125 * (here[x - 1] + here[x + 1] + above[x] + below[x]);
            }
        }
    }
    let rows = new.par_chunks_exact_mut(width).enumerate();
    rows.for_each(|(y, new)| {
        let row = |y: usize| &old[y * width..][..width];
        let here = row(y);
        if y == 0 || y == height - 1 {
            new.copy_from_slice(here);
            return;
        }
        new[0] = here[0];
        new[width - 1] = here[width - 1];
        inner(row(y - 1), here, row(y + 1), new);
    });
}

/// Each task computes the accelerations of [`LANES`] bodies side by side.
pub fn accelerations(bodies: &[f32x4], result: &mut [f32]) {
    wide! {
        fn task(bodies: &[f32x4], own: &[f32x4], out: &mut [f32]) {
            let (mut x, mut y, mut z) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
            for (l, body) in own.iter().enumerate() {
                (x[l], y[l], z[l]) = (body.x, body.y, body.z);
            }
            let (mut ax, mut ay, mut az) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
            for other in bodies {
                for l in 0..LANES {
                    let (dx, dy, dz) = (other.x - x[l], other.y - y[l], other.z - z[l]);
                    let inverse = 1.0 / (dx * dx + dy * dy + dz * dz + SOFTENING).sqrt();
                    let scale = other.w * inverse * inverse * inverse;
                    ax[l] += dx * scale;
                    ay[l] += dy * scale;
                    az[l] += dz * scale;
                }
            }
            for (l, out) in out.chunks_exact_mut(3).enumerate() {
                out.copy_from_slice(&[ax[l], ay[l], az[l]]);
            }
        }
    }
    assert!(bodies.len().is_multiple_of(LANES), "no lane is empty");
    result
        .par_chunks_exact_mut(3 * LANES)
        .zip(bodies.par_chunks_exact(LANES))
        .for_each(|(out, own)| task(bodies, own, out));
}

/// A product in strips of four rows with their sums in registers, two vectors for each row.
pub fn matmul(n: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
    #[inline(always)]
    fn strips<const COLS: usize>(n: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
        for col in (0..n).step_by(COLS) {
            for (a, c) in a.chunks_exact(4 * n).zip(c.chunks_exact_mut(4 * n)) {
                let mut sums = [[0.0; COLS]; 4];
                let (a0, a) = a.split_at(n);
                let (a1, a) = a.split_at(n);
                let (a2, a3) = a.split_at(n);
                for ((((a0, a1), a2), a3), b) in
                    a0.iter().zip(a1).zip(a2).zip(a3).zip(b.chunks_exact(n))
                {
                    let b = &b[col..col + COLS];
                    for (sums, a) in sums.iter_mut().zip([a0, a1, a2, a3]) {
                        for (sum, b) in sums.iter_mut().zip(b) {
                            *sum += a * b;
                        }
                    }
                }
                for (sums, c) in sums.iter().zip(c.chunks_exact_mut(n)) {
                    c[col..col + COLS].copy_from_slice(sums);
                }
            }
        }
    }
    wide! {
        fn narrow(n: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
            strips::<LANES>(n, a, b, c);
        }
        fn broad(n: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
            strips::<{ 2 * LANES }>(n, a, b, c);
        }
    }
    assert!(n.is_multiple_of(ROWS), "strips are whole");
    let task = match Set::best() {
        Set::Avx512 => broad,
        Set::Avx2 | Set::Default => narrow,
    };
    c.par_chunks_mut(ROWS * n)
        .zip(a.par_chunks(ROWS * n))
        .for_each(|(c, a)| task(n, a, b, c));
}

/// A product by the crate `matrixmultiply`, which uses fused multiplication. Each thread has a part of the rows.
pub fn gemm(n: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
    let rows = n.div_ceil(rayon::current_num_threads());
    let tasks = c.par_chunks_mut(rows * n).zip(a.par_chunks(rows * n));
    tasks.for_each(|(c, a)| {
        let (rows, stride) = (c.len() / n, n as isize);
        // SAFETY: the slices hold matrices of these sizes and strides.
        unsafe {
            matrixmultiply::sgemm(
                rows,
                n,
                n,
                1.0,
                a.as_ptr(),
                stride,
                1,
                b.as_ptr(),
                stride,
                1,
                0.0,
                c.as_mut_ptr(),
                stride,
                1,
            );
        }
    });
}
