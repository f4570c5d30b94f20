//! Traits whose methods kernels call, as users write them.
#![deny(warnings, missing_docs, clippy::pedantic)]
#![forbid(unsafe_code)]
#![allow(clippy::must_use_candidate)]

use sarek::prelude::*;

/// A module of traits and their types.
pub mod shapes {
    use sarek::prelude::*;

    /// A shape with an area.
    #[device]
    pub trait Shape: KernelType {
        /// The area.
        fn area(&self) -> f32;
        /// Doubles the lengths.
        fn double(&mut self);
        /// A part of the area.
        fn part<T: Num, const N: u32>(&self, of: T) -> f32;
    }

    /// A disc.
    #[derive(Clone, Copy, KernelType)]
    #[repr(C)]
    pub struct Disc {
        /// The radius.
        pub r: f32,
    }

    #[device]
    impl Shape for Disc {
        fn area(&self) -> f32 {
            3.0 * self.r * self.r
        }

        fn double(&mut self) {
            self.r *= 2.0;
        }

        fn part<T: Num, const N: u32>(&self, of: T) -> f32 {
            of.to_f32() / N as f32 * self.area()
        }
    }
}

use shapes::{Disc, Shape as Form};

/// A square.
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
pub struct Square {
    side: f32,
}

#[device]
impl Form for Square {
    fn area(&self) -> f32 {
        self.side * self.side
    }

    fn double(&mut self) {
        self.side *= 2.0;
    }

    fn part<T: Num, const N: u32>(&self, of: T) -> f32 {
        of.to_f32() / N as f32 * self.area()
    }
}

/// The area of a larger shape.
#[device]
pub fn larger<S: Form>(s: S) -> f32 {
    let mut other = s;
    other.double();
    other.area()
}

/// A kernel.
#[kernel]
pub fn k(y: &mut [f32]) {
    let i = global_idx_x();
    let d = Disc { r: 1.0 };
    y[i] = larger::<Disc>(d) + larger(d) + d.area() + <Disc as Form>::area(&d) + d.part::<u32, 1>(2) - 6.0 + larger(Square { side: 0.0 });
}

fn main() {
    let mut y = Vector::zeros(4);
    k(&mut y).over(4).run().unwrap();
    assert_eq!(y.to_vec().unwrap(), [30.0; 4]);
    assert_eq!(larger(Disc { r: 1.0 }).to_bits(), 12.0f32.to_bits());
}
