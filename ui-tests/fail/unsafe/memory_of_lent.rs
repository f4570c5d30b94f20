#![forbid(unsafe_code)]

use sarek::backend::Slice;
use sarek::prelude::*;

fn kept(lent: &Vector<u32>, stream: &Stream) -> sarek::Result<Slice> {
    Ok(lent.lend(stream)?.slice().clone())
}

fn main() {
    let _ = kept;
}
