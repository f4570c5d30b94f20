//! Names that nothing has, behind a format and in it.
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
