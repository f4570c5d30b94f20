//! Rust takes `2.0` for an `f64` where both impls fit. The kernel would see that for `f32` alone.
use sarek::prelude::*;
use std::ops::Mul;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct V {
    x: f32,
}

#[device]
impl Mul<f32> for V {
    type Output = V;

    fn mul(self, by: f32) -> V {
        V { x: self.x * by }
    }
}

impl Mul<f64> for V {
    type Output = V;

    fn mul(self, _: f64) -> V {
        self
    }
}

#[device]
impl Mul<V> for u32 {
    type Output = V;

    fn mul(self, by: V) -> V {
        V { x: self as f32 * by.x }
    }
}

impl Mul<V> for i32 {
    type Output = V;

    fn mul(self, by: V) -> V {
        by
    }
}

#[kernel]
fn scale(v: V, y: &mut [V]) {
    y[global_idx_x()] = v * 2.0;
}

fn main() {}
