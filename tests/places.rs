//! Source locations in messages: of faults in functions of other files, and of the checks that a launch cannot prove.

use sarek::prelude::*;
use sarek::{Error, FaultKind};

#[path = "../benches/common/block.rs"]
#[allow(dead_code)]
mod block;
#[path = "places/elsewhere.rs"]
#[allow(dead_code)]
mod elsewhere;

/// A constant that `block.rs` imports from its sibling module.
mod kernels {
    pub const SOFTENING: f32 = 1e-3;
}

/// The line of the index in `elsewhere::element`.
const LINE: u32 = 8;

#[kernel]
fn shifted(x: &[i32], y: &mut [i32]) {
    let i = global_idx_x();
    y[i] = elsewhere::element(x, i + 1);
}

#[test]
fn a_fault_in_a_function_names_the_file_of_the_function() {
    for backend in ["native", "interpreter"] {
        let device = Device::of(backend).expect("built in");
        let x = Vector::from(vec![1, 2, 3]);
        let mut y = Vector::zeros(3);
        let launch = shifted(&x, &mut y).over(3).run_on(&device);
        let error = launch.and_then(|()| y.to_vec()).expect_err("out of bounds");
        let Error::Fault(fault) = error else {
            panic!("{backend}: {error}")
        };
        assert!(matches!(fault.kind, FaultKind::Index { index: 3, .. }));
        assert!(fault.file.ends_with("elsewhere.rs"), "{backend}: {fault}");
        assert_eq!((fault.line, fault.column), (LINE, 5), "{backend}");
    }
}

#[test]
fn explain_names_the_checks_that_stay() {
    let x = Vector::from(vec![1, 2, 3]);
    let mut y = Vector::zeros(3);
    let whole = shifted(&x, &mut y).over(2).explain();
    // A debug build also checks the addition in the index for overflow.
    let all = if cfg!(debug_assertions) { 3 } else { 2 };
    assert!(
        whole.contains(&format!("{all} of {all} checks proved")),
        "{whole}"
    );
    assert!(!whole.contains("checked:"), "{whole}");
    let short = shifted(&x, &mut y).over(3).explain();
    assert!(
        short.contains(&format!("{} of {all} checks proved", all - 1)),
        "{short}"
    );
    let line = short.lines().find(|line| line.contains("checked:"));
    let line = line.expect("one check stays");
    assert!(line.contains("an index of `x` at "), "{short}");
    assert!(line.ends_with("elsewhere.rs:8:5"), "{short}");
}

/// The usual code: the bounds guard of each tile's element contains the same sum as the index.
#[test]
fn all_checks_of_a_tiled_product_are_proved() {
    let largest = 512;
    let a = Vector::zeros(largest * largest);
    let b = Vector::zeros(largest * largest);
    let mut c = Vector::zeros(largest * largest);
    for n in [1, 100, 511, 512] {
        let launch = block::tiled_matmul(n, &a, &b, &mut c).cover((n, n));
        let explained = launch.explain();
        let all = if cfg!(debug_assertions) { 30 } else { 11 };
        let proved = format!("{all} of {all} checks proved");
        assert!(explained.contains(&proved), "{explained}");
    }
}

/// A row of tiles: the last value of a stepped range is known, and with it the last index.
#[kernel(block = 16)]
fn stepped(n: usize, x: &[f32], out: &mut [f32]) {
    let tile = shared_array::<f32, 16>();
    let t = thread_idx_x();
    let mut sum = 0.0;
    for first in (0..n).step_by(16) {
        tile[t] = x[block_idx_x() * n + first + t];
        barrier();
        for k in 0..16 {
            sum += tile[k];
        }
        barrier();
    }
    out[global_idx_x()] = sum;
}

#[test]
fn all_checks_of_a_stepped_range_are_proved() {
    let mut out = Vector::zeros(3 * 16);
    for (n, all_are) in [(64, true), (16, true), (0, true), (63, false)] {
        let x = Vector::zeros(3 * n);
        let explained = stepped(n, &x, &mut out).grid(3).explain();
        assert_eq!(!explained.contains("checked:"), all_are, "{n}: {explained}");
    }
}
