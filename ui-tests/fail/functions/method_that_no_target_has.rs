use sarek::prelude::*;

#[kernel]
fn wrong(x: &[i32], f: &[f32], h: &[f16], out: &mut [i32]) {
    let i = global_idx_x();
    let log = x[i].to_ne_bytes();
    out[i] = x[i].cmp(&x[0]) as i32;
    let order = f[i].total_cmp(&f[0]);
    let area = f[i].asinh() + f[i].acosh() + f[i].atanh();
    let tiny = h[i].is_subnormal();
    let both = h[i].sin_cos();
    let unknown = h[i].smoothed();
}

/// An argument is missing, has the wrong type, or is one too many.
#[kernel]
fn arguments(x: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    out[0] = x[i].wrapping_pow();
    out[1] = x[i].saturating_pow(2i32);
    out[2] = x[i].wrapping_add_unsigned(x[i]);
    out[3] = x[i].ilog10(10) as i32;
    out[4] = i.wrapping_add_signed(1) as i32;
    out[5] = x[i].wrapping_add_signed(1);
}

fn main() {}
