use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [f32]) {
    fn helper<T>(x: T) -> T {
        x
    }
    let i = global_idx_x();
    out[i] = 1.0;
}

fn main() {}
