//! The output of commands: text for people, or one JSON value with `--json`.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::error::{Error, Result};

/// The way to print.
#[derive(Clone, Copy)]
pub struct Output {
    /// True for JSON.
    pub json: bool,
}

/// The outcome of a command that did its work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// All is well.
    Good,
    /// It found a problem.
    Problem,
    /// A command that it ran ended with this code.
    Exit(u8),
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> ExitCode {
        match outcome {
            Outcome::Good => ExitCode::SUCCESS,
            Outcome::Problem => ExitCode::from(1),
            Outcome::Exit(code) => ExitCode::from(code),
        }
    }
}

impl Output {
    /// Prints a result: as JSON, or the text.
    pub fn print(self, value: &impl Serialize, text: &str) -> Result<()> {
        let json;
        let text = match self.json {
            false => text,
            true => {
                json = serde_json::to_string_pretty(value).map_err(|error| Error::Answer {
                    what: format!("the result is not JSON: {error}"),
                    help: "report this".into(),
                })?;
                &json
            }
        };
        let mut out = std::io::stdout().lock();
        // A reader such as `head` may have closed the pipe.
        let _ = writeln!(out, "{}", text.trim_end_matches('\n'));
        Ok(())
    }

    /// Prints an error.
    pub fn fail(self, error: &Error) -> ExitCode {
        let (message, help) = (error.to_string(), error.help());
        if self.json {
            let value = serde_json::json!({ "error": message, "help": help });
            let _ = writeln!(std::io::stdout().lock(), "{value:#}");
        } else {
            let mut err = std::io::stderr().lock();
            let _ = writeln!(err, "error: {message}");
            if !help.is_empty() {
                let _ = writeln!(err, "help: {help}");
            }
        }
        ExitCode::from(error.code())
    }

    /// A bar for long work; invisible unless standard error is a terminal.
    pub fn progress(self, steps: u64, what: &str) -> ProgressBar {
        if self.json || !std::io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::new(steps).with_message(what.to_owned());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {pos}/{len}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(100));
        bar
    }
}
