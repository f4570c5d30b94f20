use sarek::prelude::*;

#[kernel]
fn k(x: &[i32], y: &mut [i32]) {
    let i = global_idx_x();
    let row = [x[i], 1, 2];
    y[i] = match row {
        all @ [1, ..] | all @ [.., 2] => all[0],
        _ => 0,
    };
}

fn main() {}
