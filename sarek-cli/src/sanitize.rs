//! `sanitize`: runs a command with all kernels in the interpreter, which checks each step.

use crate::command::Run;
use crate::error::Result;
use crate::report::{Outcome, Output};

/// Arguments of `sanitize`.
#[derive(clap::Args)]
pub struct Args {
    /// Also report integers that overflow, in release builds too
    #[arg(long)]
    overflow: bool,
    /// The order of threads is random, and follows from this number
    #[arg(long)]
    seed: Option<u64>,
    #[command(flatten)]
    run: Run,
}

/// Runs the command. Its exit code is the command's.
pub fn run(args: &Args, output: Output) -> Result<Outcome> {
    let mut checks = vec!["1".to_owned()];
    checks.extend(args.overflow.then(|| "overflow".to_owned()));
    checks.extend(args.seed.map(|seed| format!("seed={seed}")));
    let checks = checks.join(",");
    let variables = [
        ("SAREK_SANITIZE", checks.clone().into()),
        ("SAREK_BACKEND", "interpreter".into()),
    ];
    let outcome = args.run.run(&variables, output.json)?;
    if output.json {
        let ended_well = outcome == Outcome::Good;
        let value = serde_json::json!({ "command": args.run.text(), "checks": checks, "passed": ended_well });
        output.print(&value, "")?;
    } else if outcome != Outcome::Good {
        eprintln!("sanitize: the command failed under the interpreter; its output says why");
    }
    Ok(outcome)
}
