//! The text of a kernel for a target.

use sarek_ir::write::{self, IndexWidth, Variant};
use sarek_ir::{Kernel, SiteId};

use super::prepare::Prepared;
use crate::device::registry::Registry;
use crate::intrinsic::Spelled;
use crate::plugin::backend::Codegen;
use crate::{Error, Result};

/// The text of the default variant: for a closed kernel from compile time, else rendered now.
pub(crate) fn source(registry: &Registry, kernel: &Prepared, target: &str) -> Result<String> {
    if let Some(def) = kernel.def().filter(|def| def.ir.is_closed())
        && let Some((_, text)) = def.sources.iter().find(|(name, _)| *name == target)
    {
        return Ok((*text).to_owned());
    }
    let spelled = Spelled::of(&kernel.needs.intrinsics, target)?;
    let spelled = &*spelled.spell(&kernel.kernel)?;
    if let Some(dialect) = write::dialect(target) {
        let variant = write::default_variant(spelled, dialect);
        let source = write::render(spelled, dialect, &variant);
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
            let source = renderer.render(spelled, &variant(spelled))?;
            return Ok(source.text);
        }
    }
    Err(Error::Unsupported {
        backend: target.to_owned(),
        what: "source text: no built-in dialect and no registered device has this target"
            .to_owned(),
    })
}

/// The same as [`write::default_variant`], for a target whose dialect is unknown here.
fn variant(kernel: &Kernel) -> Variant {
    let sites = kernel.sites.iter().zip(0..);
    Variant {
        dims: 3,
        strided: false,
        folded: false,
        index: IndexWidth::Bits64,
        checked: sites
            .filter(|(site, _)| !site.provable)
            .map(|(_, id)| SiteId(id))
            .collect(),
        dense: true,
    }
}
