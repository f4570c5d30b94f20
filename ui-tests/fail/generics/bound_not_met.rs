use sarek::prelude::*;

#[kernel]
fn root<T: Float>(out: &mut [T]) {
    let i = global_idx_x();
    out[i] = out[i].sqrt();
}

fn main() {
    let mut out = Vector::from_vec(vec![1u32]);
    let _ = root(&mut out).over(1usize).run();
}
