//! Empty statements: semicolons without an expression.

use sarek::prelude::*;

#[device]
fn halved(x: &mut f32, times: u32) {
    ;
    if times > 0 {
        *x *= 0.5;;
        halved(x, times - 1);;
    };
}

#[kernel]
fn halves(out: &mut [f32]) {
    ;;
    let i = global_idx_x();
    println!("{i}");;
    if i >= out.len() {
        return;;
    };
    let mut x = i as f32;
    halved(&mut x, 3);;
    out[i] = x;
    ;
}

fn main() -> sarek::Result<()> {
    let mut out = sarek::Vector::<f32>::zeros(5);
    halves(&mut out).over(5).run()?;
    assert_eq!(out.to_vec()?, [0.0, 0.125, 0.25, 0.375, 0.5]);
    Ok(())
}
