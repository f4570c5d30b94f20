//! The options, headers, files and libraries that a text is compiled with.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sarek_ir::write::{FileRole, Source, SourceFile};

use crate::{Error, Result};

/// The compilation inputs that an environment adds for a target.
///
/// Safe code adds names and numbers ([`Parts::define`]), options ([`Parts::flag`]) and libraries
/// ([`Parts::library`]). Each launch checks these, and refuses any that could change the meaning of
/// the framework's own text: [`Error::Unchecked`](crate::Error::Unchecked). All other text takes an
/// `unsafe` function.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Parts {
    include_dirs: Vec<PathBuf>,
    headers: Vec<String>,
    flags: Vec<Given>,
    libraries: Vec<Given>,
    definitions: BTreeMap<String, Given>,
    files: BTreeMap<String, String>,
}

/// A text, and the way it was added.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Given {
    text: String,
    /// True if it was added by an `unsafe` function, whose caller vouches for it.
    raw: bool,
}

impl Given {
    fn new(text: impl Into<String>, raw: bool) -> Given {
        let text = text.into();
        Given { text, raw }
    }
}

/// A part that safe code added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unchecked<'a> {
    Definition { name: &'a str, value: &'a str },
    Flag(&'a str),
    Library(&'a str),
}

impl<'a> Unchecked<'a> {
    /// The name that it defines, and the part itself.
    pub(crate) fn name(self) -> Option<(&'a str, Unchecked<'a>)> {
        match self {
            Unchecked::Definition { name, .. } => Some((name, self)),
            Unchecked::Flag(_) | Unchecked::Library(_) => None,
        }
    }
}

impl Parts {
    /// Makes an empty set.
    pub fn new() -> Parts {
        Parts::default()
    }

    /// Defines a name as a number or a bool: `-Dname=value`, or a constant of WGSL.
    ///
    /// The name must be an identifier that the target does not reserve and that the kernel's own
    /// text does not contain. So it only appears in texts of `native!`, intrinsics, headers and
    /// foreign kernels. A launch refuses any other definition.
    pub fn define(self, name: impl Into<String>, value: impl Into<String>) -> Parts {
        self.defined(name, value, false)
    }

    /// Defines a name, possibly with parameters, as any text.
    ///
    /// # Safety
    /// Every text that is compiled with the definition, including the kernel's own, keeps its
    /// meaning, or means what its author intends it to mean with the definition.
    pub unsafe fn raw_define(self, name: impl Into<String>, value: impl Into<String>) -> Parts {
        self.defined(name, value, true)
    }

    fn defined(mut self, name: impl Into<String>, value: impl Into<String>, raw: bool) -> Parts {
        self.definitions.insert(name.into(), Given::new(value, raw));
        self
    }

    /// Adds an option for the target's compiler. A launch refuses options that the compiler does
    /// not know to be harmless. Optimisation levels, warnings, fast math and language versions are
    /// harmless.
    pub fn flag(mut self, flag: impl Into<String>) -> Parts {
        self.flags.push(Given::new(flag, false));
        self
    }

    /// Adds any option for the target's compiler.
    ///
    /// # Safety
    /// As for [`Parts::raw_define`]. Also, the option makes the compiler do nothing that the caller
    /// may not do, such as loading code or writing files.
    pub unsafe fn raw_flag(mut self, flag: impl Into<String>) -> Parts {
        self.flags.push(Given::new(flag, true));
        self
    }

    /// Adds a library to link: one of the [`Parts::file`]s, by its name, or the path of a file on
    /// disk. A launch refuses libraries that the target's compiler does not know to be harmless;
    /// none of the built-in compilers knows any, so they take [`Parts::raw_library`].
    ///
    /// | Target | Libraries |
    /// |---|---|
    /// | `opencl` | OpenCL C (`.cl`), SPIR-V, and binaries of the driver; linked by the driver |
    /// | `cuda` | CUDA C (`.cu`), PTX, `.cubin`, `.fatbin`, `.ltoir`, `.o` and `.a`; linked by nvJitLink |
    /// | `wgsl` | none: the language has no linker. [`Parts::header`] adds text |
    pub fn library(mut self, library: impl Into<String>) -> Parts {
        self.libraries.push(Given::new(library, false));
        self
    }

    /// Adds any library to link.
    ///
    /// # Safety
    /// The functions that texts call in it do what the texts' authors expect, and its other
    /// contents do not affect the texts.
    pub unsafe fn raw_library(mut self, library: impl Into<String>) -> Parts {
        self.libraries.push(Given::new(library, true));
        self
    }

    /// Adds a folder to search for headers.
    ///
    /// # Safety
    /// As for [`Parts::header`], for all headers that a text finds there.
    pub unsafe fn include_dir(mut self, folder: impl Into<PathBuf>) -> Parts {
        self.include_dirs.push(folder.into());
        self
    }

    /// Adds a header at the start of the text, by the name in its `#include`; for WGSL, text before
    /// the kernel.
    ///
    /// # Safety
    /// Every text keeps its meaning, or means what its author intends it to mean with the header.
    /// In particular, the header defines nothing that the kernel's own text uses.
    pub unsafe fn header(mut self, name: impl Into<String>) -> Parts {
        self.headers.push(name.into());
        self
    }

    /// Adds a file that the text or another file includes as `#include "name"`. No file of that
    /// name is read from disk.
    ///
    /// # Safety
    /// As for [`Parts::header`].
    pub unsafe fn file(mut self, name: impl Into<String>, text: impl Into<String>) -> Parts {
        self.files.insert(name.into(), text.into());
        self
    }

    /// The folders to search for headers.
    pub fn include_dirs(&self) -> impl Iterator<Item = &Path> {
        self.include_dirs.iter().map(PathBuf::as_path)
    }

    /// The headers at the start of the text, by the name in their `#include`; for WGSL, texts
    /// before the kernel.
    pub fn headers(&self) -> impl Iterator<Item = &str> {
        self.headers.iter().map(String::as_str)
    }

    /// The options for the target's compiler.
    pub fn flags(&self) -> impl Iterator<Item = &str> {
        self.flags.iter().map(|flag| &*flag.text)
    }

    /// The libraries to link.
    pub fn libraries(&self) -> impl Iterator<Item = &str> {
        self.libraries.iter().map(|library| &*library.text)
    }

    /// The definitions, each a name and its value.
    pub fn definitions(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.definitions.iter();
        all.map(|(name, value)| (&**name, &*value.text))
    }

    /// The files that the text may include, as name in `#include "…"` and contents. They are not
    /// read from disk.
    pub fn files(&self) -> &BTreeMap<String, String> {
        &self.files
    }

    /// True if it adds nothing.
    pub fn is_empty(&self) -> bool {
        *self == Parts::default()
    }

    /// The same parts, all marked as vouched for.
    pub(crate) fn vouched(mut self) -> Parts {
        let lists = self.flags.iter_mut().chain(&mut self.libraries);
        lists
            .chain(self.definitions.values_mut())
            .for_each(|given| given.raw = true);
        self
    }

    /// The parts that are not vouched for.
    pub(crate) fn unchecked(&self) -> impl Iterator<Item = Unchecked<'_>> {
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

    /// True if a source compiled with these parts reads files whose contents are not known here.
    pub(crate) fn reads_files(&self, source: &Source) -> bool {
        let own = || source.files.iter();
        let texts = self.files.values().map(String::as_str);
        let texts = texts.chain(own().filter_map(SourceFile::text));
        let mut included = texts
            .chain([&*source.text])
            .flat_map(str::lines)
            .filter_map(included);
        let header = |file: &SourceFile| file.role == FileRole::Header;
        let unknown = |name: &str| {
            let known = own().any(|file| header(file) && file.name == name);
            !known && !self.files.contains_key(name)
        };
        let reads = |flag: &str| flag.starts_with("-i") || flag.starts_with("-I");
        let mut options = own().flat_map(|file| &file.options);
        self.headers().any(unknown)
            || !self.include_dirs.is_empty()
            || self.flags().any(reads)
            || options.any(|flag| reads(flag))
            || self.libraries().any(|name| !self.files.contains_key(name))
            || included.any(unknown)
    }

    /// Checks that there are no libraries, for a compiler that cannot link them.
    ///
    /// # Errors
    /// [`Error::Library`] with the reason, if there is one.
    pub fn refuse_libraries(&self, kernel: &str, target: &str, reason: &str) -> Result<()> {
        match self.libraries().next() {
            None => Ok(()),
            Some(library) => Err(Error::Library {
                kernel: kernel.to_owned(),
                target: target.to_owned(),
                library: library.to_owned(),
                problem: reason.to_owned(),
            }),
        }
    }

    /// Merges another set into this one, without duplicates.
    pub(crate) fn add(&mut self, other: &Parts) {
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
            // A part that any of them added by safe code is checked, even if another one vouches
            // for it.
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

/// The operand of an `#include` line: the name, or other text in its place.
fn included(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    let name = rest.strip_prefix("include")?.trim();
    let quoted = name
        .strip_prefix('"')
        .and_then(|name| name.split('"').next());
    Some(quoted.unwrap_or(name))
}
