//! Kernels that copy elements of any type.

use std::fmt::Debug;

use crate::Case;
use crate::check::{Check, ensure};
use sarek::Element;
use sarek::prelude::*;

pub const CASES: &[Case] = &[Case::new("generics/opaque", &[], opaque)];

#[derive(Clone, Copy, Debug, PartialEq, KernelType)]
#[repr(C)]
struct Tagged {
    tag: u32,
    at: [f32; 2],
}

#[kernel]
unsafe fn transpose<T: Element, const COLUMNS: usize>(x: &[T], y: &mut [T]) {
    let (i, rows) = (global_idx_x(), x.len() / COLUMNS);
    if i < x.len() {
        let v = x[i];
        y[i % COLUMNS * rows + i / COLUMNS] = v;
    }
}

fn check<T: Element + Debug + PartialEq>(device: &Device, of: fn(u32) -> T) -> Check {
    let x: Vec<T> = (0..60).map(of).collect();
    let (input, mut y) = (Vector::from_slice(&x), Vector::from_slice(&x));
    // SAFETY: no two threads write the same element.
    unsafe { transpose::<T, 6>(&input, &mut y) }
        .over(60)
        .run_on(device)?;
    let expected: Vec<T> = (0..60).map(|i| of(i % 10 * 6 + i / 10)).collect();
    ensure(y.to_vec()? == expected, || {
        format!("{:?} instead of {expected:?}", y.to_vec())
    })?;
    // SAFETY: no two threads write the same element.
    unsafe { transpose::<T, 4>(&input, &mut y) }
        .over(60)
        .run_on(device)?;
    let expected: Vec<T> = (0..60).map(|i| of(i % 15 * 4 + i / 15)).collect();
    ensure(y.to_vec()? == expected, || {
        format!("{:?} instead of {expected:?}", y.to_vec())
    })
}

fn opaque(device: &Device) -> Check {
    check(device, |i| i * 7)?;
    check(device, |i| i as f32 * 0.5)?;
    check(device, |i| Tagged {
        tag: i,
        at: [i as f32, -1.0],
    })?;
    check(device, |i| [i as i32, -3, 5])
}
