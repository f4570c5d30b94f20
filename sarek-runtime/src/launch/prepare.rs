//! A kernel made ready for launches: linked, and known by a number. Once for each definition.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use sarek_ir::analysis::requirements::Requirements;
use sarek_ir::{Kernel, Param, link};

use super::prove::Proofs;
use crate::KernelDef;
use crate::sync::lock;

pub(crate) struct Prepared {
    /// Names it in the caches of programs.
    pub(super) id: u64,
    pub(super) def: &'static KernelDef,
    /// Closed.
    pub(super) kernel: Arc<Kernel>,
    pub(super) needs: Requirements,
    pub(super) proofs: Proofs,
}

impl Prepared {
    fn new(def: &'static KernelDef) -> Prepared {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let kernel = match def.ir.is_closed() {
            true => def.ir.clone(),
            false => link::link(def.ir, &(def.links)()),
        };
        Prepared {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            def,
            needs: Requirements::of(&kernel),
            kernel: Arc::new(kernel),
            proofs: Proofs::default(),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.kernel.name
    }

    pub(super) fn params(&self) -> &[Param] {
        &self.kernel.params
    }

    /// The block size that the kernel fixes.
    pub(super) fn block(&self) -> Option<[u32; 3]> {
        self.kernel.block
    }
}

/// What makes two definitions the same: the addresses of the IR, of what makes the links, and of the body.
type Key = (usize, usize, usize);

static ALL: OnceLock<Mutex<HashMap<Key, Arc<Prepared>>>> = OnceLock::new();

/// The definitions that this program has called so far, in no order.
#[cfg(feature = "reference")]
pub fn called() -> Vec<&'static KernelDef> {
    let all = lock(ALL.get_or_init(Mutex::default));
    all.values().map(|prepared| prepared.def).collect()
}

/// The kernel of a definition; made at its first call.
pub(crate) fn prepared(def: &'static KernelDef) -> Arc<Prepared> {
    let key = (
        std::ptr::from_ref(def.ir).addr(),
        def.links as usize,
        def.direct.run as usize,
    );
    let mut all = lock(ALL.get_or_init(Mutex::default));
    all.entry(key)
        .or_insert_with(|| Arc::new(Prepared::new(def)))
        .clone()
}
