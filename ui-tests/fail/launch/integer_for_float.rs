use sarek::prelude::*;

#[kernel]
fn scale(by: f32, x: &mut [f32]) {
    let i = global_idx_x();
    x[i] = x[i] * by;
}

fn main() {
    let mut x = Vector::<f32>::zeros(4);
    let _ = scale(2, &mut x).over(4).run();
}
