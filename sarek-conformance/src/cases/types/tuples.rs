use super::{COUNTS, same};
use crate::Case;
use crate::check::Check;
use crate::input::Random;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("types/tuples/swap", &[], swap),
    Case::new("types/tuples/nested", &[], nested),
];

#[kernel]
fn sorted(a: &mut [u32], b: &mut [u32]) {
    let i = global_idx_x();
    if i < a.len() && i < b.len() {
        let (mut x, mut y) = (a[i], b[i]);
        if x > y {
            (x, y) = (y, x);
        }
        (a[i], b[i]) = (x, y);
    }
}

fn swap(device: &Device) -> Check {
    for n in COUNTS {
        let mut random = Random::new(n as u64);
        let mut numbers = || -> Vec<u32> { (0..n).map(|_| random.below(50) as u32).collect() };
        let (left, right) = (numbers(), numbers());
        let (mut a, mut b) = (Vector::from_slice(&left), Vector::from_slice(&right));
        sorted(&mut a, &mut b).over(n).run_on(device)?;
        let pairs = left.iter().zip(&right);
        let expected: Vec<u32> = pairs.clone().map(|(a, b)| *a.min(b)).collect();
        same("smaller", &a, &expected)?;
        let expected: Vec<u32> = pairs.map(|(a, b)| *a.max(b)).collect();
        same("larger", &b, &expected)?;
    }
    Ok(())
}

#[kernel]
fn statistics(x: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    if i < out.len() {
        let mut state = ((i32::MAX, i32::MIN), 0);
        for k in 0..x.len() {
            let ((lo, hi), sum) = state;
            let v = x[k].wrapping_add(i as i32);
            let bounds = if v % 2 == 0 {
                (lo.min(v), hi)
            } else {
                (lo, hi.max(v))
            };
            state = (bounds, sum + v);
        }
        state.0.1 = state.0.1.max(state.1);
        let pair = {
            let (bounds, _) = state;
            (bounds.0, bounds.1)
        };
        out[i] = pair.0 ^ pair.1 ^ state.1;
    }
}

fn nested(device: &Device) -> Check {
    for n in COUNTS {
        let mut random = Random::new(n as u64);
        let x: Vec<i32> = (0..17).map(|_| random.below(1000) as i32 - 500).collect();
        let mut out = Vector::zeros(n);
        statistics(&Vector::from_slice(&x), &mut out)
            .over(n)
            .run_on(device)?;
        let value = |i: usize| {
            let (mut lo, mut hi, mut sum) = (i32::MAX, i32::MIN, 0);
            for v in x.iter().map(|v| v + i as i32) {
                match v % 2 {
                    0 => lo = lo.min(v),
                    _ => hi = hi.max(v),
                }
                sum += v;
            }
            lo ^ hi.max(sum) ^ sum
        };
        let expected: Vec<i32> = (0..n).map(value).collect();
        same("out", &out, &expected)?;
    }
    Ok(())
}
