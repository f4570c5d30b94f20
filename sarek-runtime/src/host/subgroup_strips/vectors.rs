//! Moves of vectors by a distance that is a constant.

use std::arch::x86_64::{
    __m128, __m128d, __m128i, _mm_add_ps, _mm_move_ss, _mm_movehl_ps, _mm_movemask_epi8,
    _mm_mul_ps, _mm_setzero_ps, _mm_shuffle_pd, _mm_shuffle_ps, _mm_slli_epi16, _mm_unpackhi_ps,
    _mm_unpacklo_ps,
};

use std::any::TypeId;
use std::array;

use super::{CHAINS, Combine, SUBGROUP, Singles};

/// A vector of lanes' values. These are only moved, so their type does not matter.
pub trait Vector: Copy {
    /// The number of lanes.
    const LANES: usize;

    /// The lanes of both from lane `S` of the first on, `S < LANES`.
    fn pick<const S: usize>(self, next: Self) -> Self;

    /// The lanes from `S` on, then those of `own` in their places.
    fn down<const S: usize>(self, own: Self) -> Self;

    /// The first `S` lanes of `own`, then the lanes.
    fn up<const S: usize>(self, own: Self) -> Self;

    /// The lanes whose numbers are the own ones `^ S`.
    fn xor<const S: usize>(self) -> Self;
}

impl Vector for __m128 {
    const LANES: usize = 4;

    #[inline(always)]
    fn pick<const S: usize>(self, next: __m128) -> __m128 {
        // SAFETY: the target has SSE2.
        unsafe {
            match S {
                1 => {
                    let all = _mm_move_ss(self, next);
                    _mm_shuffle_ps::<0b00_11_10_01>(all, all)
                }
                2 => _mm_shuffle_ps::<0b01_00_11_10>(self, next),
                3 => {
                    let both = _mm_shuffle_ps::<0b00_00_11_11>(self, next);
                    _mm_shuffle_ps::<0b10_01_10_00>(both, next)
                }
                _ => self,
            }
        }
    }

    #[inline(always)]
    fn down<const S: usize>(self, own: __m128) -> __m128 {
        // SAFETY: the target has SSE2.
        unsafe {
            match S {
                1 => {
                    let last = _mm_shuffle_ps::<0b11_11_11_11>(self, own);
                    _mm_shuffle_ps::<0b10_00_10_01>(self, last)
                }
                2 => _mm_shuffle_ps::<0b11_10_11_10>(self, own),
                3 => _mm_move_ss(own, _mm_shuffle_ps::<0b11_11_11_11>(self, self)),
                _ => self,
            }
        }
    }

    #[inline(always)]
    fn up<const S: usize>(self, own: __m128) -> __m128 {
        // SAFETY: the target has SSE2.
        unsafe {
            match S {
                1 => _mm_move_ss(_mm_shuffle_ps::<0b10_01_00_00>(self, self), own),
                2 => _mm_shuffle_ps::<0b01_00_01_00>(own, self),
                3 => {
                    let both = _mm_shuffle_ps::<0b00_00_10_10>(own, self);
                    _mm_shuffle_ps::<0b10_00_01_00>(own, both)
                }
                _ => self,
            }
        }
    }

    #[inline(always)]
    fn xor<const S: usize>(self) -> __m128 {
        // SAFETY: the target has SSE2.
        unsafe {
            match S {
                1 => _mm_shuffle_ps::<0b10_11_00_01>(self, self),
                2 => _mm_shuffle_ps::<0b01_00_11_10>(self, self),
                3 => _mm_shuffle_ps::<0b00_01_10_11>(self, self),
                _ => self,
            }
        }
    }
}

impl Vector for __m128d {
    const LANES: usize = 2;

    #[inline(always)]
    fn pick<const S: usize>(self, next: __m128d) -> __m128d {
        match S {
            // SAFETY: the target has SSE2.
            1 => unsafe { _mm_shuffle_pd::<0b01>(self, next) },
            _ => self,
        }
    }

    #[inline(always)]
    fn down<const S: usize>(self, own: __m128d) -> __m128d {
        match S {
            // SAFETY: the target has SSE2.
            1 => unsafe { _mm_shuffle_pd::<0b11>(self, own) },
            _ => self,
        }
    }

    #[inline(always)]
    fn up<const S: usize>(self, own: __m128d) -> __m128d {
        match S {
            // SAFETY: the target has SSE2.
            1 => unsafe { _mm_shuffle_pd::<0b00>(own, self) },
            _ => self,
        }
    }

    #[inline(always)]
    fn xor<const S: usize>(self) -> __m128d {
        match S {
            // SAFETY: the target has SSE2.
            1 => unsafe { _mm_shuffle_pd::<0b01>(self, self) },
            _ => self,
        }
    }
}

/// A part of a move: the new value of vector `at` of a subgroup, from all its vectors.
pub trait Move {
    /// The new value. `load` yields a vector.
    fn of<V: Vector>(at: usize, load: &impl Fn(usize) -> V) -> V;
}

pub struct Down<const BY: usize>;
pub struct Up<const BY: usize>;
pub struct Xor<const BY: usize>;

/// Calls a method whose parameter is the remainder of a distance.
macro_rules! by_remainder {
    ($by:expr, $vector:expr, $method:ident($($arg:expr)?)) => {
        match $by % V::LANES {
            1 => $vector.$method::<1>($($arg)?),
            2 => $vector.$method::<2>($($arg)?),
            3 => $vector.$method::<3>($($arg)?),
            _ => $vector,
        }
    };
}

impl<const BY: usize> Move for Down<BY> {
    #[inline(always)]
    fn of<V: Vector>(at: usize, load: &impl Fn(usize) -> V) -> V {
        let (from, count) = (at + BY / V::LANES, SUBGROUP / V::LANES);
        if from >= count {
            return load(at);
        }
        let is_last = from + 1 == count;
        match is_last {
            true => by_remainder!(BY, load(from), down(load(at))),
            false => by_remainder!(BY, load(from), pick(load(from + 1))),
        }
    }
}

impl<const BY: usize> Move for Up<BY> {
    #[inline(always)]
    fn of<V: Vector>(at: usize, load: &impl Fn(usize) -> V) -> V {
        if at < BY / V::LANES {
            return load(at);
        }
        let from = at - BY / V::LANES;
        if from == 0 {
            return by_remainder!(BY, load(0), up(load(at)));
        }
        match BY % V::LANES {
            0 => load(from),
            _ => by_remainder!(V::LANES - BY % V::LANES, load(from - 1), pick(load(from))),
        }
    }
}

impl<const BY: usize> Move for Xor<BY> {
    #[inline(always)]
    fn of<V: Vector>(at: usize, load: &impl Fn(usize) -> V) -> V {
        let from = at ^ (BY / V::LANES);
        if BY >= SUBGROUP {
            return load(at);
        }
        by_remainder!(BY, load(from), xor())
    }
}

/// Moves the lanes of some subgroups.
///
/// # Safety
/// Both point to `lanes` values of the size of `V`'s, complete subgroups.
#[inline(always)]
pub unsafe fn run<V: Vector, M: Move>(values: *const V, out: *mut V, lanes: usize) {
    let count = SUBGROUP / V::LANES;
    let mut first = 0;
    while first < lanes / V::LANES {
        // SAFETY: `at` is below `count`.
        let load = |at: usize| unsafe { values.add(first + at).read_unaligned() };
        let mut at = 0;
        while at < count {
            // SAFETY: as above.
            unsafe { out.add(first + at).write_unaligned(M::of(at, &load)) };
            at += 1;
        }
        first += count;
    }
}

/// A vector of four words.
use std::arch::x86_64::__m128 as Words;

/// The lanes in which the value is true, as bits.
#[inline(always)]
pub fn bits(values: &[bool; SUBGROUP]) -> u32 {
    // SAFETY: the target has SSE2, and the vectors lie within the array.
    unsafe {
        let half = |at: usize| {
            let bytes = values.as_ptr().add(at).cast::<__m128i>().read_unaligned();
            // A `bool` is 0 or 1: this moves the lowest bit of each byte to its highest.
            _mm_movemask_epi8(_mm_slli_epi16::<7>(bytes)) as u32
        };
        half(0) | half(16) << 16
    }
}

/// The transposed values: first those of all first lanes.
#[inline(always)]
fn across(rows: [__m128; CHAINS]) -> [__m128; CHAINS] {
    let [a, b, c, d] = rows;
    // SAFETY: the target has SSE2.
    unsafe {
        let (ab, cd) = (_mm_unpacklo_ps(a, b), _mm_unpacklo_ps(c, d));
        let (ab2, cd2) = (_mm_unpackhi_ps(a, b), _mm_unpackhi_ps(c, d));
        [
            _mm_shuffle_ps::<0b01_00_01_00>(ab, cd),
            _mm_shuffle_ps::<0b11_10_11_10>(ab, cd),
            _mm_shuffle_ps::<0b01_00_01_00>(ab2, cd2),
            _mm_shuffle_ps::<0b11_10_11_10>(ab2, cd2),
        ]
    }
}

/// The values of some lanes of [`CHAINS`] subgroups, those of the first lane first.
///
/// # Safety
/// The values have four bytes, and `lane + CHAINS` is at most [`SUBGROUP`].
#[inline(always)]
unsafe fn lanes_of<T>(of: &[[T; SUBGROUP]; CHAINS], lane: usize) -> [Words; CHAINS] {
    // SAFETY: the caller's promise.
    let row = |chain: usize| unsafe {
        of[chain]
            .as_ptr()
            .add(lane)
            .cast::<Words>()
            .read_unaligned()
    };
    across(array::from_fn(row))
}

/// Combines the values of a subgroup of `f32` by halves. `None` for other types, and without an operation. From the
/// code for single values, LLVM makes transpositions.
#[inline(always)]
pub fn fold<T: Combine>(of: &[T; SUBGROUP], by: Singles) -> Option<T> {
    if TypeId::of::<T>() != TypeId::of::<f32>() || matches!(by, Singles::None) {
        return None;
    }
    // SAFETY: the values are `f32`, eight vectors of them, and the target has SSE2.
    unsafe {
        let join = |low, high| match by {
            Singles::Add => _mm_add_ps(low, high),
            Singles::Multiply => _mm_mul_ps(low, high),
            Singles::None => low,
        };
        let lanes = of.as_ptr().cast::<Words>();
        let part = |at: usize| lanes.add(at).read_unaligned();
        let [a, b, c, d] = array::from_fn(|at| join(part(at), part(at + 4)));
        let four = join(join(a, c), join(b, d));
        let two = join(four, _mm_movehl_ps(four, four));
        let one = join(two, _mm_shuffle_ps::<0b01>(two, two));
        Some((&raw const one).cast::<T>().read_unaligned())
    }
}

/// Writes the prefix sums of subgroups of `f32`. False for other types.
#[inline(always)]
pub fn scan<T: Combine>(
    of: &[[T; SUBGROUP]; CHAINS],
    out: &mut [[T; SUBGROUP]; CHAINS],
    inclusive: bool,
) -> bool {
    if TypeId::of::<T>() != TypeId::of::<f32>() {
        return false;
    }
    // SAFETY: the values are `f32`, and the target has SSE2.
    unsafe {
        let mut sums = _mm_setzero_ps();
        let mut lane = 0;
        while lane < SUBGROUP {
            let mut values = lanes_of(of, lane);
            for (i, value) in values.iter_mut().enumerate() {
                // Adding to zero would lose the sign of a negative zero.
                let next = match lane + i {
                    0 => *value,
                    _ => _mm_add_ps(sums, *value),
                };
                *value = if inclusive { next } else { sums };
                sums = next;
            }
            for (row, out) in across(values).into_iter().zip(out.iter_mut()) {
                out.as_mut_ptr()
                    .add(lane)
                    .cast::<Words>()
                    .write_unaligned(row);
            }
            lane += CHAINS;
        }
    }
    true
}
