//! A kernel inside a generic function does not see the function's parameters.
#![deny(warnings)]

use sarek::prelude::*;

fn filled<T: Into<f32>, const N: usize>(value: T) -> sarek::Result<[f32; N]> {
    #[kernel]
    fn fill(value: f32, out: &mut [f32]) {
        let i = global_idx_x();
        out[i] = value;
    }

    let mut out = Vector::zeros(N);
    fill(value.into(), &mut out).over(N).run()?;
    let mut array = [0.0; N];
    array.copy_from_slice(out.as_slice()?);
    Ok(array)
}

fn main() -> sarek::Result<()> {
    assert_eq!(filled::<u8, 2>(3)?, [3.0, 3.0]);
    Ok(())
}
