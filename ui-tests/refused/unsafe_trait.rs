//! An `unsafe` trait has no impl for the type that audits functions with bounds: nobody promises what it asks.
use sarek::prelude::*;

mod library {
    use sarek::prelude::*;

    /// # Safety
    /// `AT` is 0.
    #[device]
    pub unsafe trait First {
        const AT: usize;
        fn one(&self) -> f32;
    }

    pub fn first<T: First>(of: &[u32; 1]) -> u32 {
        // SAFETY: `First` promises that.
        unsafe { *of.get_unchecked(T::AT) }
    }
}

#[forbid(unsafe_code)]
mod caller {
    pub fn read() -> u32 {
        // `AT` of the witness is `1 as usize`.
        super::library::first::<sarek::__private::host::Witness>(&[1])
    }
}

fn main() {
    println!("{}", caller::read());
}
