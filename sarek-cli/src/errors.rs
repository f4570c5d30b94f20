//! `errors`: the pages of error codes, which are those of the compiler's messages.

use std::fmt::Write;

use sarek_frontend::diagnostics::Code;

use crate::error::{Error, Result};
use crate::report::{Outcome, Output};

/// Arguments of `errors`.
#[derive(clap::Args)]
pub struct Args {
    /// A code such as SRK0601; without it, all codes are listed
    code: Option<String>,
}

/// Prints the page of a code, or the list of all.
pub fn run(args: &Args, output: Output) -> Result<Outcome> {
    let Some(asked) = &args.code else {
        let titles: Vec<[String; 2]> = Code::all()
            .map(|code| [code.to_string(), title(code).to_owned()])
            .collect();
        let mut text = String::new();
        for [code, title] in &titles {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{code}  {title}");
        }
        output.print(&titles, &text)?;
        return Ok(Outcome::Good);
    };
    // Also `srk0601`, `0601`, and the head of a message.
    let number = asked.trim().trim_end_matches(':').to_uppercase();
    let number = number.trim_start_matches("SRK");
    let is_asked = |code: &Code| code.to_string().trim_start_matches("SRK") == number;
    let code = Code::all().find(is_asked).ok_or_else(|| Error::Argument {
        what: format!("there is no error `{asked}`"),
        help: "`cargo sarek errors` lists all codes".into(),
    })?;
    let value = serde_json::json!({
        "code": code.to_string(),
        "title": title(code),
        "page": code.page(),
    });
    output.print(&value, code.page())?;
    Ok(Outcome::Good)
}

/// The title of a code's page.
fn title(code: Code) -> &'static str {
    let first = code.page().lines().next().unwrap_or_default();
    first.split_once(": ").map_or(first, |(_, title)| title)
}
