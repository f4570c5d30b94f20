use super::{COUNTS, same};
use crate::Case;
use crate::cases::faults::fault_of;
use crate::check::{Check, ensure, sentinel_filled};
use crate::input::Random;
use sarek::FaultKind;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("types/options/search", &[], search),
    Case::new("types/options/results", &[], results),
    Case::new("types/options/countdown", &[], countdown),
    Case::new("types/options/methods", &[], methods),
    Case::new("types/options/faults", &[], unwrap),
    Case::new("types/options/of_functions", &[], of_functions),
];

#[kernel]
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
        let expected: Vec<i32> = needles
            .iter()
            .map(|needle| place(needle).map_or(-1, |k| k as i32))
            .collect();
        same("places", &out, &expected)?;
    }
    Ok(())
}

#[kernel]
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
        let expected: Vec<i32> = a.iter().zip(&b).map(|(a, b)| divided(*a, *b)).collect();
        same("quotients", &out, &expected)?;
    }
    Ok(())
}

#[kernel]
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
        let expected: Vec<u32> = start.iter().map(count).collect();
        same("steps", &out, &expected)?;
    }
    Ok(())
}

#[kernel]
fn methods_kernel(a: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    if i < a.len() && i < out.len() {
        let (n, mut calls) = (a[i], 0);
        let even = if n % 2 == 0 { Some(n / 2) } else { None };
        let small: Result<[i32; 2], bool> = match n {
            -5..=5 => Ok([n, 1]),
            _ => Err(n > 0),
        };
        let [first, one] = small.unwrap_or({
            calls += 1;
            [7, 3]
        });
        let mut sum = even.unwrap_or(-1).wrapping_mul(3) + calls;
        if even.is_some() && small.is_err() {
            sum += 10;
        }
        if even.is_none() || small.is_ok() {
            sum += 100 * one;
        }
        if even.is_some() {
            sum ^= even.unwrap();
        }
        out[i] = sum ^ first;
    }
}

fn methods(device: &Device) -> Check {
    for n in COUNTS {
        let a: Vec<i32> = (0..n as i32).map(|i| i * 3 - 40).collect();
        let mut out = Vector::zeros(n);
        methods_kernel(&Vector::from_slice(&a), &mut out)
            .over(n)
            .run_on(device)?;
        let expected = |n: &i32| {
            let is_even = n % 2 == 0;
            let is_small = (-5..=5).contains(n);
            let (first, one) = if is_small { (*n, 1) } else { (7, 3) };
            let mut sum = 1 + if is_even { n / 2 * 3 } else { -3 };
            if is_even && !is_small {
                sum += 10;
            }
            if !is_even || is_small {
                sum += 100 * one;
            }
            (if is_even { sum ^ (n / 2) } else { sum }) ^ first
        };
        same("out", &out, &a.iter().map(expected).collect::<Vec<i32>>())?;
    }
    Ok(())
}

#[kernel]
fn unwrap_kernel(a: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    out[i] = a[i].checked_add(1).unwrap();
}

fn unwrap(device: &Device) -> Check {
    let mut out = sentinel_filled(2);
    let run = |a: &[i32], out: &mut Vector<i32>| {
        unwrap_kernel(&Vector::from_slice(a), out)
            .over(2)
            .run_on(device)
    };
    run(&[1, -9], &mut out)?;
    ensure(out.to_vec()?[..2] == [2, -8], || "no sums".into())?;
    let result = run(&[1, i32::MAX], &mut out);
    let fault = fault_of(result, &mut out)?;
    let message = "called `Option::unwrap()` on a `None` value";
    let is_expected = match &fault.kind {
        // rustc's own `unwrap` panics with this message.
        FaultKind::Assert(found) | FaultKind::Panic(found) => found == message,
        _ => false,
    };
    ensure(is_expected && fault.thread[0] == 1, || {
        format!("{:?}", fault.kind)
    })
}

#[device]
fn even_half(a: u32) -> Option<u32> {
    if a % 2 == 0 { Some(a / 2) } else { None }
}

#[device]
fn below_ten(a: u32) -> Result<u32, bool> {
    if a < 10 { Ok(a) } else { Err(a > 20) }
}

/// Calls methods on results of functions, whose types only rustc knows.
#[kernel]
fn of_functions_kernel(out: &mut [u32]) {
    let i = global_idx_x();
    if i < out.len() {
        let half = even_half(i as u32);
        let few = below_ten(i as u32);
        let mut sum = 0;
        if half.is_some() {
            sum += half.unwrap() + 100;
        }
        if half.is_none() && few.is_ok() {
            sum += 1000;
        }
        sum += few.is_err() as u32 + even_half(sum).is_some() as u32;
        out[i] = sum;
    }
}

fn of_functions(device: &Device) -> Check {
    let expected = |i: u32| {
        let half = i.is_multiple_of(2).then_some(i / 2);
        let mut sum = half.map_or(0, |half| half + 100);
        if half.is_none() && i < 10 {
            sum += 1000;
        }
        sum += u32::from(i >= 10);
        sum + u32::from((sum - u32::from(i >= 10)).is_multiple_of(2))
    };
    for n in COUNTS {
        let mut out = Vector::zeros(n);
        of_functions_kernel(&mut out).over(n).run_on(device)?;
        let expected: Vec<u32> = (0..n as u32).map(expected).collect();
        same("halves", &out, &expected)?;
    }
    Ok(())
}
