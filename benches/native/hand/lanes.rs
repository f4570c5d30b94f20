//! Kernels by the vector instructions of AVX-512 and AVX2, which compilers do not find by themselves.

use rayon::prelude::*;

use super::Set;
use crate::common::block::BLOCK;

/// The number of points of the set that are iterated side by side.
const POINTS: usize = 32;
/// The number of blocks of prefix sums in a task.
const BLOCKS: usize = 64;

/// The counts of a row of points; the first one has this real part, and the next ones follow at this distance.
type Row = fn(width: usize, cy: f32, limit: u32, counts: &mut [u32]);

/// Iterates 32 points side by side until all of them have left.
pub fn mandelbrot(width: usize, height: usize, limit: u32, counts: &mut [u32]) {
    let row: Row = match Set::best() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor has the set.
        Set::Avx512 => |w, cy, limit, counts| unsafe { x86::row_512(w, cy, limit, counts) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Set::Avx2 => |w, cy, limit, counts| unsafe { x86::row_256(w, cy, limit, counts) },
        _ => row_by_points,
    };
    assert!(width.is_multiple_of(POINTS), "groups are whole");
    let rows = counts.par_chunks_exact_mut(width).enumerate();
    rows.for_each(|(y, counts)| {
        let cy = -1.0 + 2.0 * (y as f32 + 0.5) / height as f32;
        row(width, cy, limit, counts);
    });
}

fn real_part(width: usize, col: usize) -> f32 {
    -2.0 + 3.0 * (col as f32 + 0.5) / width as f32
}

fn row_by_points(width: usize, cy: f32, limit: u32, counts: &mut [u32]) {
    for (col, out) in counts.iter_mut().enumerate() {
        let cx = real_part(width, col);
        let (mut x, mut y, mut count) = (0.0f32, 0.0f32, 0);
        while count < limit && x * x + y * y <= 4.0 {
            (x, y) = (x * x - y * y + cx, 2.0 * x * y + cy);
            count += 1;
        }
        *out = count;
    }
}

/// The prefix sums of each block of 256 elements.
pub fn prefix_sums(x: &[f32], y: &mut [f32]) {
    let block: fn(&[f32], &mut [f32]) = match Set::best() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor has the set.
        Set::Avx512 => |x, y| unsafe { x86::prefix_512(x, y) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Set::Avx2 => |x, y| unsafe { x86::prefix_256(x, y) },
        _ => |x, y| {
            let mut sum = 0.0;
            for (x, y) in x.iter().zip(y) {
                sum += x;
                *y = sum;
            }
        },
    };
    assert!(x.len().is_multiple_of(BLOCK), "blocks are whole");
    let tasks = x.par_chunks(BLOCKS * BLOCK);
    tasks
        .zip(y.par_chunks_mut(BLOCKS * BLOCK))
        .for_each(|(x, y)| {
            let blocks = x.chunks_exact(BLOCK).zip(y.chunks_exact_mut(BLOCK));
            blocks.for_each(|(x, y)| block(x, y));
        });
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;
    use std::array::from_fn;

    use super::{POINTS, real_part};

    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw")]
    pub fn row_512(width: usize, cy: f32, limit: u32, counts: &mut [u32]) {
        const N: usize = POINTS / 16;
        let (four, one, cy) = (
            _mm512_set1_ps(4.0),
            _mm512_set1_epi32(1),
            _mm512_set1_ps(cy),
        );
        for (group, out) in counts.chunks_exact_mut(POINTS).enumerate() {
            let parts: [f32; POINTS] = from_fn(|l| real_part(width, group * POINTS + l));
            // SAFETY: each part has 16 numbers.
            let cx: [_; N] = from_fn(|v| unsafe { _mm512_loadu_ps(parts[16 * v..].as_ptr()) });
            let (mut x, mut y) = ([_mm512_setzero_ps(); N], [_mm512_setzero_ps(); N]);
            let (mut count, mut live) = ([_mm512_setzero_si512(); N], [u16::MAX; N]);
            for _ in 0..limit {
                let mut any = 0;
                for v in 0..N {
                    let (xx, yy) = (_mm512_mul_ps(x[v], x[v]), _mm512_mul_ps(y[v], y[v]));
                    let square = _mm512_add_ps(xx, yy);
                    live[v] = _mm512_mask_cmp_ps_mask::<_CMP_LE_OQ>(live[v], square, four);
                    any |= live[v];
                    count[v] = _mm512_mask_add_epi32(count[v], live[v], count[v], one);
                    let twice = _mm512_add_ps(x[v], x[v]);
                    y[v] = _mm512_add_ps(_mm512_mul_ps(twice, y[v]), cy);
                    x[v] = _mm512_add_ps(_mm512_sub_ps(xx, yy), cx[v]);
                }
                if any == 0 {
                    break;
                }
            }
            for (count, out) in count.iter().zip(out.chunks_exact_mut(16)) {
                // SAFETY: the part has 16 counts.
                unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), *count) };
            }
        }
    }

    #[target_feature(enable = "avx2")]
    pub fn row_256(width: usize, cy: f32, limit: u32, counts: &mut [u32]) {
        const N: usize = POINTS / 8;
        let (four, cy) = (_mm256_set1_ps(4.0), _mm256_set1_ps(cy));
        for (group, out) in counts.chunks_exact_mut(POINTS).enumerate() {
            let parts: [f32; POINTS] = from_fn(|l| real_part(width, group * POINTS + l));
            // SAFETY: each part has 8 numbers.
            let cx: [_; N] = from_fn(|v| unsafe { _mm256_loadu_ps(parts[8 * v..].as_ptr()) });
            let (mut x, mut y) = ([_mm256_setzero_ps(); N], [_mm256_setzero_ps(); N]);
            let mut count = [_mm256_setzero_si256(); N];
            for _ in 0..limit {
                // A point that has left does not come back, and a NaN is not less than 4.
                let mut any = _mm256_setzero_ps();
                for v in 0..N {
                    let (xx, yy) = (_mm256_mul_ps(x[v], x[v]), _mm256_mul_ps(y[v], y[v]));
                    let live = _mm256_cmp_ps::<_CMP_LE_OQ>(_mm256_add_ps(xx, yy), four);
                    any = _mm256_or_ps(any, live);
                    count[v] = _mm256_sub_epi32(count[v], _mm256_castps_si256(live));
                    let twice = _mm256_add_ps(x[v], x[v]);
                    y[v] = _mm256_add_ps(_mm256_mul_ps(twice, y[v]), cy);
                    x[v] = _mm256_add_ps(_mm256_sub_ps(xx, yy), cx[v]);
                }
                if _mm256_movemask_ps(any) == 0 {
                    break;
                }
            }
            for (count, out) in count.iter().zip(out.chunks_exact_mut(8)) {
                // SAFETY: the part has 8 counts.
                unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), *count) };
            }
        }
    }

    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw")]
    pub fn prefix_512(x: &[f32], y: &mut [f32]) {
        let last = _mm512_set1_epi32(15);
        let zero = _mm512_setzero_si512();
        let mut before = _mm512_setzero_ps();
        for (x, y) in x.chunks_exact(16).zip(y.chunks_exact_mut(16)) {
            // SAFETY: the part has 16 numbers.
            let mut sums = unsafe { _mm512_loadu_ps(x.as_ptr()) };
            macro_rules! step {
                ($by:literal) => {
                    let moved =
                        _mm512_alignr_epi32::<{ 16 - $by }>(_mm512_castps_si512(sums), zero);
                    sums = _mm512_add_ps(sums, _mm512_castsi512_ps(moved));
                };
            }
            step!(1);
            step!(2);
            step!(4);
            step!(8);
            // SAFETY: as above.
            unsafe { _mm512_storeu_ps(y.as_mut_ptr(), _mm512_add_ps(sums, before)) };
            before = _mm512_add_ps(before, _mm512_permutexvar_ps(last, sums));
        }
    }

    #[target_feature(enable = "avx2")]
    pub fn prefix_256(x: &[f32], y: &mut [f32]) {
        let last = _mm256_set1_epi32(7);
        let mut before = _mm256_setzero_ps();
        for (x, y) in x.chunks_exact(8).zip(y.chunks_exact_mut(8)) {
            // SAFETY: the part has 8 numbers.
            let mut sums = unsafe { _mm256_loadu_ps(x.as_ptr()) };
            macro_rules! step {
                ($bytes:literal) => {
                    let moved = _mm256_slli_si256::<$bytes>(_mm256_castps_si256(sums));
                    sums = _mm256_add_ps(sums, _mm256_castsi256_ps(moved));
                };
            }
            step!(4);
            step!(8);
            // The upper half also has the last sum of the lower one.
            let lower = _mm256_permute2f128_ps::<0x08>(sums, sums);
            sums = _mm256_add_ps(sums, _mm256_permute_ps::<0xff>(lower));
            // SAFETY: as above.
            unsafe { _mm256_storeu_ps(y.as_mut_ptr(), _mm256_add_ps(sums, before)) };
            before = _mm256_add_ps(before, _mm256_permutevar8x32_ps(sums, last));
        }
    }
}
