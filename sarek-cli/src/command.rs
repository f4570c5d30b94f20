//! Commands of the user's that `profile`, `sanitize` and `bench` run.

use std::ffi::OsString;
use std::process::Command;

use crate::error::{Error, Result};
use crate::report::Outcome;

/// A command with its arguments.
#[derive(clap::Args)]
pub struct Run {
    /// The command and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "COMMAND"
    )]
    command: Vec<OsString>,
}

impl Run {
    /// The command as text.
    pub fn text(&self) -> String {
        let words: Vec<_> = self
            .command
            .iter()
            .map(|word| word.to_string_lossy())
            .collect();
        words.join(" ")
    }

    /// Runs it with these variables, and returns its outcome. With `quiet`, its output is dropped.
    pub fn run(&self, variables: &[(&str, OsString)], quiet: bool) -> Result<Outcome> {
        let (program, arguments) = self.command.split_first().ok_or_else(|| Error::Argument {
            what: "there is no command".into(),
            help: "give one, such as `cargo run`".into(),
        })?;
        let mut command = Command::new(program);
        command.args(arguments);
        for (name, value) in variables {
            command.env(name, value);
        }
        if quiet {
            command.stdout(std::process::Stdio::null());
        }
        let status = command.status().map_err(|error| Error::Start {
            program: program.to_string_lossy().into_owned(),
            error,
        })?;
        // A process that a signal ended has no code.
        Ok(match status.code() {
            Some(0) => Outcome::Good,
            Some(code) => Outcome::Exit(u8::try_from(code).unwrap_or(1)),
            None => Outcome::Exit(128),
        })
    }
}
