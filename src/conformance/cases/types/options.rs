use super::{COUNTS, same};
use crate::conformance::Case;
use crate::conformance::check::Check;
use crate::conformance::input::Random;
use crate::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("types/options/search", &[], search),
    Case::new("types/options/results", &[], results),
    Case::new("types/options/countdown", &[], countdown),
];

#[kernel(crate = crate)]
fn find(haystack: &[u32], needles: &[u32], out: &mut [i32]) {
    let i = global_idx_x();
    if i < needles.len() && i < out.len() {
        let mut found = None;
        for k in 0..haystack.len() {
            if haystack[k] == needles[i] && matches!(found, None) {
                found = Some(k);
            }
        }
        out[i] = if let Some(k) = found { k as i32 } else { -1 };
    }
}

fn search(device: &Device) -> Check {
    for n in COUNTS {
        let mut random = Random::new(n as u64);
        let haystack: Vec<u32> = (0..23).map(|_| random.below(30) as u32).collect();
        let needles: Vec<u32> = (0..n).map(|_| random.below(30) as u32).collect();
        let mut out = Vector::zeros(n);
        find(
            &Vector::from_slice(&haystack),
            &Vector::from_slice(&needles),
            &mut out,
        )
        .over(n)
        .run_on(device)?;
        let place = |needle: &u32| haystack.iter().position(|h| h == needle);
        let due: Vec<i32> = needles
            .iter()
            .map(|needle| place(needle).map_or(-1, |k| k as i32))
            .collect();
        same("places", &out, &due)?;
    }
    Ok(())
}

#[kernel(crate = crate)]
fn divide(a: &[i32], b: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    if i < a.len() && i < b.len() && i < out.len() {
        let quotient: Result<i32, (i32, bool)> = if b[i] == 0 {
            Err((a[i], a[i] > 0))
        } else {
            Ok(a[i] / b[i])
        };
        out[i] = match quotient {
            Ok(q) => q,
            Err((a, true)) => 1000 + a,
            Err((_, false)) => -1000,
        };
        let Ok(q) = quotient else {
            return;
        };
        if let Some(r) = (if q > 3 { Some(q - 3) } else { None })
            && r % 2 == 0
            && let Ok(s) = quotient
        {
            out[i] += s;
        } else {
            out[i] -= 1;
        }
    }
}

fn divided(a: i32, b: i32) -> i32 {
    if b == 0 {
        return if a > 0 { 1000 + a } else { -1000 };
    }
    let q = a / b;
    match q > 3 && (q - 3) % 2 == 0 {
        true => q + q,
        false => q - 1,
    }
}

fn results(device: &Device) -> Check {
    for n in COUNTS {
        let mut random = Random::new(n as u64);
        let mut numbers = |spread: u64| -> Vec<i32> {
            let half = spread as i32 / 2;
            (0..n).map(|_| random.below(spread) as i32 - half).collect()
        };
        let (a, b) = (numbers(60), numbers(6));
        let mut out = Vector::zeros(n);
        divide(&Vector::from_slice(&a), &Vector::from_slice(&b), &mut out)
            .over(n)
            .run_on(device)?;
        let due: Vec<i32> = a.iter().zip(&b).map(|(a, b)| divided(*a, *b)).collect();
        same("quotients", &out, &due)?;
    }
    Ok(())
}

#[kernel(crate = crate)]
fn collatz(start: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    if i < start.len() && i < out.len() {
        let mut state = Some((start[i] + 1, 0));
        let mut steps = 0;
        while let Some((n, count)) = state {
            steps = count;
            state = match n {
                1 => None,
                n if n % 2 == 0 => Some((n / 2, count + 1)),
                _ if count > 200 => None,
                n => Some((3 * n + 1, count + 1)),
            };
        }
        out[i] = steps;
    }
}

fn countdown(device: &Device) -> Check {
    for n in COUNTS {
        let start: Vec<u32> = (0..n as u32).collect();
        let mut out = Vector::zeros(n);
        collatz(&Vector::from_slice(&start), &mut out)
            .over(n)
            .run_on(device)?;
        let count = |start: &u32| {
            let (mut n, mut count) = (start + 1, 0);
            while n != 1 && (n % 2 == 0 || count <= 200) {
                n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
                count += 1;
            }
            count
        };
        let due: Vec<u32> = start.iter().map(count).collect();
        same("steps", &out, &due)?;
    }
    Ok(())
}
