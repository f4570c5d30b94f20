//! `get`, `get_mut`, `first`, `last`, `contains`, references to elements, and parts of slices.

use super::each;
use crate::Case;
use crate::check::Check;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("rust/get_mut", &[], get_mut),
    Case::new("rust/get", &[], get),
    Case::new("rust/first_and_last", &[], ends),
    Case::new("rust/references", &[], references),
    Case::new("rust/parts_of_slices", &[], parts),
];

/// Guarded by the elements themselves: the launch has more threads.
#[kernel]
fn get_mut_kernel(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    if let Some(v) = x.get(i)
        && let Some(e) = y.get_mut(i)
    {
        *e += 1;
        if *e > *v {
            *e *= 2;
        }
    }
}

#[kernel]
fn or_nothing_kernel(y: &mut [u32]) {
    let Some(e) = y.get_mut(global_idx_x()) else {
        return;
    };
    *e += 3;
}

fn get_mut(device: &Device) -> Check {
    let run = |x: &Vector<u32>, y: &mut Vector<u32>, n| {
        get_mut_kernel(x, y).over(n + 70).run_on(device)?;
        or_nothing_kernel(y).over(2 * n).run_on(device)
    };
    each("get_mut", run, |x, i, y| {
        let y = y + 1;
        if y > x[i] { 2 * y + 3 } else { y + 3 }
    })
}

#[kernel]
fn get_kernel(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let next = x.get(i + 1).copied().unwrap_or(0);
    let far = x.get(2 * i).map_or(7, |v| *v + 1);
    let near = match x.get(i) {
        Some(v) => *v + v,
        None => 0,
    };
    let mut last = 100;
    if let Some(&v) = x.get(i + 2) {
        last = v;
    }
    y[i] = 1000 * next + 100 * far + 10 * near + last;
}

fn get(device: &Device) -> Check {
    let run = |x: &Vector<u32>, y: &mut Vector<u32>, n| get_kernel(x, y).over(n).run_on(device);
    each("get", run, |x, i, _| {
        let n = x.len();
        let next = if i + 1 < n { x[i + 1] } else { 0 };
        let far = if 2 * i < n { x[2 * i] + 1 } else { 7 };
        let last = if i + 2 < n { x[i + 2] } else { 100 };
        1000 * next + 100 * far + 20 * x[i] + last
    })
}

#[kernel]
fn ends_kernel(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let was = y[i];
    if let (Some(a), Some(b)) = (x.first(), x.last()) {
        y[i] = 2 * a + b;
    }
    y[i] += (!x.is_empty() && x.contains(&was)) as u32;
}

fn ends(device: &Device) -> Check {
    let run = |x: &Vector<u32>, y: &mut Vector<u32>, n| ends_kernel(x, y).over(n).run_on(device);
    each("ends", run, |x, _, y| {
        let mut found = 0;
        for k in 0..x.len() {
            if x[k] == y {
                found = 1;
            }
        }
        2 * x[0] + x[x.len() - 1] + found
    })
}

#[kernel]
fn references_kernel(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let mut count = 0;
    let counted = &mut count;
    *counted += 2;
    let own = &mut y[i];
    let v = &x[i];
    *own += *v;
    *own *= 3;
    let mut pair = [1, 2];
    let second = &mut pair[1];
    *second += 5;
    *own += count + pair[1];
}

fn references(device: &Device) -> Check {
    let run =
        |x: &Vector<u32>, y: &mut Vector<u32>, n| references_kernel(x, y).over(n).run_on(device);
    each("references", run, |x, i, y| 3 * (y + x[i]) + 2 + 7)
}

#[kernel]
fn parts_kernel(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let row = &x[i / 2..=i];
    let tail = &x[i..][..1];
    let mut sum = 0;
    for k in 0..row.len() {
        sum += row[k];
    }
    y[i] = 10 * sum + tail[0] + row.get(1).copied().unwrap_or(50) + x[i..].len() as u32;
}

fn parts(device: &Device) -> Check {
    let run = |x: &Vector<u32>, y: &mut Vector<u32>, n| parts_kernel(x, y).over(n).run_on(device);
    each("parts", run, |x, i, _| {
        let mut sum = 0;
        for k in i / 2..i + 1 {
            sum += x[k];
        }
        let second = if i / 2 < i { x[i / 2 + 1] } else { 50 };
        10 * sum + x[i] + second + (x.len() - i) as u32
    })
}
