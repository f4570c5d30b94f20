//! Methods of `Option`, `Result` and `bool` with closures, and `==` of values with several parts.

use super::each;
use crate::Case;
use crate::check::Check;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("rust/methods_of_option", &[], options),
    Case::new("rust/methods_of_result", &[], results),
    Case::new("rust/equality_of_parts", &[], equality),
    Case::new("rust/closures_in_place", &[], closures),
];

#[device]
fn half(x: u32) -> Option<u32> {
    if x % 2 == 0 { Some(x / 2) } else { None }
}

#[device]
fn quarter(x: u32) -> Result<u32, u32> {
    let h = half(x).ok_or(x)?;
    half(h).ok_or_else(|| h + 100)
}

#[kernel]
fn options_kernel(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let v = x[i];
    let rest = v.checked_sub(5);
    let mut ticket = Some(v);
    let mut taken = 0;
    for _ in 0..3 {
        taken += ticket.take().map_or(0, |v| v + 1);
    }
    let mut total = rest.map(|r| r * 2).unwrap_or(1);
    total += 10 * rest.map_or_else(|| 7, |r| r + 1);
    total += 100 * rest.and_then(half).or(Some(9)).unwrap_or_default();
    total += rest.filter(|r| *r > 3).is_none() as u32;
    total += rest.is_some_and(|r| r > 5) as u32 + 2 * rest.is_none_or(|r| r < 2) as u32;
    total += rest.unwrap_or_else(|| 5 - v) + rest.zip(half(v)).map_or(3, |(a, b)| a * b);
    total += rest.xor(half(v)).unwrap_or(4) + rest.or_else(|| half(v)).unwrap_or(6);
    total += (v % 3 == 0).then_some(v).unwrap_or(11) + (v > 8).then(|| v - 8).unwrap_or(13);
    y[i] = total + taken;
}

fn options(device: &Device) -> Check {
    let run = |x: &Vector<u32>, y: &mut Vector<u32>, n| options_kernel(x, y).over(n).run_on(device);
    each("options", run, |x, i, _| {
        let v = x[i];
        let (is, r) = (v >= 5, v.wrapping_sub(5));
        let even = v % 2 == 0;
        let mut total = if is { 2 * r } else { 1 };
        total += if is { 10 * (r + 1) } else { 70 };
        total += if is && r % 2 == 0 { 50 * r } else { 900 };
        total += (!is || r <= 3) as u32;
        total += (is && r > 5) as u32;
        total += if !is || r < 2 { 2 } else { 0 };
        total += if is { r } else { 5 - v };
        total += if is && even { r * (v / 2) } else { 3 };
        total += match (is, even) {
            (true, false) => r,
            (false, true) => v / 2,
            _ => 4,
        };
        total += match (is, even) {
            (true, _) => r,
            (false, true) => v / 2,
            (false, false) => 6,
        };
        total += if v % 3 == 0 { v } else { 11 };
        total += if v > 8 { v - 8 } else { 13 };
        total + v + 1
    })
}

#[kernel]
fn results_kernel(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let got: Result<u32, u32> = quarter(x[i]);
    let mapped = got.map(|v| v + 1).map_err(|e| e + 2);
    let mut total = mapped.unwrap_or_else(|e| 3 * e);
    total += 10 * got.ok().unwrap_or(5) + got.err().map_or(0, |e| e * 2);
    total += got.is_ok_and(|v| v > 2) as u32 + 2 * got.is_err_and(|e| e > 100) as u32;
    let less = got.and_then(|v| if v > 2 { Ok(v - 2) } else { Err(v) });
    y[i] = total
        + less
            .or_else(|e| if e > 100 { Err(e) } else { Ok(9) })
            .unwrap_or(1);
}

fn results(device: &Device) -> Check {
    let run = |x: &Vector<u32>, y: &mut Vector<u32>, n| results_kernel(x, y).over(n).run_on(device);
    each("results", run, |x, i, _| {
        let v = x[i];
        if v % 4 == 0 {
            let q = v / 4;
            let last = if q > 2 { q - 2 } else { 9 };
            return q + 1 + 10 * q + (q > 2) as u32 + last;
        }
        let e = if v % 2 == 1 { v } else { v / 2 + 100 };
        3 * (e + 2) + 50 + 2 * e + if e > 100 { 3 } else { 9 }
    })
}

#[kernel]
fn equality_kernel(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let (v, was) = (x[i], y[i]);
    let pair = (v % 2, (v / 2) % 2);
    let ends = [v % 2, was % 2, 1];
    let mut total = (pair == (1, 1)) as u32 + 2 * (ends == [0, 0, 1]) as u32;
    total += 4 * (v.checked_sub(5) == was.checked_sub(5)) as u32;
    total += 8 * (v.checked_sub(5) != Some(1)) as u32 + 16 * (v.checked_sub(5) == None) as u32;
    y[i] = total + 32 * (3..9).contains(&v) as u32 + 64 * (0.5..=4.0).contains(&(v as f32)) as u32;
}

fn equality(device: &Device) -> Check {
    let run =
        |x: &Vector<u32>, y: &mut Vector<u32>, n| equality_kernel(x, y).over(n).run_on(device);
    each("equality", run, |x, i, y| {
        let v = x[i];
        let mut total = if v % 4 == 3 { 1 } else { 0 };
        total += if v % 2 == 0 && y % 2 == 0 { 2 } else { 0 };
        total += if v == y || v < 5 && y < 5 { 4 } else { 0 };
        total += if v == 6 { 0 } else { 8 };
        total += if v < 5 { 16 } else { 0 };
        total += if v >= 3 && v < 9 { 32 } else { 0 };
        total + if v >= 1 && v <= 4 { 64 } else { 0 }
    })
}

#[kernel]
fn closures_kernel(by: u32, x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let shift = |v: u32| v + by;
    let again = &shift;
    let area = |(w, h): (u32, u32)| w * h;
    y[i] = (|v: u32| v * v)(x[i]) + again(x[i]) + area((x[i], 3));
}

fn closures(device: &Device) -> Check {
    let run =
        |x: &Vector<u32>, y: &mut Vector<u32>, n| closures_kernel(4, x, y).over(n).run_on(device);
    each("closures", run, |x, i, _| x[i] * x[i] + x[i] + 4 + 3 * x[i])
}
