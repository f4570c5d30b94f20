//! Views in every place of a signature that may have them.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, clippy::all)]

use sarek::prelude::*;

/// Takes views with plain and generic elements.
#[kernel]
pub fn scale<T: Float>(by: T, x: View2<T>, mut y: ViewMut2<'_, T>, z: sarek::View3<f32>) {
    let (row, col) = (global_idx_y(), global_idx_x());
    if row < y.rows() && col < y.cols() && z.depth() > 0 && !x.is_empty() {
        y[[row, col]] = x[[row, col]] * by;
    }
}

/// A type with methods that take views.
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
pub struct Scale {
    /// The factor.
    pub by: f32,
}

#[device]
impl Scale {
    /// An element, times the factor.
    pub fn of(&self, x: &View2<f32>, row: usize, col: usize) -> f32 {
        self.by * x[[row, col]]
    }
}

/// A trait with a method that takes a view.
#[device]
pub trait Near: KernelType {
    /// An element, increased.
    fn near(&self, x: &View2<f32>, at: [usize; 2]) -> f32;
}

#[device]
impl Near for Scale {
    fn near(&self, x: &View2<'_, f32>, at: [usize; 2]) -> f32 {
        x[[at[0], at[1]]] + self.by
    }
}

/// Takes generic views by value, and passes one on.
#[device]
pub fn corner<T: Num, const N: usize>(x: sarek::View2<T>, other: View3<T>) -> T {
    x[[N, 0]] + other[[0, 0, N]] + corner_of(x)
}

#[device]
fn corner_of<T: Num>(x: View2<T>) -> T {
    x[[x.rows() - 1, x.cols() - 1]]
}

/// Passes its views to functions.
#[kernel]
pub fn given(by: Scale, x: View2<f32>, z: View3<f32>, mut y: ViewMut2<f32>) {
    let (row, col) = (global_idx_y(), global_idx_x());
    if row < y.rows() && col < y.cols() {
        let own = by.of(&x, row, col) + by.near(&x, [row, col]);
        y[[row, col]] = own + corner::<_, 1>(x, z);
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
