use sarek::prelude::*;

struct Holder;

impl Holder {
    #[kernel]
    fn wrong(&self, out: &mut [f32]) {
        let i = global_idx_x();
        out[i] = 1.0;
    }
}

fn main() {}
