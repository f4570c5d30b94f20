#![forbid(unsafe_code)]

use sarek::foreign::{ForeignKernel, Text};
use sarek::prelude::*;

fn main() -> sarek::Result<()> {
    let text = Text::opencl("kernel void ones(global uint *y) { y[1 << 20] = 1; }");
    let kernel = ForeignKernel::new("ones").text(text).output::<u32>("y").build()?;
    let mut y = Vector::<u32>::zeros(4);
    kernel.call((&mut y,)).grid(1).block(4).run()
}
