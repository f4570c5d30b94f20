//! Values whose generic arguments follow only from the declared type of a variable.

use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C, u32)]
enum Maybe<T> {
    Nothing,
    Just(T),
}

#[device]
fn never(a: i32) -> i32 {
    let found: Option<i32> = if a > 3 { None } else { None };
    match found {
        Some(x) => x,
        None => 5,
    }
}

#[kernel]
#[allow(unused_assignments, unused_variables, unused_mut)]
fn unset(a: i32, y: &mut [i32]) {
    let i = global_idx_x();
    let alone: Option<i32> = None;
    let mut chosen: Option<i32> = if a > 3 { None } else { None };
    chosen = None;
    let failed: Result<u32, _> = if a > 3 { Err(a) } else { Err(3) };
    let inside: (Option<Option<i32>>, i32) = (Some(None), a);
    let several: [Option<i32>; 2] = [None; 2];
    let own: Maybe<i32> = if a > 3 { Maybe::Nothing } else { Maybe::Nothing };
    if i < y.len() {
        y[i] = never(a) + if matches!(chosen, None) { 1 } else { 2 };
        if let Maybe::Just(x) = own {
            y[i] += x;
        }
    }
}

fn main() {
    let mut y = Vector::from_vec(vec![0i32; 3]);
    unset(1, &mut y).over(3).run().unwrap();
    assert_eq!(y.to_vec().unwrap(), [6; 3]);
}
