use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [f32]) {
    let i = global_idx_x();
    for k in 0.. {
        if k > i {
            break;
        }
    }
    out[i] = 1.0;
}

fn main() {}
