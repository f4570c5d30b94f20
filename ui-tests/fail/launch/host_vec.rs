use sarek::prelude::*;

#[kernel]
fn double(x: &mut [f32]) {
    let i = global_idx_x();
    x[i] = x[i] * 2.0;
}

fn main() {
    let mut x = vec![0.0f32; 4];
    let _ = double(&mut x).over(4).run();
}
