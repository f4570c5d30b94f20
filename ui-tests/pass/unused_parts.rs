//! Unused or unreachable code is not an error in a kernel.
#![allow(unused)]

use sarek::prelude::*;

#[kernel]
fn unused(a: f32, x: &[f32], out: &mut [f32]) {
    let _ = x.len();
    let never;
    if false {
        never = 1.0f32;
        out[global_idx_x()] = never;
    }
    let tile = shared_array::<f32, 4>();
    let unread = [a; 3];
    return;
    out[global_idx_x()] = unread[0];
}

fn main() -> sarek::Result<()> {
    let x = Vector::from_vec(vec![1.0]);
    let mut out = Vector::zeros(1);
    unused(2.0, &x, &mut out).cover(1).run()?;
    assert_eq!(out.to_vec()?, [0.0]);
    Ok(())
}
