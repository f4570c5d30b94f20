//! `explain`: what a kernel needs, and which devices can run it.

use super::collect::{self, Build};
use crate::error::{Error, Result};
use crate::report::{Outcome, Output};

/// Arguments of `explain`.
#[derive(clap::Args)]
pub struct Args {
    /// The kernel's name
    kernel: String,
    #[command(flatten)]
    build: Build,
}

/// Prints the requirements of a kernel, and the verdict of each device.
pub fn run(args: &Args, output: Output) -> Result<Outcome> {
    // The process of the package knows its own devices. It gets the plain name.
    let head = args.kernel.split('<').next().unwrap_or_default();
    let head = head.trim_end_matches("::");
    let name = head.rsplit("::").next().unwrap_or_default();
    let found = collect::collect(&args.build, Some(name), output)?;
    let kernel = found.kernel(&args.kernel)?;
    let text = kernel.explain.clone().ok_or_else(|| Error::Answer {
        what: format!("`{}` did not explain itself", kernel.path),
        help: kernel.error.clone().unwrap_or_default(),
    })?;
    output.print(
        &serde_json::json!({ "kernel": kernel.path, "text": text }),
        &text,
    )?;
    Ok(Outcome::Good)
}
