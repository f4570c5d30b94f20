//! A fault inside a function: the error names the function's own line.

use crate::Case;
use crate::cases::faults::report::{Place, check_place, fault_of};
use crate::check::{Check, ensure};
use sarek::FaultKind;
use sarek::prelude::*;

pub const CASES: &[Case] = &[Case::new("functions/faults", &[], faults)];

const FILE: &str = "src/cases/functions/faults.rs";

mod inner {
    use sarek::prelude::*;

    pub const INDEX: u32 = line!() + 3;
    #[device]
    pub fn element(x: &[u32], i: usize) -> u32 {
        x[i + 1]
    }
}

const DIVISOR: u32 = line!() + 4;
#[device]
fn ratio(x: &[u32], i: usize, by: u32) -> u32 {
    let first = inner::element(x, i);
    first / by + inner::element(x, i)
}

#[kernel]
fn ratios(x: &[u32], shift: usize, least: u32, y: &mut [u32]) {
    let i = global_idx_x();
    if i < y.len() {
        y[i] = x[i] + ratio(x, i + shift, i as u32 + least);
    }
}

fn faults(device: &Device) -> Check {
    let (x, mut y) = (Vector::from_vec(vec![7u32; 50]), Vector::zeros(40));
    ratios(&x, 0, 1, &mut y).over(40).run_on(device)?;
    let expected: Vec<u32> = (0..40).map(|i| 14 + 7 / (i + 1)).collect();
    ensure(y.to_vec()? == expected, || {
        "no fault, but wrong results".into()
    })?;
    for (shift, least, line) in [(10, 1, inner::INDEX), (0, 0, DIVISOR)] {
        let result = ratios(&x, shift, least, &mut y).over(40).run_on(device);
        let fault = fault_of(result, &mut y)?;
        let (kernel, file) = ("ratios", FILE);
        check_place(&fault, &Place { kernel, file, line })?;
        let expected = match least {
            0 => fault.kind == FaultKind::DivisionByZero,
            _ => {
                matches!(&fault.kind, FaultKind::Index { argument, index: 50, len: 50 } if argument == "x")
            }
        };
        ensure(expected, || format!("{:?}", fault.kind))?;
    }
    Ok(())
}
