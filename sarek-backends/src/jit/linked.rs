//! The files that are linked with a text: the units of its source, and the libraries of environments.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use sarek_ir::write::{FileRole, Source, SourceFile};
use sarek_runtime::backend::Parts;
use sarek_runtime::{Error, Result};

/// A file to link.
pub(crate) struct Linked<'a> {
    /// The name for messages.
    pub name: &'a str,
    /// The language of a text, or the extension of a binary file.
    pub language: &'a str,
    pub contents: Cow<'a, [u8]>,
    /// Options of the compiler for this file alone.
    pub options: &'a [String],
    pub is_library: bool,
}

impl<'a> Linked<'a> {
    /// A text without options of its own.
    pub fn text(name: &'a str, language: &'a str, text: &'a str) -> Linked<'a> {
        Linked {
            name,
            language,
            contents: text.as_bytes().into(),
            options: &[],
            is_library: false,
        }
    }

    /// The units of a source, and then the libraries of its environments.
    pub fn all(
        kernel: &str,
        target: &str,
        source: &'a Source,
        parts: &'a Parts,
    ) -> Result<Vec<Linked<'a>>> {
        let mut all = vec![];
        for file in &source.files {
            match file.role {
                FileRole::Header => {}
                FileRole::Unit => all.push(Linked::unit(file)),
            }
        }
        for library in parts.libraries() {
            all.push(Linked::library(kernel, target, library, parts)?);
        }
        Ok(all)
    }

    fn unit(file: &'a SourceFile) -> Linked<'a> {
        Linked {
            name: &file.name,
            language: &file.language,
            contents: Cow::Borrowed(&file.contents),
            options: &file.options,
            is_library: false,
        }
    }

    fn library(kernel: &str, target: &str, name: &'a str, parts: &'a Parts) -> Result<Linked<'a>> {
        let extension = Path::new(name).extension().and_then(|e| e.to_str());
        let language = match extension.unwrap_or_default() {
            "cl" => "opencl",
            "cu" => "cuda",
            "spv" => "spirv",
            other => other,
        };
        let contents = match parts.files().get(name) {
            Some(text) => Ok(Cow::Borrowed(text.as_bytes())),
            None => std::fs::read(name).map(Cow::Owned),
        };
        match contents {
            Ok(contents) => Ok(Linked {
                name,
                language,
                contents,
                options: &[],
                is_library: true,
            }),
            Err(error) => Err(Error::Library {
                kernel: kernel.to_owned(),
                target: target.to_owned(),
                library: name.to_owned(),
                problem: format!(
                    "it is none of the files that environments give, and cannot be read: {error}"
                ),
            }),
        }
    }

    /// The contents as text.
    pub fn as_text(&self, kernel: &str, target: &str) -> Result<&str> {
        let text = std::str::from_utf8(&self.contents);
        text.map_err(|_| self.error(kernel, target, "it is no text in UTF-8".into()))
    }

    /// The error for a file that cannot be compiled or linked.
    pub fn error(&self, kernel: &str, target: &str, problem: String) -> Error {
        if self.is_library {
            return Error::Library {
                kernel: kernel.to_owned(),
                target: target.to_owned(),
                library: self.name.to_owned(),
                problem,
            };
        }
        let text = std::str::from_utf8(&self.contents).unwrap_or_default();
        failed(kernel, target, text, format!("{}: {problem}", self.name))
    }

    /// A compiler's error about this file: for a library, it names the library.
    pub fn located(&self, error: Error) -> Error {
        match error {
            Error::Compile {
                kernel,
                target,
                log,
                ..
            } if self.is_library => {
                self.error(&kernel, &target, format!("it does not compile:\n{log}"))
            }
            error => error,
        }
    }
}

/// The error for texts that do not become one program.
pub(crate) fn failed(kernel: &str, target: &str, text: &str, log: String) -> Error {
    Error::Compile {
        kernel: kernel.to_owned(),
        places: vec![],
        target: target.to_owned(),
        log,
        source_text: text.to_owned(),
    }
}

/// The files that texts include by name: those of environments, and the headers of the source itself.
pub(crate) fn headers<'a>(
    source: &Source,
    parts: &'a Parts,
) -> Result<Cow<'a, BTreeMap<String, String>>> {
    let mut all = Cow::Borrowed(parts.files());
    for file in &source.files {
        let text = match file.role {
            FileRole::Unit => continue,
            FileRole::Header => file.text(),
        };
        let problem = |problem: &str| Error::Environment {
            name: file.name.clone(),
            problem: problem.to_owned(),
        };
        let text = text.ok_or_else(|| problem("this header of a target is no text in UTF-8"))?;
        if all.get(&file.name).is_some_and(|known| known != text) {
            return Err(problem(
                "an environment and the target itself give different files of this name",
            ));
        }
        all.to_mut().insert(file.name.clone(), text.to_owned());
    }
    Ok(all)
}
