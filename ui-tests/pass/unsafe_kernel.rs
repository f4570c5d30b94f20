//! An `unsafe fn` kernel: there is no proof, and the call is in an `unsafe` block.
#![deny(warnings, unsafe_op_in_unsafe_fn)]

use sarek::prelude::*;

/// # Safety
/// The positions differ from each other.
#[kernel]
pub unsafe fn scatter(at: &[u32], x: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    out[at[i] as usize] = x[i];
}

fn main() -> sarek::Result<()> {
    let at = Vector::from_vec(vec![2, 0, 1]);
    let x = Vector::from_vec(vec![1.0, 2.0, 3.0]);
    let mut out = Vector::zeros(3);
    // SAFETY: the positions 2, 0 and 1 differ.
    unsafe { scatter(&at, &x, &mut out) }.over(3).run()?;
    assert_eq!(out.to_vec()?, [2.0, 3.0, 1.0]);
    Ok(())
}
