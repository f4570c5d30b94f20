//! Methods with generic parameters of their own: of types, of generic types and of traits.

use crate::Case;
use crate::check::{Check, checked_output, ensure, sentinel_filled};
use sarek::Element;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("functions/generic_methods", &[], methods),
    Case::new("functions/generic_methods_of_traits", &[], of_traits),
    Case::new("functions/generic_methods_with_barriers", &[], together),
];

/// Two numbers.
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
pub struct Pair<T> {
    a: T,
    b: T,
}

/// A value with an integer weight.
#[device]
pub trait Sized32: KernelType {
    /// The weight.
    fn weight(&self) -> u32;
}

#[device]
impl Sized32 for Pair<u32> {
    fn weight(&self) -> u32 {
        self.a + self.b
    }
}

/// One number.
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
pub struct Single {
    v: u32,
}

#[device]
impl Sized32 for Single {
    fn weight(&self) -> u32 {
        self.v
    }
}

#[device]
impl<T: Num> Pair<T> {
    fn scaled<U: Num>(self, by: U) -> Pair<T> {
        let by = T::from_f32(by.to_f32());
        Pair {
            a: self.a * by,
            b: self.b * by,
        }
    }

    fn summed<const N: u32>(&self) -> T {
        let mut sum = self.a - self.a;
        for _ in 0..N {
            sum = sum + self.a + self.b;
        }
        sum
    }

    fn add_all<U: Num, const N: usize>(&mut self, v: U, from: &[T]) {
        for i in 0..N {
            self.a += from[i];
        }
        self.b = self.b + T::from_f32(v.to_f32());
    }

    fn with<S: Sized32>(first: T, other: S) -> Pair<T>
    where
        T: Num,
    {
        Pair {
            a: first,
            b: T::from_u32(other.weight()),
        }
    }

    fn twice<U: Num>(self, by: U) -> Pair<T> {
        let once: Pair<T> = self.scaled(by);
        once.scaled(by)
    }

    fn apply<U: Num>(self, by: U, f: impl Fn(T, U) -> T) -> Pair<T> {
        Pair {
            a: f(self.a, by),
            b: f(self.b, by),
        }
    }
}

#[kernel]
fn pairs(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    if i < y.len() {
        let p = Pair::<f32> { a: x[i], b: 2.0 };
        let q: Pair<f32> = p.scaled(3u32);
        let half: Pair<f32> = p.scaled(0.5f32);
        let mut r: Pair<f32> = half.twice::<u32>(2);
        r.add_all::<i32, 2>(-1, x);
        let s = Pair::<f32>::with(1.0, Single { v: 3 });
        let t = Pair::<f32>::with(1.0, Pair::<u32> { a: 1u32, b: 4 });
        let u: Pair<f32> = p.apply(2u32, |v, by| v + by as f32);
        y[i] = q.a + q.b + r.a + r.b + p.summed::<3>() + s.b + 10.0 * t.b + u.a * u.b;
    }
}

/// The result of `pairs` for one element, on the host.
fn pair(x: &[f32], i: usize) -> f32 {
    let v = x[i];
    let q = 3.0 * v + 6.0;
    let r = 2.0 * v + x[0] + x[1] + 4.0 - 1.0;
    q + r + 3.0 * (v + 2.0) + 3.0 + 50.0 + (v + 2.0) * 4.0
}

fn methods(device: &Device) -> Check {
    let n = 70;
    let x: Vec<f32> = (0..n).map(|i| (i % 17) as f32 * 0.25).collect();
    let (xs, mut y) = (Vector::from_slice(&x), sentinel_filled::<f32>(n));
    pairs(&xs, &mut y).over(n).run_on(device)?;
    for (i, found) in checked_output(&y)?.into_iter().enumerate() {
        let expected = pair(&x, i);
        ensure((found - expected).abs() <= 1e-4 * expected.abs(), || {
            format!("element {i} is {found}, not {expected}")
        })?;
    }
    Ok(())
}

/// A store for numbers.
#[device]
pub trait Store: KernelType {
    /// Puts a number in, `TIMES` times.
    fn put<U: Num, const TIMES: u32>(self, value: U) -> Self;

    /// The contents, weighted by another value.
    fn taken<S: Sized32>(&self, other: S) -> f32;
}

#[device]
impl Store for Single {
    fn put<U: Num, const TIMES: u32>(self, value: U) -> Self {
        Single {
            v: self.v + TIMES * value.to_u32(),
        }
    }

    fn taken<S: Sized32>(&self, other: S) -> f32 {
        (self.v * other.weight()) as f32
    }
}

#[device]
impl Store for Pair<f32> {
    fn put<V: Num, const TIMES: u32>(self, value: V) -> Self {
        Pair {
            a: self.b,
            b: TIMES as f32 * value.to_f32(),
        }
    }

    fn taken<S: Sized32>(&self, other: S) -> f32 {
        self.a + self.b * other.weight() as f32
    }
}

#[device]
fn filled<S: Store>(store: S, v: f32) -> f32 {
    let of_two = Pair::<u32> { a: 2u32, b: 3 };
    let single = Single { v: 7 };
    let once: S = store.put::<f32, 2>(v);
    let twice: S = once.put::<u32, 3>(4);
    twice.taken(of_two) + store.taken(single)
}

#[kernel]
fn fill<S: Store + Element>(x: &[f32], stores: &[S], y: &mut [f32]) {
    let i = global_idx_x();
    if i < y.len() {
        let store: S = stores[i];
        y[i] = filled(store, x[i]) + filled(Single { v: 1 }, x[i]);
    }
}

fn of_traits(device: &Device) -> Check {
    let n = 40;
    let x: Vec<f32> = (0..n).map(|i| (i % 11) as f32).collect();
    let stores = (0..n).map(|i| Pair {
        a: i as f32,
        b: 0.5,
    });
    let stores: Vec<Pair<f32>> = stores.collect();
    let (xs, of) = (Vector::from_slice(&x), Vector::from_slice(&stores));
    let mut y = sentinel_filled::<f32>(n);
    fill::<Pair<f32>>(&xs, &of, &mut y).over(n).run_on(device)?;
    for (i, found) in checked_output(&y)?.into_iter().enumerate() {
        let in_pair = 2.0 * x[i] + 12.0 * 5.0 + i as f32 + 0.5 * 7.0;
        let in_single = (1.0 + 2.0 * x[i] + 12.0) * 5.0 + 7.0;
        let expected = in_pair + in_single;
        ensure((found - expected).abs() <= 1e-4 * expected, || {
            format!("element {i} is {found}, not {expected}")
        })?;
    }
    Ok(())
}

/// A factor for numbers.
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
pub struct Step {
    by: u32,
}

#[device]
impl Step {
    /// The scaled number of the thread `N` places further in the block, cyclically.
    fn exchange<U: Num, const N: usize>(&self, own: U, tile: &mut [u32]) -> u32 {
        let t = thread_idx_x();
        tile[t] = own.to_u32() * self.by;
        barrier();
        let found = tile[(t + N) % block_dim_x()];
        barrier();
        found
    }
}

#[kernel]
fn exchanged(y: &mut [u32]) {
    let mut tile = shared_array::<u32, 64>();
    let step: Step = Step { by: 3 };
    let i = global_idx_x();
    let near = step.exchange::<u32, 1>(i as u32, &mut tile);
    let far = step.exchange::<f32, 5>(i as f32, &mut tile);
    if i < y.len() {
        y[i] = near + 1000 * far;
    }
}

fn together(device: &Device) -> Check {
    let (blocks, block) = (3, 16);
    let n = blocks * block;
    let mut y = sentinel_filled::<u32>(n);
    exchanged(&mut y).grid(blocks).block(block).run_on(device)?;
    for (i, found) in checked_output(&y)?.into_iter().enumerate() {
        let first = i - i % block;
        let at = |by: usize| 3 * (first + (i + by) % block) as u32;
        let expected = at(1) + 1000 * at(5);
        ensure(found == expected, || {
            format!("element {i} is {found}, not {expected}")
        })?;
    }
    Ok(())
}
