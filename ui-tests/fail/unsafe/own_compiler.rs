#![forbid(unsafe_code)]

use sarek::backend::{Artifact, Compiler, Parts};
use sarek::ir::write::Source;

fn compiled(by: &dyn Compiler, source: &Source) -> sarek::Result<Artifact> {
    let parts = Parts::new().flag("-fplugin=mine.so");
    by.compile("mine", source, &parts)
}

fn main() {
    let _ = compiled;
}
