//! Kernels with one name in several modules, called by path.
#![deny(warnings)]

mod outer {
    pub mod inner {
        use sarek::prelude::*;

        pub const STEP: i32 = 2;

        #[kernel]
        pub fn bump(v: &mut [i32]) {
            let i = global_idx_x();
            v[i] += STEP;
        }
    }

    use sarek::prelude::*;

    #[kernel]
    pub(crate) fn bump(v: &mut [i32]) {
        let i = global_idx_x();
        v[i] += inner::STEP * 10 + self::inner::STEP + crate::outer::inner::STEP;
    }
}

use sarek::prelude::*;

fn main() -> sarek::Result<()> {
    let mut v = Vector::from_vec(vec![0, 1]);
    outer::inner::bump(&mut v).over(2).run()?;
    outer::bump(&mut v).over(2).run()?;
    assert_eq!(v.to_vec()?, [26, 27]);
    Ok(())
}
