//! Views in every place that a signature has for them.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, clippy::all)]

use sarek::prelude::*;

/// Plain and generic elements.
#[kernel]
pub fn scale<T: Float>(by: T, x: View2<T>, mut y: ViewMut2<'_, T>, z: sarek::View3<f32>) {
    let (row, col) = (global_idx_y(), global_idx_x());
    if row < y.rows() && col < y.cols() && z.depth() > 0 && !x.is_empty() {
        y[[row, col]] = x[[row, col]] * by;
    }
}

fn main() -> sarek::Result<()> {
    let x = Vector::from_vec(vec![1.0f32; 12]);
    let mut y = Vector::from_vec(vec![0.0f32; 12]);
    let z = x.view3(2, 2, 3)?;
    scale(2.0, x.view2(3, 4)?, y.view2_mut(3, 4)?, z)
        .over((4, 3))
        .run_on(&Device::of("native")?)?;
    assert_eq!(y.to_vec()?, [2.0; 12]);
    Ok(())
}
