//! The command line of sarek: `cargo sarek doctor`, `new`, `check` and others.
//!
//! Each subcommand is a file. It returns an [`Outcome`], or an [`Error`](error::Error) if it could not do its work. A process ends with 0 if all is
//! well, 1 if a problem was found, 2 for wrong arguments, and 3 if the command could not do its work.

mod bench;
mod cache;
mod command;
mod devices;
mod doctor;
mod error;
mod errors;
mod kernels;
mod new;
mod plot;
mod probe;
mod profile;
mod report;
mod sanitize;
mod trace;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use error::Result;
use report::{Outcome, Output};

/// Tools for kernels written in Rust.
#[derive(Parser)]
#[command(name = "cargo-sarek", bin_name = "cargo sarek", version, about, after_help = EXIT_CODES)]
struct Cli {
    /// Print JSON, for programs
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 all is well, 1 a problem was found, 2 wrong arguments, 3 the command could not do its work";

#[derive(Subcommand)]
enum Command {
    /// Examine drivers, loaders and permissions, and say what is missing
    Doctor(doctor::Args),
    /// List the devices of all backends
    Devices(devices::Args),
    /// Make a project with a first kernel and its tests
    New(new::Args),
    /// Explain an error code of the compiler's messages
    Errors(errors::Args),
    /// Compile every kernel of a package for every target, without a device
    Check(kernels::check::Args),
    /// Print the text of a kernel for a target
    Emit(kernels::emit::Args),
    /// Say what a kernel needs, and which devices can run it
    Explain(kernels::explain::Args),
    /// Run a command, and print the times of its kernels
    Profile(profile::Args),
    /// Run a command with all kernels in the interpreter, which checks each step
    Sanitize(sanitize::Args),
    /// Run a command several times, and compare the times of its kernels with a record
    Bench(bench::Args),
    /// Make a page with tables and plots from records of benchmarks
    Plot(plot::Args),
    /// Examine the compiled programs on disk
    #[command(subcommand)]
    Cache(cache::Command),
    /// Print the completions of a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// For the processes in which drivers are tried out
    #[command(hide = true, name = "__probe")]
    Probe {
        /// The backend
        backend: String,
    },
    /// For the processes in which libraries are loaded
    #[command(hide = true, name = "__load")]
    Load {
        /// The library's file
        file: String,
    },
}

impl Command {
    fn run(&self, output: Output) -> Result<Outcome> {
        match self {
            Command::Doctor(args) => doctor::run(args, output),
            Command::Devices(args) => devices::run(args, output),
            Command::New(args) => new::run(args, output),
            Command::Errors(args) => errors::run(args, output),
            Command::Check(args) => kernels::check::run(args, output),
            Command::Emit(args) => kernels::emit::run(args, output),
            Command::Explain(args) => kernels::explain::run(args, output),
            Command::Profile(args) => profile::run(args, output),
            Command::Sanitize(args) => sanitize::run(args, output),
            Command::Bench(args) => bench::run(args, output),
            Command::Plot(args) => plot::run(args, output),
            Command::Cache(command) => cache::run(command, output),
            Command::Completions { shell } => {
                let mut out = std::io::stdout();
                clap_complete::generate(*shell, &mut Cli::command(), "cargo-sarek", &mut out);
                Ok(Outcome::Good)
            }
            Command::Probe { backend } => probe::child(backend),
            Command::Load { file } => Ok(doctor::load(file)),
        }
    }
}

fn main() -> ExitCode {
    let mut args: Vec<_> = std::env::args_os().collect();
    if let Some(code) = kernels::collect::as_rustc(&args) {
        return code;
    }
    // Cargo passes the name of the subcommand.
    if args.get(1).is_some_and(|first| first == "sarek") {
        args.remove(1);
    }
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let output = Output { json: cli.json };
    match cli.command.run(output) {
        Ok(outcome) => outcome.into(),
        Err(error) => output.fail(&error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }
}
