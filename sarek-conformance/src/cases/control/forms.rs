//! Labelled blocks, and refutable patterns: `let else` in loops, chains of `if let`, and labelled `while let`.

use crate::Case;
use crate::check::{Check, Expected, unary};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("control/labelled_blocks", &[], blocks),
    Case::new("control/let_else_in_loops", &[], let_else),
    Case::new("control/if_let_chains", &[], if_let),
    Case::new("control/while_let_labels", &[], while_let),
    Case::new("control/match_everywhere", &[], everywhere),
    Case::new("control/patterns_of_types", &[], of_types),
];

/// Leaves a block from a loop, from an inner block, and at its end.
#[kernel]
fn blocks_kernel(a: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    let n = a[i];
    let first = 'found: {
        for k in 0..n {
            if k * k > n {
                break 'found k;
            }
        }
        -1
    };
    let mut steps = 0;
    'all: {
        steps += 1;
        'some: {
            if n % 3 == 0 {
                break 'all;
            }
            steps += 10;
            if n % 3 == 1 {
                break 'some;
            }
            steps += 100;
        }
        steps += 1000;
    }
    let pair = 'pair: {
        if n > 5 {
            break 'pair (n, true);
        }
        (steps, n == 2)
    };
    out[3 * i] = first;
    out[3 * i + 1] = steps;
    out[3 * i + 2] = if pair.1 { pair.0 } else { -pair.0 };
}

fn blocks(device: &Device) -> Check {
    let inputs: Vec<i32> = (0..77).collect();
    unary(
        ["found", "steps", "pair"],
        &inputs,
        |a, out, n| blocks_kernel(a, out).over(n).run_on(device),
        |n| {
            let first = (0..n).find(|k| k * k > n).unwrap_or(-1);
            let steps = [1, 1011, 1111][n as usize % 3];
            let pair = match n {
                6.. => n,
                2 => steps,
                _ => -steps,
            };
            [first, steps, pair].map(Expected::Exactly)
        },
    )
}

#[device]
fn halved(n: u32) -> Option<u32> {
    if n % 2 == 0 { Some(n / 2) } else { None }
}

#[device]
fn checked(n: u32) -> Result<(u32, bool), u32> {
    match n % 4 {
        0 => Err(n),
        1 => Ok((n, true)),
        _ => Ok((n + 1, false)),
    }
}

#[kernel]
fn let_else_kernel(a: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let mut sum = 0;
    for k in 0..a[i] {
        let found: Option<u32> = halved(k);
        let Some(half) = found else {
            continue;
        };
        let kind: Result<(u32, bool), u32> = checked(half);
        let Ok((value, true)) = kind else {
            sum += 1;
            continue;
        };
        sum += 10 * value;
    }
    let mut n = a[i];
    let mut rounds = 0;
    let last = loop {
        rounds += 1;
        let found: Option<u32> = halved(n);
        let Some(half) = found else {
            break n;
        };
        let (0 | 2..=50, next) = (half, half) else {
            break 1000;
        };
        if next == 0 {
            break 2000;
        }
        n = next;
    };
    out[2 * i] = sum;
    out[2 * i + 1] = last + 10_000 * rounds;
}

fn let_else(device: &Device) -> Check {
    let inputs: Vec<u32> = (0..150).collect();
    unary(
        ["sum", "last"],
        &inputs,
        |a, out, n| let_else_kernel(a, out).over(n).run_on(device),
        |a| {
            let halves = (0..a).filter(|k| k % 2 == 0).map(|k| k / 2);
            let sum = halves.map(|h| if h % 4 == 1 { 10 * h } else { 1 }).sum();
            let (mut n, mut rounds) = (a, 0);
            let last = loop {
                rounds += 1;
                match (n % 2, n / 2) {
                    (1, _) => break n,
                    (_, 0) => break 2000,
                    (_, 1 | 51..) => break 1000,
                    (_, half) => n = half,
                }
            };
            [sum, last + 10_000 * rounds].map(Expected::Exactly)
        },
    )
}

#[kernel]
fn if_let_kernel(a: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let n = a[i];
    let found: Option<u32> = halved(n);
    let kind: Result<(u32, bool), u32> = checked(n);
    let of_half: Result<(u32, bool), u32> = checked(n / 2);
    out[2 * i] = if let Some(half) = found
        && half > 3
        && let Ok((v, even)) = of_half
    {
        v + even as u32 * 1000
    } else if let Err(v) = kind {
        v + 2000
    } else if let Some(0 | 1) = found {
        3000
    } else {
        4000 + n
    };
    let nested: Option<Option<u32>> = if n % 5 == 0 { None } else { Some(halved(n)) };
    out[2 * i + 1] = match nested {
        Some(Some(v @ (1..=9 | 20))) => v,
        Some(Some(v)) if v % 2 == 1 => v + 100,
        Some(Some(_)) => 200,
        Some(None) => 300,
        None => 400,
    };
}

fn if_let(device: &Device) -> Check {
    let inputs: Vec<u32> = (0..120).collect();
    unary(
        ["chain", "nested"],
        &inputs,
        |a, out, n| if_let_kernel(a, out).over(n).run_on(device),
        |n| {
            let half = n / 2;
            let first = match n {
                _ if n % 2 == 0 && half > 3 && half % 4 == 1 => half + 1000,
                _ if n % 2 == 0 && half > 3 && half % 4 > 1 => half + 1,
                _ if n % 4 == 0 => n + 2000,
                2 => 3000,
                _ => 4000 + n,
            };
            let second = match (n % 5, n % 2) {
                (0, _) => 400,
                (_, 1) => 300,
                _ if (1..=9).contains(&half) || half == 20 => half,
                _ if half % 2 == 1 => half + 100,
                _ => 200,
            };
            [first, second].map(Expected::Exactly)
        },
    )
}

#[kernel]
fn while_let_kernel(a: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let mut n = a[i] * 12;
    let mut count = 0;
    let mut next = Some(n);
    'outer: while let Some(half) = next {
        n = half;
        next = halved(n);
        for k in 0..5u32 {
            if k == n % 7 {
                continue 'outer;
            }
            if k + n == 40 || n == 0 {
                break 'outer;
            }
            count += 1;
        }
        count += 100;
    }
    out[i] = n * 1000 + count;
}

fn while_let(device: &Device) -> Check {
    let inputs: Vec<u32> = (1..90).collect();
    unary(
        ["count"],
        &inputs,
        |a, out, n| while_let_kernel(a, out).over(n).run_on(device),
        |a| {
            let (mut n, mut count, mut done) = (a * 12, 0, false);
            let mut next = Some(n);
            while let Some(half) = next.filter(|_| !done) {
                n = half;
                next = (n % 2 == 0).then_some(n / 2);
                let stop = (0..5).find(|k| *k == n % 7 || k + n == 40 || n == 0);
                count += stop.unwrap_or(105);
                done = stop.is_some_and(|k| k != n % 7);
            }
            [Expected::Exactly(n * 1000 + count)]
        },
    )
}

/// Uses `match` as operand, index, argument, condition, bound and element.
#[kernel]
fn everywhere_kernel(a: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let n = a[i];
    let sum = n + match n % 3 {
        0 => 5,
        1 => 6,
        _ => 7,
    } * 2;
    let own = [
        match n {
            0..10 => 1,
            _ => 2,
        },
        20,
        30,
    ];
    let picked = own[match n % 4 {
        3 => 2,
        k => k as usize % 2,
    }];
    let mut rounds = 0;
    for k in 0..match n % 2 {
        0 => 3,
        _ => 4,
    } {
        rounds += k;
    }
    while match rounds {
        0..=9 => true,
        _ => false,
    } {
        rounds += 2;
    }
    out[3 * i] = sum.min(match n {
        7 => 8,
        _ => 1000,
    });
    out[3 * i + 1] = picked;
    out[3 * i + 2] = rounds;
}

fn everywhere(device: &Device) -> Check {
    let inputs: Vec<u32> = (0..50).collect();
    unary(
        ["operand", "index", "bound"],
        &inputs,
        |a, out, n| everywhere_kernel(a, out).over(n).run_on(device),
        |n| {
            let sum = n + 2 * (5 + n % 3);
            let own = [if n < 10 { 1 } else { 2 }, 20, 30];
            let picked = own[[0, 1, 0, 2][n as usize % 4]];
            let rounds = if n % 2 == 0 { 11 } else { 10 };
            [if n == 7 { 8 } else { sum }, picked, rounds].map(Expected::Exactly)
        },
    )
}

/// Matches literals and ranges of each type that has such patterns.
#[kernel]
fn of_types_kernel(a: &[i32], out: &mut [u32]) {
    let i = global_idx_x();
    let n = a[i];
    out[5 * i] = match n as i8 {
        i8::MIN..-100 => 1,
        -100..=-1 => 2,
        0 => 3,
        1..100 => 4,
        100..=i8::MAX => 5,
    };
    out[5 * i + 1] = match n as u16 {
        0..=9 | 65_535 => 1,
        10..1000 => 2,
        1000.. => 3,
    };
    out[5 * i + 2] = match (n as u32 as usize, n > 0) {
        (0, _) => 1,
        (..=20, true) => 2,
        (2_147_483_648.., false) => 3,
        (_, flag) => 4 + flag as u32,
    };
    out[5 * i + 3] = match (n % 2 == 0, n < 0) {
        (true, true) => 1,
        (true, false) => 2,
        (false, negative) if negative => 3,
        (false, _) => 4,
    };
    out[5 * i + 4] = match n as u8 {
        b'a'..=b'z' => 1,
        b'A' | b'B' => 2,
        0x80.. => 3,
        _ => 4,
    };
}

fn of_types(device: &Device) -> Check {
    let mut inputs = crate::input::values::<i32>(89, 200);
    inputs.extend(-300..300);
    unary(
        ["i8", "u16", "usize", "bool", "u8"],
        &inputs,
        |a, out, n| of_types_kernel(a, out).over(n).run_on(device),
        |n| {
            let (small, short, byte) = (n as i8, n as u16, n as u8);
            let first = match i32::from(small) {
                k if k < -100 => 1,
                k if k < 0 => 2,
                0 => 3,
                k if k < 100 => 4,
                _ => 5,
            };
            let second = match short {
                _ if short < 10 || short == u16::MAX => 1,
                _ if short < 1000 => 2,
                _ => 3,
            };
            let third = match n {
                0 => 1,
                1..=20 => 2,
                ..0 => 3,
                _ => 5,
            };
            let fourth = 1 + 2 * (n & 1) as u32 + u32::from(n >= 0);
            let fifth = match byte {
                _ if byte.is_ascii_lowercase() => 1,
                65 | 66 => 2,
                128..=255 => 3,
                _ => 4,
            };
            [first, second, third, fourth, fifth].map(Expected::Exactly)
        },
    )
}
