//! Environments: named sets of options, headers and other inputs that generated code is compiled
//! and run with.
//!
//! An environment is asked for its [`Parts`] when a kernel first needs it: include folders,
//! headers, flags, definitions and libraries. It may also initialise a device before the first
//! launch. Environments may depend on others. A launch adds them by name
//! ([`Launch::environment`](crate::Launch::environment)):
//!
//! ```
//! use sarek_runtime::environment::{self, Environment, Parts};
//!
//! environment::register(Environment::new("tables", |target| {
//!     let parts = Parts::new().define("TABLES", "4");
//!     match target {
//!         // SAFETY: the header declares functions, and nothing that a kernel's own text has.
//!         "cuda" => Ok(unsafe { parts.include_dir("/opt/tables").header("tables.cuh") }),
//!         _ => Ok(parts),
//!     }
//! }))?;
//! # environment::unregister("tables");
//! # Ok::<(), sarek_runtime::Error>(())
//! ```
//!
//! Headers and other text of the target take `unsafe` functions. Parts from safe code are checked
//! by each launch, see [`Parts`].
//!
//! Parts that several environments add are used once. Conflicting definitions, cycles and unknown
//! names are errors that name the environments involved. The parts belong to the keys under which
//! programs are cached.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use crate::plugin::backend::{State, States};
use crate::sync::lock;
use crate::{Device, Error, Result};

mod check;
mod state;

pub use crate::plugin::backend::{Held, Parts};
pub(crate) use check::check;

/// The state that an environment keeps on a device; dropped with the device.
pub type Kept = State;

type Resolve = dyn Fn(&str) -> Result<Parts> + Send + Sync;
type Init = dyn Fn(&Device) -> Result<Kept> + Send + Sync;

/// A named set of inputs that generated code needs.
pub struct Environment {
    name: String,
    dependencies: Vec<String>,
    resolve: Box<Resolve>,
    init: Option<Box<Init>>,
    resolved: Mutex<BTreeMap<String, Parts>>,
}

impl Environment {
    /// Makes an environment. `resolve` returns its parts for a target (`cuda`, `opencl`, …), and is
    /// called when they are first needed.
    pub fn new(
        name: impl Into<String>,
        resolve: impl Fn(&str) -> Result<Parts> + Send + Sync + 'static,
    ) -> Environment {
        Environment {
            name: name.into(),
            dependencies: Vec::new(),
            resolve: Box::new(resolve),
            init: None,
            resolved: Mutex::default(),
        }
    }

    /// Adds a dependency on another environment, whose parts come first.
    #[must_use]
    pub fn depends_on(mut self, name: impl Into<String>) -> Environment {
        self.dependencies.push(name.into());
        self
    }

    /// Sets a function that runs once on a device, before the first launch there that needs the
    /// environment. Its result is the environment's state on the device, which
    /// [`Device::environment`] gives to launches. It is dropped with the device, after the states
    /// of environments that were initialised later.
    #[must_use]
    pub fn init(
        mut self,
        init: impl Fn(&Device) -> Result<Kept> + Send + Sync + 'static,
    ) -> Environment {
        self.init = Some(Box::new(init));
        self
    }

    fn parts(&self, target: &str) -> Result<Parts> {
        let mut resolved = lock(&self.resolved);
        if let Some(parts) = resolved.get(target) {
            return Ok(parts.clone());
        }
        let parts = (self.resolve)(target)?;
        resolved.insert(target.to_owned(), parts.clone());
        Ok(parts)
    }
}

fn all() -> &'static Mutex<BTreeMap<String, Arc<Environment>>> {
    static ALL: OnceLock<Mutex<BTreeMap<String, Arc<Environment>>>> = OnceLock::new();
    ALL.get_or_init(Mutex::default)
}

/// Registers an environment; an error if one of the same name is registered.
pub fn register(environment: Environment) -> Result<()> {
    let mut all = lock(all());
    let name = environment.name.clone();
    if all.contains_key(&name) {
        return Err(problem(&name, "it is registered already".to_owned()));
    }
    all.insert(name, Arc::new(environment));
    Ok(())
}

/// Registers these parts as an environment for every target, and returns its name.
pub(crate) fn of_parts(parts: Parts) -> String {
    let name = format!("options {parts:?}");
    let mut all = lock(all());
    all.entry(name.clone()).or_insert_with(|| {
        let environment = Environment::new(name.clone(), move |_| Ok(parts.clone()));
        Arc::new(environment)
    });
    name
}

/// Removes an environment, and returns true if it was registered. Programs that were compiled with
/// it stay.
pub fn unregister(name: &str) -> bool {
    lock(all()).remove(name).is_some()
}

fn problem(name: &str, problem: String) -> Error {
    Error::Environment {
        name: name.to_owned(),
        problem,
    }
}

/// The transitive closure of environments under dependency; dependencies come first.
fn closure(names: &[String]) -> Result<Vec<Arc<Environment>>> {
    fn visit(
        name: &str,
        all: &BTreeMap<String, Arc<Environment>>,
        path: &mut Vec<String>,
        done: &mut Vec<Arc<Environment>>,
    ) -> Result<()> {
        if done.iter().any(|known| known.name == name) {
            return Ok(());
        }
        if let Some(start) = path.iter().position(|known| known == name) {
            let cycle = [&path[start..], &[name.to_owned()]].concat().join(" → ");
            return Err(problem(name, format!("it depends on itself: {cycle}")));
        }
        let Some(environment) = all.get(name) else {
            let by = path.last().map(|by| format!(", which `{by}` depends on"));
            let by = by.unwrap_or_default();
            return Err(problem(name, format!("it is not registered{by}")));
        };
        path.push(name.to_owned());
        for dependency in &environment.dependencies {
            visit(dependency, all, path, done)?;
        }
        path.pop();
        done.push(environment.clone());
        Ok(())
    }
    let all = lock(all()).clone();
    let mut done = Vec::new();
    for name in names {
        visit(name, &all, &mut Vec::new(), &mut done)?;
    }
    Ok(done)
}

/// Returns the merged parts of these environments and their dependencies for a target.
pub fn resolve(names: &[String], target: &str) -> Result<Parts> {
    Ok(Sum::of(names, target)?.whole)
}

/// The same as [`resolve`], with the parts of the kernel of this name added.
pub(crate) fn resolve_with(
    names: &[String],
    target: &str,
    kernel: &str,
    own: &Parts,
) -> Result<Parts> {
    let mut sum = Sum::of(names, target)?;
    // The caller of a foreign kernel vouches for all of its text.
    sum.add(kernel, &own.clone().vouched())?;
    Ok(sum.whole)
}

/// Merged parts, with the origin of each.
#[derive(Default)]
struct Sum {
    whole: Parts,
    /// For each defined name or file: who added it, and its value.
    given: BTreeMap<String, (String, String)>,
}

impl Sum {
    fn of(names: &[String], target: &str) -> Result<Sum> {
        let mut sum = Sum::default();
        for environment in closure(names)? {
            sum.add(&environment.name, &environment.parts(target)?)?;
        }
        Ok(sum)
    }

    fn add(&mut self, who: &str, parts: &Parts) -> Result<()> {
        let definitions = parts.definitions();
        let definitions = definitions.map(|(name, value)| (name.to_owned(), value));
        // A definition's name is never quoted, so it cannot equal one of these.
        let files = parts.files().iter();
        let files = files.map(|(name, text)| (format!("the file {name:?}"), &**text));
        for (name, value) in definitions.chain(files) {
            let own = (who.to_owned(), value.to_owned());
            let (by, known) = self.given.entry(name.clone()).or_insert(own);
            if known != value {
                let both = format!("it defines {name} as `{value}`, and `{by}` as `{known}`");
                return Err(problem(who, both));
            }
        }
        self.whole.add(parts);
        Ok(())
    }
}

/// Initialises a device for these environments, before the first launch that needs them.
pub(crate) fn initialize(device: &Device, names: &[String]) -> Result<()> {
    match names {
        [] => Ok(()),
        names => ensure(device.states(), device, names),
    }
}

fn ensure(states: &States, device: &Device, names: &[String]) -> Result<()> {
    for environment in closure(names)? {
        let init = || {
            let state = environment.init.as_ref().map(|init| init(device));
            state.transpose()
        };
        states.ensure(&environment.name, init)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use super::*;
    use crate::testing::host;

    fn environment(name: &str, parts: Parts) -> Environment {
        Environment::new(name, move |_| Ok(parts.clone()))
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn dependencies_come_first_and_once() {
        let flag = |flag: &str| Parts::new().flag("-all").flag(flag);
        register(environment("deps/base", flag("-base"))).unwrap();
        for name in ["deps/left", "deps/right"] {
            register(environment(name, flag(name)).depends_on("deps/base")).unwrap();
        }
        // SAFETY: nothing is compiled with it.
        let header = unsafe { Parts::new().header("both.h") };
        let both = environment("deps/both", header);
        register(both.depends_on("deps/left").depends_on("deps/right")).unwrap();
        let parts = resolve(&names(&["deps/both", "deps/base"]), "any").unwrap();
        let flags: Vec<_> = parts.flags().collect();
        assert_eq!(flags, ["-all", "-base", "deps/left", "deps/right"]);
        assert!(parts.headers().eq(["both.h"]));
        assert!(unregister("deps/left") && !unregister("deps/left"));
        let error = resolve(&names(&["deps/both"]), "any")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("`deps/left`") && error.contains("`deps/both` depends on"),
            "{error}"
        );
    }

    #[test]
    fn cycles_are_errors() {
        for (name, on) in [
            ("cycle/a", "cycle/b"),
            ("cycle/b", "cycle/c"),
            ("cycle/c", "cycle/b"),
        ] {
            register(environment(name, Parts::new()).depends_on(on)).unwrap();
        }
        let error = resolve(&names(&["cycle/a"]), "any")
            .unwrap_err()
            .to_string();
        assert!(error.contains("cycle/b → cycle/c → cycle/b"), "{error}");
    }

    #[test]
    fn conflicts_and_duplicates_are_errors() {
        let define = |value| Parts::new().define("WIDTH", value);
        register(environment("conflict/a", define("4"))).unwrap();
        register(environment("conflict/same", define("4"))).unwrap();
        register(environment("conflict/b", define("8"))).unwrap();
        assert!(resolve(&names(&["conflict/a", "conflict/same"]), "any").is_ok());
        let error = resolve(&names(&["conflict/a", "conflict/b"]), "any").unwrap_err();
        let text = error.to_string();
        for part in ["conflict/a", "conflict/b", "WIDTH", "`4`", "`8`"] {
            assert!(text.contains(part), "{text}");
        }
        let twice = register(environment("conflict/a", Parts::new())).unwrap_err();
        assert!(matches!(twice, Error::Environment { .. }), "{twice}");
    }

    #[test]
    fn nothing_is_asked_before_it_is_needed_nor_twice() {
        static ASKED: AtomicUsize = AtomicUsize::new(0);
        register(Environment::new("lazy", |target| {
            ASKED.fetch_add(1, Relaxed);
            Ok(Parts::new().flag(format!("--for={target}")))
        }))
        .unwrap();
        assert_eq!(ASKED.load(Relaxed), 0);
        for _ in 0..2 {
            let parts = resolve(&names(&["lazy"]), "a").unwrap();
            assert!(parts.flags().eq(["--for=a"]));
        }
        assert_eq!(ASKED.load(Relaxed), 1);
        let parts = resolve(&names(&["lazy"]), "b").unwrap();
        assert!(parts.flags().eq(["--for=b"]));
    }

    #[test]
    fn a_device_is_initialized_once_and_left_in_reverse() {
        static LOG: Mutex<Vec<String>> = Mutex::new(Vec::new());
        struct Guard(&'static str);
        impl Drop for Guard {
            fn drop(&mut self) {
                lock(&LOG).push(format!("drop {}", self.0));
            }
        }
        for (name, on) in [("init/first", None), ("init/second", Some("init/first"))] {
            let environment = environment(name, Parts::new()).init(move |_| {
                lock(&LOG).push(format!("init {name}"));
                Ok(Box::new(Guard(name)))
            });
            register(match on {
                Some(on) => environment.depends_on(on),
                None => environment,
            })
            .unwrap();
        }
        let states = States::default();
        for _ in 0..2 {
            ensure(&states, &host(), &names(&["init/second"])).unwrap();
        }
        drop(states);
        let log = lock(&LOG).clone();
        assert_eq!(
            log,
            [
                "init init/first",
                "init init/second",
                "drop init/second",
                "drop init/first"
            ]
        );
    }
}
