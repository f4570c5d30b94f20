//! Macro expansions trigger no lints in the user's crate: this file denies many, and must compile, also under clippy.

#![forbid(unsafe_code)]
#![deny(missing_docs, warnings, clippy::all, clippy::pedantic)]
#![deny(
    missing_copy_implementations,
    missing_debug_implementations,
    single_use_lifetimes,
    trivial_casts,
    trivial_numeric_casts,
    unreachable_pub,
    unused_lifetimes,
    unused_qualifications,
    unused_results
)]
#![deny(
    clippy::allow_attributes,
    clippy::exhaustive_structs,
    clippy::missing_safety_doc,
    clippy::multiple_inherent_impl,
    clippy::undocumented_unsafe_blocks
)]

/// Kernels of several visibilities.
pub mod inner {
    use sarek::prelude::*;

    const SCALE: f32 = 2.0;
    const K: usize = 3;

    /// A kernel.
    #[kernel]
    pub fn scale(factor: f32, n: u32, x: &[f32], y: &mut [f32]) {
        const C: f32 = SCALE * 2.0;
        let i = global_idx_x();
        let most = i32::MAX;
        let pi = std::f32::consts::PI;
        if i < y.len() {
            let mut sum = 0.0;
            for j in (0..n).rev().step_by(K) {
                sum += x[i] * factor + SCALE * C + f32::MAX - pi;
                if j > 3 && most > 0 {
                    break;
                }
            }
            y[i] = sum;
        }
    }

    /// A kernel.
    #[kernel(block = (16, 16))]
    pub(crate) fn two(a: f32, b: f32, c: f32, y: &mut [f32]) {
        y[global_thread_id()] = a.mul_add(b, c);
    }

    /// A kernel.
    #[deprecated]
    #[kernel]
    pub(in crate::inner) fn three(y: &mut [f32]) {
        y[global_thread_id()] = 1.0;
    }

    /// Uses them.
    ///
    /// # Errors
    /// Those of launches.
    pub fn run() -> sarek::Result<()> {
        let mut y = Vector::filled(3, 0.0f32);
        two(1.0, 2.0, 3.0, &mut y).over((3, 1)).run()
    }
}

#[test]
fn no_lint_looks_at_the_expansion() {
    inner::run().expect("it runs");
    more::used();
}

mod more {
    use sarek::prelude::*;
    #[kernel]
    fn private(y: &mut [i32]) {
        let a = 1;
        y[global_idx_x()] = a << 3;
    }
    pub(crate) fn used() {
        fn local() {
            #[kernel]
            fn nested(y: &mut [i32]) {
                y[global_idx_x()] = 7;
            }
            let mut y = Vector::filled(3, 0);
            nested(&mut y).over(3).run().expect("it runs");
            private(&mut y).over(3).run().expect("it runs");
        }
        local();
    }
}
