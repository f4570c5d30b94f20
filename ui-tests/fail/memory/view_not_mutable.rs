use sarek::prelude::*;

#[kernel]
fn wrong(x: ViewMut2<f32>) {
    x[[global_idx_y(), global_idx_x()]] = 1.0;
}

fn main() {}
