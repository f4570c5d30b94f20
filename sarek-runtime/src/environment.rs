//! Environments: what generated code needs around it to be compiled and run.
//!
//! An environment has a name and is asked for its [`Parts`] when a kernel first needs it: include folders, headers, flags,
//! definitions, libraries, and what has to be done on a device before. Environments may depend on others. A launch takes
//! them along by name ([`Launch::environment`](crate::Launch::environment)):
//!
//! ```
//! use sarek_runtime::environment::{self, Environment, Parts};
//!
//! environment::register(Environment::new("tables", |target| match target {
//!     "cuda" => Ok(Parts::new().include_dir("/opt/tables").header("tables.cuh")),
//!     _ => Ok(Parts::new()),
//! }))?;
//! # environment::unregister("tables");
//! # Ok::<(), sarek_runtime::Error>(())
//! ```
//!
//! What several ask for is given once; definitions that differ, cycles and unknown names are errors that name
//! who takes part. All of it is part of the keys under which programs are cached.

use std::any::Any;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use crate::sync::lock;
use crate::{Device, Error, Result};

/// What an environment keeps on a device; dropped with the device.
pub type Kept = Box<dyn Any + Send + Sync>;

type Resolve = dyn Fn(&str) -> Result<Parts> + Send + Sync;
type Init = dyn Fn(&Device) -> Result<Kept> + Send + Sync;

/// What generated code needs, under a name.
pub struct Environment {
    name: String,
    dependencies: Vec<String>,
    resolve: Box<Resolve>,
    init: Option<Box<Init>>,
    resolved: Mutex<BTreeMap<String, Parts>>,
}

/// What an environment comes to for a target.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Parts {
    /// Where headers are looked for.
    pub include_dirs: Vec<PathBuf>,
    /// Headers that the text begins with, by the name in its `#include`; for WGSL, text that stands before the kernel.
    pub headers: Vec<String>,
    /// Options for the target's compiler.
    pub flags: Vec<String>,
    /// Libraries to link.
    pub libraries: Vec<String>,
    /// Definitions: `-Dname=value`.
    pub definitions: BTreeMap<String, String>,
    /// Files that the text includes, by the name in its `#include "…"`, with what is in them: no such file is read.
    pub files: BTreeMap<String, String>,
}

impl Parts {
    /// Nothing.
    pub fn new() -> Parts {
        Parts::default()
    }

    /// A folder in which headers are looked for.
    pub fn include_dir(mut self, folder: impl Into<PathBuf>) -> Parts {
        self.include_dirs.push(folder.into());
        self
    }

    /// A header that the text begins with.
    pub fn header(mut self, name: impl Into<String>) -> Parts {
        self.headers.push(name.into());
        self
    }

    /// An option for the target's compiler.
    pub fn flag(mut self, flag: impl Into<String>) -> Parts {
        self.flags.push(flag.into());
        self
    }

    /// A library to link.
    pub fn library(mut self, library: impl Into<String>) -> Parts {
        self.libraries.push(library.into());
        self
    }

    /// A definition.
    pub fn define(mut self, name: impl Into<String>, value: impl Into<String>) -> Parts {
        self.definitions.insert(name.into(), value.into());
        self
    }

    /// A file that the text, or another file, includes as `#include "name"`; nothing of that name is read from disk.
    pub fn file(mut self, name: impl Into<String>, text: impl Into<String>) -> Parts {
        self.files.insert(name.into(), text.into());
        self
    }

    /// Does a text that is compiled with this read files, whose contents are not known here?
    pub(crate) fn reads_files(&self, text: &str) -> bool {
        let texts = self.files.values().map(String::as_str).chain([text]);
        let mut included = texts.flat_map(str::lines).filter_map(included);
        let unknown = |name: &str| !self.files.contains_key(name);
        !self
            .headers
            .iter()
            .all(|header| self.files.contains_key(header))
            || !self.include_dirs.is_empty()
            || self
                .flags
                .iter()
                .any(|flag| flag.starts_with("-i") || flag.starts_with("-I"))
            || included.any(unknown)
    }

    /// Is there nothing in it?
    pub fn is_empty(&self) -> bool {
        *self == Parts::default()
    }

    /// Adds what another asks for, once.
    fn add(&mut self, other: &Parts) {
        fn once<T: Clone + PartialEq>(all: &mut Vec<T>, more: &[T]) {
            for one in more {
                if !all.contains(one) {
                    all.push(one.clone());
                }
            }
        }
        once(&mut self.include_dirs, &other.include_dirs);
        once(&mut self.headers, &other.headers);
        once(&mut self.flags, &other.flags);
        once(&mut self.libraries, &other.libraries);
        let definitions = other.definitions.iter();
        self.definitions
            .extend(definitions.map(|(name, value)| (name.clone(), value.clone())));
        let files = other.files.iter();
        self.files
            .extend(files.map(|(name, text)| (name.clone(), text.clone())));
    }
}

/// What a line of text includes, if it does: the name, or what stands in the place of one.
fn included(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    let name = rest.strip_prefix("include")?.trim();
    let quoted = name
        .strip_prefix('"')
        .and_then(|name| name.split('"').next());
    Some(quoted.unwrap_or(name))
}

impl Environment {
    /// An environment that is asked for its parts for a target (`cuda`, `opencl`, …) when they are first needed.
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

    /// It needs another one, which comes before it.
    #[must_use]
    pub fn depends_on(mut self, name: impl Into<String>) -> Environment {
        self.dependencies.push(name.into());
        self
    }

    /// What is done once on a device before the first launch that needs it. The result is dropped with the device.
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

/// Makes an environment known; an error if there is one of its name.
pub fn register(environment: Environment) -> Result<()> {
    let mut all = lock(all());
    let name = environment.name.clone();
    if all.contains_key(&name) {
        return Err(problem(&name, "it is registered already".to_owned()));
    }
    all.insert(name, Arc::new(environment));
    Ok(())
}

/// The name of an environment of these parts, for every target.
pub(crate) fn of_parts(parts: Parts) -> String {
    let name = format!("options {parts:?}");
    let mut all = lock(all());
    all.entry(name.clone()).or_insert_with(|| {
        let environment = Environment::new(name.clone(), move |_| Ok(parts.clone()));
        Arc::new(environment)
    });
    name
}

/// Removes an environment; was it there? Programs that were compiled with it stay.
pub fn unregister(name: &str) -> bool {
    lock(all()).remove(name).is_some()
}

fn problem(name: &str, problem: String) -> Error {
    Error::Environment {
        name: name.to_owned(),
        problem,
    }
}

/// These environments and those that they depend on, dependencies first.
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

/// What these environments, and those that they depend on, come to for a target.
pub fn resolve(names: &[String], target: &str) -> Result<Parts> {
    Ok(Sum::of(names, target)?.whole)
}

/// As [`resolve`], with what a kernel of this name asks for by itself.
pub(crate) fn resolve_with(
    names: &[String],
    target: &str,
    kernel: &str,
    own: &Parts,
) -> Result<Parts> {
    let mut sum = Sum::of(names, target)?;
    sum.add(kernel, own)?;
    Ok(sum.whole)
}

/// What several ask for, and who asks.
#[derive(Default)]
struct Sum {
    whole: Parts,
    /// Who defined a name, or gave a file, and as what.
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
        let definitions = parts.definitions.iter();
        let definitions = definitions.map(|(name, value)| (name.clone(), value));
        // No definition has a name that is quoted.
        let files = parts.files.iter();
        let files = files.map(|(name, text)| (format!("the file {name:?}"), text));
        for (name, value) in definitions.chain(files) {
            let own = (who.to_owned(), value.clone());
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

/// What environments have done on a device, by name.
#[derive(Default)]
pub(crate) struct Initialized(Mutex<Vec<(String, Option<Kept>)>>);

impl Initialized {
    /// Does what these environments do on a device before the first launch that needs them.
    pub(crate) fn ensure(&self, device: &Device, names: &[String]) -> Result<()> {
        for environment in closure(names)? {
            let mut done = lock(&self.0);
            if done.iter().any(|(name, _)| *name == environment.name) {
                continue;
            }
            let kept = environment.init.as_ref().map(|init| init(device));
            done.push((environment.name.clone(), kept.transpose()?));
        }
        Ok(())
    }
}

/// The last one is dropped first, as it may need those before it.
impl Drop for Initialized {
    fn drop(&mut self) {
        let done = &mut lock(&self.0);
        while let Some(last) = done.pop() {
            drop(last);
        }
    }
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
        let both = environment("deps/both", Parts::new().header("both.h"));
        register(both.depends_on("deps/left").depends_on("deps/right")).unwrap();
        let parts = resolve(&names(&["deps/both", "deps/base"]), "any").unwrap();
        assert_eq!(parts.flags, ["-all", "-base", "deps/left", "deps/right"]);
        assert_eq!(parts.headers, ["both.h"]);
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
            assert_eq!(resolve(&names(&["lazy"]), "a").unwrap().flags, ["--for=a"]);
        }
        assert_eq!(ASKED.load(Relaxed), 1);
        assert_eq!(resolve(&names(&["lazy"]), "b").unwrap().flags, ["--for=b"]);
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
        let initialized = Initialized::default();
        for _ in 0..2 {
            initialized
                .ensure(&host(), &names(&["init/second"]))
                .unwrap();
        }
        drop(initialized);
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
