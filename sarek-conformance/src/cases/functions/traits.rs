//! Methods of traits, on known types and on type parameters.

use crate::Case;
use crate::check::{Check, ensure, sentinel_filled};
use sarek::Element;
use sarek::prelude::*;

pub const CASES: &[Case] = &[Case::new("functions/methods_of_traits", &[], called)];

/// A shape with an area.
#[device]
pub trait Shape: KernelType {
    /// Number of corners.
    const CORNERS: u32;

    /// The area.
    fn area(&self) -> f32;

    /// The shape, scaled.
    fn scaled(self, by: f32) -> Self;

    /// Grows by a length.
    fn grow(&mut self, by: f32);

    /// A number that tells the kinds of shapes apart, plus `plus`.
    fn kind(plus: u32) -> u32;

    /// Sums `f` over the edges.
    fn edges(&self, f: impl Fn(f32) -> f32) -> f32;
}

/// A disc.
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
pub struct Disc {
    r: f32,
}

/// A rectangle.
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
pub struct Rect<T> {
    a: T,
    b: T,
}

#[device]
impl Shape for Disc {
    const CORNERS: u32 = 0;

    fn area(&self) -> f32 {
        3.0 * self.r * self.r
    }

    fn scaled(self, by: f32) -> Self {
        Disc { r: self.r * by }
    }

    fn grow(&mut self, by: f32) {
        self.r += by;
    }

    fn kind(plus: u32) -> u32 {
        1 + plus
    }

    fn edges(&self, f: impl Fn(f32) -> f32) -> f32 {
        f(6.0 * self.r)
    }
}

#[device]
impl Disc {
    /// Hides the method of the trait.
    fn kind(plus: u32) -> u32 {
        100 + plus
    }
}

#[device]
impl Shape for Rect<f32> {
    const CORNERS: u32 = 4;

    fn area(&self) -> f32 {
        self.a * self.b
    }

    fn scaled(self, by: f32) -> Self {
        Rect {
            a: self.a * by,
            b: self.b * by,
        }
    }

    fn grow(&mut self, by: f32) {
        self.a += by;
        self.b += by;
    }

    fn kind(plus: u32) -> u32 {
        2 + plus
    }

    fn edges(&self, f: impl Fn(f32) -> f32) -> f32 {
        2.0 * (f(self.a) + f(self.b))
    }
}

#[device]
fn total<S: Shape>(s: S, x: &[f32], i: usize) -> f32 {
    let mut larger = s;
    larger.grow(x[i]);
    let corners: u32 = S::CORNERS;
    s.area() + larger.area() + S::area(&S::scaled(s, 2.0)) + S::kind(1) as f32 + corners as f32
}

#[kernel]
fn areas(x: &[f32], rects: &[Rect<f32>], y: &mut [f32]) {
    let i = global_idx_x();
    if i < y.len() {
        let d = Disc { r: x[i] };
        let e = d.edges(|v| v + x[i]);
        let r: Rect<f32> = rects[i];
        let kinds = <Disc as Shape>::kind(1) + 10 * Disc::kind(1);
        y[i] = total::<Disc>(d, x, i)
            + total::<Rect<f32>>(r, x, i)
            + kinds as f32
            + e
            + <Rect<f32> as Shape>::area(&r);
    }
}

#[kernel]
fn generic<S: Shape + Element>(x: &[f32], shapes: &[S], y: &mut [f32]) {
    let i = global_idx_x();
    if i < y.len() {
        let s: S = shapes[i];
        y[i] = total::<S>(s, x, i) + s.edges(|v| 2.0 * v);
    }
}

fn host<S: Shape>(s: S, v: f32) -> f32 {
    let mut larger = s;
    larger.grow(v);
    s.area() + larger.area() + s.scaled(2.0).area() + (S::kind(1) + S::CORNERS) as f32
}

fn called(device: &Device) -> Check {
    let n = 50;
    let x: Vec<f32> = (0..n).map(|i| (i % 13) as f32 * 0.5).collect();
    let of = |i| Rect {
        a: i as f32,
        b: 0.25,
    };
    let rects: Vec<Rect<f32>> = (0..n).map(of).collect();
    let (xs, shapes) = (Vector::from_slice(&x), Vector::from_slice(&rects));
    let (mut y, mut z) = (sentinel_filled::<f32>(n), sentinel_filled::<f32>(n));
    areas(&xs, &shapes, &mut y).over(n).run_on(device)?;
    generic::<Rect<f32>>(&xs, &shapes, &mut z)
        .over(n)
        .run_on(device)?;
    let (y, z) = (y.to_vec()?, z.to_vec()?);
    for i in 0..n {
        let (d, r, v) = (Disc { r: x[i] }, rects[i], x[i]);
        let expected = [
            host(d, v) + host(r, v) + 2.0 + 1010.0 + 7.0 * v + r.area(),
            host(r, v) + 4.0 * (r.a + r.b),
        ];
        let near = |found: f32, expected: f32| (found - expected).abs() <= 1e-4 * expected;
        ensure(near(y[i], expected[0]) && near(z[i], expected[1]), || {
            format!("element {i} is {} and {}, not {expected:?}", y[i], z[i])
        })?;
    }
    Ok(())
}
