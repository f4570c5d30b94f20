//! What kernels of another crate use: `tests/other_crates.rs`.

use sarek::prelude::*;

/// Weights that are read by a varying index.
pub const WEIGHTS: [u32; 4] = [2, 3, 5, 7];

/// One that is a number.
pub const HALF: f32 = 0.5;

/// One that sizes shared arrays.
pub const BLOCK: usize = 32;

/// A place, with room for nothing between its fields.
#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C)]
pub struct Place {
    /// To the right.
    pub x: f32,
    /// Up.
    pub y: f32,
}

#[device]
impl Place {
    /// Where one begins.
    pub const ORIGIN: Place = Place { x: 0.0, y: 0.0 };

    /// At these coordinates.
    pub fn new(x: f32, y: f32) -> Place {
        Place { x, y }
    }

    /// Along both axes.
    pub fn plus(self, other: Place) -> Place {
        Place::new(self.x + other.x, self.y + other.y)
    }

    /// A quarter to the left.
    pub fn turn(&mut self) {
        let x = self.x;
        self.x = -self.y;
        self.y = x;
    }
}

/// Values under a name.
#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C)]
pub struct Tagged<T, const N: usize> {
    /// The name.
    pub tag: u32,
    /// The values.
    pub of: [T; N],
    /// Where they are.
    pub at: Place,
}

#[device]
impl<T: Num, const N: usize> Tagged<T, N> {
    /// All values together.
    pub fn sum(&self) -> T {
        let mut sum = T::ZERO;
        for k in 0..N {
            sum += self.of[k];
        }
        sum
    }
}

/// What may happen.
#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C, u32)]
pub enum Event {
    /// Nothing does.
    Nothing,
    /// Something is seen there.
    Seen(Place),
    /// So many are counted, with this weight.
    Counted {
        /// How many.
        count: u32,
        /// How much each.
        weight: f32,
    },
}

/// What has a size.
#[device]
pub trait Sized2: KernelType {
    /// Its dimensions.
    const DIMENSIONS: u32;

    /// The size, so many times.
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

/// The sum of a slice in a ring, from `first` on.
#[device]
pub fn ring(x: &[u32], first: usize, count: usize) -> u32 {
    let mut sum = 0;
    for k in 0..count {
        sum += x[(first + k) % x.len()] * WEIGHTS[k % WEIGHTS.len()];
    }
    sum
}

/// Twice what all threads of the block have, together; by a function that no other crate sees.
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

/// Folds by any function.
#[device]
pub fn fold(n: u32, start: u32, f: impl Fn(u32, u32) -> u32) -> u32 {
    let mut value = start;
    for k in 0..n {
        value = f(value, k);
    }
    value
}

/// Calls of itself in one another.
#[device(inline = 6)]
pub fn fib(n: u32) -> u32 {
    if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
}

/// A kernel that another crate launches, by types of its own too.
#[kernel]
pub fn scaled<T: Num, const N: usize>(by: T, x: &[T], y: &mut [T]) {
    let i = global_idx_x();
    if i < y.len() {
        y[i] = power::<T, N>(x[i]) * by;
    }
}

/// A type whose name other crates have, too.
pub type Field = u32;

/// Calls a macro with this crate's [`Field`], which is spelled as the caller's own would be.
#[macro_export]
macro_rules! with_field {
    ($($then:tt)*) => { $($then)*! { $crate::Field } };
}
