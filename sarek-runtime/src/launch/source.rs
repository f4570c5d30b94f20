//! A kernel's text for a target.

use sarek_ir::write::{self, IndexWidth, Variant};
use sarek_ir::{Kernel, SiteId};

use super::prepare::Prepared;
use crate::backend::Codegen;
use crate::device::registry::Registry;
use crate::{Error, Result};

/// The text of the default variant: made at compile time for a closed kernel, else now.
pub(crate) fn source(registry: &Registry, kernel: &Prepared, target: &str) -> Result<String> {
    let closed = kernel.def.ir.is_closed();
    let known = kernel.def.sources.iter().find(|(name, _)| *name == target);
    if let Some((_, text)) = known.filter(|_| closed) {
        return Ok((*text).to_owned());
    }
    if let Some(dialect) = write::dialect(target) {
        let variant = write::default_variant(&kernel.kernel, dialect);
        let source = write::render(&kernel.kernel, dialect, &variant);
        return source
            .map(|s| s.text)
            .map_err(|lacking| Error::Unsupported {
                backend: target.to_owned(),
                what: lacking.to_string(),
            });
    }
    for device in registry.all() {
        if let Codegen::Jit(renderer, _) = device.raw().codegen()
            && renderer.target() == target
        {
            let source = renderer.render(&kernel.kernel, &variant(&kernel.kernel))?;
            return Ok(source.text);
        }
    }
    Err(Error::Unsupported {
        backend: target.to_owned(),
        what: "source text: no built-in dialect and no registered device has this target"
            .to_owned(),
    })
}

/// As [`write::default_variant`], for a target whose dialect is not known here.
fn variant(kernel: &Kernel) -> Variant {
    let sites = kernel.sites.iter().zip(0..);
    Variant {
        dims: 3,
        folded: false,
        index: IndexWidth::Bits64,
        checked: sites
            .filter(|(site, _)| !site.provable)
            .map(|(_, id)| SiteId(id))
            .collect(),
        dense: true,
    }
}
