//! Do both sides of a pair compute the same?

use sarek::Element;
use sarek::prelude::*;

use super::Fallible;

/// How far two results may be apart.
#[derive(Clone, Copy)]
pub struct Tolerance {
    /// Difference that is allowed for any value.
    pub absolute: f64,
    /// Difference that is allowed as a part of the value.
    pub relative: f64,
    /// Part of the elements that may be further apart.
    pub outliers: f64,
}

/// Not at all.
pub const EXACT: Tolerance = Tolerance {
    absolute: 0.0,
    relative: 0.0,
    outliers: 0.0,
};

/// By some roundings: one side may fuse a multiplication and an addition, or has other functions.
pub const ROUNDED: Tolerance = Tolerance {
    absolute: 1e-5,
    relative: 1e-5,
    ..EXACT
};

/// By the roundings of sums of many terms in different orders.
pub const SUMMED: Tolerance = Tolerance {
    absolute: 2e-3,
    relative: 1e-3,
    ..EXACT
};

/// Iteration counts, which close to a set's border depend on the last bit.
pub const COUNTED: Tolerance = Tolerance {
    outliers: 0.02,
    ..EXACT
};

/// An error that tells how two results differ, if they do.
fn agree<T: Copy + Into<f64>>(ours: &[T], theirs: &[T], tolerance: Tolerance) -> Fallible {
    if ours.len() != theirs.len() {
        return Err(format!("{} results against {}", ours.len(), theirs.len()).into());
    }
    let apart = |&(_, (&a, &b)): &(usize, (&T, &T))| {
        let (a, b): (f64, f64) = (a.into(), b.into());
        let difference = (a - b).abs();
        let allowed = tolerance.absolute + tolerance.relative * b.abs();
        difference.is_nan() || difference > allowed
    };
    let pairs = || ours.iter().zip(theirs).enumerate();
    let count = pairs().filter(apart).count();
    if count as f64 <= tolerance.outliers * ours.len() as f64 {
        return Ok(());
    }
    let first = pairs().find(apart).map(|(i, (&a, &b))| {
        let (a, b): (f64, f64) = (a.into(), b.into());
        format!(": element {i} is {a} against {b}")
    });
    let first = first.unwrap_or_default();
    Err(format!("{count} of {} results differ{first}", ours.len()).into())
}

/// What outputs consist of.
pub trait Compared: Element + Default {
    /// An error that tells how two outputs differ, if they do.
    fn agree(ours: &[Self], theirs: &[Self], tolerance: Tolerance) -> Fallible;
}

impl Compared for f32 {
    fn agree(ours: &[f32], theirs: &[f32], tolerance: Tolerance) -> Fallible {
        agree(ours, theirs, tolerance)
    }
}

impl Compared for u32 {
    fn agree(ours: &[u32], theirs: &[u32], tolerance: Tolerance) -> Fallible {
        agree(ours, theirs, tolerance)
    }
}

impl Compared for f32x4 {
    fn agree(ours: &[f32x4], theirs: &[f32x4], tolerance: Tolerance) -> Fallible {
        let [ours, theirs] =
            [ours, theirs].map(|all| all.iter().flat_map(|v| v.to_array()).collect::<Vec<f32>>());
        agree(&ours, &theirs, tolerance)
    }
}
