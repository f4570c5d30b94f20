#![forbid(unsafe_code)]

use sarek::backend::{BackendGraph, BackendStream};

fn twice(graph: &dyn BackendGraph, stream: &dyn BackendStream) -> sarek::Result<()> {
    graph.replay(stream)?;
    graph.replay(stream)
}

fn main() {
    let _ = twice;
}
