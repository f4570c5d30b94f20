//! The text of a kernel for a target.

use sarek_ir::write::{self, IndexWidth, Source, Variant};
use sarek_ir::{Kernel, SiteId};

use super::prepare::Prepared;
use crate::device::registry::Registry;
use crate::intrinsic::Spelled;
use crate::plugin::backend::Pipeline;
use crate::{Error, Result};

/// The text of the default variant: for a closed kernel from compile time, else rendered now.
pub(crate) fn source(registry: &Registry, kernel: &Prepared, target: &str) -> Result<String> {
    if let Some(def) = kernel.def().filter(|def| def.ir.is_closed())
        && let Some((_, text)) = def.sources.iter().find(|(name, _)| *name == target)
    {
        return Ok((*text).to_owned());
    }
    if write::dialect(target).is_some() {
        return rendered(kernel, target).map(|source| source.text);
    }
    let spelled = Spelled::of(&kernel.needs.intrinsics, target)?;
    let spelled = &*spelled.spell(&kernel.kernel)?;
    for device in registry.all() {
        if let Pipeline::Jit(renderer, _) = device.pipeline()
            && renderer.target() == target
        {
            let source = renderer.render(spelled, &variant(spelled))?;
            return Ok(source.text);
        }
    }
    Err(no_target(target))
}

/// The default variant of a kernel, rendered for a built-in dialect.
pub(crate) fn rendered(kernel: &Prepared, target: &str) -> Result<Source> {
    let dialect = write::dialect(target).ok_or_else(|| no_target(target))?;
    let spelled = Spelled::of(&kernel.needs.intrinsics, target)?;
    let spelled = &*spelled.spell(&kernel.kernel)?;
    let variant = write::default_variant(spelled, dialect);
    write::render(spelled, dialect, &variant).map_err(|lacking| Error::Unsupported {
        backend: target.to_owned(),
        what: lacking.to_string(),
    })
}

fn no_target(target: &str) -> Error {
    Error::Unsupported {
        backend: target.to_owned(),
        what: "source text: no built-in dialect and no registered device has this target"
            .to_owned(),
    }
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
