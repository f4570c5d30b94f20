//! An enum with fields is not a number, which is reported at the cast, also for a function's result.
use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C, u32)]
enum Way {
    Up(f32),
    Down,
}

#[device]
fn way(n: u32) -> Way {
    if n > 0 { Way::Up(1.0) } else { Way::Down }
}

#[kernel]
fn of_a_call(y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = way(y[i]) as u32;
}

#[kernel]
fn of_an_element(x: &[Way], y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = x[i] as u32;
}

fn main() {}
