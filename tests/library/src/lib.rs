//! Items that kernels of another crate use, in `tests/other_crates.rs`.

use sarek::prelude::*;

/// A constant array, which kernels index with variables.
pub const WEIGHTS: [u32; 4] = [2, 3, 5, 7];

/// A scalar constant.
pub const HALF: f32 = 0.5;

/// The length of shared arrays.
pub const BLOCK: usize = 32;

/// A point, without padding between its fields.
#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C)]
pub struct Place {
    /// The horizontal coordinate.
    pub x: f32,
    /// The vertical coordinate.
    pub y: f32,
}

#[device]
impl Place {
    /// The origin.
    pub const ORIGIN: Place = Place { x: 0.0, y: 0.0 };

    /// The point at these coordinates.
    pub fn new(x: f32, y: f32) -> Place {
        Place { x, y }
    }

    /// The sum of two points, coordinate by coordinate.
    pub fn plus(self, other: Place) -> Place {
        Place::new(self.x + other.x, self.y + other.y)
    }

    /// Rotates the point by 90 degrees counterclockwise around the origin.
    pub fn turn(&mut self) {
        let x = self.x;
        self.x = -self.y;
        self.y = x;
    }
}

/// Values with a tag and a place.
#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C)]
pub struct Tagged<T, const N: usize> {
    /// The tag.
    pub tag: u32,
    /// The values.
    pub of: [T; N],
    /// The place.
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

/// An event, with a variant for each kind of fields.
#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C, u32)]
pub enum Event {
    /// No event.
    Nothing,
    /// Something was seen at this place.
    Seen(Place),
    /// Some things were counted.
    Counted {
        /// Their number.
        count: u32,
        /// The weight of each.
        weight: f32,
    },
}

/// Types that have a size.
#[device]
pub trait Sized2: KernelType {
    /// The number of dimensions.
    const DIMENSIONS: u32;

    /// The size, multiplied by `times`.
    fn size<U: Num>(&self, times: U) -> f32;
}

#[device]
impl Sized2 for Place {
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

/// A weighted sum of `count` elements from `first` on, where the slice is a ring.
#[device]
pub fn ring(x: &[u32], first: usize, count: usize) -> u32 {
    let mut sum = 0;
    for k in 0..count {
        sum += x[(first + k) % x.len()] * WEIGHTS[k % WEIGHTS.len()];
    }
    sum
}

/// Twice the sum of all threads' values in a block. It calls a private function of this crate.
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

/// Folds the numbers below `n` with a function.
#[device]
pub fn fold(n: u32, start: u32, f: impl Fn(u32, u32) -> u32) -> u32 {
    let mut value = start;
    for k in 0..n {
        value = f(value, k);
    }
    value
}

/// A Fibonacci number, by nested recursion.
#[device(inline = 6)]
pub fn fib(n: u32) -> u32 {
    if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
}

/// A generic kernel that another crate launches.
#[kernel]
pub fn scaled<T: Num, const N: usize>(by: T, x: &[T], y: &mut [T]) {
    let i = global_idx_x();
    if i < y.len() {
        y[i] = power::<T, N>(x[i]) * by;
    }
}

/// A type with a name that other crates also use.
pub type Field = u32;

/// Calls a macro with this crate's [`Field`], whose name is equal to that of the caller's own type.
#[macro_export]
macro_rules! with_field {
    ($($then:tt)*) => { $($then)*! { $crate::Field } };
}
