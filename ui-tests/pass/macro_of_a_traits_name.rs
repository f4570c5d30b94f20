//! A macro with the name of a marked trait is not expanded in compiled bodies, which are `unsafe` code.
#![forbid(unsafe_code)]
use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
pub struct Disc {
    pub r: f32,
}

mod shapes {
    use sarek::prelude::*;

    use super::Disc;

    #[device]
    pub trait Shape {
        fn area(&self) -> f32;
    }

    #[device]
    impl Shape for Disc {
        fn area(&self) -> f32 {
            self.r * self.r
        }
    }
}

use shapes::*;

#[allow(unused_macros)]
macro_rules! mine {
    ($($other:tt)*) => {
        const _: fn() = || std::hint::unreachable_unchecked();
    };
}

// From here on, the trait's name is also that of another macro. The glob import still provides the trait itself.
#[allow(unused_imports)]
use mine as Shape;

#[kernel]
fn areas(disc: Disc, out: &mut [f32]) {
    let i = global_idx_x();
    if i < out.len() {
        out[i] = <Disc as Shape>::area(&disc);
    }
}

fn main() -> sarek::Result<()> {
    let mut out = Vector::<f32>::zeros(4);
    areas(Disc { r: 3.0 }, &mut out).over(4).run()?;
    assert_eq!(out.to_vec()?, [9.0; 4]);
    Ok(())
}
