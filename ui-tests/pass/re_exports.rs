//! One `use` imports a function and the type with its name, also through a re-export.
#![deny(warnings)]

mod kernels {
    mod detail {
        use sarek::prelude::*;

        #[kernel]
        pub fn negate(v: &mut [i32]) {
            let i = global_idx_x();
            v[i] = -v[i];
        }
    }

    pub use detail::negate as flip;
}

use kernels::flip;
use sarek::prelude::*;

fn main() -> sarek::Result<()> {
    let mut v = Vector::from_vec(vec![1, -2]);
    flip(&mut v).over(2).run()?;
    assert_eq!(v.to_vec()?, [-1, 2]);
    assert_eq!(flip::ir().name, "negate");
    Ok(())
}
