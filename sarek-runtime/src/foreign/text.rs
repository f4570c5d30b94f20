//! A text and where it comes from.

use std::path::Path;

use crate::plugin::tag::{self, Language, Tag};
use crate::{Error, Result};

/// Text of a kernel in a device's own language.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Text {
    language: Tag<Language>,
    text: String,
    file: Option<String>,
    entry: Option<String>,
}

impl Text {
    /// A text in a language: one of those that the library knows, or the target of another crate's backend.
    pub fn new(language: &Tag<Language>, text: impl Into<String>) -> Text {
        Text {
            language: language.clone(),
            text: text.into(),
            file: None,
            entry: None,
        }
    }

    /// CUDA C.
    pub fn cuda(text: impl Into<String>) -> Text {
        Text::new(&Language::cuda(), text)
    }

    /// OpenCL C.
    pub fn opencl(text: impl Into<String>) -> Text {
        Text::new(&Language::opencl(), text)
    }

    /// WGSL.
    pub fn wgsl(text: impl Into<String>) -> Text {
        Text::new(&Language::wgsl(), text)
    }

    /// PTX.
    pub fn ptx(text: impl Into<String>) -> Text {
        Text::new(&Language::ptx(), text)
    }

    /// A file, read now. Its name tells the language: `.cu`, `.cl`, `.wgsl`, `.ptx`, or the name of the target of another
    /// crate's backend. A path that is not absolute begins in the current folder; for one that begins in the crate, and is
    /// read when that is compiled, see [`include_text!`](crate::include_text).
    pub fn file(path: impl AsRef<Path>) -> Result<Text> {
        let path = path.as_ref();
        match std::fs::read_to_string(path) {
            Ok(text) => Ok(Text::of_file(&path.to_string_lossy(), &text)),
            Err(error) => Err(Error::Foreign {
                kernel: path.display().to_string(),
                problem: format!("the file cannot be read: {error}"),
            }),
        }
    }

    /// The text of a file of this name, which tells the language; it is not read.
    pub fn of_file(file: &str, text: &str) -> Text {
        let extension = Path::new(file).extension().unwrap_or_default();
        let language = match extension.to_str().unwrap_or_default() {
            "cu" | "cuh" => Language::cuda(),
            "cl" => Language::opencl(),
            other => tag::lookup(other),
        };
        Text {
            file: Some(file.to_owned()),
            ..Text::new(&language, text)
        }
    }

    /// The name of the entry point, where it is not that of the kernel.
    #[must_use]
    pub fn with_entry(mut self, entry: impl Into<String>) -> Text {
        self.entry = Some(entry.into());
        self
    }

    /// What it is written in.
    pub fn language(&self) -> &Tag<Language> {
        &self.language
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn entry(&self) -> Option<&str> {
        self.entry.as_deref()
    }

    /// What its lines are told by.
    pub(super) fn place(&self, kernel: &str) -> String {
        let unnamed = || format!("<{kernel}, {}>", self.language);
        self.file.clone().unwrap_or_else(unnamed)
    }
}

/// A [`Text`](crate::foreign::Text) from a file, which is read when the program is compiled: its path begins in the folder of
/// the source file that names it, and its extension tells the language.
///
/// ```ignore
/// let kernel = ForeignKernel::new("saxpy").text(include_text!("saxpy.cl"));
/// ```
#[macro_export]
macro_rules! include_text {
    ($file:literal) => {
        $crate::foreign::Text::of_file($file, ::core::include_str!($file))
    };
}
