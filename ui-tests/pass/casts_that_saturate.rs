//! Casts that seem to overflow: `as` saturates, truncates and extends the sign as in Rust.

use sarek::prelude::*;

#[kernel]
fn cast(x: &[f32], small: &mut [u8], signed: &mut [i32], chained: &mut [u32]) {
    let i = global_idx_x();
    small[i] = x[i] as u8;
    signed[i] = x[i] as i32;
    chained[i] = x[i] as i32 as u8 as i8 as u32;
}

fn main() -> sarek::Result<()> {
    let values = [-1.0, 300.0, 1e30, f32::NAN];
    let x = Vector::from_vec(values.to_vec());
    let (mut small, mut signed, mut chained) = (Vector::zeros(4), Vector::zeros(4), Vector::zeros(4));
    cast(&x, &mut small, &mut signed, &mut chained).over(4).run()?;
    assert_eq!(small.to_vec()?, values.map(|v| v as u8));
    assert_eq!(signed.to_vec()?, values.map(|v| v as i32));
    assert_eq!(chained.to_vec()?, values.map(|v| v as i32 as u8 as i8 as u32));
    Ok(())
}
