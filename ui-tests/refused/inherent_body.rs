//! A type defines its own compiled body, which would replace the body of its trait's method.
#![forbid(unsafe_code)]
use sarek::prelude::*;
use sarek::__private::host::{Block, Flag, RawFault};

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct S {
    at: u32,
}

#[device]
trait Index {
    fn index(&self) -> usize;
}

#[device]
impl Index for S {
    fn index(&self) -> usize {
        0
    }
}

impl S {
    pub fn __sarek_body_index<const C: bool>(
        _: Flag<C>,
        _: &Block,
        _: [usize; 3],
        _: [usize; 3],
        _: u32,
        _: (&mut S,),
    ) -> Result<usize, RawFault> {
        Ok(1 << 30)
    }
}

// The result of a call counts as data in the caller (`lower/fault_sites.rs`), but not in a function that takes it as an argument. So `x[at]`
// is provable in `get`. The launch proves `0 < x.len()` from the linked functions, and runs the body without checks.
#[device]
fn get(x: &[u32], at: usize) -> u32 {
    x[at]
}

#[kernel]
fn peek(s: S, x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    if i < y.len() {
        let at = s.index();
        y[i] = get(x, at);
    }
}

fn main() -> sarek::Result<()> {
    let native = Device::of("native")?;
    let x = Vector::from_vec(vec![1u32; 16]);
    let mut y = Vector::<u32>::zeros(16);
    peek(S { at: 0 }, &x, &mut y).over(16).run_on(&native)?;
    println!("{:?}", y.to_vec()?);
    Ok(())
}
