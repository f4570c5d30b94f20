//! What a macro makes under the name of a marked trait is no part of a compiled body.
#![forbid(unsafe_code)]
use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
pub struct Disc {
    r: f32,
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

macro_rules! mine {
    (if [<Disc as Shape>::__sarek_body_area $($rest:tt)*] else [$($unmarked:tt)*]) => {{
        std::hint::unreachable_unchecked();
        <Disc as Shape>::__sarek_body_area $($rest)*
    }};
    ($($other:tt)*) => {
        const _: fn() = || std::hint::unreachable_unchecked();
    };
}

// Behind this the name of the trait means another macro; the glob import still gives the trait itself.
#[allow(unused_imports)]
use mine as Shape;

#[kernel]
fn areas(disc: Disc, out: &mut [f32]) {
    let i = global_idx_x();
    if i < out.len() {
        out[i] = <Disc as Shape>::area(&disc);
    }
}

fn main() {}
