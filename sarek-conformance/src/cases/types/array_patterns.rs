//! Array patterns: on local arrays, on rows, and inside other values.

use super::{COUNTS, same};
use crate::Case;
use crate::check::Check;
use crate::input::values;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("types/array_patterns/own", &[], own),
    Case::new("types/array_patterns/values", &[], of_values),
    Case::new("types/array_patterns/rests", &[], rests),
    Case::new("types/array_patterns/rows", &[], rows),
    Case::new("types/array_patterns/assigned", &[], assigned),
];

/// Compares a device with the kernel's own Rust code, which the reference runs.
fn like_rust(
    device: &Device,
    run: impl Fn(&Vector<i32>, &mut Vector<i32>, usize, &Device) -> sarek::Result<()>,
) -> Check {
    for n in COUNTS {
        let x = Vector::from_vec(values::<i32>(n as u64, n));
        let (mut got, mut expected) = (Vector::zeros(n), Vector::zeros(n));
        run(&x, &mut got, n, device)?;
        run(&x, &mut expected, n, &sarek::testing::reference()?)?;
        same("out", &got, expected.as_slice()?)?;
    }
    Ok(())
}

#[kernel]
fn own_kernel(x: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    if i < x.len() && i < out.len() {
        let n = x[i];
        let mut digits = [n % 3, n % 5, 0, n % 7];
        digits[2] = digits[0] - digits[1];
        let kind = match digits {
            [0, 0, .., last] => last,
            [0, _, middle, _] if middle < -2 => 10 - middle,
            [a @ (1 | -1), .., 0 | 6] => 20 + a,
            [n, -4..=-1, ..] | [.., n, 2..=6] => {
                digits[0] = 9;
                100 + n
            }
            [a, b, c, d] => 1000 + a * b * c - d,
        };
        let [first, .., last] = digits;
        let Some([low, high]) = sorted([first, last]) else {
            out[i] = kind;
            return;
        };
        let table = [[low, high], [kind, n]];
        let [[low, _], [_, same]] = table;
        out[i] = kind * 16 + low + same % 2;
        if let [row @ [0..=2, _], _] = table
            && matches!(row, [a, b] if a < b)
        {
            out[i] += 4 * row[1];
        }
        let [a, b] = [out[i], n % 9];
        out[i] = 2 * a - b;
    }
}

#[device]
fn sorted(pair: [i32; 2]) -> Option<[i32; 2]> {
    let [a, b] = pair;
    if a == b {
        None
    } else {
        Some([a.min(b), a.max(b)])
    }
}

fn own(device: &Device) -> Check {
    like_rust(device, |x, out, n, on| {
        own_kernel(x, out).over(n).run_on(on)
    })
}

#[derive(Clone, Copy, Debug, PartialEq, KernelType)]
#[repr(C)]
struct Cell {
    at: [i32; 3],
    of: [[i32; 2]; 2],
}

const TABLE: [i32; 5] = [3, -1, 4, -1, 5];

#[kernel]
fn values_kernel(cells: &[Cell], given: Cell, x: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    if i < cells.len() && i < out.len() && i < x.len() {
        let mut sum = match cells[i].at {
            [0, y, _] => y,
            [x, .., z] if x < z => z - x,
            [x, y, z] => x ^ y ^ z,
        };
        let Cell {
            at: [a, _, other],
            of: [[b, _], [.., c]],
        } = given;
        sum += a * b - c * other;
        let [first, .., four, five] = TABLE;
        sum += first * four + five;
        if let (Some([p, q]), [r, 0..=9]) = (sorted([x[i] % 4, x[i] % 3]), [p_of(x[i]), x[i] % 8]) {
            sum += 100 * p + 10 * q + r;
        }
        let mut state = [0, x[i] % 5, 1];
        while let [total, left @ 1..=9, by] = state {
            state = [total + by, left - 1, by + 1];
        }
        sum += state[0];
        out[i] = match (cells[i].of, sum) {
            ([[0, n], _] | [_, [n, 0]], m) => n - m,
            (_, m) => m,
        };
    }
}

#[device]
fn p_of(n: i32) -> i32 {
    match [n & 1, n & 2] {
        [0, 0] => 7,
        [_, 2] => 8,
        _ => 9,
    }
}

fn of_values(device: &Device) -> Check {
    let cell = |i: i32| Cell {
        at: [i % 3, i % 7, i % 2],
        of: [[i % 2, i], [i % 5, i % 4]],
    };
    let cells = Vector::from_vec((0..300).map(cell).collect());
    like_rust(device, |x, out, n, on| {
        values_kernel(&cells, cell(38), x, out).over(n).run_on(on)
    })
}

const LENGTH: usize = 7;

#[kernel]
fn rests_kernel(x: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    if i < x.len() && i < out.len() {
        let n = x[i] % 100;
        let mut long = [n, 1, n + 2, 3, 4, 5, n + 6, 7];
        let [head, mut tail @ ..] = long;
        tail[0] += head;
        long[2] = -1;
        let [short @ .., last] = [tail[0], tail[1], 2 * n];
        let picked = match tail {
            [_, middle @ .., 7] if middle[1] + middle[4] > 50 => middle[2] - 1,
            [first, middle @ .., _] if middle.len() == 5 && first > 0 => middle[0] + first,
            all => all[6] + all[0],
        };
        let mut steps = [0; LENGTH];
        for k in 0..LENGTH {
            steps[k] = n - k as i32;
        }
        let [first, .., before, end] = steps;
        out[i] = short[0] * 3 + short[1] - last + picked + first * before - end + long[2];
    }
}

fn rests(device: &Device) -> Check {
    like_rust(device, |x, out, n, on| {
        rests_kernel(x, out).over(n).run_on(on)
    })
}

#[kernel]
fn rows_kernel(x: &[i32], out: &mut [i32]) {
    let tile = shared_array::<[i32; 3], 64>();
    let (i, t) = (global_idx_x(), thread_idx_x());
    let n = if i < x.len() { x[i] % 50 } else { 0 };
    for k in 0..tile[t].len() {
        tile[t][k] = n * k as i32;
    }
    barrier();
    let [zero, one, two] = tile[t];
    let other = match tile[63 - t] {
        [_, 0, _] => 1,
        [.., two] => two,
    };
    let mut own = [[n, 1, 2], [other, zero, one]];
    own[0] = tile[t];
    let [.., last] = own[n.unsigned_abs() as usize % 2];
    if i < out.len() {
        out[i] = one + 3 * two - other * last + 100 * own[1].len() as i32;
    }
}

fn rows(device: &Device) -> Check {
    like_rust(device, |x, out, n, on| {
        let blocks = n.div_ceil(64);
        rows_kernel(x, out).grid(blocks).block(64).run_on(on)
    })
}

#[kernel]
fn assigned_kernel(x: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    if i < x.len() && i < out.len() {
        let n = x[i] % 100;
        let (mut a, mut b) = (n, n * 3);
        [a, b] = [b + 1, a];
        let mut own = [a, b, n];
        [own[1], own[2], own[0]] = own;
        let [one, byte] = [1, n as u8];
        let mut pair = [0, 0];
        (pair[1], [_, a, pair[0]]) = (own[1], [n, pair[0] + own[2], b]);
        [[_, b], _] = [[a, n], [a, b]];
        out[i] = (one + byte / 2) as i32
            + a
            + 3 * b
            + 5 * own[0]
            + 7 * own[2]
            + 11 * pair[0]
            + 13 * pair[1];
    }
}

fn assigned(device: &Device) -> Check {
    like_rust(device, |x, out, n, on| {
        assigned_kernel(x, out).over(n).run_on(on)
    })
}
