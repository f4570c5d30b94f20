//! The check of parts from safe code: each must be known to be harmless to the framework's own
//! text, or the launch is refused.
//!
//! An accepted definition replaces one identifier by one number or bool, in the whole program. The
//! framework's text does not contain that identifier, and the target's own names are refused. So
//! only the user's text changes. Its author vouches for it, whatever number the name stands for.

use sarek_ir::write::{self, Cuda, Dialect, OpenCl, Wgsl};

use crate::plugin::backend::parts::Unchecked;
use crate::plugin::backend::{Compiler, Parts};
use crate::{Error, Result};

/// Lower-case prefixes of names that are reserved by targets, their headers and the framework.
const RESERVED: &[&str] = &[
    "_", "cl_", "clk_", "cu_", "cuda", "nv_", "nvrtc_", "pocl_", "sarek_", "srk_",
];

/// Refuses the first part from safe code that is not known to be harmless. `own` returns the
/// kernel's text without the parts that users wrote; it is called only if there are definitions.
pub(crate) fn check(
    parts: &Parts,
    kernel: &str,
    (target, compiler): (&str, &dyn Compiler),
    own: impl FnOnce() -> Result<String>,
) -> Result<()> {
    for part in parts.unchecked() {
        if let Some(problem) = problem(part, target, compiler) {
            return Err(refused(kernel, part, &problem));
        }
    }
    let mut defined = parts.unchecked().filter_map(Unchecked::name).peekable();
    if defined.peek().is_none() {
        return Ok(());
    }
    let own = own()?;
    match defined.find(|(name, _)| has_word(&own, name)) {
        Some((name, part)) => {
            let problem = format!("the kernel's own text has the name `{name}`");
            Err(refused(kernel, part, &problem))
        }
        None => Ok(()),
    }
}

fn refused(kernel: &str, part: Unchecked<'_>, problem: &str) -> Error {
    let (part, instead) = match part {
        Unchecked::Definition { name, value } => (
            format!("the definition of `{name}` as `{value}`"),
            "raw_define",
        ),
        Unchecked::Flag(flag) => (format!("the option `{flag}`"), "raw_flag"),
        Unchecked::Library(library) => (format!("the library `{library}`"), "raw_library"),
    };
    Error::Unchecked {
        kernel: kernel.to_owned(),
        part,
        problem: format!("{problem}; `unsafe {{ parts.{instead}(…) }}` takes any text"),
    }
}

/// The reason why a part may do harm in any text.
fn problem(part: Unchecked<'_>, target: &str, compiler: &dyn Compiler) -> Option<String> {
    match part {
        Unchecked::Definition { name, value } => {
            of_target(name, target).or_else(|| of_value(value))
        }
        Unchecked::Flag(flag) => (!compiler.is_harmless_flag(flag))
            .then(|| format!("it is no option that {target} knows to be harmless")),
        Unchecked::Library(library) => (!compiler.is_harmless_library(library))
            .then(|| format!("it is no library that {target} knows to be harmless")),
    }
}

/// The reason why a target does not allow defining a name, whatever the text.
fn of_target(name: &str, target: &str) -> Option<String> {
    let mut letters = name.chars();
    let starts = letters
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    if !starts || !letters.all(is_of_word) {
        return Some(format!("`{name}` is no identifier"));
    }
    let lower = name.to_ascii_lowercase();
    let reserved = RESERVED.iter().find(|prefix| lower.starts_with(**prefix));
    if let Some(prefix) = reserved {
        return Some(format!("names that begin with `{prefix}` are reserved"));
    }
    if name.contains("__") {
        return Some("names with two underscores are reserved".to_owned());
    }
    // The target of an external backend may resemble any of these.
    let all: [&dyn Dialect; 3] = [&Cuda, &OpenCl, &Wgsl];
    let dialects = match write::dialect(target) {
        Some(dialect) => vec![dialect],
        None => all.to_vec(),
    };
    let known = |dialect: &&dyn Dialect| {
        let mut tables = dialect.reserved().iter();
        tables.any(|words| words.contains(&name))
    };
    let word = name == "defined" || dialects.iter().any(known);
    word.then(|| format!("`{name}` is a name that {target} knows"))
}

/// The reason why a name may not be defined as this value.
fn of_value(value: &str) -> Option<String> {
    if matches!(value, "true" | "false") || is_number(value) {
        return None;
    }
    Some(format!("`{value}` is neither a number nor a bool"))
}

/// True if it is a single number of a target, with optional sign and suffix: `-1`, `0x1fu`,
/// `2.5e-3f`.
fn is_number(value: &str) -> bool {
    let digits = value.strip_prefix('-').unwrap_or(value).as_bytes();
    if !digits.first().is_some_and(u8::is_ascii_digit) {
        return false;
    }
    // A preprocessor reads all of this as one token.
    let hexadecimal = digits.starts_with(b"0x") || digits.starts_with(b"0X");
    let exponent = |c: u8| match hexadecimal {
        true => matches!(c, b'p' | b'P'),
        false => matches!(c, b'e' | b'E'),
    };
    let mut before = digits[0];
    digits[1..].iter().all(|&c| {
        let signed = matches!(c, b'+' | b'-') && exponent(before);
        before = c;
        signed || c == b'.' || c.is_ascii_alphanumeric()
    })
}

/// True if the text contains this identifier.
fn has_word(text: &str, word: &str) -> bool {
    text.split(|c| !is_of_word(c)).any(|found| found == word)
}

fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests;
