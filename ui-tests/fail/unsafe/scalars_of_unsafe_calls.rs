#![deny(unsafe_code)]

use sarek::prelude::*;

fn main() -> sarek::Result<()> {
    let mut graph = Device::best()?.record_graph().finish();
    graph.raw_set_scalar("at", 1u32)?;
    graph.raw_set_scalar_of(0, "at", 1u32)?;
    Ok(())
}
