//! `requires(…)` with floats, and shared arrays whose length depends on a float.
//!
//! Once no condition on a float held, so every launch was refused; and a length was computed as if the float were 0.

use sarek::Error;
use sarek::half::f16;
use sarek::prelude::*;

use crate::devices;

/// True if a launch runs, and false if a precondition of the kernel refuses it.
#[track_caller]
fn runs(result: sarek::Result<()>) -> bool {
    match result {
        Ok(()) => true,
        Err(Error::Precondition { .. }) => false,
        Err(other) => panic!("{other}"),
    }
}

#[kernel(requires(rate < 4.0))]
fn below(rate: f32, y: &mut [f32]) {
    let i = global_idx_x();
    y[i] = rate;
}

#[test]
fn a_float_below_a_bound() {
    for device in devices() {
        let mut y = Vector::zeros(4);
        // The launches differ only in the float, which must not be lost in a cache.
        for _ in 0..2 {
            for (rate, expected) in [
                (0.5, true),
                (5.0, false),
                (4.0, false),
                (3.999_999_8, true),
                (f32::NAN, false),
                (f32::INFINITY, false),
                (f32::NEG_INFINITY, true),
            ] {
                let ran = runs(below(rate, &mut y).over(4).run_on(&device));
                assert_eq!(ran, expected, "{device}: {rate}");
            }
        }
        y.fill(7.0).expect("it has memory");
        assert!(!runs(below(4.5, &mut y).over(4).run_on(&device)));
        assert_eq!(y.to_vec().expect("nothing ran"), [7.0; 4], "{device}");
        let explanation = below(4.5, &mut y).over(4).explain();
        assert!(
            explanation.contains("rate < 4.0, which does not hold"),
            "{explanation}"
        );
        let explanation = below(3.5, &mut y).over(4).explain();
        assert!(explanation.contains("4 threads in"), "{explanation}");
        let best = Device::best().expect("native is there");
        assert!(below(4.5, &mut y).over(4).specialize(&best).is_err());
        assert!(!runs(below(4.5, &mut y).over(4).run()));
        assert!(runs(below(3.5, &mut y).over(4).run()));
    }
}

#[kernel(requires(!(rate >= 4.0), rate != 1.5))]
fn not_above(rate: f32, y: &mut [f32]) {
    let i = global_idx_x();
    y[i] = 1.0;
}

#[kernel(requires(x.is_finite() && x.abs() * 2.0 <= bound || force, scale.is_sign_positive()))]
fn methods(x: f32, bound: f32, scale: f32, force: bool, y: &mut [f32]) {
    let i = global_idx_x();
    y[i] = scale;
}

#[kernel(requires(half < f16::ONE, (n as f32) < 8.0, y.len() as f32 * 0.5 <= n as f32))]
fn mixed(half: f16, n: u32, y: &mut [f32]) {
    let i = global_idx_x();
    y[i] = 1.0;
}

#[kernel(requires(step * block_dim_x() as f32 <= 64.0))]
fn of_block(step: f32, y: &mut [f32]) {
    let i = global_idx_x();
    y[i] = step;
}

#[test]
fn nan_methods_and_other_types() {
    for device in devices() {
        let mut y = Vector::zeros(8);
        let not_above = |rate, y: &mut _| runs(not_above(rate, y).over(8).run_on(&device));
        for (rate, expected) in [(f32::NAN, true), (4.0, false), (1.5, false), (1.0, true)] {
            assert_eq!(not_above(rate, &mut y), expected, "{device}: {rate}");
        }
        for (x, bound, scale, force, expected) in [
            (-2.0, 4.0, 1.0, false, true),
            (-2.1, 4.0, 1.0, false, false),
            (-2.1, 4.0, 1.0, true, true),
            (f32::NAN, 4.0, 1.0, false, false),
            (f32::INFINITY, f32::INFINITY, 1.0, false, false),
            (1.0, f32::NAN, 1.0, false, false),
            (1.0, 4.0, -0.0, false, false),
            (1.0, 4.0, 0.0, false, true),
        ] {
            let launch = methods(x, bound, scale, force, &mut y).over(8);
            let ran = runs(launch.run_on(&device));
            assert_eq!(ran, expected, "{device}: {x} {bound} {scale} {force}");
        }
        for (half, n, expected) in [
            (0.5, 7, true),
            (1.0, 7, false),
            (0.5, 8, false),
            (0.5, 3, false),
            (0.999_9, 4, false), // rounds to 1
        ] {
            let launch = mixed(f16::from_f32(half), n, &mut y).over(8);
            assert_eq!(
                runs(launch.run_on(&device)),
                expected,
                "{device}: {half} {n}"
            );
        }
        for (step, block, expected) in [(1.0, 8, true), (8.0, 8, true), (9.0, 8, false)] {
            let launch = of_block(step, &mut y).grid(1).block(block);
            assert_eq!(runs(launch.run_on(&device)), expected, "{device}: {step}");
        }
    }
}

/// A struct with a table before the other fields.
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Rates {
    table: [f32; 3],
    most: f32,
    wide: u64,
    on: Switch,
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Switch {
    on: u32,
    level: f32,
}

#[kernel(requires(rates.most > 0.25, rates.wide % 3 == 1, rates.on.on != 0 && rates.on.level >= 0.0))]
fn of_a_struct(rates: Rates, y: &mut [f32]) {
    let i = global_idx_x();
    y[i] = rates.table[i % 3] + rates.most;
}

#[test]
fn fields() {
    let rates = Rates {
        table: [1.0, 2.0, 3.0],
        most: 0.5,
        wide: (1 << 40) + 3,
        on: Switch { on: 1, level: 0.0 },
    };
    let rates_with = |on, level| Rates {
        on: Switch { on, level },
        ..rates
    };
    for device in devices() {
        // The struct contains a 64-bit integer.
        if device.backend() == "wgpu" && !device.info().features.i64 {
            continue;
        }
        let mut y = Vector::zeros(3);
        let all = [
            (rates, (1u64 << 40) % 3 == 1),
            (
                Rates {
                    wide: 1 << 40,
                    ..rates
                },
                (1u64 << 40) % 3 == 1,
            ),
            (Rates { wide: 2, ..rates }, false),
            (
                Rates {
                    most: 0.25,
                    ..rates
                },
                false,
            ),
            (
                Rates {
                    most: f32::NAN,
                    ..rates
                },
                false,
            ),
            (rates_with(0, 1.0), false),
            (rates_with(1, -1.0), false),
            (rates_with(1, 1.0), (1u64 << 40) % 3 == 1),
        ];
        for (rates, expected) in all {
            let ran = runs(of_a_struct(rates, &mut y).over(3).run_on(&device));
            assert_eq!(ran, expected, "{device}");
        }
        assert_eq!(y.to_vec().expect("it ran"), [1.5, 2.5, 3.5], "{device}");
    }
}

#[kernel(requires(total / parts as u64 > 2))]
fn divides(total: u64, parts: u32, y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = 1;
}

#[test]
fn a_failed_condition_refuses_the_launch() {
    let mut y = Vector::zeros(2);
    for device in devices() {
        if device.backend() == "wgpu" && !device.info().features.i64 {
            continue;
        }
        for (total, parts, expected) in [(9, 3, true), (6, 3, false), (9, 0, false)] {
            let ran = runs(divides(total, parts, &mut y).over(2).run_on(&device));
            assert_eq!(ran, expected, "{device}: {total} / {parts}");
        }
    }
}

#[kernel]
fn room(size: f32, y: &mut [u32]) {
    let tile = shared_slice::<u32>(size as usize);
    let i = thread_idx_x();
    if i < tile.len() {
        tile[i] = i as u32;
    }
    barrier();
    if i == 0 {
        y[block_idx_x()] = tile.len() as u32;
    }
}

#[test]
fn a_shared_array_sized_by_a_float() {
    for device in devices() {
        let mut y = Vector::zeros(1);
        for size in [4.5, 1.0, 30.0, 4.9] {
            room(size, &mut y)
                .grid(1)
                .block(32)
                .run_on(&device)
                .expect("it fits");
            let found = y.get(0).expect("it ran");
            assert_eq!(found, size as u32, "{device}: {size}");
        }
    }
}

#[test]
fn a_graph_checks_a_new_float() {
    for device in devices() {
        let mut y = Vector::zeros(4);
        let mut recording = device.record_graph();
        recording
            .launch(below(1.0, &mut y).over(4))
            .expect("1.0 is below");
        let mut graph = recording.finish();
        graph.set_scalar("rate", 2.0f32).expect("2.0 is below");
        assert!(graph.set_scalar("rate", 6.0f32).is_err(), "{device}");
        graph.replay((&mut y,)).expect("it runs with 2.0");
        assert_eq!(y.to_vec().expect("it ran"), [2.0; 4], "{device}");
    }
}
