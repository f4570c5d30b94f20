use sarek::prelude::*;

#[device]
fn half(x: u32) -> Option<u32> {
    if x % 2 == 0 { Some(x / 2) } else { None }
}

#[device]
fn zero() -> u32 {
    0
}

#[kernel]
fn by_a_function(y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = half(y[i]).unwrap_or_else(zero);
}

#[kernel]
fn of_a_character(y: &mut [f32]) {
    y[global_idx_x()] = 'a' as f32;
}

fn main() {}
