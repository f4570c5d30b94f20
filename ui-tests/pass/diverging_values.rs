//! Diverging branches: `return`, `break` and `continue` fit any type.

use sarek::prelude::*;

#[kernel]
fn leave(x: &[i32], out: &mut [i32]) {
    let i = global_idx_x();
    let v: i32 = if i < x.len() { x[i] } else { return };
    let mut sum = 0;
    let found = loop {
        sum += match v {
            0 => break 0,
            1..=9 => v,
            _ => break -1,
        };
        if sum > 20 {
            break sum;
        }
    };
    out[i] = 'named: {
        if found < 0 {
            break 'named 100;
        }
        found
    };
}

fn main() -> sarek::Result<()> {
    let x = Vector::from_vec(vec![0, 7, 50]);
    let mut out = Vector::filled(4, -5);
    leave(&x, &mut out).over(4).run()?;
    assert_eq!(out.to_vec()?, [0, 21, 100, -5]);
    Ok(())
}
