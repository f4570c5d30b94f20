//! What a text is compiled with.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What an environment comes to for a target.
///
/// Safe code gives names and numbers ([`Parts::define`]), options ([`Parts::flag`]) and libraries ([`Parts::library`]). A launch checks
/// them and refuses what could change the meaning of the text that the framework writes: [`Error::Unchecked`](crate::Error::Unchecked).
/// Any other text of the target is given by an `unsafe` function.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Parts {
    include_dirs: Vec<PathBuf>,
    headers: Vec<String>,
    flags: Vec<Given>,
    libraries: Vec<Given>,
    definitions: BTreeMap<String, Given>,
    files: BTreeMap<String, String>,
}

/// A text, and how it was given.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Given {
    text: String,
    /// Does somebody vouch for it?
    raw: bool,
}

impl Given {
    fn new(text: impl Into<String>, raw: bool) -> Given {
        let text = text.into();
        Given { text, raw }
    }
}

/// A part that safe code gave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unchecked<'a> {
    Definition { name: &'a str, value: &'a str },
    Flag(&'a str),
    Library(&'a str),
}

impl<'a> Unchecked<'a> {
    /// The name that it defines, and itself.
    pub(super) fn name(self) -> Option<(&'a str, Unchecked<'a>)> {
        match self {
            Unchecked::Definition { name, .. } => Some((name, self)),
            Unchecked::Flag(_) | Unchecked::Library(_) => None,
        }
    }
}

impl Parts {
    /// Nothing.
    pub fn new() -> Parts {
        Parts::default()
    }

    /// Defines a name as a number or a bool: `-Dname=value`, or a constant of WGSL.
    ///
    /// The name is an identifier that the target does not know and that the kernel's own text does not have, so that it stands in
    /// texts of `native!`, intrinsics, headers and foreign kernels alone. A launch with any other definition is refused.
    pub fn define(self, name: impl Into<String>, value: impl Into<String>) -> Parts {
        self.defined(name, value, false)
    }

    /// Defines a name, perhaps with parameters, as any text.
    ///
    /// # Safety
    /// Every text that is compiled with it, the kernel's own included, means what it means without the definition, or what its
    /// author takes the definition to mean.
    pub unsafe fn raw_define(self, name: impl Into<String>, value: impl Into<String>) -> Parts {
        self.defined(name, value, true)
    }

    fn defined(mut self, name: impl Into<String>, value: impl Into<String>, raw: bool) -> Parts {
        self.definitions.insert(name.into(), Given::new(value, raw));
        self
    }

    /// An option for the target's compiler. A launch is refused unless it is one of those that its compiler knows to be
    /// harmless: levels of optimisation, warnings, fast math, versions of the language.
    pub fn flag(mut self, flag: impl Into<String>) -> Parts {
        self.flags.push(Given::new(flag, false));
        self
    }

    /// Any option for the target's compiler.
    ///
    /// # Safety
    /// As for [`Parts::raw_define`]; and the compiler does nothing by it that is not the caller's to do, such as to
    /// load code or to write files.
    pub unsafe fn raw_flag(mut self, flag: impl Into<String>) -> Parts {
        self.flags.push(Given::new(flag, true));
        self
    }

    /// A library to link. A launch is refused unless it is one that the target's compiler knows to be harmless.
    pub fn library(mut self, library: impl Into<String>) -> Parts {
        self.libraries.push(Given::new(library, false));
        self
    }

    /// Any library to link.
    ///
    /// # Safety
    /// What the texts call of it does what their authors take it to do, and nothing else of it changes them.
    pub unsafe fn raw_library(mut self, library: impl Into<String>) -> Parts {
        self.libraries.push(Given::new(library, true));
        self
    }

    /// A folder in which headers are looked for.
    ///
    /// # Safety
    /// As for [`Parts::header`], of all headers that a text finds there.
    pub unsafe fn include_dir(mut self, folder: impl Into<PathBuf>) -> Parts {
        self.include_dirs.push(folder.into());
        self
    }

    /// A header that the text begins with, by the name in its `#include`; for WGSL, text that stands before the kernel.
    ///
    /// # Safety
    /// With it, every text means what it means without, or what its author takes the header to mean. In particular it
    /// defines nothing that the kernel's own text has.
    pub unsafe fn header(mut self, name: impl Into<String>) -> Parts {
        self.headers.push(name.into());
        self
    }

    /// A file that the text, or another file, includes as `#include "name"`; nothing of that name is read from disk.
    ///
    /// # Safety
    /// As for [`Parts::header`].
    pub unsafe fn file(mut self, name: impl Into<String>, text: impl Into<String>) -> Parts {
        self.files.insert(name.into(), text.into());
        self
    }

    /// Folders in which headers are looked for.
    pub fn include_dirs(&self) -> impl Iterator<Item = &Path> {
        self.include_dirs.iter().map(PathBuf::as_path)
    }

    /// Headers that the text begins with, by the name in its `#include`; for WGSL, text that stands before the kernel.
    pub fn headers(&self) -> impl Iterator<Item = &str> {
        self.headers.iter().map(String::as_str)
    }

    /// Options for the target's compiler.
    pub fn flags(&self) -> impl Iterator<Item = &str> {
        self.flags.iter().map(|flag| &*flag.text)
    }

    /// Libraries to link.
    pub fn libraries(&self) -> impl Iterator<Item = &str> {
        self.libraries.iter().map(|library| &*library.text)
    }

    /// Definitions, each a name and its value.
    pub fn definitions(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.definitions.iter();
        all.map(|(name, value)| (&**name, &*value.text))
    }

    /// Files that the text includes, by the name in its `#include "…"`, with what is in them: no such file is read.
    pub fn files(&self) -> &BTreeMap<String, String> {
        &self.files
    }

    /// Is there nothing in it?
    pub fn is_empty(&self) -> bool {
        *self == Parts::default()
    }

    /// The same, with somebody who vouches for all of it.
    pub(crate) fn vouched(mut self) -> Parts {
        let lists = self.flags.iter_mut().chain(&mut self.libraries);
        lists
            .chain(self.definitions.values_mut())
            .for_each(|given| given.raw = true);
        self
    }

    /// The parts that nobody vouches for.
    pub(super) fn unchecked(&self) -> impl Iterator<Item = Unchecked<'_>> {
        let definitions = self.definitions.iter().filter(|(_, value)| !value.raw);
        let definitions = definitions.map(|(name, value)| Unchecked::Definition {
            name,
            value: &value.text,
        });
        let flags = self.flags.iter().filter(|flag| !flag.raw);
        let libraries = self.libraries.iter().filter(|library| !library.raw);
        definitions
            .chain(flags.map(|flag| Unchecked::Flag(&flag.text)))
            .chain(libraries.map(|library| Unchecked::Library(&library.text)))
    }

    /// Does a text that is compiled with this read files, whose contents are not known here?
    pub(crate) fn reads_files(&self, text: &str) -> bool {
        let texts = self.files.values().map(String::as_str).chain([text]);
        let mut included = texts.flat_map(str::lines).filter_map(included);
        let unknown = |name: &str| !self.files.contains_key(name);
        let reads = |flag: &str| flag.starts_with("-i") || flag.starts_with("-I");
        self.headers().any(unknown)
            || !self.include_dirs.is_empty()
            || self.flags().any(reads)
            || included.any(unknown)
    }

    /// Adds what another asks for, once.
    pub(super) fn add(&mut self, other: &Parts) {
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
        for (name, value) in &other.definitions {
            // What one asks for and nobody vouches for is checked, whoever else asks for it.
            let known = self.definitions.get_mut(name);
            match known.filter(|known| known.text == value.text) {
                Some(known) => known.raw &= value.raw,
                None => {
                    self.definitions.insert(name.clone(), value.clone());
                }
            }
        }
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
