//! Every kind of argument, with trailing commas and type aliases in the call.
#![deny(warnings)]

use sarek::prelude::*;

#[kernel]
fn all(
    b: bool,
    i: i32,
    u: u32,
    l: i64,
    m: u64,
    n: usize,
    f: f32,
    mut d: f64,
    input: &[bool],
    output: &mut [f64],
) {
    let at = global_idx_x();
    if b && input[at] {
        d += i as f64 + u as f64 + l as f64 + m as f64 + n as f64 + f as f64;
    }
    output[at] = d;
}

fn main() -> sarek::Result<()> {
    let input = Vector::from_vec(vec![true, false]);
    let mut output = Vector::zeros(2);
    all(true, -1, 2, -3, 4, 5, 6.0, 0.5, &input, &mut output).over(2).run_on(&Device::of("native")?)?;
    assert_eq!(output.to_vec()?, [13.5, 0.5]);
    Ok(())
}
