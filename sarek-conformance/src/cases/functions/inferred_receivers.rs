//! Methods of values whose types the source does not name: fields, payloads, results of functions.

use crate::Case;
use crate::check::{Check, checked_output, ensure, sentinel_filled};
use sarek::Element;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("functions/methods_of_inferred_types", &[], methods),
    Case::new("functions/mutating_methods_of_inferred_types", &[], changes),
];

/// A point.
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
pub struct Point {
    x: f32,
    y: f32,
}

/// Two ends and a count.
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
pub struct Segment<T> {
    from: T,
    to: T,
    count: u32,
}

/// A shape.
#[derive(Clone, Copy, KernelType)]
#[repr(C, u32)]
pub enum Shape {
    /// A point.
    Dot(Point),
    /// A segment.
    Line {
        /// The segment.
        of: Segment<Point>,
    },
    /// No shape.
    None,
}

/// A value with a length.
#[device]
pub trait Long: KernelType {
    /// The length, multiplied by `by`.
    fn times<U: Num>(&self, by: U) -> f32;
}

#[device]
impl Long for Point {
    fn times<U: Num>(&self, by: U) -> f32 {
        (self.x.abs() + self.y.abs()) * by.to_f32()
    }
}

#[device]
impl Point {
    fn new(x: f32, y: f32) -> Point {
        Point { x, y }
    }

    fn dot(self, other: Point) -> f32 {
        self.x * other.x + self.y * other.y
    }

    fn plus(self, other: Point) -> Point {
        Point::new(self.x + other.x, self.y + other.y)
    }

    fn scaled<T: Num>(&self, by: T) -> Point {
        Point::new(self.x * by.to_f32(), self.y * by.to_f32())
    }

    fn turn(&mut self) {
        let x = self.x;
        self.x = -self.y;
        self.y = x;
    }

    fn mapped(self, f: impl Fn(f32) -> f32) -> Point {
        Point::new(f(self.x), f(self.y))
    }
}

#[device]
impl<T: Long + Element> Segment<T> {
    fn middle(&self) -> T {
        self.to
    }

    fn both(&self) -> f32 {
        self.from.times(1u32) + self.to.times(2.0f32)
    }
}

#[device]
fn line(x: f32) -> Segment<Point> {
    Segment {
        from: Point::new(x, 1.0),
        to: Point::new(2.0, x),
        count: 3,
    }
}

#[device]
fn size(shape: Shape) -> f32 {
    match shape {
        Shape::Dot(p) => p.dot(p),
        Shape::Line { of } if of.count > 2 => of.both() + of.to.dot(of.from),
        Shape::Line { of } => of.from.scaled(3i32).times(1u32),
        Shape::None => 0.5,
    }
}

#[kernel]
fn chains<S: Long + Element>(x: &[f32], lines: &[Segment<S>], y: &mut [f32]) {
    let i = global_idx_x();
    if i < y.len() {
        let l = line(x[i]);
        let p = l.from.plus(l.to).scaled(2u32);
        let q = Point::new(1.0, x[i]).mapped(|v| v + x[0]).plus(p);
        let other = lines[i];
        let shape = if i % 3 == 0 {
            Shape::Dot(p)
        } else if i % 3 == 1 {
            Shape::Line { of: line(1.0) }
        } else {
            Shape::None
        };
        y[i] = p.dot(q) + line(2.0).middle().times(2u32) + size(shape) + other.to.times(0.5f32);
    }
}

#[kernel]
fn changed(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    if i < y.len() {
        let mut l = line(x[i]);
        l.from.turn();
        let mut p = l.from.plus(l.to);
        p.turn();
        p.turn();
        let mut all = [p; 2];
        all[1].turn();
        y[i] = l.from.x + 10.0 * l.from.y + 100.0 * p.x + 1000.0 * all[1].y;
    }
}

/// The sum of the coordinates' magnitudes.
fn length(p: Point) -> f32 {
    p.x.abs() + p.y.abs()
}

fn expected(x: &[f32], i: usize) -> f32 {
    let l = line(x[i]);
    let sum = [l.from.x + l.to.x, l.from.y + l.to.y];
    let p = Point::new(2.0 * sum[0], 2.0 * sum[1]);
    let q = Point::new(1.0 + x[0] + p.x, x[i] + x[0] + p.y);
    let of = line(1.0);
    let size = match i % 3 {
        0 => p.x * p.x + p.y * p.y,
        1 => length(of.from) + 2.0 * length(of.to) + of.to.x * of.from.x + of.to.y * of.from.y,
        _ => 0.5,
    };
    p.x * q.x + p.y * q.y + 8.0 + size + 0.5 * (i as f32 + 1.0)
}

fn methods(device: &Device) -> Check {
    let n = 60;
    let x: Vec<f32> = (0..n).map(|i| (i % 9) as f32 * 0.5 - 2.0).collect();
    let of = |i: usize| Segment {
        from: Point::new(0.0, 0.0),
        to: Point::new(i as f32, -1.0),
        count: 0,
    };
    let lines: Vec<Segment<Point>> = (0..n).map(of).collect();
    let (xs, lines) = (Vector::from_slice(&x), Vector::from_slice(&lines));
    let mut y = sentinel_filled::<f32>(n);
    chains::<Point>(&xs, &lines, &mut y)
        .over(n)
        .run_on(device)?;
    for (i, found) in checked_output(&y)?.into_iter().enumerate() {
        let expected = expected(&x, i);
        ensure(
            (found - expected).abs() <= 1e-4 * expected.abs().max(1.0),
            || format!("element {i} is {found}, not {expected}"),
        )?;
    }
    Ok(())
}

fn changes(device: &Device) -> Check {
    let n = 33;
    let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let (xs, mut y) = (Vector::from_slice(&x), sentinel_filled::<f32>(n));
    changed(&xs, &mut y).over(n).run_on(device)?;
    for (i, found) in checked_output(&y)?.into_iter().enumerate() {
        let v = x[i];
        // A quarter turn of (v, 1) is (-1, v); plus (2, v) is (1, 2 v); half a turn later (-1, -2 v); a quarter later (2 v, -1).
        let p = [-1.0, -2.0 * v];
        let expected = -1.0 + 10.0 * v + 100.0 * p[0] + 1000.0 * p[0];
        ensure(found == expected, || {
            format!("element {i} is {found}, not {expected}")
        })?;
    }
    Ok(())
}
