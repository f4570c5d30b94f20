//! `#[kernel_test]` and `sarek::testing`: tests that pass, and the messages of those that fail.

use std::panic::{AssertUnwindSafe, catch_unwind};

use sarek::Error;
use sarek::prelude::*;
use sarek::testing::{Check, Failure};

#[kernel]
fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    if i < y.len() {
        y[i] = a * x[i] + y[i];
    }
}

#[kernel_test(saxpy, absolute = 1e-5)]
fn ranges_and_values(
    #[within(-2.0..2.0)] a: f32,
    #[within(-1.0..1.0)] x: &[f32],
    #[within(-1.0..1.0)] y: &mut [f32],
) {
    for (x, y) in x.iter().zip(y) {
        *y = a * x + *y;
    }
}

#[kernel(strict)]
fn strict_saxpy(a: f32, x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    y[i] = a * x[i] + y[i];
}

#[kernel_test(strict_saxpy, rounds = 3, over = size)]
fn strict_kernels_are_exact(a: f32, x: &[f32], y: &mut [f32]) {
    for (x, y) in x.iter().zip(y) {
        *y = a * x + *y;
    }
}

#[kernel]
fn columns(width: usize, x: &[i32], sums: &mut [i32]) {
    let col = global_idx_x();
    let mut sum = 0i32;
    for row in 0..x.len() / width {
        sum = sum.wrapping_add(x[row * width + col]);
    }
    sums[col] = sum;
}

#[kernel_test(columns, over = width, sizes = [1, 7, 64], seed = 3)]
fn lengths_of_their_own(
    #[within(1..20)] width: usize,
    #[len(width * size)] x: &[i32],
    #[len(width)] sums: &mut [i32],
) {
    for (col, sum) in sums.iter_mut().enumerate() {
        *sum = x
            .iter()
            .skip(col)
            .step_by(width)
            .fold(0, |a, b| a.wrapping_add(*b));
    }
}

#[kernel]
fn histogram(x: &[u32], bins: &[Atomic<u32>]) {
    let i = global_idx_x();
    bins[(x[i] % 16) as usize].fetch_add(1);
}

#[kernel_test(histogram, cover = size, on = ["native", "interpreter", "opencl"])]
#[should_panic(expected = "fails on backend")]
fn attributes_are_the_tests(x: &[u32], #[len(16)] bins: &mut [u32]) {
    // `cover` rounds the number of threads up, and the kernel has no guard, so most sizes fault.
    for x in x {
        bins[(x % 16) as usize] = bins[(x % 16) as usize].wrapping_add(1);
    }
}

#[kernel_test(histogram)]
fn atomics_are_slices(
    x: &[u32],
    #[within(0..9)]
    #[len(16)]
    bins: &mut [u32],
) {
    for x in x {
        bins[(x % 16) as usize] += 1;
    }
}

#[kernel]
unsafe fn scatter(to: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    out[to[i] as usize] = 1;
}

#[kernel_test(scatter)]
unsafe fn unsafe_kernels(#[within(0..5)] to: &[u32], #[len(5)] out: &mut [u32]) {
    for &to in to {
        out[to as usize] = 1;
    }
}

#[kernel]
fn scale<T: Float>(by: T, x: &mut [T]) {
    let i = global_idx_x();
    x[i] = x[i] * by;
}

#[kernel_test(scale::<f32>, ulps = 0)]
fn instances_of_generic_kernels(#[within(0.5..2.0)] by: f32, #[within(1.0..2.0)] x: &mut [f32]) {
    x.iter_mut().for_each(|x| *x *= by);
}

/// 16-bit floats by value and in slices.
macro_rules! halves {
    ($kernel:ident $test:ident $t:ident) => {
        #[kernel]
        fn $kernel(a: $t, x: &[$t], y: &mut [$t]) {
            let i = global_idx_x();
            y[i] = $t::from_f32(a.to_f32() * x[i].to_f32()) + y[i];
        }

        #[kernel_test($kernel, ulps = 0)]
        fn $test(a: $t, x: &[$t], y: &mut [$t]) {
            for (x, y) in x.iter().zip(y) {
                *y += $t::from_f32(a.to_f32() * x.to_f32());
            }
        }
    };
}

halves!(scale_f16 arguments_of_f16 f16);
halves!(scale_bf16 arguments_of_bf16 bf16);

/// The same with `#[within(…)]`, whose bounds are `f32` literals.
macro_rules! halves_within {
    ($kernel:ident $test:ident $t:ident) => {
        #[kernel_test($kernel, ulps = 0)]
        fn $test(
            #[within(-2.0..2.0)] a: $t,
            #[within(..=0.0)] x: &[$t],
            #[within(0.5..=1.0)] y: &mut [$t],
        ) {
            assert!((-2.0..2.0).contains(&a.to_f32()), "{a}");
            for (x, y) in x.iter().zip(y) {
                assert!(x.to_f32() <= 0.0 && (0.5..=1.0).contains(&y.to_f32()));
                *y += $t::from_f32(a.to_f32() * x.to_f32());
            }
        }
    };
}

halves_within!(scale_f16 ranges_of_f16 f16);
halves_within!(scale_bf16 ranges_of_bf16 bf16);

#[kernel]
fn add(by: u32, #[item] from: &u32, #[item] to: &mut u32) {
    *to = (*from).wrapping_add(by);
}

#[kernel_test(add, items)]
fn kernels_over_items(by: u32, from: &[u32], to: &mut [u32]) {
    for (from, to) in from.iter().zip(to) {
        *to = from.wrapping_add(by);
    }
}

fn message(
    check: Check,
    trial: impl FnMut(&mut sarek::testing::Trial<'_>) -> Result<(), Failure>,
) -> String {
    let panic = catch_unwind(AssertUnwindSafe(|| check.run(trial))).expect_err("the check fails");
    panic.downcast_ref::<String>().expect("a message").clone()
}

/// Gives wrong results from the eleventh element on.
#[kernel]
fn late(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    y[i] = if i < 10 { x[i] * 3.0 } else { x[i] * 3.000001 };
}

fn trial(trial: &mut sarek::testing::Trial<'_>) -> Result<(), Failure> {
    let n = trial.size();
    let x = trial.values_within::<f32>("x", n, 1.0..2.0);
    let mut y = Vector::zeros(n);
    trial.run(late(&Vector::from_slice(&x), &mut y).over(n))?;
    let expected: Vec<f32> = x.iter().map(|x| x * 3.0).collect();
    trial.expect("y", &y, &expected)
}

#[test]
fn failures_print_all_that_reproduces_them() {
    let text = message(Check::new("late").ulps(2.0).seed(7).on(["native"]), trial);
    for part in [
        "late fails on backend `native`",
        "`y[10]` is ",
        " is expected: ",
        " ulps apart, where 2 are allowed; 1 of 11 elements are wrong",
        "inputs there: x = 1.",
        "seed 7, size 11, found at 31; again: SAREK_TEST_SEED=7 cargo test late",
    ] {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
}

#[test]
fn tolerances_are_each_backends() {
    Check::new("late")
        .ulps(2.0)
        .ulps_on("native", 20.0)
        .on(["native"])
        .run(trial);
    Check::new("late").ulps(2.0).absolute(1e-4).run(trial);
    let check = Check::new("late")
        .ulps(20.0)
        .ulps_on("native", 0.0)
        .on(["native"]);
    assert!(message(check, trial).contains("where 0 are allowed"));
}

#[test]
fn values_of_smaller_sizes_are_the_first_of_larger_ones() {
    let mut seen: Vec<Vec<f64>> = vec![];
    Check::new("prefixes")
        .sizes([3, 30])
        .on(["native"])
        .run(|trial| {
            let _ = trial.values::<i32>("a", trial.size());
            seen.push(trial.values_within("b", trial.size(), 0.0..=1.0));
            Ok(())
        });
    assert_eq!(seen[0], seen[1][..3]);
    assert!(seen[1].iter().all(|x| (0.0..=1.0).contains(x)));
}

#[test]
fn errors_and_lengths_fail() {
    let check = || Check::new("errors").on(["native"]);
    let lengths = message(check(), |trial| {
        trial.expect("y", &Vector::zeros(3), &[0u32; 4])
    });
    assert!(
        lengths.contains("`y` has 3 elements, and 4 are expected"),
        "{lengths}"
    );
    let fault = message(check(), |trial| {
        let (x, mut y) = (Vector::zeros(1), Vector::zeros(9));
        trial.run(late(&x, &mut y).over(9))?;
        trial.expect("y", &y, &[0.0f32; 9])
    });
    assert!(fault.contains("out of bounds"), "{fault}");
}

#[test]
fn a_test_that_no_device_runs_fails() {
    let refused = |_: &mut sarek::testing::Trial<'_>| {
        Err(Failure::Error(Error::NotEligible {
            kernel: "k".into(),
            device: "d".into(),
            reasons: vec!["it has no f64".into()],
        }))
    };
    let text = message(Check::new("nowhere"), refused);
    assert!(
        text.contains("no device could run this") && text.contains("no f64"),
        "{text}"
    );
    let none = message(Check::new("none").on(["no_such_backend"]), |_| Ok(()));
    assert!(none.contains("no device could run this"), "{none}");
}
