//! Differential tests: every device against the reference, which runs the kernel as rustc compiles it.
//!
//! The reference, [`sarek::testing::reference`], must pass the conformance suite. Then kernels that
//! mix many operations run on random inputs, on the reference and on every device. A backend that
//! this machine lacks, or a device without a needed capability, is left out with a line on stderr,
//! unless `SAREK_REQUIRE` names it.

use sarek::prelude::*;
use sarek::testing::{Random, Sample, reference};
use sarek::{Error, Result};
use sarek_conformance::Outcome;
use sarek_conformance::input::values;

const ROUNDS: u64 = 4;

fn required(backend: &str) -> bool {
    let list = std::env::var("SAREK_REQUIRE").unwrap_or_default();
    list.split(',').any(|name| name.trim() == backend)
}

/// The devices that are compared with the reference.
fn devices() -> Vec<Device> {
    let found = |backend: &&str| match Device::of(backend) {
        Ok(_) => true,
        Err(why) => {
            assert!(!required(backend), "`{backend}` is required: {why}");
            eprintln!("not compared: {why}");
            false
        }
    };
    let backends = ["native", "interpreter", "cuda", "opencl", "wgpu"];
    let backends: Vec<_> = backends.into_iter().filter(found).collect();
    let mut devices = Device::all();
    devices.retain(|device| backends.contains(&device.backend()));
    devices
}

/// Runs a launch with `len` results on the reference and on every device, and compares them by `near`.
fn agree<T: Sample>(
    what: &str,
    len: usize,
    near: impl Fn(T, T) -> bool,
    run: impl Fn(&Device, &mut Vector<T>) -> Result<()>,
) -> Result<()> {
    let outcome = |device: &Device| {
        let mut out = Vector::filled(len, T::SENTINEL);
        run(device, &mut out)?;
        out.to_vec()
    };
    let expected = outcome(&reference()?)?;
    assert!(
        expected.iter().any(|x| !x.same(T::SENTINEL)),
        "{what}: nothing"
    );
    for device in devices() {
        let label = format!("{what} on {} ({})", device.backend(), device.name());
        let got = match outcome(&device) {
            Err(Error::NotEligible { reasons, .. }) if !required(device.backend()) => {
                eprintln!("not compared: {label}: {}", reasons.join("; "));
                continue;
            }
            got => got?,
        };
        for (i, (&got, &expected)) in got.iter().zip(&expected).enumerate() {
            assert!(
                near(got, expected),
                "{label}: [{i}] is {got:?}, not {expected:?}"
            );
        }
    }
    Ok(())
}

/// The suite's expected results are those of the source as rustc compiles it.
#[test]
fn the_suite_agrees_with_rustc() -> Result<()> {
    let device = reference()?;
    let mut passed = 0;
    for case in sarek_conformance::cases() {
        match (case.run(&device), case.name.contains("faults")) {
            // On the reference, a panic of the user's function names no place.
            (Outcome::Failed(_), true) => {}
            (Outcome::Passed, _) => passed += 1,
            (outcome, _) => panic!("{}: {outcome:?}", case.name),
        }
    }
    assert!(passed > 100, "{passed} cases passed");
    Ok(())
}

#[kernel]
fn integers(a: &[i32], b: &[u32], out: &mut [i32]) {
    let i = global_idx_x();
    let x = a[i];
    let y = b[i];
    let mut h = x.wrapping_mul(31) ^ y as i32;
    h = h.wrapping_add(x >> (y & 31)) ^ (y >> (x as u32 & 31)) as i32;
    h ^= x.wrapping_shl(y) | (y.wrapping_shr(x as u32) as i32);
    if y != 0 && x as u32 % y > y / 3 || x < 0 && x % 7 == -3 {
        h = h.wrapping_sub((x / 5).wrapping_mul(x % 11));
    }
    h = h.rotate_left(y & 31) ^ (x.saturating_add(h) & x.saturating_sub(h));
    let wide = x as i64 * y as i64;
    h ^= (wide >> 17) as i32 ^ (wide as u64 >> 40) as i32 ^ (x as u32 as u64 >> 3) as i32;
    out[i] = h ^ (x.count_ones() ^ y.leading_zeros()) as i32;
}

#[test]
fn integer_operations() -> Result<()> {
    for seed in 0..ROUNDS {
        let a = values::<i32>(seed, 500);
        let mut b = values::<u32>(seed + 100, 500);
        b.resize(a.len(), 5);
        let (va, vb) = (Vector::from_slice(&a), Vector::from_slice(&b));
        agree("integers", a.len(), Sample::same, |device, out| {
            integers(&va, &vb, out).over(a.len()).run_on(device)
        })?;
    }
    Ok(())
}

#[kernel]
fn conversions(a: &[f32], b: &[i32], out: &mut [u32]) {
    let i = global_idx_x();
    let x = a[i];
    let k = b[i];
    out[12 * i] = x as i32 as u32;
    out[12 * i + 1] = x as u32;
    out[12 * i + 2] = (x as i64 >> 20) as u32;
    out[12 * i + 3] = (x as u64 >> 33) as u32;
    out[12 * i + 4] = (k as f32).to_bits();
    out[12 * i + 5] = (k as u32 as f32).to_bits();
    out[12 * i + 6] = (k as u32 as u64 >> 1) as u32;
    out[12 * i + 7] = (k as i64 >> 1) as u32;
    out[12 * i + 8] = (k as i64 as f32) as i32 as u32;
    out[12 * i + 9] = (x < k as f32) as u32;
    // Mesa 22.3 got this wrong.
    out[12 * i + 10] = ((k as i64) < 0) as u32;
    out[12 * i + 11] = (k as i64 >= x as i64) as u32;
}

#[test]
fn casts() -> Result<()> {
    for seed in 0..ROUNDS {
        let a = values::<f32>(seed, 500);
        let mut b = values::<i32>(seed + 7, 500);
        b.resize(a.len(), -9);
        let (va, vb) = (Vector::from_slice(&a), Vector::from_slice(&b));
        agree("conversions", 12 * a.len(), Sample::same, |device, out| {
            conversions(&va, &vb, out).over(a.len()).run_on(device)
        })?;
    }
    Ok(())
}

#[kernel]
fn walk(limit: u32, a: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let mut at = a[i] % 4096;
    let mut sum = 0u32;
    let mut end = at % 7;
    'outer: for round in 0..limit {
        for k in (0..=end).rev() {
            // The range is already evaluated.
            end = (end + k) % 9;
            at = if at % 2 == 0 { at / 2 } else { 3 * at + 1 };
            if at == 1 && k > 1 {
                break 'outer;
            }
            if at % 5 == 3 {
                continue 'outer;
            }
            if at % 11 == 7 {
                break;
            }
            sum = sum.wrapping_mul(3) + k;
            sum %= 1_000_003;
        }
        let found = 'search: {
            let mut d = 2;
            while d * d <= at % 1000 {
                if at % 1000 % d == 0 {
                    break 'search d;
                }
                d += 1;
            }
            round
        };
        sum += found;
        if sum > 900_000 && round > 3 {
            out[i] = sum;
            return;
        }
    }
    out[i] = sum ^ at;
}

#[test]
fn control_flow() -> Result<()> {
    for seed in 0..ROUNDS {
        let a = Random::new(seed).values::<u32>(700);
        let va = Vector::from_slice(&a);
        agree("walk", a.len(), Sample::same, |device, out| {
            walk(20 + seed as u32, &va, out)
                .over(a.len())
                .run_on(device)
        })?;
    }
    Ok(())
}

#[kernel]
fn gather(width: usize, height: usize, at: &[u32], from: &[i64], out: &mut [i64]) {
    let col = global_idx_x();
    let row = global_idx_y();
    if col >= width || row >= height {
        return;
    }
    let here = row * width + col;
    let mut sum = from[here];
    for k in 0..at.len() / 2 {
        let index = (here + at[2 * k] as usize) % from.len();
        sum = sum.wrapping_mul(5) ^ from[index] >> (at[2 * k + 1] % 64);
    }
    out[here] = sum;
}

#[test]
fn indices() -> Result<()> {
    for (seed, (w, h)) in [(1, 1), (33, 5), (64, 17)].into_iter().enumerate() {
        let mut random = Random::new(seed as u64);
        let at = Vector::from_vec(random.values::<u32>(12));
        let from = Vector::from_vec(random.values::<i64>(w * h));
        agree("gather", w * h, Sample::same, |device, out| {
            gather(w, h, &at, &from, out).over((w, h)).run_on(device)
        })?;
        agree("gather in blocks", w * h, Sample::same, |device, out| {
            let grid = (w.div_ceil(8) + 1, h.div_ceil(4));
            gather(w, h, &at, &from, out)
                .grid(grid)
                .block((8, 4))
                .run_on(device)
        })?;
    }
    Ok(())
}

#[kernel]
fn floats(a: &[f32], b: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    let x = a[i];
    let y = b[i];
    let mut value = 0.75 * x + y;
    value = value * x - 0.5 * y;
    let lower = x.min(y).floor();
    let upper = x.max(y).ceil();
    let whole = if x > y { x.trunc() } else { y.round() };
    value += (lower * 0.25 + upper).clamp(-3.0, 3.0) - whole;
    for k in 0..4 {
        value = value * 0.5 + (k as f32 - x).abs() * y.signum();
    }
    out[i] = value;
}

/// Bound of the error: values stay below 64, and there are fewer than 40 roundings, contracted or not.
const FLOAT_ERROR: f32 = 40.0 * 64.0 * f32::EPSILON;

#[test]
fn float_operations() -> Result<()> {
    for seed in 0..ROUNDS {
        let mut random = Random::new(seed);
        let a = Vector::from_vec(random.floats(600, -4.0, 4.0));
        let b = Vector::from_vec(random.floats(600, -4.0, 4.0));
        let near = |got: f32, expected: f32| (got - expected).abs() <= FLOAT_ERROR;
        agree("floats", 600, near, |device, out| {
            floats(&a, &b, out).over(600).run_on(device)
        })?;
    }
    Ok(())
}

#[kernel]
fn lookup(at: &[u32], table: &[u32], divisors: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    let value = table[at[i] as usize] as i32;
    out[i] = if value > 10 {
        value / divisors[i]
    } else {
        value
    };
}

/// A launch faults exactly if the function panics for one of its threads.
#[test]
fn faults() -> Result<()> {
    let (mut failed, mut went_well) = (0, 0);
    for seed in 0..24 {
        let mut random = Random::new(seed);
        let n = 40;
        let table = Vector::from_vec((0..n as u32).collect());
        let mut at: Vec<u32> = (0..n).map(|_| random.below(n) as u32).collect();
        let mut divisors = vec![3; n as usize];
        let bad = random.below(n) as usize;
        match seed % 3 {
            0 => at[bad] = (n + random.below(3)) as u32 - 1,
            1 => divisors[bad] = 0,
            _ => {}
        }
        let (at, divisors) = (Vector::from_vec(at), Vector::from_vec(divisors));
        let outcome = |device: &Device| {
            let mut out = Vector::filled(n as usize, i32::SENTINEL);
            let launched = lookup(&at, &table, &divisors, &mut out)
                .over(n as usize)
                .run_on(device);
            match launched.and_then(|()| out.to_vec()) {
                Ok(values) => Ok(Some(values)),
                Err(Error::Fault(_)) => Ok(None),
                Err(error) => Err(error),
            }
        };
        let expected = outcome(&reference()?)?;
        *if expected.is_some() {
            &mut went_well
        } else {
            &mut failed
        } += 1;
        for device in devices() {
            assert_eq!(
                outcome(&device)?,
                expected,
                "{seed} on {}",
                device.backend()
            );
        }
    }
    assert!(
        failed > 3 && went_well > 3,
        "{failed} launches failed, {went_well} did not"
    );
    Ok(())
}
