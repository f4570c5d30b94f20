//! Preparation of kernels for launches: each definition is linked and numbered once.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use sarek_ir::analysis::private::Private;
use sarek_ir::analysis::requirements::Requirements;
use sarek_ir::{Access, Expr, ExprId, Kernel, Memory, Param, ParamId, ParamKind, SiteId, link};

use super::Arg;
use super::optimize::Variants;
use super::prove::Proofs;
use crate::KernelDef;
use crate::kernel::foreign::Definition;
use crate::sync::lock;

pub(crate) struct Prepared {
    /// The kernel's number, which is its key in the program caches.
    pub(super) id: u64,
    origin: Origin,
    /// The linked kernel, which is closed. For a foreign kernel, its parameters alone.
    pub(super) kernel: Arc<Kernel>,
    pub(super) needs: Requirements,
    /// Describes a part of the kernel with elements of size 0, if there is one.
    sizeless: Option<String>,
    /// The local arrays of a thread, with element sizes as on the host.
    pub(super) private: Private,
    pub(super) proofs: Proofs,
    pub(super) variants: Variants,
    /// The conditions of `requires(…)` that depend on floats. Cached launches do not tell whether
    /// they hold.
    pub(super) required_of_floats: Vec<(SiteId, ExprId)>,
    /// True if the length of a shared array depends on floats.
    pub(super) sized_by_floats: bool,
    /// The environments that the kernel's text needs, without those that a launch adds.
    pub(super) environments: Arc<[String]>,
    /// For each parameter: true if the kernel reads the slice, and true if it writes it.
    traffic: Vec<(bool, bool)>,
}

/// The origin of a prepared kernel.
enum Origin {
    Definition(&'static KernelDef),
    Foreign(Box<Definition>),
}

impl Prepared {
    fn new(def: &'static KernelDef) -> Prepared {
        if def.ir.is_closed() {
            return Prepared::of(Origin::Definition(def), sarek_ir::Kernel::clone(def.ir));
        }
        let links = (def.links)();
        Prepared {
            sizeless: def.ir.sizeless(&links),
            ..Prepared::of(Origin::Definition(def), link::link(def.ir, &links))
        }
    }

    fn of(origin: Origin, kernel: Kernel) -> Prepared {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let environments = match &origin {
            Origin::Definition(def) => def.environments,
            Origin::Foreign(_) => &[],
        };
        Prepared {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            origin,
            sizeless: None,
            needs: Requirements::of(&kernel),
            private: Private::of(&kernel, 1),
            traffic: traffic(&kernel),
            required_of_floats: kernel
                .required()
                .filter(|(_, condition)| kernel.asks_float(*condition))
                .collect(),
            sized_by_floats: kernel.shared_asks_float(),
            kernel: Arc::new(kernel),
            proofs: Proofs::default(),
            variants: Variants::default(),
            environments: environments.iter().map(ToString::to_string).collect(),
        }
    }

    /// The definition of a kernel written in Rust.
    pub(super) fn def(&self) -> Option<&'static KernelDef> {
        match &self.origin {
            Origin::Definition(def) => Some(def),
            Origin::Foreign(_) => None,
        }
    }

    /// The definition of a foreign kernel: text in devices' own languages.
    pub(crate) fn foreign(&self) -> Option<&Definition> {
        match &self.origin {
            Origin::Definition(_) => None,
            Origin::Foreign(definition) => Some(definition),
        }
    }

    /// The linked kernel.
    pub(crate) fn linked(&self) -> &Kernel {
        &self.kernel
    }

    pub(crate) fn name(&self) -> &str {
        &self.kernel.name
    }

    pub(super) fn params(&self) -> &[Param] {
        &self.kernel.params
    }

    /// The bytes that a launch reads and writes, from the bytes of each argument.
    pub(super) fn bytes(&self, args: impl Iterator<Item = u64>) -> (u64, u64) {
        let both = self.traffic.iter().zip(args);
        both.fold((0, 0), |(read, written), ((reads, writes), bytes)| {
            (
                read + if *reads { bytes } else { 0 },
                written + if *writes { bytes } else { 0 },
            )
        })
    }

    /// Describes a part of the kernel, or an argument, with elements of size 0, if there is one.
    pub(super) fn sizeless(&self, args: &[Arg<'_>]) -> Option<String> {
        let vectors = self.params().iter().zip(args);
        let has_none = |arg: &Arg<'_>| arg.vector().is_some_and(|vector| vector.size() == 0);
        let mut empty = vectors.filter(|(_, arg)| has_none(arg));
        let given = || Some(format!("`{}`", empty.next()?.0.name));
        self.sizeless.clone().or_else(given)
    }

    /// The block size that the kernel fixes.
    pub(super) fn block(&self) -> Option<[u32; 3]> {
        self.kernel.block
    }
}

/// For each slice: true if the kernel reads it, and true if it writes it.
fn traffic(kernel: &Kernel) -> Vec<(bool, bool)> {
    let loads = |slice: ParamId| {
        let slice = Memory::Slice(slice);
        let is = |expr: &Expr| matches!(expr, Expr::Load { memory, .. } if *memory == slice);
        kernel.exprs.iter().any(is)
    };
    let params = kernel.params.iter().zip((0..).map(ParamId));
    let traffic = params.map(|(param, id)| match param.kind {
        ParamKind::Scalar(_) | ParamKind::Value(_) | ParamKind::Reference(_) => (false, false),
        ParamKind::Slice { access, .. } => match access {
            Access::Read => (true, false),
            Access::Write => (loads(id), true),
            Access::Atomic => (true, true),
        },
    });
    traffic.collect()
}

/// The identity of a definition: the addresses of its IR, of its function that returns the links,
/// and of its body. Instances of a generic kernel differ in the last two. If the linker folds those
/// functions into one, the instances do the same.
type Key = (usize, usize, usize);

type Definitions = HashMap<Key, &'static Known, BuildHasherDefault<Addresses>>;

static ALL: OnceLock<Mutex<Definitions>> = OnceLock::new();

/// A definition that was called. It is never freed: definitions live as long as the program.
struct Known {
    key: Key,
    prepared: Arc<Prepared>,
}

/// A direct-mapped cache of definitions, indexed by address: calls that hit it need no lock.
static QUICK: [OnceLock<&'static Known>; 512] = [const { OnceLock::new() }; 512];

/// A hasher for addresses and numbers that no attacker chooses.
#[derive(Default)]
pub(super) struct Addresses(u64);

impl Hasher for Addresses {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes
            .iter()
            .for_each(|byte| self.write_usize((*byte).into()));
    }

    fn write_u64(&mut self, number: u64) {
        self.write_usize(number as usize);
    }

    fn write_usize(&mut self, address: usize) {
        let mixed = (self.0.rotate_left(5) ^ address as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        // Hash maps use the highest and lowest bits, but addresses differ in the middle ones.
        self.0 = mixed ^ mixed >> 32;
    }
}

/// The definitions that this program has called so far, in no order.
#[cfg(feature = "reference")]
pub fn called() -> Vec<&'static KernelDef> {
    let all = lock(ALL.get_or_init(Mutex::default));
    all.values()
        .filter_map(|known| known.prepared.def())
        .collect()
}

/// Returns the prepared kernel of a definition, and prepares it at the first call.
pub(crate) fn prepared(def: &'static KernelDef) -> Arc<Prepared> {
    let key = (
        std::ptr::from_ref(def.ir).addr(),
        def.links as usize,
        def.direct.run as usize,
    );
    let mut hasher = Addresses::default();
    hasher.write_usize(key.0);
    let quick = &QUICK[hasher.finish() as usize % QUICK.len()];
    if let Some(known) = quick.get().filter(|known| known.key == key) {
        return known.prepared.clone();
    }
    let mut all = lock(ALL.get_or_init(Mutex::default));
    let known = *all.entry(key).or_insert_with(|| {
        let prepared = Arc::new(Prepared::new(def));
        Box::leak(Box::new(Known { key, prepared }))
    });
    // Among definitions that share a slot, the first one keeps it.
    quick.get_or_init(|| known);
    known.prepared.clone()
}

/// Prepares a foreign kernel; `signature` is a kernel that has its parameters and no body.
pub(crate) fn foreign(definition: Definition, signature: Kernel) -> Arc<Prepared> {
    Arc::new(Prepared::of(
        Origin::Foreign(Box::new(definition)),
        signature,
    ))
}
