//! Coherence: a read of a vector sees the last write, whichever device or host made it.

use crate::Case;
use crate::check::{Check, ensure, expect, sentinel_filled};
use crate::input::Sample;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("coherence/host", &[], host),
    Case::new("coherence/two_devices", &[], two_devices),
    Case::new("coherence/partial_writes", &[], partial),
    Case::new("coherence/drop", &[], lifetimes),
];

#[kernel]
fn affine(scale: i32, offset: i32, v: &mut [i32]) {
    let i = global_idx_x();
    v[i] = v[i] * scale + offset;
}

#[kernel]
fn copy_evens(from: &[i32], to: &mut [i32]) {
    let i = global_idx_x();
    if i % 2 == 0 {
        to[i] = from[i];
    }
}

/// The host and the device write in turn.
fn host(device: &Device) -> Check {
    let n = 100;
    let mut v = sentinel_filled(n);
    for k in 0..n {
        v.set(k, k as i32)?;
    }
    affine(2, 1, &mut v).over(n).run_on(device)?;
    ensure(v.get(10)? == 21, || format!("get: {:?}", v.get(10)))?;
    v.set(10, -5)?;
    affine(3, 0, &mut v).over(n).run_on(device)?;
    let mut expected: Vec<i32> = (0..n as i32).map(|k| 3 * (2 * k + 1)).collect();
    expected[10] = -15;
    expect("set between launches", &v, &expected)?;

    ensure(v.as_slice()?[..n] == expected[..], || "as_slice".into())?;
    v.as_mut_slice()?[0] = 1000;
    expected[0] = 1000;
    affine(1, 1, &mut v).over(n).run_on(device)?;
    let expected: Vec<i32> = expected.iter().map(|x| x + 1).collect();
    expect("as_mut_slice between launches", &v, &expected)?;

    v.fill(i32::SENTINEL)?;
    affine(0, 4, &mut v).over(n).run_on(device)?;
    expect("fill between launches", &v, &vec![4; n])
}

/// This device and every other one write in turn.
fn two_devices(device: &Device) -> Check {
    let n = 257;
    let mut v = sentinel_filled(n);
    for k in 0..n {
        v.set(k, k as i32)?;
    }
    let mut expected: Vec<i32> = (0..n as i32).collect();
    for other in Device::all() {
        affine(3, 1, &mut v).over(n).run_on(device)?;
        affine(-1, 7, &mut v).over(n).run_on(&other)?;
        affine(1, 2, &mut v).over(n).run_on(device)?;
        expected
            .iter_mut()
            .for_each(|x| *x = (7 - (3 * *x + 1) + 2) % 10_000);
        affine_remainder(10_000, &mut v).over(n).run_on(&other)?;
        // A read on one device leaves the copies of the others valid.
        let mut copy = sentinel_filled(n);
        copy_evens(&v, &mut copy).over(n).run_on(device)?;
        let evens: Vec<i32> = expected
            .iter()
            .enumerate()
            .map(|(k, &x)| if k % 2 == 0 { x } else { i32::SENTINEL })
            .collect();
        expect("copy", &copy, &evens)?;
    }
    device.sync()?;
    expect("after all devices", &v, &expected)
}

#[kernel]
fn affine_remainder(modulus: i32, v: &mut [i32]) {
    let i = global_idx_x();
    v[i] %= modulus;
}

/// A launch that writes a part of a vector keeps the rest, which the host wrote.
fn partial(device: &Device) -> Check {
    let n = 64;
    let mut to = sentinel_filled(n);
    let from = Vector::from_vec((0..n as i32).collect());
    copy_evens(&from, &mut to).over(n).run_on(device)?;
    to.set(1, 11)?;
    copy_evens(&from, &mut to).over(n / 2).run_on(device)?;
    let mut expected: Vec<i32> = (0..n as i32)
        .map(|k| if k % 2 == 0 { k } else { i32::SENTINEL })
        .collect();
    expected[1] = 11;
    expect("partial", &to, &expected)
}

/// Memory is freed only after the work that uses it, and is used again without its old contents.
fn lifetimes(device: &Device) -> Check {
    for round in 0..20 {
        let n = 1000 + round;
        let mut v = Vector::<i32>::zeros(n);
        affine(5, round as i32, &mut v).over(n).run_on(device)?;
        let mut w = sentinel_filled(n);
        copy_evens(&v, &mut w).over(n).run_on(device)?;
        drop(v);
        let expected: Vec<i32> = (0..n)
            .map(|k| {
                if k % 2 == 0 {
                    round as i32
                } else {
                    i32::SENTINEL
                }
            })
            .collect();
        expect(&format!("round {round}"), &w, &expected)?;
    }
    Ok(())
}
