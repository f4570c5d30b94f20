//! Kernels that use types, functions, methods, traits, constants and kernels of another crate, on every device.

use sarek::Error;
use sarek::prelude::*;
use sarek_test_library::{self as library, BLOCK, Event, HasSize, Place, Tagged};

/// Runs a check on every device. A device that cannot run it must return `NotEligible`.
fn on_every_device(check: impl Fn(&Device) -> sarek::Result<()>) {
    let mut ran = vec![];
    for device in Device::all() {
        match check(&device) {
            Ok(()) => ran.push(device.backend().to_string()),
            Err(Error::NotEligible { reasons, .. }) => eprintln!("{device}: {reasons:?}"),
            Err(error) => panic!("{device}: {error}"),
        }
    }
    for host in ["native", "interpreter"] {
        assert!(ran.iter().any(|name| name == host), "{ran:?}");
    }
}

#[kernel]
fn functions(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    if i < y.len() && i < x.len() {
        let first = library::ring(x, i, 6) + library::power::<u32, 3>(x[i]);
        let by = library::WEIGHTS[i % 4];
        y[i] = library::fold(5, first, |sum, k| sum * 3 + k * by) + library::fib(x[i] % 7);
    }
}

#[test]
fn functions_and_constants() {
    for n in [1, 33, 259] {
        let x: Vec<u32> = (0..n as u32).map(|i| i * 37 % 101).collect();
        let fib = |n: u32| (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0;
        let expected = |i: usize| {
            let ring = (0..6)
                .map(|k| x[(i + k) % n] * [2, 3, 5, 7][k % 4])
                .sum::<u32>();
            let by = [2, 3, 5, 7][i % 4];
            let first = ring + x[i].pow(3);
            (0..5).fold(first, |sum, k| sum * 3 + k * by) + fib(x[i] % 7)
        };
        let expected: Vec<u32> = (0..n).map(expected).collect();
        on_every_device(|device| {
            let mut y = Vector::filled(n, 77);
            functions(&Vector::from_slice(&x), &mut y)
                .over(n)
                .run_on(device)?;
            assert_eq!(y.to_vec()?, expected, "{n} on {device}");
            Ok(())
        });
    }
}

/// A struct of this crate with fields of the other crate's types.
#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C)]
struct Body {
    tagged: Tagged<f32, 3>,
    speed: Place,
}

#[device]
impl HasSize for Body {
    const DIMENSIONS: u32 = Place::DIMENSIONS + 10;

    fn size<U: Num>(&self, times: U) -> f32 {
        self.speed.size(times) * library::HALF
    }
}

#[device]
fn measured<S: HasSize>(of: S) -> f32 {
    let dimensions: u32 = S::DIMENSIONS;
    of.size(2u32) + dimensions as f32
}

#[kernel]
fn structs(bodies: &mut [Body], events: &mut [Event], sizes: &mut [f32]) {
    let i = global_idx_x();
    if i < bodies.len() && i < events.len() && i < sizes.len() {
        let mut body = bodies[i];
        body.speed.turn();
        body.tagged.at = body.tagged.at.plus(body.speed).plus(Place::ORIGIN);
        body.tagged.of[1] *= 2.0;
        bodies[i] = body;
        let sum: f32 = body.tagged.sum();
        events[i] = match events[i] {
            Event::Nothing => Event::Seen(Place::new(sum, 1.0)),
            Event::Seen(Place { x, .. }) if x > 3.0 => Event::Nothing,
            Event::Seen(at) => Event::Counted {
                count: body.tagged.tag,
                weight: at.y,
            },
            Event::Counted { count, weight } => Event::Counted {
                count: count + 1,
                weight: weight * 2.0,
            },
        };
        sizes[i] = measured(body)
            + measured(body.tagged.at)
            + <Place as HasSize>::size(&body.speed, 1.0f32);
    }
}

#[test]
fn types_methods_and_traits() {
    for n in [1, 33, 259] {
        let of = |k: usize| (k % 16) as f32 * 0.25;
        let body = |i: usize| Body {
            tagged: Tagged {
                tag: i as u32,
                of: [of(i), of(i + 3), 1.5],
                at: Place {
                    x: of(i + 5),
                    y: -1.0,
                },
            },
            speed: Place {
                x: of(7 * i),
                y: of(i + 1),
            },
        };
        let event = |i: usize| match i % 3 {
            0 => Event::Nothing,
            1 => Event::Seen(Place { x: of(i), y: 8.0 }),
            _ => Event::Counted {
                count: i as u32,
                weight: 0.5,
            },
        };
        let (mut after, mut seen, mut sizes) = (vec![], vec![], vec![]);
        for i in 0..n {
            let mut b = body(i);
            b.speed = Place {
                x: -b.speed.y,
                y: b.speed.x,
            };
            b.tagged.at = Place {
                x: b.tagged.at.x + b.speed.x,
                y: b.tagged.at.y + b.speed.y,
            };
            b.tagged.of[1] *= 2.0;
            seen.push(match event(i) {
                Event::Nothing => Event::Seen(Place {
                    x: b.tagged.of.iter().sum(),
                    y: 1.0,
                }),
                Event::Seen(at) if at.x > 3.0 => Event::Nothing,
                Event::Seen(at) => Event::Counted {
                    count: i as u32,
                    weight: at.y,
                },
                Event::Counted { count, weight } => Event::Counted {
                    count: count + 1,
                    weight: weight * 2.0,
                },
            });
            let length = |p: Place| p.x.abs() + p.y.abs();
            sizes.push(length(b.speed) + 12.0 + 2.0 * length(b.tagged.at) + 2.0 + length(b.speed));
            after.push(b);
        }
        on_every_device(|device| {
            let mut bodies = Vector::from_vec((0..n).map(body).collect());
            let mut events = Vector::from_vec((0..n).map(event).collect());
            let mut found = Vector::filled(n, -1.0f32);
            structs(&mut bodies, &mut events, &mut found)
                .over(n)
                .run_on(device)?;
            assert_eq!(bodies.to_vec()?, after, "{n} on {device}");
            assert_eq!(events.to_vec()?, seen, "{n} on {device}");
            assert_eq!(found.to_vec()?, sizes, "{n} on {device}");
            Ok(())
        });
    }
}

#[kernel]
fn together(y: &mut [u32]) {
    let tile = shared_array::<u32, BLOCK>();
    let places = shared_array::<Place, { library::BLOCK }>();
    let t = thread_idx_x();
    places[t] = Place::new(t as f32, 1.0);
    let sum = library::block_sum(tile, t as u32 + 1);
    let next = places[(t + 1) % block_dim_x()];
    y[global_idx_x()] = 100 * sum + next.x as u32;
}

#[test]
fn blocks_work_together() {
    on_every_device(|device| {
        for block in [1, 3, 32] {
            let mut y = Vector::filled(2 * block, 0);
            together(&mut y).grid(2).block(block).run_on(device)?;
            let sum = (block * (block + 1)) as u32;
            let expected = |i: usize| 100 * sum + ((i + 1) % block) as u32;
            let expected: Vec<u32> = (0..2 * block).map(|i| expected(i % block)).collect();
            assert_eq!(y.to_vec()?, expected, "{block} on {device}");
        }
        Ok(())
    });
}

/// A constant of the other crate is a stride and a tile's length.
#[kernel(block = 32)]
fn strides(y: &mut [u32]) {
    let tile = shared_array::<u32, { 2 * library::BLOCK }>();
    let t = thread_idx_x();
    let i = library::BLOCK * block_idx_x() + t;
    tile[t] = y[i];
    tile[BLOCK + t] = 7;
    barrier();
    y[i] = tile[BLOCK - 1 - t] + tile[2 * BLOCK - 1 - t];
}

#[test]
fn constants_in_indices() {
    on_every_device(|device| {
        let mut expected: Vec<u32> = (0..3 * BLOCK as u32).map(|i| i * 31 % 17).collect();
        let mut y = Vector::from_slice(&expected);
        strides(&mut y).grid(3).run_on(device)?;
        expected.chunks_mut(BLOCK).for_each(<[u32]>::reverse);
        expected.iter_mut().for_each(|y| *y += 7);
        assert_eq!(y.to_vec()?, expected, "{device}");
        Ok(())
    });
}

#[test]
fn kernels() {
    on_every_device(|device| {
        let x: Vec<u32> = (0..100).collect();
        let mut y = Vector::filled(100, 0);
        library::scaled::<u32, 2>(3, &Vector::from_slice(&x), &mut y)
            .over(100)
            .run_on(device)?;
        let expected: Vec<u32> = x.iter().map(|x| 3 * x * x).collect();
        assert_eq!(y.to_vec()?, expected, "{device}");
        let x: Vec<f32> = (0..33).map(|i| i as f32 * 0.5).collect();
        let mut y = Vector::filled(33, 0.0);
        library::scaled::<f32, 1>(0.5, &Vector::from_slice(&x), &mut y)
            .over(33)
            .run_on(device)?;
        let expected: Vec<f32> = x.iter().map(|x| 0.5 * x).collect();
        assert_eq!(y.to_vec()?, expected, "{device}");
        Ok(())
    });
}
