use sarek::prelude::*;

#[kernel]
fn wrong(x: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    #[unroll]
    let a = x[i];
    #[unroll(2)]
    if a > 0.0 {
        out[i] = a;
    }
    #[unroll]
    {
        assert!(a < 5.0);
    }
}

fn main() {}
