//! Kernels inside functions see the constants of those functions.
#![deny(warnings)]

use sarek::prelude::*;

fn run(n: usize) -> sarek::Result<Vec<u32>> {
    const OFFSET: u32 = 7;

    #[kernel]
    fn fill(out: &mut [u32]) {
        let i = global_idx_x();
        out[i] = i as u32 + OFFSET;
    }

    let mut out = Vector::zeros(n);
    fill(&mut out).over(n).run()?;
    out.to_vec()
}

fn main() -> sarek::Result<()> {
    assert_eq!(run(3)?, [7, 8, 9]);
    Ok(())
}
