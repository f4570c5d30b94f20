use super::*;
use crate::testing::{self, kernels};
use crate::{FaultKind, Vector};

fn axpy<'a>(a: f32, x: &'a Vector<f32>, y: &'a mut Vector<f32>) -> Launch<'a> {
    Launch::of(
        kernels::leak(kernels::axpy()),
        [a.into(), x.into(), y.into()],
    )
}

#[test]
fn a_host_launch_runs_the_body_in_place() {
    let x = Vector::from_vec(vec![1.0, 2.0, 3.0]);
    let mut y = Vector::filled(3, 10.0);
    axpy(2.0, &x, &mut y)
        .over(3)
        .run_on(&testing::host())
        .unwrap();
    assert_eq!(y.to_vec().unwrap(), [12.0, 14.0, 16.0]);
}

#[test]
fn a_host_fault_names_everything_and_sticks_until_the_vector_is_rewritten() {
    let x = Vector::from_vec(vec![1.0, 2.0]);
    let mut y = Vector::filled(3, 10.0);
    let device = testing::host();
    let error = axpy(2.0, &x, &mut y).over(3).run_on(&device).unwrap_err();
    let Error::Fault(fault) = &error else {
        panic!("{error}");
    };
    assert_eq!(
        (fault.kernel.as_str(), fault.line, fault.thread),
        ("axpy", 3, [2, 0, 0])
    );
    let expected = FaultKind::Index {
        argument: "x".into(),
        index: 2,
        len: 2,
    };
    assert_eq!(fault.kind, expected);
    assert!(x.to_vec().is_ok());
    assert_eq!(y.to_vec().unwrap_err().to_string(), error.to_string());
    assert!(
        axpy(1.0, &y, &mut Vector::zeros(3))
            .over(3)
            .run_on(&device)
            .is_err()
    );
    y.fill(0.0).unwrap();
    axpy(1.0, &x, &mut y).over(2).run_on(&device).unwrap();
    assert_eq!(y.to_vec().unwrap(), [1.0, 2.0, 0.0]);
}

#[test]
fn literals_are_extents() {
    fn dims(extent: impl IntoDims) -> [usize; 3] {
        extent.into_dims().0
    }
    assert_eq!(dims(7), [7, 1, 1]);
    assert_eq!(dims((7, 8)), [7, 8, 1]);
    assert_eq!(dims((7, 8, 9)), [7, 8, 9]);
}
