//! Items of the user whose names an expansion might use, too.

use crate::Case;
use crate::check::{Check, expect, sentinel_filled};
use sarek::prelude::*;

pub const CASES: &[Case] = &[Case::new("names/of_items", &[], items)];

const CHECK: bool = true;
const FULL: u16 = 70;
const LINKED: u32 = 500;
const PACKED: f32 = 6000.0;

/// A module whose name an expansion might use.
mod direct {
    use sarek::prelude::*;

    pub const STEP: u32 = 3;

    #[device]
    pub fn same(x: u32) -> u32 {
        x
    }
}

/// A module named like `sarek::ir`.
mod ir {
    use sarek::prelude::*;

    pub const WIDTH: u32 = 9;

    #[derive(Clone, Copy, Default, KernelType)]
    #[repr(C)]
    pub struct Packed {
        pub x: u32,
    }
}

#[device]
fn audit(x: u32) -> u32 {
    x + FULL as u32 + CHECK as u32
}

#[device]
fn lanes<T: Num>(x: T) -> T {
    x + T::from_u32(audit(x.to_u32()))
}

#[kernel]
fn plain(x: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    let mut sum = x[i];
    for k in 0..x.len() {
        sum += x[k] * CHECK as u32;
    }
    if CHECK && i < out.len() {
        let packed = ir::Packed { x: ir::WIDTH };
        sum += direct::STEP + direct::same(packed.x) + LINKED + PACKED as u32;
        out[i] = sum + audit(i as u32) + lanes(FULL as u32);
    }
}

#[kernel(block = 32)]
fn generic<T: Num, const CHECK: u32, const FULL: usize>(x: &[T], out: &mut [T]) {
    let tile = shared_array::<T, FULL>();
    let t = thread_idx_x();
    tile[t] = x[global_idx_x()];
    barrier();
    let other = tile[(t + 1) % FULL];
    out[global_idx_x()] = lanes(other) + T::from_u32(CHECK + ir::WIDTH);
}

fn items(device: &Device) -> Check {
    let x: Vec<u32> = (0..96).collect();
    let given = Vector::from_slice(&x);
    let sum: u32 = x.iter().sum();
    let audit = |x: u32| x + 71;
    let lanes = |x: u32| x + audit(x);

    let mut out = sentinel_filled(x.len());
    plain(&given, &mut out).over(x.len()).run_on(device)?;
    let expected = |x: &u32| x + sum + 3 + 9 + 500 + 6000 + audit(*x) + lanes(70);
    expect("plain", &out, &x.iter().map(expected).collect::<Vec<u32>>())?;

    let mut out = sentinel_filled(x.len());
    generic::<u32, 8, 32>(&given, &mut out)
        .grid(3)
        .run_on(device)?;
    let expected = |x: &u32| lanes(x / 32 * 32 + (x + 1) % 32) + 8 + 9;
    expect(
        "generic",
        &out,
        &x.iter().map(expected).collect::<Vec<u32>>(),
    )
}
