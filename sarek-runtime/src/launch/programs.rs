//! The programs of a device: compiled once for each kernel and variant, loaded once for each block
//! size as well.

use std::any::Any;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex};

use sarek_ir::write::{Source, Variant};

use super::plan::Plan;
use super::prepare::Prepared;
use crate::backend::{Artifact, BackendDevice, Codegen, Compiler, Parts, Program, Renderer};
use crate::sync::lock;
use crate::{Device, Error, Result, cache, environment};

/// What [`BackendDevice::load`] returned.
pub(super) type Loaded = Arc<dyn Any + Send + Sync>;

/// Programs that a device has loaded.
#[derive(Default)]
pub(crate) struct Programs {
    /// Of host devices: one for each kernel.
    bodies: Cache<u64, Loaded>,
    compiled: Cache<CompiledKey, Arc<Compiled>>,
    loaded: Cache<LoadedKey, Jitted>,
}

/// Kernel, variant and environments.
type CompiledKey = (u64, Variant, Arc<[String]>);

/// The same with the block size, and the lengths of shared arrays where a program fixes them.
type LoadedKey = (CompiledKey, [u32; 3], Arc<[u64]>);

struct Compiled {
    source: Source,
    artifact: Artifact,
    parts: Parts,
}

/// A compiled and loaded source.
#[derive(Clone)]
pub(super) struct Jitted {
    compiled: Arc<Compiled>,
    pub(super) program: Loaded,
}

impl Jitted {
    pub(super) fn source(&self) -> &Source {
        &self.compiled.source
    }
}

/// The compiled body or the IR of a kernel, loaded on a host device.
pub(super) fn body(device: &Device, kernel: &Prepared) -> Result<Loaded> {
    device.programs().bodies.get(kernel.id, || {
        device.raw().load(&match device.raw().codegen() {
            Codegen::Direct => Program::Direct(kernel.def.direct),
            Codegen::Interpret | Codegen::Jit(..) => Program::Ir(kernel.kernel.clone()),
        })
    })
}

/// A variant of a kernel, rendered, compiled and loaded for the blocks of a plan.
pub(super) fn jitted(
    device: &Device,
    (renderer, compiler): (&dyn Renderer, &dyn Compiler),
    kernel: &Prepared,
    variant: &Variant,
    plan: &Plan,
    environments: &Arc<[String]>,
) -> Result<Jitted> {
    let programs = device.programs();
    let shared = match device.raw().fixes_shared() {
        true => plan.shared.clone(),
        false => Arc::default(),
    };
    let key = (kernel.id, variant.clone(), environments.clone());
    let loaded = (key.clone(), plan.space.block, shared);
    programs.loaded.get(loaded, || {
        let compiled = programs.compiled.get(key, || {
            let source = renderer.render(&kernel.kernel, variant)?;
            let parts = environment::resolve(environments, renderer.target())?;
            let artifact = compile(compiler, kernel.name(), &source, &parts)
                .map_err(|error| located(error, &source, &kernel.kernel.file))?;
            Ok(Arc::new(Compiled {
                source,
                artifact,
                parts,
            }))
        })?;
        let program = load(device.raw(), kernel, &compiled, plan)
            .map_err(|error| located(error, &compiled.source, &kernel.kernel.file))?;
        Ok(Jitted { compiled, program })
    })
}

/// The error with the places in the user's source of which the compiler spoke.
fn located(mut error: Error, source: &Source, own: &str) -> Error {
    if let Error::Compile { places, log, .. } = &mut error {
        *places = vec![];
        for (file, line) in mentioned(log).filter_map(|line| source.origin(line)) {
            let file = if file.is_empty() { own } else { file };
            let place = format!("{file}:{line}");
            if !places.contains(&place) {
                places.push(place);
            }
        }
    }
    error
}

/// The lines that a compiler's log speaks of: `name(12): error`, `name:12:5: error`, `wgsl:12:5`.
fn mentioned(log: &str) -> impl Iterator<Item = u32> {
    log.lines().filter_map(|line| {
        let in_parentheses = line.split_once("): ").and_then(|(head, _)| {
            let (_, number) = head.rsplit_once('(')?;
            number.parse().ok()
        });
        in_parentheses.or_else(|| {
            let parts: Vec<&str> = line.split(':').collect();
            let number = |text: &str| text.trim().parse::<u32>().ok();
            parts
                .windows(2)
                .find_map(|pair| number(pair[1]).and(number(pair[0])))
        })
    })
}

/// Compiles a source, or finds on disk what it was compiled to before.
fn compile(
    compiler: &dyn Compiler,
    kernel: &str,
    source: &Source,
    parts: &Parts,
) -> Result<Artifact> {
    // Headers may change without their names: what is compiled with any is compiled anew in each process.
    if !compiler.keeps_artifacts() || !parts.headers.is_empty() {
        return compiler.compile(kernel, source, parts);
    }
    let (fingerprint, entry, text) = (compiler.fingerprint(), &source.entry, &source.text);
    let key = format!("{fingerprint}\n{parts:?}\n{entry}\n{text}");
    let disk = cache::global();
    if let Some(bytes) = disk.get(&key) {
        let log = String::new();
        return Ok(Artifact {
            bytes: bytes.into(),
            log,
        });
    }
    let artifact = compiler.compile(kernel, source, parts)?;
    if !artifact.bytes.is_empty() {
        disk.put(&key, &artifact.bytes);
    }
    Ok(artifact)
}

fn load(
    device: &dyn BackendDevice,
    kernel: &Prepared,
    compiled: &Compiled,
    plan: &Plan,
) -> Result<Loaded> {
    device.load(&Program::Binary {
        artifact: &compiled.artifact,
        source: &compiled.source,
        kernel: kernel.name(),
        block: plan.space.block,
        shared: &plan.shared,
        parts: &compiled.parts,
        ir: &kernel.kernel,
    })
}

/// A map whose values are made once each, also when several threads ask for one at the same time.
struct Cache<K, V>(Mutex<HashMap<K, Place<V>>>);

/// Where a value stands once it is made; locked while somebody makes it.
type Place<V> = Arc<Mutex<Option<V>>>;

impl<K, V> Default for Cache<K, V> {
    fn default() -> Self {
        Cache(Mutex::default())
    }
}

impl<K: Eq + Hash, V: Clone> Cache<K, V> {
    /// The value of `key`; `make` is tried again after it failed.
    fn get(&self, key: K, make: impl FnOnce() -> Result<V>) -> Result<V> {
        let place = lock(&self.0).entry(key).or_default().clone();
        let mut value = lock(&place);
        match &*value {
            Some(value) => Ok(value.clone()),
            None => {
                let made = make()?;
                *value = Some(made.clone());
                Ok(made)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::mentioned;

    #[test]
    fn lines_are_found_in_every_compilers_log() {
        for (log, lines) in [
            (
                "saxpy.cu(12): error: identifier \"q\" is undefined\n      1\n",
                &[12][..],
            ),
            (
                "/tmp/t.cl:7:20: error: use of q\n<source>:9:1: note",
                &[7, 9],
            ),
            (
                "error: no definition\n   ┌─ wgsl:31:5\n   │\n31 │  x",
                &[31],
            ),
            ("warning 3: (see 4)", &[]),
        ] {
            assert_eq!(mentioned(log).collect::<Vec<_>>(), lines, "{log}");
        }
    }
}
