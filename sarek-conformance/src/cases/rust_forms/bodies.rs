//! Items, conditions and `const` blocks in bodies, and parameters that are `_` or patterns.

use super::each;
use crate::Case;
use crate::check::Check;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("rust/items_in_bodies", &[], items),
    Case::new("rust/conditions_in_bodies", &[], conditions),
    Case::new("rust/parameters_without_names", &[], parameters),
];

#[kernel]
fn items_kernel(x: &[u32], y: &mut [u32]) {
    use std::cmp::{max, min as least};
    use std::f32::consts::PI;
    type Byte = u8;
    fn twice(v: u32) -> u32 {
        v * 2
    }
    let i = global_idx_x();
    let small = if (x[i] as f32) < PI { 1 } else { 0 };
    y[i] = twice(max(least(x[i], 9), 4)) + small + (x[i] * 30) as Byte as u32;
    y[i] += Byte::MAX as u32;
}

fn items(device: &Device) -> Check {
    let run = |x: &Vector<u32>, y: &mut Vector<u32>, n| items_kernel(x, y).over(n).run_on(device);
    each("items", run, |x, i, _| {
        let v = x[i];
        let bounded = if v > 9 {
            9
        } else if v < 4 {
            4
        } else {
            v
        };
        2 * bounded + if v < 4 { 1 } else { 0 } + v * 30 % 256 + 255
    })
}

#[kernel]
fn conditions_kernel(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    #[cfg(any())]
    {
        y[i] += 100;
    }
    #[cfg(not(any()))]
    y[i] += 1;
    #[cfg(any())]
    y[i] = 7;
    #[cfg(not(any()))]
    let by = 2;
    #[cfg(any())]
    let by = 3;
    if cfg!(any()) {
        y[i] += 1000;
    }
    y[i] = (by * y[i] + x[i]) & const { (1 << 5) - 1 };
}

fn conditions(device: &Device) -> Check {
    let run =
        |x: &Vector<u32>, y: &mut Vector<u32>, n| conditions_kernel(x, y).over(n).run_on(device);
    each("conditions", run, |x, i, y| (2 * (y + 1) + x[i]) % 32)
}

#[device]
fn first(a: u32, _: u32) -> u32 {
    a
}

#[device]
fn area((w, h): (u32, u32)) -> u32 {
    w * h
}

#[kernel]
fn parameters_kernel(_: u32, [a, b]: [u32; 2], x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = first(x[i], 7) + area((a, y[i])) + b;
}

fn parameters(device: &Device) -> Check {
    let run = |x: &Vector<u32>, y: &mut Vector<u32>, n| {
        parameters_kernel(1, [3, 4], x, y).over(n).run_on(device)
    };
    each("parameters", run, |x, i, y| x[i] + 3 * y + 4)
}
