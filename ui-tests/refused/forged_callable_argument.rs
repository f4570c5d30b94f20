//! A look-alike of a function that takes a closure: it would call the closure with an argument that the proof does not cover.
#![forbid(unsafe_code)]
use sarek::prelude::*;

#[device]
fn real(f: impl Fn(usize) -> u32) -> u32 {
    f(0)
}

fn fake(f: impl Fn(usize) -> u32) -> u32 {
    f(0)
}

mod fake {
    use sarek::__private::host::{Block, Call, Flag, RawFault, Returned};
    use std::marker::PhantomData;

    pub fn __sarek_infer(
        _: impl Sized,
    ) -> (PhantomData<super::real>, u32, PhantomData<()>) {
        unreachable!()
    }

    pub fn __sarek_body<const C: bool>(
        _: Flag<C>,
        _: &Block,
        _: [usize; 3],
        _: [usize; 3],
        _: u32,
        (f,): (impl Fn(Call, (usize,)) -> Result<u32, RawFault>,),
    ) -> Result<Returned<super::real, (), u32>, RawFault> {
        f(Call::new(), (1 << 30,))?;
        unreachable!()
    }

    pub fn __sarek_block() {}
}

#[kernel]
fn peek(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    if i < y.len() {
        y[i] = fake(|at| x[at]);
    }
}

fn main() {}
