//! Indices beyond a view's shape, and views beyond their vector.

use crate::Case;
use crate::cases::faults::fault_of;
use crate::check::{Check, ensure};
use sarek::prelude::*;
use sarek::{Error, FaultKind};

pub const CASES: &[Case] = &[
    Case::new("views/index_faults", &[], faults),
    Case::new("views/refused", &[], refused),
];

#[kernel]
fn shifted_kernel(a: View2<u32>, down: usize, right: usize, mut b: ViewMut2<u32>) {
    let row = global_idx_y();
    let col = global_idx_x();
    b[[row, col]] = a[[row + down, col + right]];
}

/// The shape of the view counts, even if the vector has the element.
fn faults(device: &Device) -> Check {
    let a = Vector::from_vec(vec![1u32; 64]);
    for (shift, argument, dimension, index) in [
        ((1, 0), "a", 0, 4),
        ((0, 2), "a", 1, 6),
        ((0, 0), "b", 1, 3),
    ] {
        let mut b = Vector::filled(64, 5u32);
        let cols = if argument == "b" { 3 } else { 6 };
        let out = b.view2_mut(8, 8)?.window([0, 0], [4, cols])?;
        let extent = if argument == "b" { (4, 4) } else { (5, 4) };
        let result = shifted_kernel(a.view2(4, 6)?, shift.0, shift.1, out)
            .over(extent)
            .run_on(device);
        let fault = fault_of(result, &mut b)?;
        let expected = FaultKind::Dimension {
            argument: argument.into(),
            dimension,
            index,
        };
        ensure(fault.kind == expected, || {
            format!("{:?}, not {expected:?}", fault.kind)
        })?;
    }
    Ok(())
}

fn refused(_: &Device) -> Check {
    let mut v = Vector::from_vec(vec![0u32; 10]);
    let is_refused = |result: Result<(), Error>| {
        let refused = matches!(result, Err(Error::View { .. }));
        ensure(refused, || format!("{result:?} of a view"))
    };
    is_refused(v.view2(3, 4).map(drop))?;
    is_refused(v.view3(2, 2, 3).map(drop))?;
    is_refused(v.strided([2, 2], 8, [1, 1]).map(drop))?;
    is_refused(
        v.view2(2, 5)
            .and_then(|w| w.window([1, 0], [2, 1]))
            .map(drop),
    )?;
    is_refused(v.strided_mut([2, 2], 0, [1, 1]).map(drop))?;
    v.strided([2, 2], 7, [1, 1]).map(drop)?;
    v.strided_mut([2, 5], 0, [1, 2]).map(drop)?;
    Ok(())
}
