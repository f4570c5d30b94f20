use sarek::prelude::*;

#[kernel]
fn wrong(mut x: ViewMut2<f32>) {
    x[[global_idx_y(), 3]] = 1.0;
    x[[global_idx_y(), global_idx_x()]] = 2.0;
}

fn main() {}
