//! `?` where nothing can be returned, and `?` that would return a value of another type.
use sarek::prelude::*;

#[kernel]
fn wrong(out: &mut [f32]) {
    let i = global_idx_x();
    let x = i.checked_sub(1)?;
    out[i] = 1.0;
}

#[device]
fn plain(n: u32) -> u32 {
    n.checked_sub(1)?
}

#[device]
fn in_a_closure(n: u32) -> Option<u32> {
    let less = |q: u32| q.checked_sub(1)?;
    Some(less(n))
}

#[device]
fn of_a_number(n: u32) -> Option<u32> {
    Some(n?)
}

#[device]
fn option_in_a_result(n: u32) -> Result<u32, u32> {
    let less = n.checked_sub(1)?;
    Ok(less)
}

fn main() {}
