#![forbid(unsafe_code)]

use sarek::backend::{BackendEvent, Mem, Renderer};
use sarek::ir::Kernel;
use sarek::ir::write::{Source, Variant};

struct Mine;

impl Mem for Mine {
    fn len(&self) -> usize {
        1 << 40
    }
}

impl BackendEvent for Mine {
    fn is_done(&self) -> sarek::Result<bool> {
        Ok(true)
    }

    fn sync(&self) -> sarek::Result<()> {
        Ok(())
    }
}

impl Renderer for Mine {
    fn target(&self) -> &'static str {
        "mine"
    }

    fn render(&self, _: &Kernel, _: &Variant) -> sarek::Result<Source> {
        todo!()
    }
}

fn main() {}
