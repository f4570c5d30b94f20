//! Kernels over items: one thread for each element.

use crate::Case;
use crate::check::{Check, ensure, expect, sentinel_filled, wrong};
use crate::input::Random;
use sarek::Error;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("items/scalars", &[], scalars),
    Case::new("items/structs", &[], structs),
    Case::new("items/methods", &[], methods),
    Case::new("items/returns", &[], returns),
    Case::new("items/generic", &[], generic),
    Case::new("items/with_slices", &[], with_slices),
    Case::new("items/lengths", &[], lengths),
];

const SIZES: [usize; 7] = [1, 3, 32, 33, 255, 256, 1027];

#[kernel]
fn scale(a: f32, #[item] x: f32, #[item] y: &mut f32) {
    *y += a * x;
}

fn scalars(device: &Device) -> Check {
    let mut random = Random::new(5);
    for n in SIZES {
        // Multiples of small powers of two, so that nothing is rounded.
        let mut values =
            || -> Vec<f32> { (0..n).map(|_| random.below(512) as f32 / 8.0).collect() };
        let (x, before) = (values(), values());
        let mut y = Vector::from_slice(&before);
        scale(2.5, &Vector::from_slice(&x), &mut y).run_on(device)?;
        let expected: Vec<f32> = x.iter().zip(&before).map(|(x, y)| y + 2.5 * x).collect();
        ensure(y.to_vec()? == expected, || {
            format!("{n} elements are wrong")
        })?;
    }
    Ok(())
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Body {
    at: f32,
    speed: f32,
    hits: u32,
}

#[kernel]
fn step(time: f32, #[item] body: &mut Body, #[item] push: [f32; 2], #[item] moved: &mut f32) {
    let before = body.at;
    body.speed += push[0] * time;
    body.at += body.speed * time;
    if body.at > 10.0 {
        body.hits += push[1] as u32;
        body.speed = -body.speed;
    }
    *moved = body.at - before;
}

fn structs(device: &Device) -> Check {
    for n in SIZES {
        let body = |i: usize| Body {
            at: i as f32,
            speed: 1.0,
            hits: i as u32,
        };
        let mut bodies = Vector::from_vec((0..n).map(body).collect());
        let pushes = Vector::from_vec(
            (0..n)
                .map(|i| [i as f32 * 0.5, 7.0])
                .collect::<Vec<[f32; 2]>>(),
        );
        let mut moved = Vector::filled(n, -1.0f32);
        step(0.5, &mut bodies, &pushes, &mut moved).run_on(device)?;
        let (bodies, moved) = (bodies.to_vec()?, moved.to_vec()?);
        for i in 0..n {
            let mut expected = body(i);
            expected.speed += i as f32 * 0.5 * 0.5;
            let by = expected.speed * 0.5;
            expected.at += by;
            if expected.at > 10.0 {
                expected.hits += 7;
                expected.speed = -expected.speed;
            }
            let got = bodies[i];
            let same =
                (got.at, got.speed, got.hits) == (expected.at, expected.speed, expected.hits);
            ensure(same && moved[i] == by, || {
                format!("of {n}, {i} is at {} and moved by {}", got.at, moved[i])
            })?;
        }
    }
    Ok(())
}

/// An item keeps the value that it has at the return, whichever return that is.
#[kernel]
fn collatz(most: u32, #[item] mut n: u32, #[item] steps: &mut u32) {
    *steps = 0;
    if n == 0 {
        *steps = 1000 + item_id() as u32;
        return;
    }
    while n != 1 {
        if *steps >= most {
            return;
        }
        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
        *steps += 1;
    }
    *steps += 100;
}

fn returns(device: &Device) -> Check {
    let n: Vec<u32> = (0..300).collect();
    let expected = |i: usize, mut n: u32| {
        let mut steps = 0;
        if n == 0 {
            return 1000 + i as u32;
        }
        while n != 1 {
            if steps >= 20 {
                return steps;
            }
            n = if n & 1 == 0 { n / 2 } else { 3 * n + 1 };
            steps += 1;
        }
        steps + 100
    };
    let expected: Vec<u32> = n.iter().enumerate().map(|(i, n)| expected(i, *n)).collect();
    let mut steps = Vector::filled(300, 5u32);
    collatz(20, &Vector::from_vec(n), &mut steps).run_on(device)?;
    ensure(steps.to_vec()? == expected, || "steps are wrong".into())
}

#[kernel]
fn clamped<T: Float>(#[item] x: &T, #[item] out: &mut T) {
    *out = (*x).min(T::from_f32(2.0)) * T::from_f32(4.0);
}

fn generic(device: &Device) -> Check {
    let x: Vec<f32> = (0..65).map(|i| i as f32 / 16.0).collect();
    let expected: Vec<f32> = x.iter().map(|x| x.min(2.0) * 4.0).collect();
    let mut out = Vector::zeros(65);
    clamped::<f32>(&Vector::from_vec(x), &mut out).run_on(device)?;
    ensure(out.to_vec()? == expected, || "f32 is wrong".into())
}

/// Some arguments are items, and others slices.
#[kernel]
fn gather(table: &[u32], #[item] index: u32, count: &[Atomic<u32>], #[item] out: &mut u32) {
    let at = index as usize;
    *out = table[at];
    count[at].fetch_add(1);
}

fn with_slices(device: &Device) -> Check {
    let table = Vector::from_vec(vec![10u32, 20, 30]);
    let index: Vec<u32> = (0..100).map(|i| i % 3).collect();
    let expected: Vec<u32> = index.iter().map(|i| 10 * (i + 1)).collect();
    let mut count = Vector::<u32>::zeros(3);
    let mut out = Vector::zeros(100);
    gather(&table, &Vector::from_vec(index), &mut count, &mut out).run_on(device)?;
    ensure(out.to_vec()? == expected, || "out is wrong".into())?;
    ensure(count.to_vec()? == [34, 33, 33], || {
        "counts are wrong".into()
    })
}

/// All item arguments must have the same length, or the launch is a typed error. Length zero is fine.
fn lengths(device: &Device) -> Check {
    let x = Vector::from_vec(vec![1.0f32; 4]);
    let mut y = sentinel_filled::<f32>(0);
    match scale(1.0, &x, &mut y).run_on(device) {
        Err(Error::Items { kernel, lengths }) => {
            let expected = [("x".to_string(), 4), ("y".to_string(), 5)];
            ensure(kernel == "scale" && lengths == expected, || {
                format!("`{kernel}`: {lengths:?}")
            })?;
        }
        Err(other) => return wrong(format!("another error: {other}")),
        Ok(()) => return wrong("items of different lengths ran"),
    }
    expect("untouched", &y, &[])?;
    let (none, mut also_none) = (Vector::<f32>::zeros(0), Vector::<f32>::zeros(0));
    scale(1.0, &none, &mut also_none).run_on(device)?;
    Ok(())
}

#[device]
impl Body {
    fn advance(&mut self, time: f32) {
        self.at += self.speed * time;
    }

    fn hit(&mut self, by: u32) -> u32 {
        self.hits += by;
        self.hits
    }
}

#[device]
fn stop(body: &mut Body) {
    body.speed = 0.0;
}

#[kernel]
fn methods_kernel(#[item] body: &mut Body, #[item] hits: &mut u32) {
    body.advance(2.0);
    *hits = body.hit(3);
    body.advance(0.5);
    stop(body);
}

fn methods(device: &Device) -> Check {
    for n in SIZES {
        let body = |i: usize| Body {
            at: i as f32,
            speed: 2.0,
            hits: i as u32,
        };
        let mut bodies = Vector::from_vec((0..n).map(body).collect());
        let mut hits = Vector::from_vec(vec![0u32; n]);
        methods_kernel(&mut bodies, &mut hits).run_on(device)?;
        let moved = |(i, body): (usize, &Body)| {
            body.at == i as f32 + 5.0 && body.speed == 0.0 && body.hits == i as u32 + 3
        };
        let all = bodies.to_vec()?.iter().enumerate().all(moved);
        ensure(all, || format!("{n} bodies are wrong"))?;
        let expected: Vec<u32> = (0..n as u32).map(|i| i + 3).collect();
        ensure(hits.to_vec()? == expected, || format!("{n} hits are wrong"))?;
    }
    Ok(())
}
