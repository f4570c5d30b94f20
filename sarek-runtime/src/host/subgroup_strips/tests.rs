//! Operations on strips against those on blocks.

use std::array;

use super::*;
use crate::host::subgroup;

const N: usize = 192;

fn values<T: Copy>(of: impl Fn(usize) -> T) -> [T; N] {
    array::from_fn(of)
}

/// Compares both ways to move values by a distance with the one of a block.
macro_rules! same {
    ($ty:ty: $constant:ident, $by:ident, $due:path, [$($distance:literal)*]) => {
        let here = [true; N];
        let values = values(|lane| lane as $ty);
        $({
            let (mut due, mut out, mut other) = ([0 as $ty; N], [0 as $ty; N], [0 as $ty; N]);
            $due(&here, &values, $distance, &mut due);
            $constant::<_, $distance, N>(&values, &mut out);
            assert_eq!(out, due, "{} by {}", stringify!($constant), $distance);
            $by(&values, $distance, &mut other);
            assert_eq!(other, due, "{} by {}", stringify!($by), $distance);
        })*
    };
}

macro_rules! all_distances {
    ($($ty:ty)*) => {$(
        same!($ty: shuffle_down, shuffle_down_by, subgroup::shuffle_down_by, [0 1 2 3 4 6 9 15 16 23 30 31 32]);
        same!($ty: shuffle_up, shuffle_up_by, subgroup::shuffle_up_by, [0 1 2 3 4 6 9 15 16 23 30 31 32]);
        same!($ty: shuffle_xor, shuffle_xor_by, subgroup::shuffle_xor_by, [0 1 2 3 4 6 9 15 16 23 30 31 32]);
    )*};
}

#[test]
fn vectors_move_like_lanes() {
    all_distances!(u8 f32 f64);
}

#[test]
fn lanes_of_their_own_are_taken() {
    let (here, values) = ([true; N], values(|lane| lane as u32));
    let lanes = array::from_fn(|lane| lane * 7 % 40);
    type Each = fn(&[u32; N], &[usize; N], &mut [u32; N]);
    type Due = fn(&[bool], &[u32], &[usize], &mut [u32]);
    let ops: [(Each, Due); 5] = [
        (shuffle, subgroup::shuffle),
        (shuffle_up_each, subgroup::shuffle_up),
        (shuffle_down_each, subgroup::shuffle_down),
        (shuffle_xor_each, subgroup::shuffle_xor),
        (broadcast_each, subgroup::broadcast),
    ];
    for (of, (op, due)) in ops.iter().enumerate() {
        let (mut out, mut expected) = ([0; N], [0; N]);
        op(&values, &lanes, &mut out);
        due(&here, &values, &lanes, &mut expected);
        assert_eq!(out, expected, "operation {of}");
    }
    for from in [0, 5, 31, 32, usize::MAX] {
        let (mut out, mut expected) = ([0; N], [0; N]);
        broadcast_by(&values, from, &mut out);
        subgroup::broadcast_by(&here, &values, from, &mut expected);
        assert_eq!(out, expected, "from lane {from}");
    }
}

#[test]
fn values_are_combined_like_those_of_blocks() {
    // Rounding shows the order of additions.
    let singles = values(|lane| 1.0 / (lane as f32 + 0.3));
    let doubles = values(|lane| -1.0 / (lane as f64 + 0.3));
    let words = values(|lane| lane as u32 * 0x0101_0101);
    macro_rules! check {
        ($($op:ident)*) => {$({
            let here = [true; N];
            let (mut out, mut due) = ([0.0; N], [0.0; N]);
            $op(&singles, &mut out);
            subgroup::$op(&here, &singles, &mut due);
            assert_eq!(out, due, stringify!($op));
            let (mut out, mut due) = ([0.0; N], [0.0; N]);
            $op(&doubles, &mut out);
            subgroup::$op(&here, &doubles, &mut due);
            assert_eq!(out, due, stringify!($op));
            let (mut out, mut due) = ([0; N], [0; N]);
            $op(&words, &mut out);
            subgroup::$op(&here, &words, &mut due);
            assert_eq!(out, due, stringify!($op));
        })*};
    }
    check!(sum product min max inclusive_sum exclusive_sum);
    let negative = [-0.0f32; N];
    let mut out = [0.0; N];
    inclusive_sum(&negative, &mut out);
    assert!(out[..1].iter().all(|v| v.is_sign_negative()));
}

#[test]
fn votes_are_counted() {
    for votes in [
        values(|_| true),
        values(|_| false),
        values(|lane| lane % 3 == 0 || lane < 40),
        values(|lane| lane != 17),
        values(|lane| lane == 100),
    ] {
        let here = [true; N];
        let (mut out, mut due) = ([false; N], [false; N]);
        all(&votes, &mut out);
        subgroup::all(&here, &votes, &mut due);
        assert_eq!(out, due);
        any(&votes, &mut out);
        subgroup::any(&here, &votes, &mut due);
        assert_eq!(out, due);
        let (mut out, mut due) = ([0; N], [0; N]);
        ballot(&votes, &mut out);
        subgroup::ballot(&here, &votes, &mut due);
        assert_eq!(out, due);
    }
}
