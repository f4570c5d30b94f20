use sarek::prelude::*;

#[kernel]
fn generic<T: Int>(x: &[T], y: &mut [T]) {
    let i = global_idx_x();
    if let Some(sum) = x[i].checked_add(x[0]) {
        y[i] = sum;
    }
}

#[kernel]
fn plain(x: &[f32], y: &mut [f32], n: &mut [i32]) {
    let i = global_idx_x();
    y[i] = x[i].isqrt() + x[i].ilog10();
    n[i] = n[i].checked_next_power_of_two();
    n[i] = n[i].checked_add(1u32).unwrap_or(0);
}

fn main() {}
