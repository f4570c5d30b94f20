//! A device's program caches: compiled once for each kernel and variant, and loaded once more for
//! each block size.

use std::any::Any;
use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::sync::{Arc, Mutex, OnceLock};

use sarek_ir::ParamId;
use sarek_ir::analysis::private;
use sarek_ir::optimize::Optimization;
use sarek_ir::write::{SlotKind, Source, Variant};

use super::compile::{Output, Unit};
use super::memo::{Memo, Planned};
use super::plan::Plan;
use super::prepare::Prepared;
use super::run::whole;
use crate::device::{LaunchCache, StreamRef};
use crate::host::Direct;
use crate::intrinsic::Spelled;
use crate::plugin::backend::{
    Compiler, LaunchTags, Mem, Origin, Pipeline, Program, Renderer, Slice,
};
use crate::sync::lock;
use crate::sync::span::span;
use crate::{Device, Error, Result};

/// The result of [`BackendDevice::load`].
pub(super) type Loaded = Arc<dyn Any + Send + Sync>;

/// The programs that a device has loaded.
#[derive(Default)]
pub(crate) struct Programs {
    /// For host devices: one body for each kernel.
    bodies: Cache<u64, Loaded>,
    compiled: Cache<CompiledKey, Arc<Compiled>>,
    loaded: Cache<LoadedKey, Jitted>,
    memo: Memo<Arc<Planned>>,
}

impl LaunchCache for Programs {
    fn clear(&self) {
        self.memo.clear();
    }

    fn debug_info(&self) -> Vec<(String, String)> {
        let mut all: Vec<_> = self
            .compiled
            .known()
            .iter()
            .flat_map(|c| c.described())
            .collect();
        all.sort();
        all
    }
}

impl Programs {
    /// The programs of a device.
    pub(super) fn of(device: &Device) -> &Programs {
        device.programs().get()
    }

    /// The plans of earlier launches.
    pub(super) fn memo(&self) -> &Memo<Arc<Planned>> {
        &self.memo
    }
}

/// A kernel's number, its variant and optimization, its environments, the spellings of intrinsics, and the tags that the
/// text depends on.
pub(super) type CompiledKey = (
    u64,
    Variant,
    Option<Optimization>,
    Arc<[String]>,
    Spelled,
    Option<LaunchTags>,
);

/// The same with the block size, and with the lengths of shared arrays if the program fixes them.
type LoadedKey = (CompiledKey, [u32; 3], Arc<[u64]>);

struct Compiled {
    unit: Unit,
    output: Output,
    /// The names that its users gave it.
    names: Mutex<BTreeSet<String>>,
    writes: Writes,
    tables: OnceLock<Vec<(ParamId, Arc<dyn Mem>)>>,
}

impl Compiled {
    fn new(unit: Unit, output: Output) -> Compiled {
        Compiled {
            writes: Writes::of(&unit.source),
            tables: OnceLock::new(),
            names: Mutex::default(),
            unit,
            output,
        }
    }

    /// The names of the program, each with a description: those that its users gave, or the kernel's.
    fn described(&self) -> Vec<(String, String)> {
        let (artifact, source) = (&self.output.artifact, &self.unit.source);
        let what = format!(
            "{} of {} bytes in {}, for {}",
            source.entry,
            artifact.bytes.len(),
            self.unit.target(),
            self.unit.name(),
        );
        let names = lock(&self.names);
        match names.is_empty() {
            true => vec![(self.unit.label.clone(), what)],
            false => names
                .iter()
                .map(|name| (name.clone(), what.clone()))
                .collect(),
        }
    }

    /// True if compiling anew may help after this error of loading: the driver refused a program
    /// that an earlier process had compiled.
    fn is_stale(&self, error: &Error) -> bool {
        let is_refused = matches!(error, Error::Device { .. } | Error::Compile { .. });
        is_refused && self.output.is_from_disk
    }
}

/// The memory that a program writes.
pub(super) struct Writes {
    /// The parameters whose vectors it writes.
    pub(super) params: Vec<ParamId>,
    /// True if it records faults.
    pub(super) faults: bool,
    /// True if it prints.
    pub(super) output: bool,
}

impl Writes {
    fn of(source: &Source) -> Writes {
        let mut writes = Writes {
            params: Vec::new(),
            faults: false,
            output: false,
        };
        for slot in &source.slots {
            match slot.kind {
                SlotKind::Buffer {
                    param,
                    mutable: true,
                } => writes.params.push(param),
                SlotKind::Faults => writes.faults = true,
                SlotKind::Output(_) => writes.output = true,
                SlotKind::Buffer { mutable: false, .. }
                | SlotKind::Len(_)
                | SlotKind::Scalar(_)
                | SlotKind::Extent(_)
                | SlotKind::Grid(_)
                | SlotKind::Shared(_) => {}
            }
        }
        writes
    }
}

/// A compiled and loaded source.
#[derive(Clone)]
pub(super) struct Jitted {
    compiled: Arc<Compiled>,
    pub(super) program: Loaded,
}

impl Jitted {
    /// The compiler's messages.
    pub(super) fn log(&self) -> &str {
        &self.compiled.output.artifact.log
    }

    /// Notes a name that a user gave the program.
    pub(super) fn name(&self, name: &str) {
        lock(&self.compiled.names).insert(name.to_owned());
    }

    /// The names of the entry points of the artifact.
    pub(super) fn entries(&self) -> &[String] {
        &self.compiled.output.artifact.entries
    }

    pub(super) fn source(&self) -> &Source {
        &self.compiled.unit.source
    }

    pub(super) fn writes(&self) -> &Writes {
        &self.compiled.writes
    }

    /// Uploads the constant tables that are not part of the text, unless that is done already.
    pub(super) fn fill(&self, stream: StreamRef<'_>) -> Result<()> {
        let tables = &self.source().tables;
        if tables.is_empty() || self.compiled.tables.get().is_some() {
            return Ok(());
        }
        let filled = tables.iter().map(|table| {
            let mem = stream.device().alloc(table.bytes.len())?;
            // SAFETY: the memory was just allocated with this length, and no other code has it.
            unsafe { stream.queue().raw.copy_in(&whole(&mem), &table.bytes) }?;
            Ok((table.param, mem))
        });
        let filled = filled.collect::<Result<_>>()?;
        // Other streams use the tables, too.
        stream.queue().raw.sync()?;
        // If another thread was faster, its memory holds the same tables.
        let _known = self.compiled.tables.set(filled);
        Ok(())
    }

    /// The memory of a constant table, which is an extra parameter of the program.
    pub(super) fn table(&self, param: ParamId) -> Option<Slice> {
        let mut tables = self.compiled.tables.get()?.iter();
        tables.find_map(|(of, mem)| (*of == param).then(|| whole(mem)))
    }
}

/// The compiled body or the IR of a kernel, loaded on a host device.
pub(super) fn body(device: &Device, kernel: &Prepared) -> Result<Loaded> {
    Programs::of(device).bodies.get(kernel.id, || {
        let program = match device.pipeline() {
            Pipeline::Direct => Program::Direct(direct(kernel)?),
            Pipeline::Interpret | Pipeline::Jit(..) => Program::Ir(kernel.kernel.clone()),
        };
        // SAFETY: the body is that of a `Kernel`; a linked kernel is closed and valid.
        unsafe { device.raw().load(&program) }
    })
}

fn direct(kernel: &Prepared) -> Result<Direct> {
    let without = || Error::Foreign {
        kernel: kernel.name().to_owned(),
        problem: "it has no compiled body".to_owned(),
    };
    Ok(Direct {
        arrays: kernel.private.bytes,
        constants: private::constants(&kernel.kernel),
        ..kernel.def().ok_or_else(without)?.direct
    })
}

/// A variant of a kernel, rendered, compiled and loaded for a plan's block size.
pub(super) fn jitted(
    device: &Device,
    (renderer, compiler): (&dyn Renderer, &dyn Compiler),
    (kernel, label): (&Prepared, Option<&str>),
    variant: &Variant,
    plan: &Plan,
    environments: &Arc<[String]>,
) -> Result<Jitted> {
    let programs = Programs::of(device);
    let shared = match device.raw().fixes_shared() {
        true => plan.shared.clone(),
        false => Arc::default(),
    };
    let spelled = Spelled::of(&kernel.needs.intrinsics, renderer.target())?;
    let key = compiled_key(kernel, (variant, plan), environments, &spelled);
    let loaded = (key.clone(), plan.space.block, shared);
    programs.loaded.get(loaded, || {
        let compiled = programs.compiled.get(key.clone(), || {
            span!("compile", kernel = kernel.name(), device = device);
            let mut unit = Unit::of(
                (kernel, plan.transformed().map(|t| &*t.kernel)),
                (variant, plan.tags.as_ref()),
                &spelled,
                (renderer, compiler),
                environments,
            )?;
            unit.label = label.unwrap_or(kernel.name()).to_owned();
            let output = unit.compile(compiler)?;
            Ok(Arc::new(Compiled::new(unit, output)))
        })?;
        match load(device, kernel, &compiled, plan) {
            Err(error) if compiled.is_stale(&error) => {
                let compiled = programs.compiled.replace(key, &compiled, || {
                    span!("compile", kernel = kernel.name(), device = device);
                    let output = compiled.unit.recompile(compiler)?;
                    Ok(Arc::new(Compiled::new(compiled.unit.clone(), output)))
                })?;
                load(device, kernel, &compiled, plan)
            }
            loaded => loaded,
        }
    })
}

/// The unit to compile for a kernel; `None` if its program is cached.
pub(super) fn missing(
    device: &Device,
    codegen: (&dyn Renderer, &dyn Compiler),
    (kernel, label): (&Prepared, Option<&str>),
    (variant, plan): (&Variant, &Plan),
    environments: &Arc<[String]>,
) -> Result<Option<(CompiledKey, Unit)>> {
    let spelled = Spelled::of(&kernel.needs.intrinsics, codegen.0.target())?;
    let key = compiled_key(kernel, (variant, plan), environments, &spelled);
    if Programs::of(device).compiled.has(&key) {
        return Ok(None);
    }
    let transformed = plan.transformed().map(|t| &*t.kernel);
    let mut unit = Unit::of(
        (kernel, transformed),
        (variant, plan.tags.as_ref()),
        &spelled,
        codegen,
        environments,
    )?;
    unit.label = label.unwrap_or(kernel.name()).to_owned();
    Ok(Some((key, unit)))
}

/// Caches a compiled unit.
pub(super) fn keep(device: &Device, key: CompiledKey, unit: Unit, output: Output) {
    let made = || Ok(Arc::new(Compiled::new(unit, output)));
    // The closure cannot fail.
    let _kept = Programs::of(device).compiled.get(key, made);
}

fn compiled_key(
    kernel: &Prepared,
    (variant, plan): (&Variant, &Plan),
    environments: &Arc<[String]>,
    spelled: &Spelled,
) -> CompiledKey {
    let (variant, environments) = (variant.clone(), environments.clone());
    let optimization = plan.transformed().map(|t| t.optimization.clone());
    (
        kernel.id,
        variant,
        optimization,
        environments,
        spelled.clone(),
        plan.tags.clone(),
    )
}

/// Loads a compiled program for a plan's block size.
fn load(
    device: &Device,
    kernel: &Prepared,
    compiled: &Arc<Compiled>,
    plan: &Plan,
) -> Result<Jitted> {
    span!("load", kernel = kernel.name(), device = device);
    let (artifact, source) = (&compiled.output.artifact, &compiled.unit.source);
    artifact.check_entry(compiled.unit.target(), &source.entry)?;
    let joined = compiled.output.joined.as_ref().map(|text| Source {
        text: text.to_string(),
        ..source.clone()
    });
    let source = joined.as_ref().unwrap_or(source);
    let program = Program::Binary {
        artifact,
        entry: &source.entry,
        source,
        kernel: kernel.name(),
        block: plan.space.block,
        shared: &plan.shared,
        parts: &compiled.unit.parts,
        origin: match kernel.foreign() {
            Some(text) => Origin::Foreign(text.parameters()),
            None => Origin::Rendered(&kernel.kernel),
        },
    };
    // SAFETY: the device's compiler made the artifact, either from its renderer's output for the
    // kernel or from text whose author vouches for it; its parts were checked.
    let loaded = unsafe { device.raw().load(&program) };
    Ok(Jitted {
        program: loaded.map_err(|error| compiled.unit.located(error))?,
        compiled: compiled.clone(),
    })
}

/// A map that makes each value once, even if several threads ask for it at the same time.
struct Cache<K, V>(Mutex<HashMap<K, ProgramSlot<V>>>);

/// The slot of a value; locked while a thread makes it.
type ProgramSlot<V> = Arc<Mutex<Option<V>>>;

impl<K, V> Default for Cache<K, V> {
    fn default() -> Self {
        Cache(Mutex::default())
    }
}

impl<K: Eq + Hash, V: Clone> Cache<K, V> {
    /// True if the value of `key` exists.
    fn has(&self, key: &K) -> bool {
        let slot = lock(&self.0).get(key).cloned();
        slot.is_some_and(|slot| lock(&slot).is_some())
    }

    /// The values that exist and that no thread makes at the moment.
    fn known(&self) -> Vec<V> {
        let slots: Vec<_> = lock(&self.0).values().cloned().collect();
        let open = slots.iter().filter_map(|slot| slot.try_lock().ok());
        open.filter_map(|slot| slot.clone()).collect()
    }

    /// Returns the value of `key`; makes it if there is none. After an error, the next call tries
    /// again.
    fn get(&self, key: K, make: impl FnOnce() -> Result<V>) -> Result<V> {
        self.get_unless(key, |_| false, make)
    }

    /// Returns the value of `key`; makes it if there is none, or if `is_old` holds for it.
    fn get_unless(
        &self,
        key: K,
        is_old: impl FnOnce(&V) -> bool,
        make: impl FnOnce() -> Result<V>,
    ) -> Result<V> {
        let slot = lock(&self.0).entry(key).or_default().clone();
        let mut value = lock(&slot);
        match &*value {
            Some(value) if !is_old(value) => Ok(value.clone()),
            Some(_) | None => {
                let made = make()?;
                *value = Some(made.clone());
                Ok(made)
            }
        }
    }
}

impl<K: Eq + Hash, T> Cache<K, Arc<T>> {
    /// Makes the value of `key` anew and returns it. If another thread has replaced `old` already,
    /// that thread's value is returned.
    fn replace(
        &self,
        key: K,
        old: &Arc<T>,
        make: impl FnOnce() -> Result<Arc<T>>,
    ) -> Result<Arc<T>> {
        self.get_unless(key, |value| Arc::ptr_eq(value, old), make)
    }
}
