//! One name for several variables of several types, also in the scope of the variable that it shadows.
#![deny(warnings)]

use sarek::prelude::*;

#[kernel]
fn rebound(x: &[u32], out: &mut [f32]) {
    let i = global_idx_x();
    let v = x[i];
    let v = v as f32 + 0.5;
    let v = {
        let v = v > 2.0;
        if v { 1 } else { 2 }
    };
    let f = |v: u32| v + 1;
    let x = f(v);
    for i in 0..x {
        let x = i as f32;
        out[global_idx_x()] += x;
    }
    let out_ = out.len();
    if out_ == 0 {
        return;
    }
}

fn main() -> sarek::Result<()> {
    let x = Vector::from_vec(vec![1, 4]);
    let mut out = Vector::zeros(2);
    rebound(&x, &mut out).over(2).run()?;
    assert_eq!(out.to_vec()?, [3.0, 1.0]);
    Ok(())
}
