//! A transposition through padded shared tiles.

use crate::check::{Check, expect, sentinel_filled};
use crate::input::Random;
use crate::{Capability, Case};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("block/transpose_i32", &[], int),
    Case::new("block/transpose_f32", &[], float),
    Case::new("block/transpose_f64", &[Capability::F64], double),
];

macro_rules! transposes {
    ($($ty:ident $kernel:ident $case:ident;)*) => {$(
        #[kernel(block = (16, 16))]
        fn $kernel(width: usize, height: usize, x: &[$ty], y: &mut [$ty]) {
            let tile = shared_array::<[$ty; 17], 16>();
            let tx = thread_idx_x();
            let ty = thread_idx_y();
            let col = global_idx_x();
            let row = global_idx_y();
            if col < width && row < height {
                tile[ty][tx] = x[row * width + col];
            }
            barrier();
            let col = block_idx_y() * 16 + tx;
            let row = block_idx_x() * 16 + ty;
            if col < height && row < width {
                y[row * height + col] = tile[tx][ty];
            }
        }

        fn $case(device: &Device) -> Check {
            for (width, height) in [(1, 1), (16, 16), (33, 17), (5, 50)] {
                let mut random = Random::new(width as u64);
                let x: Vec<$ty> = (0..width * height).map(|_| random.below(1 << 20) as $ty).collect();
                let at = |i: usize| x[i % height * width + i / height];
                let expected: Vec<$ty> = (0..width * height).map(at).collect();
                let (x, mut y) = (Vector::from_vec(x), sentinel_filled(expected.len()));
                let launch = $kernel(width, height, &x, &mut y);
                launch.grid((width.div_ceil(16), height.div_ceil(16))).run_on(device)?;
                expect(&format!("{width} x {height}"), &y, &expected)?;
            }
            Ok(())
        }
    )*};
}

transposes! {
    i32 transpose_i32 int;
    f32 transpose_f32 float;
    f64 transpose_f64 double;
}
