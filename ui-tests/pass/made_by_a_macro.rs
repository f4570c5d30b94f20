//! A kernel stamped by `macro_rules!`, with fragments of several kinds.
#![deny(warnings)]

use sarek::prelude::*;

macro_rules! stamp {
    ($name:ident, $t:ty, $constant:expr, $count:literal, $body:block) => {
        #[kernel]
        fn $name(x: &[$t], out: &mut [$t]) {
            let i = global_idx_x();
            let mut sum: $t = $constant;
            for _ in 0..$count {
                sum += x[i];
            }
            $body;
            out[i] = sum;
        }
    };
}

stamp!(triple, f32, 1.0 + 1.0, 3, {});
stamp!(twice, i64, -4, 2, { let _unused = 1; });

fn main() -> sarek::Result<()> {
    let mut out = Vector::zeros(2);
    triple(&Vector::from_vec(vec![1.0, 2.0]), &mut out).over(2).run()?;
    assert_eq!(out.to_vec()?, [5.0, 8.0]);
    let mut out = Vector::zeros(1);
    twice(&Vector::from_vec(vec![5]), &mut out).over(1).run_on(&Device::of("native")?)?;
    assert_eq!(out.to_vec()?, [6]);
    Ok(())
}
