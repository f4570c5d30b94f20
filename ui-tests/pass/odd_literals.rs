//! Literals in all spellings of Rust, and the smallest integers.
#![deny(warnings)]

use sarek::prelude::*;

#[kernel]
fn literals(bytes: &mut [i8], words: &mut [u64], floats: &mut [f32]) {
    let i = global_idx_x();
    bytes[i] = if i == 0 { -128 } else { 0b111_1111 };
    words[i] = if i == 0 { 0xFFFF_FFFF_FFFF_FFFF } else { 0o17u64 };
    floats[i] = if i == 0 { 1f32 } else { 2.5e-1 };
}

fn main() -> sarek::Result<()> {
    let (mut bytes, mut words, mut floats) = (Vector::zeros(2), Vector::zeros(2), Vector::zeros(2));
    literals(&mut bytes, &mut words, &mut floats).over(2).run()?;
    assert_eq!(bytes.to_vec()?, [-128, 127]);
    assert_eq!(words.to_vec()?, [u64::MAX, 15]);
    assert_eq!(floats.to_vec()?, [1.0, 0.25]);
    Ok(())
}
