//! Generic functions and kernels, side by side and in modules.

use sarek::prelude::*;

mod shapes {
    use sarek::prelude::*;

    #[derive(Clone, Copy, KernelType)]
    #[repr(C)]
    pub struct Square<T: Float> {
        pub side: T,
    }

    #[device]
    impl<T: Float> Square<T> {
        pub fn area(&self) -> T {
            self.side * self.side
        }
    }
}

#[device]
fn sum<T: Num, const N: usize>(x: &[T]) -> T {
    let mut sum = T::ZERO;
    for k in 0..N {
        sum += x[k];
    }
    sum
}

#[kernel]
fn areas<T: Float>(sides: &[T], out: &mut [T]) {
    let i = global_idx_x();
    if i < out.len() {
        let s: shapes::Square<T> = shapes::Square { side: sides[i] };
        out[i] = s.area() + sum::<T, 2>(sides);
    }
}

fn main() {
    let sides = Vector::from_vec(vec![1.0f32, 2.0]);
    let mut out = Vector::zeros(2);
    areas(&sides, &mut out).over(2).run().unwrap();
    assert_eq!(out.to_vec().unwrap(), [4.0, 7.0]);
}
