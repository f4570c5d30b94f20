use sarek::prelude::*;

#[kernel]
fn k(x: &[f32], y: &mut [f32]) {
    let tile = shared_array::<f32, 2>();
    let i = global_idx_x();
    y[i] = match x {
        [a, ..] => *a,
        [] => 0.0,
    };
    let [first, _] = tile;
}

fn main() {}
