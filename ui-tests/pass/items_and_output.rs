//! Items, output and native text in unusual but valid forms.
#![forbid(unsafe_op_in_unsafe_fn)]
#![deny(missing_docs, warnings)]

use sarek::prelude::*;

/// A prelude with an include.
pub const HELPERS: sarek::NativePrelude = sarek::NativePrelude::new(&[("cuda", "#include <h>")]);

/// An item by value is a copy, and so may be changed.
#[kernel]
pub fn halve(#[item] mut x: u32, #[item] out: &mut u32, #[item] shared: &u32) {
    while x > 10 {
        x /= 2;
    }
    *out = x + *shared;
}

/// A panic fits any type.
#[kernel]
pub fn pick(which: u32, out: &mut [u32]) {
    let value: u32 = match which {
        0 => 1,
        1 => todo!(),
        _ => panic!("{{no}}"),
    };
    let Some(more) = (if value > 0 { Some(value) } else { None }) else {
        unreachable!("value is {{one}}")
    };
    out[global_idx_x()] = more;
}

/// Prints braces, positions, names, captures, a trailing comma, and nothing at all.
#[kernel]
pub fn print_all(n: u32, out: &mut [u32]) {
    println!();
    println!("{{}}",);
    println!("{1} {0} {n} {m:>5} {}", n + 1, 2.5f32, m = true);
    print!("{n:#010b}");
    debug_assert!(n < 100, "n is {{large}}");
    out[global_idx_x()] = n;
}

/// Native text as the last expression of a function.
#[device]
pub fn lane(x: u32) -> u32 {
    unsafe { native! { "cuda" => "threadIdx.x + {x}" as u32, use HELPERS, _ => { x } } }
}

fn main() {}
