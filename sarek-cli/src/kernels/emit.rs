//! `emit`: the text of a kernel for a target.

use std::fs;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use super::collect::{self, Build};
use super::compile;
use crate::error::{Error, Result};
use crate::report::{Outcome, Output};

/// Arguments of `emit`.
#[derive(clap::Args)]
pub struct Args {
    /// The kernel: its name, its path, or an instance such as 'k<f32, 16>'
    kernel: String,
    /// The language
    #[arg(long, value_parser = ["cuda", "opencl", "wgsl", "ir", "ptx", "spirv"])]
    target: String,
    /// Mark the lines of the Rust file with `#line`, in CUDA C and OpenCL C
    #[arg(long)]
    lines: bool,
    /// Write to this file
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The architecture for which CUDA C is compiled to PTX
    #[arg(long, default_value = "compute_75")]
    arch: String,
    #[command(flatten)]
    build: Build,
}

/// Prints the text, or writes it to a file.
pub fn run(args: &Args, output: Output) -> Result<Outcome> {
    let found = collect::collect(&args.build, None, output)?;
    let kernel = found.kernel(&args.kernel)?;
    let source = |target: &str| {
        let text = kernel.text(target);
        let refused = match text {
            Some(text) => text.refused.clone(),
            None => kernel.error.clone(),
        };
        match (text, refused) {
            (Some(text), None) => Ok(text),
            (_, why) => Err(Error::Answer {
                what: format!(
                    "`{}` has no text in {target}: {}",
                    kernel.path,
                    why.unwrap_or_default()
                ),
                help: "choose another target".into(),
            }),
        }
    };
    let bytes = match &*args.target {
        "ir" => kernel.ir.clone().into_bytes(),
        "ptx" => compile::ptx(source("cuda")?, &args.arch)?.into_bytes(),
        "spirv" => compile::spirv(source("wgsl")?)?,
        target => {
            let text = source(target)?;
            let text = match args.lines && target != "wgsl" {
                true => &text.marked,
                false => &text.text,
            };
            text.clone().into_bytes()
        }
    };
    if let Some(file) = &args.out {
        fs::write(file, &bytes).map_err(Error::file("written", file))?;
        let value =
            serde_json::json!({ "kernel": kernel.path, "file": file, "bytes": bytes.len() });
        output.print(
            &value,
            &format!("{}: {} bytes", file.display(), bytes.len()),
        )?;
        return Ok(Outcome::Good);
    }
    if args.target == "spirv" && (output.json || std::io::stdout().is_terminal()) {
        return Err(Error::Argument {
            what: "SPIR-V is no text".into(),
            help: "give a file by `--out`".into(),
        });
    }
    if output.json {
        let text = String::from_utf8_lossy(&bytes);
        let value =
            serde_json::json!({ "kernel": kernel.path, "target": args.target, "text": text });
        output.print(&value, "")?;
    } else {
        // A reader such as `head` may have closed the pipe.
        let _ = std::io::stdout().lock().write_all(&bytes);
    }
    Ok(Outcome::Good)
}
