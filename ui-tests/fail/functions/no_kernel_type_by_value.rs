//! Parameters of types that kernels do not support, alone and with arguments.

use sarek::prelude::*;

#[device]
fn first(values: Vec<f32>) -> f32 {
    1.0
}

#[device]
fn second(values: (f32, [Box<u32>; 2])) -> f32 {
    1.0
}

fn main() {}
