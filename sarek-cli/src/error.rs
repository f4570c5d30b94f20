//! The errors of commands: what happened, and what to do about it.

use std::path::{Path, PathBuf};

/// The result of a command.
pub type Result<T> = std::result::Result<T, Error>;

/// The reason why a command could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder cannot be used.
    #[error("`{}` cannot be {action}: {error}", path.display())]
    File {
        /// The attempt, such as "read".
        action: &'static str,
        path: PathBuf,
        error: std::io::Error,
    },
    /// A record of benchmarks is damaged.
    #[error("`{}`, line {line}: {why}", path.display())]
    Record {
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        why: String,
    },
    /// A program does not start.
    #[error("`{program}` does not start: {error}")]
    Start {
        program: String,
        error: std::io::Error,
    },
    /// An argument does not fit.
    #[error("{what}")]
    Argument { what: String, help: String },
    /// Cargo failed. Its own messages were printed.
    #[error("`cargo {command}` failed")]
    Cargo { command: String },
    /// A program gave something else than was asked of it.
    #[error("{what}")]
    Answer { what: String, help: String },
    /// This system cannot do it.
    #[error("{what}")]
    System { what: String, help: String },
    /// An error of the library.
    #[error(transparent)]
    Sarek(#[from] sarek::Error),
}

impl Error {
    /// The action that failed for a file.
    pub fn file(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.to_owned();
        move |error| Error::File {
            action,
            path,
            error,
        }
    }

    /// The next step for the user; empty if the message says it.
    pub fn help(&self) -> String {
        match self {
            Error::File { .. } => {
                "check the path, its permissions and the space on the disk".into()
            }
            Error::Start { program, .. } => {
                format!("check that `{program}` is installed and in the search path")
            }
            Error::Record { .. } => {
                "make a record by `cargo sarek bench --save FILE.json COMMAND`, or `cargo bench --bench native -- --save FILE.tsv`".into()
            }
            Error::Cargo { .. } => "correct the errors above".into(),
            Error::Argument { help, .. }
            | Error::Answer { help, .. }
            | Error::System { help, .. } => help.clone(),
            Error::Sarek(_) => String::new(),
        }
    }

    /// The exit code: 2 for wrong arguments, 3 otherwise.
    pub fn code(&self) -> u8 {
        match self {
            Error::Argument { .. } | Error::Record { .. } => 2,
            Error::File { .. }
            | Error::Start { .. }
            | Error::Cargo { .. }
            | Error::Answer { .. }
            | Error::System { .. }
            | Error::Sarek(_) => 3,
        }
    }
}
