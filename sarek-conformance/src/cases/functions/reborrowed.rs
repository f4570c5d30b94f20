//! References that functions receive and pass on, and lifetimes with bounds.

use crate::Case;
use crate::check::{Check, expect, sentinel_filled};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("functions/reborrowed_references", &[], lent_on),
    Case::new("functions/lifetimes_with_bounds", &[], with_lifetimes),
];

/// A point.
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
pub struct Place {
    x: f32,
    y: f32,
}

#[device]
fn size(p: &Place) -> f32 {
    p.x * 2.0 + p.y
}

#[device]
fn twice(p: &Place, by: f32) -> f32 {
    size(p) + by * size(p)
}

#[device]
fn moved(p: &mut Place, q: &Place) -> f32 {
    p.x += size(q);
    twice(p, 2.0) + twice(&*p, 0.25) + twice(q, 0.5)
}

#[device]
impl Place {
    /// Passes the receiver itself on.
    fn both(&self, other: &Place) -> f32 {
        size(self) - size(other)
    }
}

#[kernel]
fn lends(x: &[f32], y: &mut [f32]) {
    let i = global_idx_x();
    if i < y.len() {
        let p = Place { x: x[i], y: 1.0 };
        let mut q = p;
        let m: f32 = moved(&mut q, &p);
        y[i] = m + q.both(&p);
    }
}

fn lent_on(device: &Device) -> Check {
    let x: Vec<f32> = (0..40).map(|i| i as f32 * 0.25).collect();
    let expected = |x: &f32| {
        let p = Place { x: *x, y: 1.0 };
        let mut q = p;
        moved(&mut q, &p) + q.both(&p)
    };
    let expected: Vec<f32> = x.iter().map(expected).collect();
    let mut y = sentinel_filled::<f32>(x.len());
    lends(&Vector::from_slice(&x), &mut y)
        .over(x.len())
        .run_on(device)?;
    expect("y", &y, &expected)
}

#[device]
fn outlives<'a, 'b, T: Num>(x: &'a [T], y: &'b [T], i: usize) -> T
where
    'a: 'b,
{
    x[i] - y[i]
}

#[device]
fn bounded<'a: 'b, 'b, T: Num + 'b>(x: &'a [T], y: &'b [T], i: usize) -> T
where
    T: 'a,
{
    x[i] * y[i]
}

/// A trait whose method has lifetimes with bounds.
#[device]
pub trait Apart: KernelType {
    /// Combines elements of two slices.
    fn apart<'a, 'b>(&self, x: &'a [f32], y: &'b [f32], i: usize) -> f32
    where
        'a: 'b;
}

#[device]
impl Apart for Place {
    fn apart<'a, 'b>(&self, x: &'a [f32], y: &'b [f32], i: usize) -> f32
    where
        'a: 'b,
    {
        self.x * x[i] + self.y * y[i]
    }
}

#[kernel]
fn lives(x: &[f32], y: &[f32], z: &mut [f32]) {
    let i = global_idx_x();
    if i < z.len() && i < x.len() && i < y.len() {
        let p = Place { x: 2.0, y: 3.0 };
        z[i] = outlives(x, y, i) + bounded(x, y, i) + p.apart(x, y, i);
    }
}

fn with_lifetimes(device: &Device) -> Check {
    let x: Vec<f32> = (0..40).map(|i| i as f32 * 0.25).collect();
    let y: Vec<f32> = (0..40).map(|i| 5.0 - i as f32).collect();
    let pairs = x.iter().zip(&y);
    let expected: Vec<f32> = pairs
        .map(|(x, y)| x - y + x * y + (2.0 * x + 3.0 * y))
        .collect();
    let mut z = sentinel_filled::<f32>(x.len());
    lives(&Vector::from_slice(&x), &Vector::from_slice(&y), &mut z)
        .over(x.len())
        .run_on(device)?;
    expect("z", &z, &expected)
}
