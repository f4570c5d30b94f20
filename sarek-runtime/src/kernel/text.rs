//! The texts of foreign kernels, and their origin.

use std::path::Path;

use sarek_ir::write::SourceFile;

use crate::plugin::tag::{self, Language, Tag};
use crate::{Error, Result};

/// The text of a kernel in a device's own language.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Text {
    language: Tag<Language>,
    text: String,
    file: Option<String>,
    entry: Option<String>,
    options: Vec<String>,
}

impl Text {
    /// Makes a text in a language of the library, or in the target language of an external backend.
    pub fn new(language: &Tag<Language>, text: impl Into<String>) -> Text {
        Text {
            language: language.clone(),
            text: text.into(),
            file: None,
            entry: None,
            options: Vec::new(),
        }
    }

    /// Makes a text in CUDA C.
    pub fn cuda(text: impl Into<String>) -> Text {
        Text::new(&Language::cuda(), text)
    }

    /// Makes a text in OpenCL C.
    pub fn opencl(text: impl Into<String>) -> Text {
        Text::new(&Language::opencl(), text)
    }

    /// Makes a text in WGSL.
    pub fn wgsl(text: impl Into<String>) -> Text {
        Text::new(&Language::wgsl(), text)
    }

    /// Makes a text in PTX.
    pub fn ptx(text: impl Into<String>) -> Text {
        Text::new(&Language::ptx(), text)
    }

    /// Reads a text from a file now. The extension determines the language: `.cu`, `.cuh`, `.cl`,
    /// `.wgsl`, `.ptx`, or the target of an external backend. A relative path starts in the current
    /// folder. To include a file at compile time, use [`include_text!`](crate::include_text).
    ///
    /// # Errors
    /// [`Error::Foreign`] if the file cannot be read.
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

    /// Makes a text with a file name, whose extension determines the language. The file is not
    /// read.
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

    /// Sets the name of the entry point, if it differs from the kernel's.
    #[must_use]
    pub fn with_entry(mut self, entry: impl Into<String>) -> Text {
        self.entry = Some(entry.into());
        self
    }

    /// Adds an option of the compiler for this text alone. It is used if the text is a
    /// [`unit`](crate::foreign::Builder::unit).
    #[must_use]
    pub fn with_option(mut self, option: impl Into<String>) -> Text {
        self.options.push(option.into());
        self
    }

    /// The text as the unit of this number of a kernel.
    pub(super) fn unit(&self, kernel: &str, number: usize) -> SourceFile {
        let unnamed = || format!("{kernel}.{number}.{}", self.language);
        let name = self.file.clone().unwrap_or_else(unnamed);
        let unit = SourceFile::unit(name, self.language.name(), self.text.as_str());
        unit.with_options(&self.options)
    }

    /// The language of the text.
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

    /// The file name for its lines in messages.
    pub(super) fn place(&self, kernel: &str) -> String {
        let unnamed = || format!("<{kernel}, {}>", self.language);
        self.file.clone().unwrap_or_else(unnamed)
    }
}

/// Makes a [`Text`](crate::foreign::Text) from a file that is read when the program is compiled.
/// The path is relative to the source file that names it. The extension determines the language.
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
