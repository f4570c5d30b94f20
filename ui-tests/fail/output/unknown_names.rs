//! Unknown names, in a format string and after it.
use sarek::prelude::*;

#[kernel]
fn behind(y: &mut [f32]) {
    println!("{}", nothing);
    y[global_idx_x()] = 1.0;
}

#[kernel]
fn inside(y: &mut [f32]) {
    println!("{nothing}");
    y[global_idx_x()] = 1.0;
}

fn main() {}
