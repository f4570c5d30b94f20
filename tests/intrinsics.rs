//! Intrinsics: functions whose text for a target is registered at run time.

use sarek::intrinsic::{self, Spelling};
use sarek::prelude::*;
use sarek::{Error, Result};

/// Three times `x`, and `n`.
#[device(intrinsic)]
fn tripled(x: u32, n: u32) -> u32 {
    if n == 7 {
        return 3 * x + 7;
    }
    3 * x + n
}

#[kernel]
fn triple(n: u32, x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = tripled(x[i] + 1, n) + tripled(1, n) - tripled(1, 0);
}

fn run(device: &Device, n: u32) -> Result<Vec<u32>> {
    let x: Vector<u32> = (0..100).collect();
    let mut y = Vector::zeros(100);
    triple(n, &x, &mut y).over(100).run_on(device)?;
    y.to_vec()
}

fn target(device: &Device) -> &'static str {
    match device.backend() {
        "wgpu" => "wgsl",
        other => other,
    }
}

#[test]
fn texts_are_registered_while_the_program_runs() -> Result<()> {
    let expected = |n: u32| -> Vec<u32> { (0..100).map(|x| 3 * (x + 1) + 2 * n).collect() };
    assert_eq!(tripled(2, 5), 11, "it is a function of Rust as well");
    for device in Device::all() {
        if device.info().host_memory {
            assert_eq!(run(&device, 5)?, expected(5), "{device}: Rust is the text");
            assert_eq!(
                run(&device, 7)?,
                expected(7),
                "{device}: with an early return"
            );
            continue;
        }
        let target = target(&device);
        let error = run(&device, 5).expect_err("there is no text");
        assert!(
            matches!(error, Error::NotEligible { .. }),
            "{device}: {error}"
        );
        assert!(
            error
                .to_string()
                .contains("intrinsic `tripled` has no text"),
            "{error}"
        );
        // Registers a text, then replaces it: programs compiled with the first one must not be reused.
        // SAFETY: the text is an expression of its arguments.
        unsafe { intrinsic::register("tripled", target, "(3u * {0} + {1})") }?;
        assert_eq!(run(&device, 5)?, expected(5), "{device}");
        // SAFETY: the text is an expression of its arguments.
        let twice =
            unsafe { intrinsic::register("tripled", target, "0u") }.expect_err("it has one");
        assert!(matches!(twice, Error::Intrinsic { .. }), "{twice}");
        assert!(intrinsic::registered(target).contains(&"tripled".to_owned()));
        assert!(intrinsic::unregister("tripled", target));
        let helper = match target {
            "wgsl" => "fn sum_of(a: u32, b: u32) -> u32 { return a + b; }",
            "cuda" => {
                "__device__ unsigned int sum_of(unsigned int a, unsigned int b) { return a + b; }"
            }
            _ => "uint sum_of(uint a, uint b) { return a + b; }",
        };
        let summed = Spelling::new("sum_of(sum_of({0}, {0}), {1})").prelude(helper);
        // SAFETY: the text is an expression of its arguments.
        unsafe { intrinsic::register("tripled", target, summed) }?;
        let doubled: Vec<u32> = (0..100).map(|x| 2 * (x + 1) + 10).collect();
        assert_eq!(
            run(&device, 5)?,
            doubled,
            "{device}: the text, not the Rust"
        );
        assert_eq!(
            triple::source(target)?.matches("sum_of(").count(),
            3 * 2 + 1
        );
        assert!(
            intrinsic::unregister("tripled", target) && !intrinsic::unregister("tripled", target)
        );
        // A text that names a parameter that does not exist.
        // SAFETY: the text is an expression of its arguments.
        unsafe { intrinsic::register("tripled", target, "{2}") }?;
        let error = run(&device, 5).expect_err("it takes two");
        assert!(
            matches!(error, Error::Intrinsic { .. }),
            "{device}: {error}"
        );
        assert!(intrinsic::unregister("tripled", target));
        // A text that the device's compiler rejects.
        // SAFETY: the text is an expression of its arguments.
        unsafe { intrinsic::register("tripled", target, "nobody_knows({0}, {1})") }?;
        let error = run(&device, 5).expect_err("nobody knows it");
        assert!(matches!(error, Error::Compile { .. }), "{device}: {error}");
        assert!(intrinsic::unregister("tripled", target));
    }
    Ok(())
}

/// An intrinsic with another name, on floats, called from functions and conditions.
#[device(intrinsic = "fast tanh")]
fn fast_tanh(x: f32) -> f32 {
    x.tanh()
}

#[device]
fn squashed(x: f32) -> f32 {
    if x > 0.0 {
        fast_tanh(x)
    } else {
        -fast_tanh(-x)
    }
}

#[kernel]
fn squash(#[item] x: f32, #[item] y: &mut f32) {
    *y = squashed(x);
}

#[test]
fn intrinsics_are_called_by_functions() -> Result<()> {
    for (target, text) in [
        ("cuda", "tanhf({0})"),
        ("opencl", "(1.0f - 2.0f / (exp(2.0f * {0}) + 1.0f))"),
        ("wgsl", "tanh({0})"),
    ] {
        // SAFETY: the text is an expression of its arguments.
        unsafe { intrinsic::register("fast tanh", target, text) }?;
    }
    let x = Vector::from_vec((-40..40).map(|i| i as f32 / 8.0).collect());
    for device in Device::all() {
        let mut y = Vector::zeros(80);
        squash(&x, &mut y).run_on(&device)?;
        for (x, y) in x.iter()?.zip(y.iter()?) {
            assert!(
                (x.tanh() - y).abs() < 1e-5,
                "{device}: tanh({x}) is not {y}"
            );
        }
    }
    assert!(squash::explain().contains("chosen"));
    Ok(())
}
