//! The type that stands in for audits of bounded functions implements no `unsafe` trait, since no one vouches for its contract.
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
        // SAFETY: `First` promises that `AT` is 0.
        unsafe { *of.get_unchecked(T::AT) }
    }
}

#[forbid(unsafe_code)]
mod caller {
    pub fn read() -> u32 {
        // `AT` of the witness would be `1 as usize`.
        super::library::first::<sarek::__private::host::Witness>(&[1])
    }
}

fn main() {
    println!("{}", caller::read());
}
