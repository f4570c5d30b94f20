//! Subgroup operations on arrays with an element for each lane of a block. A subgroup is
//! [`SUBGROUP`] consecutive lanes, or fewer at the end. `here` marks the active lanes; only these
//! get a result.

use std::array;

use super::all as every;
use super::non_atomic::Combine;

/// The number of lanes of a subgroup.
pub const SUBGROUP: usize = 32;

/// Calls `f` for each active lane, with the first lane of its subgroup.
#[inline(always)]
fn each(here: &[bool], mut f: impl FnMut(usize, usize)) {
    for (lane, here) in here.iter().enumerate() {
        if *here {
            f(lane - lane % SUBGROUP, lane);
        }
    }
}

/// The number of subgroups whose lanes are combined side by side. Each combination is a chain of
/// operations whose order is fixed, and one chain would wait for each result.
const CHAINS: usize = 8;

/// The lanes of such a group of subgroups.
const GROUP: usize = CHAINS * SUBGROUP;

/// True if all lanes are active, and no subgroup is short.
#[inline(always)]
fn is_whole(here: &[bool]) -> bool {
    here.len().is_multiple_of(SUBGROUP) && every(here)
}

/// The value of lane `from` of the subgroup; the lane's own value if there is no such lane, or if
/// it is inactive.
#[inline(always)]
fn take<T: Copy>(here: &[bool], values: &[T], first: usize, from: Option<usize>, own: T) -> T {
    let from = from
        .filter(|from| *from < SUBGROUP)
        .map(|from| first + from);
    let from = from.filter(|from| *from < here.len() && here[*from]);
    from.map_or(own, |from| values[from])
}

macro_rules! moves {
    ($($(#[$doc:meta])* $name:ident |$own:ident, $lane:ident| $from:expr;)*) => {$(
        $(#[$doc])*
        pub fn $name<T: Copy>(here: &[bool], values: &[T], lanes: &[usize], out: &mut [T]) {
            each(here, |first, lane| {
                let ($own, $lane) = (lane - first, lanes[lane]);
                out[lane] = take(here, values, first, $from, values[lane]);
            });
        }
    )*};
}

/// Gives each active lane the value of lane `from(lane)` of its subgroup, or its own. `whole` does so
/// for a complete subgroup.
#[inline(always)]
fn moved<T: Copy>(
    here: &[bool],
    values: &[T],
    out: &mut [T],
    from: impl Fn(usize) -> Option<usize>,
    whole: impl Fn(&[T; SUBGROUP], &mut [T; SUBGROUP]),
) {
    let subgroups = here.as_chunks::<SUBGROUP>().0.iter();
    let pairs = values.as_chunks::<SUBGROUP>().0.iter();
    let pairs = pairs.zip(out.as_chunks_mut::<SUBGROUP>().0);
    let mut done = 0;
    for (here, (values, out)) in subgroups.zip(pairs) {
        done += SUBGROUP;
        if *here == [true; SUBGROUP] {
            whole(values, out);
        } else if *here != [false; SUBGROUP] {
            each(here, |_, lane| {
                out[lane] = take(here, values, 0, from(lane), values[lane])
            });
        }
    }
    let (here, values, out) = (&here[done..], &values[done..], &mut out[done..]);
    each(here, |first, lane| {
        out[lane] = take(here, values, first, from(lane - first), values[lane]);
    });
}

/// The value of the lane that is `by` below, the same distance for all lanes.
pub fn shuffle_up_by<T: Copy>(here: &[bool], values: &[T], by: usize, out: &mut [T]) {
    moved(
        here,
        values,
        out,
        |lane| lane.checked_sub(by),
        |values, out| {
            let by = if by < SUBGROUP { by } else { 0 };
            out[..by].copy_from_slice(&values[..by]);
            out[by..].copy_from_slice(&values[..SUBGROUP - by]);
        },
    );
}

/// The value of the lane that is `by` above, the same distance for all lanes.
pub fn shuffle_down_by<T: Copy>(here: &[bool], values: &[T], by: usize, out: &mut [T]) {
    moved(
        here,
        values,
        out,
        |lane| lane.checked_add(by),
        |values, out| {
            let by = if by < SUBGROUP { by } else { 0 };
            out[..SUBGROUP - by].copy_from_slice(&values[by..]);
            out[SUBGROUP - by..].copy_from_slice(&values[SUBGROUP - by..]);
        },
    );
}

/// The value of the lane whose number is the own one `^ by`, the same for all lanes.
pub fn shuffle_xor_by<T: Copy>(here: &[bool], values: &[T], by: usize, out: &mut [T]) {
    // The steps of trees of a subgroup are constants, so the compiler uses vectors.
    match by {
        1 => crossed::<T, 1>(here, values, out),
        2 => crossed::<T, 2>(here, values, out),
        4 => crossed::<T, 4>(here, values, out),
        8 => crossed::<T, 8>(here, values, out),
        16 => crossed::<T, 16>(here, values, out),
        _ => moved(
            here,
            values,
            out,
            |lane| Some(lane ^ by),
            |values, out| {
                for (lane, out) in out.iter_mut().enumerate() {
                    *out = *values.get(lane ^ by).unwrap_or(&values[lane]);
                }
            },
        ),
    }
}

#[inline(never)]
fn crossed<T: Copy, const BY: usize>(here: &[bool], values: &[T], out: &mut [T]) {
    moved(
        here,
        values,
        out,
        |lane| Some(lane ^ BY),
        |values, out| {
            // Parts of at least `BY` lanes are copied whole, and smaller ones are permuted.
            for (part, out) in out.as_chunks_mut::<8>().0.iter_mut().enumerate() {
                let from = &values.as_chunks::<8>().0[part ^ (BY / 8)];
                *out = array::from_fn(|lane| from[lane ^ (BY % 8)]);
            }
        },
    );
}

/// The value of the given lane of each subgroup.
pub fn broadcast_by<T: Copy>(here: &[bool], values: &[T], from: usize, out: &mut [T]) {
    for first in (0..here.len()).step_by(SUBGROUP) {
        let lanes = first..here.len().min(first + SUBGROUP);
        match every(&here[lanes.clone()]) && from < lanes.len() {
            true => out[lanes].fill(values[first + from]),
            false => {
                for lane in lanes.filter(|lane| here[*lane]) {
                    out[lane] = take(here, values, first, Some(from), values[lane]);
                }
            }
        }
    }
}

moves! {
    /// The value of the given lane.
    shuffle |_own, lane| Some(lane);
    /// The value of the lane that is `lane` below.
    shuffle_up |own, lane| own.checked_sub(lane);
    /// The value of the lane that is `lane` above.
    shuffle_down |own, lane| own.checked_add(lane);
    /// The value of the lane whose number is the own one `^ lane`.
    shuffle_xor |own, lane| Some(own ^ lane);
    /// The value of the given lane, which is the same for all.
    broadcast |_own, lane| Some(lane);
}

/// Folds the values of each subgroup's active lanes with `f`, and gives the result to all of them.
#[inline(always)]
fn fold<T: Copy, A: Copy>(
    here: &[bool],
    values: &[T],
    out: &mut [A],
    f: impl Fn(Option<A>, usize, T) -> A,
) {
    let whole = match is_whole(here) && values.len() == here.len() && out.len() == here.len() {
        true => here.len() / GROUP * GROUP,
        false => 0,
    };
    let groups = values[..whole].as_chunks::<GROUP>().0;
    for (values, out) in groups.iter().zip(out.as_chunks_mut::<GROUP>().0) {
        let mut all: [A; CHAINS] = array::from_fn(|chain| f(None, 0, values[chain * SUBGROUP]));
        for lane in 1..SUBGROUP {
            for (chain, all) in all.iter_mut().enumerate() {
                *all = f(Some(*all), lane, values[chain * SUBGROUP + lane]);
            }
        }
        for (out, all) in out.as_chunks_mut::<SUBGROUP>().0.iter_mut().zip(all) {
            *out = [all; SUBGROUP];
        }
    }
    for first in (whole..here.len()).step_by(SUBGROUP) {
        let lanes = first..here.len().min(first + SUBGROUP);
        let mut all = None;
        for lane in lanes.clone().filter(|l| here[*l]) {
            all = Some(f(all, lane - first, values[lane]));
        }
        if let Some(all) = all {
            for lane in lanes.filter(|l| here[*l]) {
                out[lane] = all;
            }
        }
    }
}

/// True if the value is true in all lanes.
pub fn all(here: &[bool], values: &[bool], out: &mut [bool]) {
    fold(here, values, out, |all, _, v| all.unwrap_or(true) && v);
}

/// True if the value is true in any lane.
pub fn any(here: &[bool], values: &[bool], out: &mut [bool]) {
    fold(here, values, out, |any, _, v| any.unwrap_or(false) || v);
}

/// The lanes in which the value is true, as bits.
pub fn ballot(here: &[bool], values: &[bool], out: &mut [u64]) {
    fold(here, values, out, |bits, lane, v| {
        bits.unwrap_or(0) | ((v as u64) << lane)
    });
}

/// Combines the values of a subgroup by a tree, as GPUs do: those of the lower lanes with those of the upper ones, then
/// the lower half of these results with the upper one, and so on. The interpreter has the same order.
#[inline(always)]
pub fn halving<T: Copy>(values: &[T; SUBGROUP], f: impl Fn(T, T) -> T) -> T {
    let halved: [T; 16] = array::from_fn(|lane| f(values[lane], values[lane + 16]));
    let halved: [T; 8] = array::from_fn(|lane| f(halved[lane], halved[lane + 8]));
    let halved: [T; 4] = array::from_fn(|lane| f(halved[lane], halved[lane + 4]));
    f(f(halved[0], halved[2]), f(halved[1], halved[3]))
}

/// Combines the values of each subgroup's active lanes with `f`, as [`halving`] does.
#[inline(always)]
fn combine<T: Copy>(here: &[bool], values: &[T], out: &mut [T], f: impl Fn(T, T) -> T + Copy) {
    if is_whole(here) {
        let pairs = values.as_chunks::<SUBGROUP>().0.iter();
        for (values, out) in pairs.zip(out.as_chunks_mut::<SUBGROUP>().0) {
            *out = [halving(values, f); SUBGROUP];
        }
        return;
    }
    for first in (0..here.len()).step_by(SUBGROUP) {
        let active = |lane: usize| here.get(first + lane) == Some(&true);
        let own: [Option<T>; SUBGROUP] =
            array::from_fn(|lane| active(lane).then(|| values[first + lane]));
        let all = halving(&own, |low, high| match (low, high) {
            (Some(low), Some(high)) => Some(f(low, high)),
            (low, high) => low.or(high),
        });
        if let Some(all) = all {
            for lane in (0..SUBGROUP).filter(|lane| active(*lane)) {
                out[first + lane] = all;
            }
        }
    }
}

/// The sum over all lanes.
pub fn sum<T: Combine>(here: &[bool], values: &[T], out: &mut [T]) {
    combine(here, values, out, T::add);
}

/// The product over all lanes.
pub fn product<T: Combine>(here: &[bool], values: &[T], out: &mut [T]) {
    combine(here, values, out, T::mul);
}

/// The minimum over all lanes.
pub fn min<T: Combine>(here: &[bool], values: &[T], out: &mut [T]) {
    combine(here, values, out, T::smaller);
}

/// The maximum over all lanes.
pub fn max<T: Combine>(here: &[bool], values: &[T], out: &mut [T]) {
    combine(here, values, out, T::larger);
}

/// The inclusive or exclusive prefix sum. The first lane gets its own value or zero.
#[inline(always)]
fn scan<T: Combine>(here: &[bool], values: &[T], out: &mut [T], inclusive: bool) {
    let whole = match is_whole(here) && values.len() == here.len() && out.len() == here.len() {
        true => here.len() / GROUP * GROUP,
        false => 0,
    };
    let groups = values[..whole].as_chunks::<GROUP>().0;
    for (values, out) in groups.iter().zip(out.as_chunks_mut::<GROUP>().0) {
        // Adding to zero would lose the sign of a negative zero.
        let mut sums: [T; CHAINS] = array::from_fn(|chain| values[chain * SUBGROUP]);
        for (chain, sum) in sums.iter().enumerate() {
            out[chain * SUBGROUP] = if inclusive { *sum } else { T::ZERO };
        }
        for lane in 1..SUBGROUP {
            for (chain, sum) in sums.iter_mut().enumerate() {
                let next = sum.add(values[chain * SUBGROUP + lane]);
                out[chain * SUBGROUP + lane] = if inclusive { next } else { *sum };
                *sum = next;
            }
        }
    }
    let (here, values, out) = (&here[whole..], &values[whole..], &mut out[whole..]);
    let (mut of, mut sum) = (None, T::ZERO);
    each(here, |first, lane| {
        let start = of != Some(first);
        of = Some(first);
        // Adding to zero would lose the sign of a negative zero.
        let next = if start {
            values[lane]
        } else {
            sum.add(values[lane])
        };
        out[lane] = match (inclusive, start) {
            (true, _) => next,
            (false, true) => T::ZERO,
            (false, false) => sum,
        };
        sum = next;
    });
}

/// The inclusive prefix sum: over the lanes up to and including the own one.
pub fn inclusive_sum<T: Combine>(here: &[bool], values: &[T], out: &mut [T]) {
    scan(here, values, out, true);
}

/// The exclusive prefix sum: over the lanes below the own one.
pub fn exclusive_sum<T: Combine>(here: &[bool], values: &[T], out: &mut [T]) {
    scan(here, values, out, false);
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: usize = 40;

    fn run<T: Copy + Default>(f: impl FnOnce(&[bool], &mut [T])) -> Vec<T> {
        let mut here = [true; N];
        here[1] = false;
        let mut out = vec![T::default(); N];
        f(&here, &mut out);
        out
    }

    #[test]
    fn values_move_between_lanes() {
        let values: Vec<u32> = (0..N as u32).collect();
        let of = |n: usize| vec![n; N];
        type Move = fn(&[bool], &[u32], &[usize], &mut [u32]);
        let moved = |f: Move, n| run(|here, out| f(here, &values, &of(n), out));
        let up = moved(shuffle_up, 1);
        assert_eq!([up[0], up[2], up[3], up[32], up[33]], [0, 2, 2, 32, 32]);
        let down = moved(shuffle_down, 2);
        assert_eq!([down[0], down[30], down[37], down[38]], [2, 30, 39, 38]);
        let across = moved(shuffle_xor, 1);
        assert_eq!([across[0], across[2], across[3]], [0, 3, 2]);
        let third = moved(broadcast, 3);
        assert_eq!([third[0], third[31], third[32]], [3, 3, 35]);
        assert_eq!(moved(shuffle, 3), third);
        assert_eq!(third[1], 0, "it takes no part");
    }

    #[test]
    fn lanes_are_folded() {
        let values: Vec<u32> = (0..N as u32).collect();
        let sums = run(|here, out| sum(here, &values, out));
        assert_eq!([sums[0], sums[31], sums[32]], [495, 495, 284]);
        let least = run(|here, out| min(here, &values, out));
        let most = run(|here, out| max(here, &values, out));
        assert_eq!([least[5], least[39], most[0], most[33]], [0, 32, 31, 39]);
        let twos = [2u32; N];
        assert_eq!(run(|here, out| product(here, &twos, out))[35], 256);
        let odd: Vec<bool> = (0..N).map(|i| i % 2 == 1).collect();
        let bits = run(|here, out| ballot(here, &odd, out));
        assert_eq!([bits[0], bits[32]], [0xaaaa_aaa8, 0xaa]);
        assert!(run(|here, out| any(here, &odd, out))[0]);
        assert!(!run(|here, out| all(here, &odd, out))[0]);
    }

    #[test]
    fn values_are_combined_by_halves() {
        // Rounding shows the order of additions.
        let values: Vec<f32> = (0..N).map(|i| 1.0 / (i as f32 + 0.3)).collect();
        for count in [N, 7] {
            let here: Vec<bool> = (0..N).map(|lane| lane < count && lane != 5).collect();
            let mut due = [None; SUBGROUP];
            for lane in (0..SUBGROUP).filter(|lane| here[*lane]) {
                due[lane] = Some(values[lane]);
            }
            for half in [16, 8, 4, 2, 1] {
                for lane in 0..half {
                    due[lane] = match (due[lane], due[lane + half]) {
                        (Some(low), Some(high)) => Some(low + high),
                        (low, high) => low.or(high),
                    };
                }
            }
            let mut out = [0.0; N];
            sum(&here, &values, &mut out);
            assert_eq!(Some(out[0]), due[0], "{count} lanes");
        }
    }

    #[test]
    fn complete_subgroups_are_combined_side_by_side() {
        // Rounding shows the order of additions.
        let values: Vec<f32> = (0..9 * SUBGROUP).map(|i| 1.0 / (i as f32 + 0.3)).collect();
        let (all, none) = (vec![true; values.len()], vec![false; values.len()]);
        type Op = fn(&[bool], &[f32], &mut [f32]);
        let ops: [Op; 6] = [sum, product, min, max, inclusive_sum, exclusive_sum];
        for (of, op) in ops.iter().enumerate() {
            let mut quick = vec![0.0; values.len()];
            op(&all, &values, &mut quick);
            for first in (0..values.len()).step_by(SUBGROUP) {
                let mut here = none.clone();
                here[first..first + SUBGROUP].fill(true);
                let mut slow = vec![0.0; values.len()];
                op(&here, &values, &mut slow);
                let range = first..first + SUBGROUP;
                assert_eq!(
                    quick[range.clone()],
                    slow[range],
                    "operation {of}, lane {first}"
                );
            }
        }
    }

    #[test]
    fn lanes_move_by_the_same_distance() {
        type Each = fn(&[bool], &[u32], &[usize], &mut [u32]);
        type Same = fn(&[bool], &[u32], usize, &mut [u32]);
        let pairs: [(Each, Same); 4] = [
            (shuffle_up, shuffle_up_by),
            (shuffle_down, shuffle_down_by),
            (shuffle_xor, shuffle_xor_by),
            (broadcast, broadcast_by),
        ];
        for (len, left) in [(64, None), (64, Some(5)), (70, None)] {
            let values: Vec<u32> = (100..100 + len as u32).collect();
            let here: Vec<bool> = (0..len).map(|lane| Some(lane) != left).collect();
            for (of, (each, same)) in pairs.iter().enumerate() {
                for by in (0..34).chain([usize::MAX]) {
                    let (mut due, mut out) = (vec![0; len], vec![0; len]);
                    each(&here, &values, &vec![by; len], &mut due);
                    same(&here, &values, by, &mut out);
                    assert_eq!(out, due, "move {of} by {by}, {len} lanes without {left:?}");
                }
            }
        }
    }

    #[test]
    fn sums_run_along_lanes() {
        let ones = [1i64; N];
        let upto = run(|here, out| inclusive_sum(here, &ones, out));
        assert_eq!([upto[0], upto[2], upto[31], upto[32]], [1, 2, 31, 1]);
        let below = run(|here, out| exclusive_sum(here, &ones, out));
        assert_eq!([below[0], below[2], below[31], below[32]], [0, 1, 30, 0]);
    }
}
