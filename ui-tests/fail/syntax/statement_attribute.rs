use sarek::prelude::*;

#[kernel]
fn wrong(x: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    #[cold]
    let y = 1.0;
    #[inline]
    let z = x[i].sqrt();
    #[unrol(4)]
    for k in 0..4 {
        out[4 * i + k] = y + z;
    }
    assert!(#[must_use] (z > 0.0));
}

fn main() {}
