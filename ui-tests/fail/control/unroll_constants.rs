use sarek::prelude::*;

const TOO_OFTEN: usize = 2000;
const SIGNED: i32 = 4;

#[kernel]
fn wrong<const N: usize>(x: &[f32], out: &mut [f32]) {
    let i = global_idx_x();
    let mut sum = 0.0;
    #[unroll(TOO_OFTEN)]
    for k in 0..4 {
        sum += x[k];
    }
    #[unroll(SIGNED)]
    for k in 0..4 {
        sum += x[k];
    }
    #[unroll(N)]
    for k in 0..4 {
        sum += x[k];
    }
    out[i] = sum;
}

fn launch(x: &Vector<f32>, out: &mut Vector<f32>) -> sarek::Result<()> {
    wrong::<0>(x, out).over(4).run()
}

fn main() {}
