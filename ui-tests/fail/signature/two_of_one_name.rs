//! Kernels and functions whose names other items have, too.

mod kernels {
    use sarek::prelude::*;

    #[kernel]
    fn fill(out: &mut [f32]) {
        let i = global_idx_x();
        out[i] = 1.0;
    }

    #[kernel]
    pub fn fill(value: f32, out: &mut [f32]) {
        let i = global_idx_x();
        out[i] = value;
    }
}

mod functions {
    use sarek::prelude::*;

    #[device]
    fn twice(x: f32) -> f32 {
        x + x
    }

    #[device]
    pub fn twice(x: u32) -> u32 {
        x + x
    }

    #[kernel]
    fn calls(out: &mut [f32]) {
        let i = global_idx_x();
        out[i] = twice(1.0);
    }
}

mod generic {
    use sarek::prelude::*;

    #[kernel]
    fn scale<T: Num>(value: T, out: &mut [T]) {
        let i = global_idx_x();
        out[i] = value;
    }

    #[kernel]
    fn scale<T: Float>(value: T, out: &mut [T]) {
        let i = global_idx_x();
        out[i] = value;
    }
}

mod beside {
    use sarek::prelude::*;

    fn half(x: f32) -> f32 {
        x + x
    }

    #[kernel]
    fn half(out: &mut [f32]) {
        let i = global_idx_x();
        out[i] = 2.0;
    }

    struct Disc {}

    #[kernel]
    #[allow(non_snake_case)]
    fn Disc(out: &mut [f32]) {
        let i = global_idx_x();
        out[i] = 2.0;
    }
}

fn main() {}
