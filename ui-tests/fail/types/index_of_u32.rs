use sarek::prelude::*;

#[kernel]
unsafe fn wrong(k: u32, out: &mut [f32]) {
    out[k] = 1.0;
}

fn main() {}
