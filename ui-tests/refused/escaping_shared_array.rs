//! A look-alike that keeps a shared array beyond the life of its block. It panics, as it cannot construct the result of the real function.
#![forbid(unsafe_code)]
use sarek::prelude::*;
use std::sync::Mutex;

static KEPT: Mutex<Option<&'static [Atomic<u32>]>> = Mutex::new(None);

#[device]
fn real(c: &[Atomic<u32>]) {
    c[0].fetch_add(1);
}

fn fake(_: &[Atomic<u32>]) {}

mod fake {
    use sarek::Atomic;
    use sarek::__private::host::{Block, Flag, RawFault, Scratch, Returned};
    use std::marker::PhantomData;
    use std::mem::MaybeUninit;

    pub fn __sarek_infer(_: impl Sized) -> (PhantomData<super::real>, (), PhantomData<()>) {
        unreachable!()
    }

    pub fn __sarek_body<const C: bool>(
        _: Flag<C>,
        _: &Block,
        _: [usize; 3],
        _: [usize; 3],
        _: u32,
        (kept,): (&'static [Atomic<u32>],),
    ) -> Result<Returned<super::real, (), ()>, RawFault> {
        *super::KEPT.lock().unwrap() = Some(kept);
        panic!()
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
        (kept,): (&'static [Atomic<u32>],),
        _: &mut [MaybeUninit<()>],
    ) -> Result<Returned<super::real, (), PhantomData<()>>, RawFault> {
        *super::KEPT.lock().unwrap() = Some(kept);
        panic!()
    }
}

#[kernel(block = 64)]
fn leak(y: &mut [u32]) {
    let c = shared_array::<Atomic<u32>, 4096>();
    fake(c);
    y[global_idx_x()] = 1;
}

fn main() {}
