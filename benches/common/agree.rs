//! Checks that both sides of a pair compute the same results, within a tolerance.

use sarek::Element;
use sarek::prelude::*;

use super::Fallible;

/// The allowed difference of two results.
#[derive(Clone, Copy)]
pub struct Tolerance {
    /// The allowed absolute difference.
    pub absolute: f64,
    /// The allowed relative difference.
    pub relative: f64,
    /// The fraction of elements that may differ by more.
    pub outliers: f64,
}

/// No difference.
pub const EXACT: Tolerance = Tolerance {
    absolute: 0.0,
    relative: 0.0,
    outliers: 0.0,
};

/// A few roundings: one side may fuse a multiplication and an addition, or use other implementations of functions.
pub const ROUNDED: Tolerance = Tolerance {
    absolute: 1e-5,
    relative: 1e-5,
    ..EXACT
};

/// The roundings of sums of many terms in different orders.
pub const SUMMED: Tolerance = Tolerance {
    absolute: 2e-3,
    relative: 1e-3,
    ..EXACT
};

/// For iteration counts, which depend on the last bit near the border of a set.
pub const COUNTED: Tolerance = Tolerance {
    outliers: 0.02,
    ..EXACT
};

/// Returns an error that describes the difference, if there is one.
pub fn agree<T: Copy + Into<f64>>(ours: &[T], theirs: &[T], tolerance: Tolerance) -> Fallible {
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

/// A type of output elements.
pub trait Compared: Element + Default {
    /// Returns an error that describes the difference of two outputs, if there is one.
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

impl Compared for u16 {
    fn agree(ours: &[u16], theirs: &[u16], tolerance: Tolerance) -> Fallible {
        agree(ours, theirs, tolerance)
    }
}

impl Compared for u8 {
    fn agree(ours: &[u8], theirs: &[u8], tolerance: Tolerance) -> Fallible {
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
