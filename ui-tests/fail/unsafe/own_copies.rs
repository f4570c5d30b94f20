#![forbid(unsafe_code)]

use sarek::backend::Slice;
use sarek::prelude::*;

fn main() -> sarek::Result<()> {
    let device = Device::best()?;
    let raw = device.as_backend();
    let slice = Slice {
        mem: raw.alloc(64)?,
        offset: 4096,
        len: 64,
    };
    let stream = raw.stream();
    stream.copy_in(&slice, &[0xff; 64])?;
    stream.copy_out(&slice, &mut [0; 64])?;
    stream.zero(&slice)?;
    stream.copy(&slice, &slice)?;
    raw.graph(&[])?;
    Ok(())
}
