//! Tests of `mxu` through sarek's public interface.

use std::sync::OnceLock;

use sarek::prelude::*;
use sarek::tag::{StorageKind, Tag};
use sarek::{Error, Result};
use sarek_outside::mxu::{self, Unit, multiply_add};

/// The device. The first test that needs it registers the backend.
pub fn device() -> Device {
    static REGISTERED: OnceLock<()> = OnceLock::new();
    REGISTERED.get_or_init(|| mxu::register().expect("no other code registers it"));
    Device::of("mxu").expect("it is registered")
}

const N: usize = 48;

/// Adds the product of two matrices to a third one.
#[kernel]
fn product(a: &[f32], b: &[f32], c: &mut [f32]) {
    let (row, col) = (global_idx_y(), global_idx_x());
    if row < 48 && col < 48 {
        let at = 48 * row + col;
        let mut sum = c[at];
        for k in 0..24 {
            sum = multiply_add(a[48 * row + 2 * k], b[96 * k + col], sum);
            sum = multiply_add(a[48 * row + 2 * k + 1], b[96 * k + 48 + col], sum);
        }
        c[at] = sum;
    }
}

/// Numbers in the memory of the device.
#[kernel]
fn numbers(seed: u32, to: &mut [f32]) {
    let i = global_idx_x();
    let hash = (i as u32 + seed).wrapping_mul(0x9e37_79b9) >> 20;
    to[i] = hash as f32 / 4096.0 - 0.5;
}

fn transfers(device: &Device, route: &str) -> u64 {
    let told = device.debug_info();
    let count = told.get(&format!("copies from {route}"));
    count.map_or(0, |count| count.parse().expect("a number"))
}

/// Three storages, copies between them, and an intrinsic of the unit: the shape of a tensor core's program.
#[test]
fn a_matrix_unit_multiplies_in_storages_of_its_own() -> Result<()> {
    let device = device();
    let routes = [
        "device to mxu/a",
        "device to mxu/b",
        "mxu/accumulator to device",
    ];
    let before = routes.map(|route| transfers(&device, route));
    let products = device.environment::<Unit>("mxu/unit")?;
    let products_before = products.products();

    let (mut x, mut y) = (Vector::zeros(N * N), Vector::zeros(N * N));
    numbers(1, &mut x).over(N * N).run_on(&device)?;
    numbers(2, &mut y).over(N * N).run_on(&device)?;
    let mut a = Vector::zeros(N * N).stored_in(&mxu::operand_a())?;
    let mut b = Vector::zeros(N * N).stored_in(&mxu::operand_b())?;
    let mut sums = Vector::zeros(N * N).stored_in(&mxu::accumulator())?;
    a.copy_from(0, &x, ..)?;
    b.copy_from(0, &y, ..)?;
    // The storages choose the device.
    product(&a, &b, &mut sums).over((N, N)).run()?;
    let mut result = Vector::zeros(N * N);
    numbers(0, &mut result).over(N * N).run_on(&device)?;
    result.copy_from(0, &sums, ..)?;

    let (x, y, result) = (x.to_vec()?, y.to_vec()?, result.to_vec()?);
    let mut error = 0.0;
    for row in 0..N {
        for col in 0..N {
            let term = |k: usize| f64::from(x[N * row + k]) * f64::from(y[N * k + col]);
            let due: f64 = (0..N).map(term).sum();
            error += (f64::from(result[N * row + col]) - due).powi(2);
        }
    }
    assert!(error.sqrt() / (N * N) as f64 <= 1e-6, "{error}");
    assert!(result.iter().any(|x| x.abs() > 0.1));
    // Each copy took its route, and the unit made each product.
    let after = routes.map(|route| transfers(&device, route));
    for ((route, before), after) in routes.into_iter().zip(before).zip(after) {
        assert!(after > before, "{route}: {before}, then {after}");
    }
    assert!(products.products() >= products_before + (N * N * N) as u64);
    Ok(())
}

#[test]
fn copies_between_operands_are_refused_and_others_pass_the_host() -> Result<()> {
    let device = device();
    let stored = |storage: &Tag<StorageKind>| -> Result<Vector<f32>> {
        let mut v = Vector::zeros(8).stored_in(storage)?;
        numbers(3, &mut v).over(8).run_on(&device)?;
        Ok(v)
    };
    let [mut a, mut b] = [stored(&mxu::operand_a())?, stored(&mxu::operand_b())?];
    let refused = b.copy_from(0, &a, ..).expect_err("there is no connection");
    assert!(matches!(refused, Error::IllegalCopy { .. }), "{refused}");
    let text = refused.to_string();
    assert!(
        text.contains("mxu/a") && text.contains("not connected"),
        "{text}"
    );
    // This route is claimed to lead through the host.
    let (plain, mut sums) = (
        stored(&StorageKind::device())?,
        stored(&mxu::accumulator())?,
    );
    let before = transfers(&device, "device to mxu/accumulator");
    sums.copy_from(0, &plain, 1..)?;
    assert_eq!(transfers(&device, "device to mxu/accumulator"), before);
    assert_eq!(sums.to_vec()?[..7], plain.to_vec()?[1..]);
    // No other device has these storages.
    let elsewhere = numbers(3, &mut a).over(8).run_on(&Device::of("native")?);
    assert!(
        matches!(elsewhere, Err(Error::NotEligible { .. })),
        "{elsewhere:?}"
    );
    let large = Vector::<f32>::zeros(1 << 19).stored_in(&mxu::operand_a());
    let full = large.and_then(|mut v| numbers(0, &mut v).over(1 << 19).run_on(&device));
    assert!(
        full.expect_err("it is too large")
            .to_string()
            .contains("1048576 bytes")
    );
    Ok(())
}

/// Each block takes a number.
#[kernel]
fn arrivals(count: &[Atomic<u32>], order: &mut [u32]) {
    let i = global_idx_x();
    order[i] = count[0].fetch_add(1);
}

/// The schedule of DaCe's tutorial on new targets: only the loops differ.
#[test]
fn a_schedule_turns_the_loops_round_and_nothing_else() -> Result<()> {
    let device = device();
    let run = |turned: bool| -> Result<(String, Vec<u32>)> {
        let (mut count, mut order) = (Vector::zeros(1), Vector::zeros(8));
        let launch = arrivals(&mut count, &mut order);
        let launch = match turned {
            true => launch.schedule(&mxu::turned()),
            false => launch,
        };
        let ready = launch.grid(8).block(1);
        let specialized = ready.specialize(&device)?.expect("it has threads");
        let text = device.compile(&specialized)?.text;
        ready.run_on(&device)?;
        Ok((text, order.to_vec()?))
    };
    let ((plain, forwards), (turned, backwards)) = (run(false)?, run(true)?);
    assert_eq!(forwards, [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(backwards, [7, 6, 5, 4, 3, 2, 1, 0]);
    // Line by line, the texts differ in the heads of the loops, and in the comment that says so.
    let comment = "// mxu/turned: from the last block to the first";
    assert!(!plain.contains(comment));
    let rest: Vec<&str> = turned
        .lines()
        .filter(|line| line.trim() != comment)
        .collect();
    assert_eq!(rest.len() + 1, turned.lines().count());
    let pairs: Vec<_> = plain.lines().zip(&rest).filter(|(a, b)| a != *b).collect();
    for ((plain, turned), axis) in pairs.iter().zip(["z", "y", "x"]) {
        let head = format!("for (uint {axis} = 0; {axis} < launch.grid.{axis}; {axis}++)");
        assert_eq!(plain.trim(), head);
        let head = format!("for (uint {axis} = launch.grid.{axis}; {axis}-- > 0;)");
        assert_eq!(turned.trim(), head);
    }
    assert_eq!((pairs.len(), plain.lines().count()), (3, rest.len()));
    // The same call elsewhere is the built-in generator's, whose text has no such loops.
    assert!(!arrivals::source("opencl")?.contains("launch.grid"));
    Ok(())
}

#[kernel(env("mxu/unit"))]
fn squares(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    let tile = shared_array::<f32, 4>();
    tile[thread_idx_x()] = multiply_add(x[i], x[i], 0.0);
    barrier();
    y[i] = multiply_add(tile[3 - thread_idx_x()], 1.0, 1.0);
}

#[test]
fn the_units_header_is_included_once() -> Result<()> {
    let device = device();
    let x: Vector<f32> = (0..4u8).map(f32::from).collect();
    let mut y = Vector::zeros(4).stored_in(&mxu::operand_b())?;
    // The kernel names the environment, the launch does, and the text needs it by itself.
    let ready = squares(&x, &mut y).environment("mxu/unit").grid(1).block(4);
    let specialized = ready.specialize(&device)?.expect("it has threads");
    let code = device.compile(&specialized)?;
    assert_eq!(code.log, "included mxu_unit.h\n");
    for (part, times) in [
        ("mxu_multiply_add(", 2),
        ("mxu_wait();", 1),
        ("__mxu_scratch ", 1),
        ("#pragma mxu place y mxu/b", 1),
        ("#pragma mxu place", 1),
        ("float mxu_multiply_add(float", 0),
    ] {
        assert_eq!(
            code.text.matches(part).count(),
            times,
            "{part}\n{}",
            code.text
        );
    }
    ready.run_on(&device)?;
    assert_eq!(y.to_vec()?, [10.0, 5.0, 2.0, 1.0]);
    // A text that does not use the unit has no header.
    let mut plain = Vector::zeros(4);
    let ready = numbers(0, &mut plain).over(4);
    let specialized = ready.specialize(&device)?.expect("it has threads");
    assert_eq!(device.compile(&specialized)?.log, "");
    // On the host, the intrinsic is its Rust body.
    let mut y = Vector::zeros(4);
    let launch = squares(&x, &mut y).grid(1).block(4);
    launch.run_on(&Device::of("native")?)?;
    assert_eq!(y.to_vec()?, [10.0, 5.0, 2.0, 1.0]);
    Ok(())
}
