//! Keywords and builtins of the targets are ordinary names, and raw identifiers work.
#![deny(warnings)]

use sarek::prelude::*;

#[kernel]
fn global(float: f32, r#fn: &[f32], kernel: &mut [f32]) {
    let int = global_idx_x();
    let half = float * 0.5;
    let double = r#fn[int] + half;
    let r#type = double * 2.0;
    let var = r#type - 1.0;
    let workgroup = var + 1.0;
    let block_idx = workgroup;
    kernel[int] = block_idx;
}

#[kernel]
fn main_(main: &mut [f32]) {
    let array = global_idx_x();
    main[array] = 1.0;
}

#[kernel]
fn r#match(switch: &mut [f32]) {
    let while_ = global_idx_x();
    switch[while_] = 1.0;
}

fn main() -> sarek::Result<()> {
    let x = Vector::from_vec(vec![1.0, 2.0]);
    let mut y = Vector::zeros(2);
    global(4.0, &x, &mut y).over(2).run()?;
    assert_eq!(y.to_vec()?, [6.0, 8.0]);
    main_(&mut y).over(1).run()?;
    r#match(&mut y).over(2).run()?;
    assert_eq!(y.to_vec()?, [1.0, 1.0]);
    Ok(())
}
