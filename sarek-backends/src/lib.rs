//! The built-in backends of sarek, each behind a feature of its name.

#[cfg(feature = "native")]
pub mod native;

use std::sync::Arc;

use sarek_runtime::backend::Backend;

/// The backends that are compiled in.
pub fn builtin() -> Vec<Arc<dyn Backend>> {
    vec![
        #[cfg(feature = "native")]
        Arc::new(native::Native),
    ]
}

#[linkme::distributed_slice(sarek_runtime::registry::LINKED)]
static BUILTIN: fn() -> Vec<Arc<dyn Backend>> = builtin;
