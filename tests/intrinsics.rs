//! Intrinsics: functions whose text for a target is registered at run time.

#[path = "intrinsics/direct.rs"]
mod direct;

use sarek::intrinsic::{self, Intrinsic as _, Spelling, ThreadState};
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

/// A device of each kind that takes host functions.
fn hosts() -> impl Iterator<Item = Device> {
    let all = Device::all().into_iter();
    all.filter(|device| ["native", "interpreter"].contains(&device.backend()))
}

#[test]
fn a_text_for_a_host_device_is_an_error_that_says_what_to_do() {
    for device in hosts() {
        // SAFETY: the text is an expression of its argument.
        let error = unsafe { intrinsic::register("halved", device.backend(), "{0} / 2.0f") };
        let error = error.expect_err("it takes no text").to_string();
        assert!(error.contains("intrinsic::register_host"), "{error}");
    }
    assert!(intrinsic::registered("native").is_empty());
}

#[device(intrinsic)]
fn halved(x: f32) -> f32 {
    x / 2.0
}

#[kernel]
fn halve(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    if i < x.len() {
        y[i] = halved(x[i]);
    }
}

fn halves(device: &Device) -> Result<Vec<f32>> {
    let x = Vector::from_vec(vec![8.0; 70]);
    let mut y = Vector::zeros(70);
    halve(&x, &mut y).over(70).run_on(device)?;
    y.to_vec()
}

#[test]
fn a_host_function_replaces_the_body_and_goes_again() -> Result<()> {
    for device in hosts() {
        assert_eq!(halves(&device)?, vec![4.0; 70], "{device}: the body");
        intrinsic::register_host("halved", |x: f32| x / 2.0 + 100.0)?;
        assert_eq!(halves(&device)?, vec![104.0; 70], "{device}: the function");
        assert!(intrinsic::registered_hosts().contains(&"halved".to_owned()));
        let twice = intrinsic::register_host("halved", |x: f32| x).expect_err("it has one");
        assert!(twice.to_string().contains("unregister_host"), "{twice}");
        assert!(intrinsic::unregister_host("halved"));
        assert!(!intrinsic::unregister_host("halved"));
        assert_eq!(halves(&device)?, vec![4.0; 70], "{device}: the body again");
        // Its panic is an error of the launch.
        halved::register_host(|_: f32| -> f32 { panic!("no half today") })?;
        let error = halves(&device).expect_err("it panics").to_string();
        assert!(intrinsic::unregister_host("halved"));
        assert!(error.contains("no half today"), "{error}");
    }
    Ok(())
}

#[device(intrinsic = "scaled by hand")]
fn scaled(x: f32, by: u32) -> f32 {
    x * by as f32
}

#[kernel]
fn scale(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    y[i] = scaled(x[i], 3);
}

#[test]
fn a_host_function_of_other_types_is_an_error_with_both_signatures() -> Result<()> {
    let name = "scaled by hand";
    let declared = "`fn(f32, u32) -> f32`";
    let run = |device: &Device| {
        let x = Vector::from_vec(vec![2.0f32; 40]);
        let mut y = Vector::zeros(40);
        scale(&x, &mut y).over(40).run_on(device)?;
        y.to_vec()
    };
    // Nothing is known of the name yet, so the launch refuses it.
    intrinsic::register_host(name, |x: f64| x)?;
    for device in hosts() {
        let error = run(&device).expect_err("the types differ");
        assert!(matches!(error, Error::Intrinsic { .. }), "{error}");
        let text = error.to_string();
        assert!(
            text.contains("`fn(f64) -> f64`") && text.contains(declared),
            "{text}"
        );
    }
    assert!(intrinsic::unregister_host(name));
    // Now it is known.
    let error = intrinsic::register_host(name, |x: f32, by: i32| x * by as f32);
    let error = error.expect_err("the types differ").to_string();
    assert!(
        error.contains("`fn(f32, i32) -> f32`") && error.contains(declared),
        "{error}"
    );
    scaled::register_host(|x: f32, by: u32| x + by as f32)?;
    for device in hosts() {
        assert_eq!(run(&device)?, vec![5.0; 40], "{device}");
    }
    assert!(intrinsic::unregister_host(name));
    Ok(())
}

/// An index for which the body's values are in bounds, and each thread has its own.
#[device(intrinsic)]
fn own_place(i: usize) -> usize {
    i
}

#[kernel]
fn by_place(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    let at = own_place(i % 8);
    y[i] = x[at];
}

#[test]
fn no_check_relies_on_what_the_body_returns() -> Result<()> {
    let run = |device: &Device| {
        let x: Vector<u32> = (0..8).collect();
        let mut y = Vector::zeros(64);
        by_place(&x, &mut y).over(64).run_on(device)?;
        y.to_vec()
    };
    for device in hosts() {
        assert_eq!(run(&device)?[13], 5, "{device}");
        own_place::register_host(|i: usize| i + 1_000_000)?;
        let error = run(&device).expect_err("it is out of bounds");
        assert!(intrinsic::unregister_host("own_place"));
        assert!(matches!(error, Error::Fault(_)), "{device}: {error}");
    }
    Ok(())
}

/// A function of the running thread: its body knows no more than its argument.
#[device(intrinsic)]
fn place_of_thread(what: u32) -> u32 {
    what
}

#[kernel]
fn places(what: u32, y: &mut [u32]) {
    let i = global_idx_x();
    if i < y.len() {
        y[i] = place_of_thread(what);
    }
}

#[test]
fn a_host_function_reads_the_state_of_its_thread() -> Result<()> {
    place_of_thread::register_host(|thread: &ThreadState, what: u32| {
        let [x, y, z] = thread.global_idx();
        assert_eq!((y, z), (0, 0));
        assert_eq!(x, thread.global_thread_id());
        let number = match what {
            0 => thread.thread_idx()[0],
            1 => thread.block_idx()[0],
            2 => thread.block_dim()[0],
            3 => thread.grid_dim()[0],
            4 => thread.global_dim()[0],
            5 => thread.lane(),
            6 => thread.subgroup_lane(),
            7 => thread.subgroup_size(),
            _ => x,
        };
        number as u32
    })?;
    // Blocks of a size that no device would take by itself.
    let (block, grid) = (48u32, 3u32);
    let threads = block * grid;
    let expected = |what: u32, i: u32| match what {
        0 | 5 => i % block,
        1 => i / block,
        2 => block,
        3 => grid,
        4 => threads,
        6 => i % block % 32,
        7 => 32,
        _ => i,
    };
    for device in hosts().chain([direct::device()?]) {
        for what in 0..9 {
            let mut y = Vector::zeros(threads as usize);
            places(what, &mut y)
                .grid(grid as usize)
                .block(block as usize)
                .run_on(&device)?;
            let expected: Vec<u32> = (0..threads).map(|i| expected(what, i)).collect();
            assert_eq!(y.to_vec()?, expected, "{device}: {what}");
        }
    }
    assert!(intrinsic::unregister_host("place_of_thread"));
    Ok(())
}
