//! Intrinsics: device functions whose texts for targets are registered at run time.
//!
//! A kernel calls one like any function: `#[device(intrinsic)] fn fast_tanh(x: f32) -> f32 {
//! x.tanh() }`. Its Rust body runs on the CPU and in the interpreter, and is the reference for its
//! texts. Each other target has its own text, registered here by a user, a library or the author of
//! a backend.
//!
//! ```
//! use sarek_runtime::intrinsic::{self, Spelling};
//!
//! // SAFETY: the text is an expression of its argument.
//! unsafe { intrinsic::register("doc_tanh", "opencl", "tanh({0})") }?;
//! let with_helper = Spelling::new("doc_tanh_of({0})")
//!     .prelude("__device__ float doc_tanh_of(float x) { return tanhf(x); }");
//! // SAFETY: as above.
//! unsafe { intrinsic::register("doc_tanh", "cuda", with_helper) }?;
//! # intrinsic::unregister("doc_tanh", "opencl");
//! # Ok::<(), sarek_runtime::Error>(())
//! ```
//!
//! A device whose target has no text is not eligible, and the error names the intrinsic. There is
//! no fallback.
//!
//! Devices that run compiled Rust or interpret the IR take no text, but a function of the host
//! ([`register_host`], [`Intrinsic::register_host`]), which replaces the Rust body.

pub use crate::host::host_functions::{
    HostFunction, HostScalar, Intrinsic, Signature, ThreadState, call_host, register_host,
    registered_hosts, unregister_host,
};
pub(crate) use crate::host::host_functions::{check_hosts, is_hosted};

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock};

use sarek_ir::Kernel;
use sarek_ir::passes;
use sarek_ir::write::{self, DIALECTS};

use crate::device::registry;
use crate::host::host_functions::problem;
use crate::plugin::backend::Pipeline;
use crate::sync::lock;
use crate::{Error, Result};

/// The text of an intrinsic for a target: an expression with `{0}`, `{1}`, … for its arguments;
/// `{{` and `}}` are literal braces.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Spelling(passes::Spelling);

impl Spelling {
    /// Makes a spelling of an expression.
    pub fn new(text: impl Into<Cow<'static, str>>) -> Spelling {
        let (text, prelude) = (text.into(), None);
        Spelling(passes::Spelling { text, prelude })
    }

    /// Adds text before the kernel, once: a function that the expression calls.
    #[must_use]
    pub fn prelude(mut self, text: impl Into<Cow<'static, str>>) -> Spelling {
        self.0.prelude = Some(text.into());
        self
    }
}

impl<T: Into<Cow<'static, str>>> From<T> for Spelling {
    fn from(text: T) -> Spelling {
        Spelling::new(text)
    }
}

/// All texts, by intrinsic and target.
type All = BTreeMap<(String, String), Arc<Spelling>>;

fn all() -> &'static Mutex<All> {
    static ALL: OnceLock<Mutex<All>> = OnceLock::new();
    ALL.get_or_init(Mutex::default)
}

/// Registers an intrinsic's text for a target: `cuda`, `opencl`, `wgsl`, or that of an external
/// backend.
///
/// # Errors
/// [`Error::Intrinsic`] if it has a text already, or if there is no such target. The targets are
/// those of the library's dialects and of the devices of registered backends.
///
/// # Safety
/// The text is one expression, which computes the same value from its arguments as the intrinsic's
/// Rust body, and accesses no memory. The prelude defines nothing that other text of the kernel
/// uses.
pub unsafe fn register(name: &str, target: &str, spelling: impl Into<Spelling>) -> Result<()> {
    if let Some(what) = unrendered(target) {
        return Err(problem(name, target, what));
    }
    let key = (name.to_owned(), target.to_owned());
    let mut all = lock(all());
    if all.contains_key(&key) {
        return Err(problem(
            name,
            target,
            "it has a text already; remove that with `unregister`",
        ));
    }
    all.insert(key, Arc::new(spelling.into()));
    Ok(())
}

/// The reason why no text is rendered for a target; `None` if the target exists.
fn unrendered(target: &str) -> Option<String> {
    if write::dialect(target).is_some() {
        return None;
    }
    // A backend that is named like its target needs no other one to be started.
    if let Ok(device) = registry::global().of(target)
        && let Pipeline::Jit(renderer, _) = device.pipeline()
        && renderer.target() == target
    {
        return None;
    }
    let mut targets: BTreeSet<&'static str> = DIALECTS.iter().map(|d| d.name()).collect();
    for device in registry::global().all() {
        match device.pipeline() {
            Pipeline::Jit(renderer, _) => {
                let own = renderer.target();
                if own == target {
                    return None;
                }
                if device.backend() == target {
                    return Some(format!("the target of this backend's devices is `{own}`"));
                }
                targets.insert(own);
            }
            Pipeline::Direct | Pipeline::Interpret if device.backend() == target => {
                let why = "its devices take no text, but a function of the host: give them one \
                           with `intrinsic::register_host`";
                return Some(why.to_owned());
            }
            Pipeline::Direct | Pipeline::Interpret => {}
        }
    }
    // A backend without a device here may still have this target.
    if registry::backends().iter().any(|(name, _)| *name == target) {
        return None;
    }
    let targets: Vec<&str> = targets.into_iter().collect();
    Some(format!(
        "no registered backend renders this target; there are {}",
        targets.join(", ")
    ))
}

/// Removes a text, and returns true if it was registered. Later launches do not use it.
pub fn unregister(name: &str, target: &str) -> bool {
    let key = (name.to_owned(), target.to_owned());
    lock(all()).remove(&key).is_some()
}

/// The intrinsics that have a text for a target, sorted by name.
pub fn registered(target: &str) -> Vec<String> {
    let all = lock(all());
    let of_target = all.keys().filter(|(_, of)| of == target);
    of_target.map(|(name, _)| name.clone()).collect()
}

pub(crate) fn is_registered(name: &str, target: &str) -> bool {
    lock(all()).contains_key(&(name.to_owned(), target.to_owned()))
}

/// The texts of a kernel's intrinsics for a target; they are part of the keys of its programs.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Spelled(Option<Arc<Texts>>);

#[derive(PartialEq, Eq, Hash)]
struct Texts {
    target: String,
    by_name: Vec<(String, Arc<Spelling>)>,
}

impl Spelled {
    /// Looks up the texts of these intrinsics.
    pub(crate) fn of(names: &[String], target: &str) -> Result<Spelled> {
        if names.is_empty() {
            return Ok(Spelled::default());
        }
        let all = lock(all());
        let find = |name: &String| {
            let found = all.get(&(name.clone(), target.to_owned()));
            let found = found.ok_or_else(|| {
                problem(
                    name,
                    target,
                    "it has no text; add one with `intrinsic::register`",
                )
            });
            Ok::<_, Error>((name.clone(), found?.clone()))
        };
        Ok(Spelled(Some(Arc::new(Texts {
            target: target.to_owned(),
            by_name: names.iter().map(find).collect::<Result<_>>()?,
        }))))
    }

    /// The kernel with these texts inserted.
    pub(crate) fn spell<'k>(&self, kernel: &'k Kernel) -> Result<Cow<'k, Kernel>> {
        let Some(texts) = &self.0 else {
            return Ok(Cow::Borrowed(kernel));
        };
        let mut spelled = kernel.clone();
        let find = |name: &str| {
            let mut texts = texts.by_name.iter();
            texts.find_map(|(known, spelling)| (known == name).then_some(&spelling.0))
        };
        passes::spell_intrinsics(&mut spelled, &texts.target, find).map_err(
            |(name, operand)| {
                let what =
                    format!("its text names the argument {{{operand}}}, which does not exist");
                problem(&name, &texts.target, what)
            },
        )?;
        Ok(Cow::Owned(spelled))
    }
}
