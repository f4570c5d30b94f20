//! The user's own items may have the names of items that an expansion needs.
#![allow(dead_code, non_camel_case_types, unused_macros)]
#![deny(unused_imports)]

use sarek::prelude::*;

struct Option;
struct Some;
struct None;
struct Ok;
struct Err;
struct Self_;
struct Cow;
struct String;
struct Box;
struct Vec;
struct Result;
struct Kernel;
struct Launch;
struct Arg;
trait Into {}
mod core {}
mod std {}
mod alloc {}
type usize_ = usize;
fn drop() {}
fn scalar() {}
fn slice() {}

macro_rules! vec {
    () => {
        compile_error!("expansions use the user's `vec!`")
    };
}

#[kernel]
fn fill(args: u32, space: u32, block: u32, out: &mut [u32]) {
    let checked = global_idx_x();
    let this = args + space;
    let result = this * block;
    out[checked] = result;
}

fn main() -> sarek::Result<()> {
    let mut out = Vector::zeros(2);
    fill(1, 2, 3, &mut out).over(2).run()?;
    assert_eq!(out.to_vec()?, [9, 9]);
    ::core::result::Result::Ok(())
}
