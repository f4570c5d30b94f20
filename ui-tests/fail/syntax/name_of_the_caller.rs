use sarek::prelude::*;

macro_rules! scale {
    ($name:ident, $value:expr) => {
        #[kernel]
        fn $name(by: f32, x: &mut [f32]) {
            x[global_idx_x()] *= $value;
        }
    };
}

scale!(double, 2.0 * by);

fn main() {}
