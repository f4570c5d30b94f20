//! The further files of a program.

use std::fmt::Write;

/// A further file of a program, besides its main text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceFile {
    /// The name in `#include "name"`, and in messages.
    pub name: String,
    /// The language: the target's name, or another language that its compiler takes, such as `ptx` or `spirv`.
    pub language: String,
    /// The contents; UTF-8 unless the language is a binary one.
    pub contents: Vec<u8>,
    /// The options of the compiler for this file alone.
    pub options: Vec<String>,
    /// The way in which it becomes part of the program.
    pub role: FileRole,
}

/// The way in which a file becomes part of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileRole {
    /// Texts include it by its name.
    Header,
    /// It is compiled on its own, and linked with the main text.
    Unit,
}

impl SourceFile {
    /// A file that texts include by its name.
    pub fn header(
        name: impl Into<String>,
        language: impl Into<String>,
        text: impl Into<String>,
    ) -> SourceFile {
        SourceFile {
            role: FileRole::Header,
            ..SourceFile::unit(name, language, text.into())
        }
    }

    /// A file that is compiled on its own, and linked with the main text.
    pub fn unit(
        name: impl Into<String>,
        language: impl Into<String>,
        contents: impl Into<Vec<u8>>,
    ) -> SourceFile {
        SourceFile {
            name: name.into(),
            language: language.into(),
            contents: contents.into(),
            options: vec![],
            role: FileRole::Unit,
        }
    }

    /// Sets the options of the compiler for this file alone.
    #[must_use]
    pub fn with_options(self, options: impl IntoIterator<Item = impl Into<String>>) -> SourceFile {
        let options = options.into_iter().map(Into::into).collect();
        SourceFile { options, ..self }
    }

    /// The contents as text, if they are UTF-8.
    pub fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.contents).ok()
    }

    /// Writes everything about the file, for the keys of caches.
    pub fn write_key(&self, key: &mut String) {
        let SourceFile {
            name,
            language,
            contents,
            options,
            role,
        } = self;
        let contents = contents.escape_ascii();
        // Writing to a string cannot fail.
        let _ = writeln!(key, "{role:?} {name:?} {language:?} {options:?} {contents}");
    }
}
