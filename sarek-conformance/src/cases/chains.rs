//! Arrays indexed by their own elements, and arrays assigned from their own rows.

use crate::Case;
use crate::check::{Check, ensure, expect, sentinel_filled};
use crate::input::Random;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("chains/arrays", &[], arrays),
    Case::new("chains/across_barriers", &[], across_barriers),
    Case::new("chains/own_rows", &[], own_rows),
    Case::new("chains/arrays_as_values", &[], arrays_as_values),
];

/// Random numbers, small enough that their sums do not overflow.
fn numbers(seed: u64, count: usize) -> Vec<u32> {
    let numbers = Random::new(seed).values::<u32>(count).into_iter();
    numbers.map(|number| number >> 20).collect()
}

/// A chain of stores and loads in local arrays. Every index is provably in bounds.
#[device]
fn chained(x: [u32; 4]) -> u32 {
    let mut own = x;
    own[own[0] as usize & 3] = 5;
    own[own[own[1] as usize % 4] as usize % 4] += 7;
    own[(own[2] & 3) as usize] ^= own[(own[3] & 3) as usize];
    let mut rows = [[0u32; 3]; 2];
    rows[own[1] as usize % 2][own[0] as usize % 3] = own[0] | 1;
    rows[1][rows[0][0] as usize % 3] = 9;
    rows[rows[1][2] as usize % 2][(rows[0][1] % 3) as usize] += 4;
    let mut sum = own[0] + 3 * own[1] + 5 * own[2] + 7 * own[3];
    for k in 0..2 {
        sum = sum * 11 + rows[k][0] + 2 * rows[k][1] + 3 * rows[k][2];
    }
    sum
}

#[kernel]
fn arrays_kernel(x: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    if i < out.len() && 4 * i + 3 < x.len() {
        out[i] = chained([x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]]);
    }
}

fn arrays(device: &Device) -> Check {
    let x = numbers(3, 4 * 101);
    let mut out = sentinel_filled(101);
    arrays_kernel(&Vector::from_slice(&x), &mut out)
        .over(101)
        .run_on(device)?;
    let expected = x
        .chunks(4)
        .map(|four| chained([four[0], four[1], four[2], four[3]]));
    expect("out", &out, &expected.collect::<Vec<u32>>())
}

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C)]
struct Pair {
    a: u32,
    b: u32,
}

#[device]
fn bump(rows: &mut [u32], by: u32) -> u32 {
    rows[2] += by;
    rows[2]
}

/// Exchanges rows of arrays. The whole right side is read before anything is written.
#[device]
fn exchanged(x: [u32; 4]) -> u32 {
    let k = x[0] as usize % 2;
    let mut two = [[x[0], x[1]], [x[2], x[3]]];
    two = [two[1], two[0]];
    two = [two[k], two[1 - k]];
    two = [[two[1][0], two[0][1]], two[0]];
    two = [two[1]; 2];
    two[k] = [two[1 - k][1], two[k][0] + 1];
    let mut three = [[x[1]; 3], [x[2]; 3], [x[3], x[0], 7]];
    three = [three[2], three[0], three[1]];
    three[1] = three[0];
    let mut deep = [[[x[0], 1], [x[1], 2]], [[x[2], 3], [x[3], 4]]];
    deep = [deep[1], deep[0]];
    deep[0] = [deep[0][1], deep[0][0]];
    deep[1] = [deep[0][1], [deep[1][0][1], deep[1][1][0]]];
    deep = [[deep[1][k], deep[0][1]]; 2];
    let mut pairs = [[Pair { a: x[0], b: 1 }; 2], [Pair { a: 2, b: x[3] }; 2]];
    pairs = [pairs[1], pairs[0]];
    // Each element is read before a later call in the same literal changes it.
    let mut own = [x[0], x[1], x[2], x[3]];
    let mut lent = [[own[3], own[0]], [0, 1]];
    lent = [[own[2], lent[0][1]], [bump(&mut own, 5), own[2]]];
    lent = [lent[1], [bump(&mut own, 3), lent[1][0]]];
    let mut sum = 0u32;
    for i in 0..2 {
        for j in 0..2 {
            sum = sum
                .wrapping_mul(31)
                .wrapping_add(two[i][j] + 3 * lent[i][j]);
            sum = sum
                .wrapping_mul(31)
                .wrapping_add(pairs[i][j].a + 5 * pairs[i][j].b);
            sum = sum
                .wrapping_mul(31)
                .wrapping_add(deep[i][j][0] + 7 * deep[i][j][1]);
        }
    }
    for i in 0..3 {
        for j in 0..3 {
            sum = sum.wrapping_mul(31).wrapping_add(three[i][j]);
        }
    }
    sum
}

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C)]
struct Held {
    row: [u32; 3],
    rows: [[u32; 2]; 2],
}

#[device]
impl Held {
    fn new(row: [u32; 3], seed: u32) -> Self {
        let mut rows = [[seed; 2]; 2];
        for i in 0..2 {
            for j in 0..2 {
                rows[i][j] ^= (3 * i + j) as u32;
            }
        }
        rows[0][1] += 1;
        Self { row, rows }
    }
}

/// Fills an array in a loop, and returns it.
#[device]
fn built(x: u32) -> [u32; 5] {
    let mut made = [0u32; 5];
    for k in 0..5 {
        made[k] = x.rotate_left(k as u32) ^ k as u32;
    }
    made
}

#[device]
fn longest(x: u32) -> [[u32; 8]; 8] {
    let mut made = [[x; 8]; 8];
    made[3][5] = 7;
    made
}

#[device]
fn total(of: &[u32]) -> u32 {
    let mut sum = 0u32;
    for k in 0..of.len() {
        sum = sum.wrapping_mul(3).wrapping_add(of[k]);
    }
    sum
}

/// Passes arrays that are values to functions as slices.
#[device]
fn lent(x: [u32; 4]) -> u32 {
    let mut own = x;
    let by = bump(&mut own, 6);
    let parts: (u32, [u32; 4]) = (by, own);
    let mut other: [u32; 5] = if by % 2 == 0 { built(by) } else { [by; 5] };
    other[1] += bump(&mut other, total(&parts.1));
    total(&own) ^ total(&other) ^ total(&x)
}

/// Uses local arrays as values.
#[device]
fn held(x: [u32; 4]) -> Held {
    let mut row = [x[0], x[1], 5];
    let mut held = Held::new([row[0], row[1], row[2]], x[2]);
    row[1] = 9;
    held.row[0] ^= row[1];
    if x[3] % 2 == 0 {
        row = held.row;
        held.row = row;
    }
    let long = built(x[3]);
    let mut both = (row, long[4]);
    both.0[2] += 1;
    let some = if x[0] % 3 == 0 { Some(row) } else { None };
    if let Some(found) = some {
        held.row = [found[2], found[1], both.0[2]];
    }
    let mut grid = [[1u32; 2]; 2];
    grid[1] = [both.1, 4];
    let other = if x[1] % 2 == 0 { grid } else { held.rows };
    held.rows = other;
    grid = held.rows;
    let last = grid[1];
    grid[0] = last;
    let loose = longest(grid[0][0]);
    held.rows = [[loose[3][5], loose[7][7]], grid[0]];
    Held {
        row: held.row,
        ..held
    }
}

#[kernel]
fn held_kernel(x: &[u32], out: &mut [Held], rows: &mut [[u32; 3]]) {
    let i = global_idx_x();
    if i < out.len() && i < rows.len() && 4 * i + 3 < x.len() {
        out[i] = held([x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]]);
        let mut own = rows[i];
        own[1] = 4;
        let mut made = [own[0]; 3];
        made[2] = own[1];
        made[1] = lent([x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]]);
        rows[i] = made;
    }
}

fn arrays_as_values(device: &Device) -> Check {
    let x = numbers(6, 4 * 101);
    let expected: Vec<Held> = x
        .chunks(4)
        .map(|four| held([four[0], four[1], four[2], four[3]]))
        .collect();
    let mut out = Vector::from_vec(vec![Held::new([0; 3], 0); 101]);
    let mut rows = Vector::from_vec((0..101).map(|i| [i, 1, 2]).collect::<Vec<[u32; 3]>>());
    held_kernel(&Vector::from_slice(&x), &mut out, &mut rows)
        .over(101)
        .run_on(device)?;
    let (out, rows) = (out.to_vec()?, rows.to_vec()?);
    ensure(out == expected, || {
        format!("{out:?} instead of {expected:?}")
    })?;
    let lent = x.chunks(4).map(|x| lent([x[0], x[1], x[2], x[3]]));
    let expected: Vec<[u32; 3]> = (0..101).zip(lent).map(|(i, lent)| [i, lent, 4]).collect();
    ensure(rows == expected, || {
        format!("{rows:?} instead of {expected:?}")
    })
}

#[kernel]
fn own_rows_kernel(x: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    if i < out.len() && 4 * i + 3 < x.len() {
        out[i] = exchanged([x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]]);
    }
}

fn own_rows(device: &Device) -> Check {
    let x = numbers(5, 4 * 101);
    let mut out = sentinel_filled(101);
    own_rows_kernel(&Vector::from_slice(&x), &mut out)
        .over(101)
        .run_on(device)?;
    let expected = x
        .chunks(4)
        .map(|four| exchanged([four[0], four[1], four[2], four[3]]));
    expect("out", &out, &expected.collect::<Vec<u32>>())
}

/// The same with local arrays that live across a barrier and are indexed in a loop.
#[kernel(block = 32)]
fn across_barriers_kernel(x: &[u32], out: &mut [u32]) {
    let tile = shared_array::<u32, 32>();
    let t = thread_idx_x();
    let mut own = [0u32; 4];
    for k in 0..4 {
        own[k] = x[4 * global_idx_x() + k];
    }
    tile[t] = own[own[0] as usize % 4];
    barrier();
    for k in 0..3 {
        own[own[k] as usize % 4] += tile[(t + k) % 32];
        own[own[own[3] as usize % 4] as usize % 4] ^= 1;
    }
    barrier();
    if t == 0 {
        let at = tile[5] as usize % 32;
        tile[at] = tile[tile[6] as usize % 32];
        for k in 0..32 {
            let at = tile[k] as usize % 32;
            tile[at] += 1;
        }
    }
    barrier();
    out[global_idx_x()] = tile[t] + own[0] + 3 * own[1] + 5 * own[2] + 7 * own[3];
}

fn across_barriers(device: &Device) -> Check {
    let x = numbers(4, 4 * 64);
    let mut out = sentinel_filled(64);
    across_barriers_kernel(&Vector::from_slice(&x), &mut out)
        .grid(2)
        .run_on(device)?;
    let mut expected = vec![];
    for block in x.chunks(4 * 32) {
        let mut own: Vec<Vec<u32>> = block.chunks(4).map(<[u32]>::to_vec).collect();
        let mut tile: Vec<u32> = own.iter().map(|own| own[own[0] as usize % 4]).collect();
        for (t, own) in own.iter_mut().enumerate() {
            for k in 0..3 {
                let at = own[k] as usize % 4;
                own[at] += tile[(t + k) % 32];
                let at = own[own[3] as usize % 4] as usize % 4;
                own[at] ^= 1;
            }
        }
        let at = tile[5] as usize % 32;
        tile[at] = tile[tile[6] as usize % 32];
        for k in 0..32 {
            let at = tile[k] as usize % 32;
            tile[at] += 1;
        }
        let sums = own.iter().zip(tile);
        expected
            .extend(sums.map(|(own, tile)| tile + own[0] + 3 * own[1] + 5 * own[2] + 7 * own[3]));
    }
    expect("out", &out, &expected)
}
