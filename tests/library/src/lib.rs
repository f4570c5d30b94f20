//! A library of items that kernels of another crate use, in `tests/other_crates.rs`.

use sarek::prelude::*;

/// Weights that kernels read at varying indices.
pub const WEIGHTS: [u32; 4] = [2, 3, 5, 7];

/// A constant that is a number.
pub const HALF: f32 = 0.5;

/// A constant length of shared arrays.
pub const BLOCK: usize = 32;

/// A point, without padding between its fields.
#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C)]
pub struct Place {
    /// The coordinate to the right.
    pub x: f32,
    /// The coordinate upwards.
    pub y: f32,
}

#[device]
impl Place {
    /// The origin.
    pub const ORIGIN: Place = Place { x: 0.0, y: 0.0 };

    /// The point with these coordinates.
    pub fn new(x: f32, y: f32) -> Place {
        Place { x, y }
    }

    /// Adds the coordinates.
    pub fn plus(self, other: Place) -> Place {
        Place::new(self.x + other.x, self.y + other.y)
    }

    /// Turns the point to the left by 90 degrees, about the origin.
    pub fn turn(&mut self) {
        let x = self.x;
        self.x = -self.y;
        self.y = x;
    }
}

/// Values with a tag and a position.
#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C)]
pub struct Tagged<T, const N: usize> {
    /// The tag.
    pub tag: u32,
    /// The values.
    pub of: [T; N],
    /// The position.
    pub at: Place,
}

#[device]
impl<T: Num, const N: usize> Tagged<T, N> {
    /// The sum of the values.
    pub fn sum(&self) -> T {
        let mut sum = T::ZERO;
        for k in 0..N {
            sum += self.of[k];
        }
        sum
    }
}

/// An event.
#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C, u32)]
pub enum Event {
    /// No event.
    Nothing,
    /// A sighting at a place.
    Seen(Place),
    /// A count with a weight.
    Counted {
        /// The number of items.
        count: u32,
        /// The weight of each item.
        weight: f32,
    },
}

/// A value with a size.
#[device]
pub trait HasSize: KernelType {
    /// The number of dimensions.
    const DIMENSIONS: u32;

    /// The size, multiplied by `times`.
    fn size<U: Num>(&self, times: U) -> f32;
}

#[device]
impl HasSize for Place {
    const DIMENSIONS: u32 = 2;

    fn size<U: Num>(&self, times: U) -> f32 {
        (self.x.abs() + self.y.abs()) * times.to_f32()
    }
}

/// `x^N`
#[device]
pub fn power<T: Num, const N: usize>(x: T) -> T {
    let mut product = T::ONE;
    for _ in 0..N {
        product *= x;
    }
    product
}

/// The weighted sum of `count` elements of a slice from `first` on, cyclically.
#[device]
pub fn ring(x: &[u32], first: usize, count: usize) -> u32 {
    let mut sum = 0;
    for k in 0..count {
        sum += x[(first + k) % x.len()] * WEIGHTS[k % WEIGHTS.len()];
    }
    sum
}

/// Twice the sum of the values of all threads of the block. It calls a function that is private to this crate.
#[device]
pub fn block_sum(tile: &mut [u32], value: u32) -> u32 {
    tile[thread_idx_x()] = twice(value);
    barrier();
    let mut sum = 0;
    for k in 0..block_dim_x() {
        sum += tile[k];
    }
    barrier();
    sum
}

#[device]
fn twice(value: u32) -> u32 {
    2 * value
}

/// Folds the numbers from 0 to `n - 1` with any function.
#[device]
pub fn fold(n: u32, start: u32, f: impl Fn(u32, u32) -> u32) -> u32 {
    let mut value = start;
    for k in 0..n {
        value = f(value, k);
    }
    value
}

/// A Fibonacci number, by recursion with a declared maximum depth.
#[device(inline = 6)]
pub fn fib(n: u32) -> u32 {
    if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
}

/// A kernel that another crate launches, also with types of its own.
#[kernel]
pub fn scaled<T: Num, const N: usize>(by: T, x: &[T], y: &mut [T]) {
    let i = global_idx_x();
    if i < y.len() {
        y[i] = power::<T, N>(x[i]) * by;
    }
}

/// A type whose name other crates use, too.
pub type Field = u32;

/// Calls a macro with this crate's [`Field`], which is spelled like a type of the caller's own.
#[macro_export]
macro_rules! with_field {
    ($($then:tt)*) => { $($then)*! { $crate::Field } };
}
