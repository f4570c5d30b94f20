//! A module with a function's name and the items of a call: the proof would be that of another function, while this body runs.
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
    use sarek::__private::host::{Block, Flag, RawFault, Scratch};
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
    ) -> Result<(), RawFault> {
        *super::KEPT.lock().unwrap() = Some(kept);
        Ok(())
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
    ) -> Result<(), RawFault> {
        *super::KEPT.lock().unwrap() = Some(kept);
        Ok(())
    }
}

#[kernel(block = 64)]
fn leak(y: &mut [u32]) {
    let c = shared_array::<Atomic<u32>, 4096>();
    fake(c);
    y[global_idx_x()] = 1;
}

fn main() -> sarek::Result<()> {
    let native = Device::of("native")?;
    std::thread::spawn(move || -> sarek::Result<()> {
        let mut y = Vector::<u32>::zeros(64);
        leak(&mut y).grid(1).run_on(&native)?;
        y.to_vec().map(|_| ())
    })
    .join()
    .unwrap()?;
    // The thread that owned the scratch memory has ended (small launches run inline), or another block uses it: use after free or a race.
    let kept = KEPT.lock().unwrap().unwrap();
    kept[4095].store(0xdead);
    println!("{}", kept[4095].load());
    Ok(())
}
