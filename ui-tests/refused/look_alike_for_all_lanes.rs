//! A look-alike of a function with barriers: its body leaves the results unwritten.
#![forbid(unsafe_code)]
use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(u32)]
enum Odd {
    A = 5,
    B = 7,
}

#[device]
fn real(x: u32) -> Odd {
    barrier();
    if x > 5 { Odd::A } else { Odd::B }
}

fn fake(_: u32) -> Odd {
    Odd::A
}

mod fake {
    use super::Odd;
    use sarek::__private::host::{Block, Flag, RawFault, Scratch};
    use std::marker::PhantomData;
    use std::mem::MaybeUninit;

    pub fn __sarek_infer(_: impl Sized) -> (PhantomData<super::real>, Odd, PhantomData<()>) {
        unreachable!()
    }

    pub fn __sarek_body<const C: bool>(
        _: Flag<C>,
        _: &Block,
        _: [usize; 3],
        _: [usize; 3],
        _: u32,
        _: (u32,),
    ) -> Result<Odd, RawFault> {
        unreachable!()
    }

    #[allow(clippy::too_many_arguments)]
    pub fn __sarek_block<const C: bool, const F: bool>(
        _: Flag<C>,
        _: Flag<F>,
        _: &Block,
        _: [usize; 3],
        _: [usize; 3],
        _: &Scratch,
        _: u32,
        _: &[bool],
        _: (&[MaybeUninit<u32>],),
        _: &mut [MaybeUninit<Odd>],
    ) -> Result<(), RawFault> {
        Ok(()) // writes no result
    }
}

#[kernel(block = 64)]
fn odd(y: &mut [u32]) {
    let o = fake(3);
    y[global_idx_x()] = match o {
        Odd::A => 1,
        Odd::B => 2,
    };
}

fn main() -> sarek::Result<()> {
    let native = Device::of("native")?;
    let mut y = Vector::<u32>::zeros(64);
    odd(&mut y).grid(1).run_on(&native)?; // an `Odd` made of the old bytes of the scratch memory (0)
    println!("{:?}", y.to_vec()?);
    Ok(())
}
