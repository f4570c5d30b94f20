use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [u8], wide: &mut [i16]) {
    let i = global_idx_x();
    out[i] = 256;
    let x: i8 = -129;
    wide[i] = x as i16 + 32_768;
}

fn main() {}
