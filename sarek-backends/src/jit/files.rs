//! Expands `#include`s of files that environments provide. No driver has to find them, and all drivers compile the same
//! text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The treatment of line numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lines {
    /// Adds `#line` directives, for languages with the C preprocessor.
    #[cfg_attr(not(any(feature = "cuda", feature = "opencl")), allow(dead_code))]
    Numbered,
    /// Appends each file once after the text, so that the text's lines keep their numbers.
    #[cfg_attr(not(feature = "wgpu"), allow(dead_code))]
    Kept,
}

/// The maximum depth of nested includes.
const DEPTH: usize = 64;

/// The text named `name`, with the files included.
pub(crate) fn expanded(
    name: &str,
    text: &str,
    files: &BTreeMap<String, String>,
    lines: Lines,
) -> String {
    if files.is_empty() {
        return text.to_owned();
    }
    let mut expansion = Expansion {
        files,
        once: BTreeSet::new(),
        lines,
        out: String::new(),
        behind: Vec::new(),
    };
    expansion.add(name, text, 0);
    let mut next = 0;
    while let Some(file) = expansion.behind.get(next).copied() {
        expansion.add(file, &files[file], 0);
        next += 1;
    }
    expansion.out
}

struct Expansion<'a> {
    files: &'a BTreeMap<String, String>,
    /// Files that need not be included again.
    once: BTreeSet<&'a str>,
    lines: Lines,
    out: String,
    /// Files to append after the text.
    behind: Vec<&'a str>,
}

impl<'a> Expansion<'a> {
    fn add(&mut self, name: &str, text: &'a str, depth: usize) {
        let (mut name, mut next) = (name.to_owned(), 1);
        for line in text.lines() {
            next += 1;
            if self.lines == Lines::Numbered
                && let Some((number, file)) = told(line)
            {
                next = number;
                name = file.map_or(name, str::to_owned);
            }
            if line.trim() == "#pragma once" {
                self.out.push('\n');
                continue;
            }
            let file = included(line).and_then(|file| self.files.get_key_value(file));
            let Some((file, inner)) = file else {
                self.out += line;
                self.out.push('\n');
                continue;
            };
            match self.lines {
                Lines::Kept => {
                    // The line stays, empty.
                    self.out.push('\n');
                    if self.once.insert(file) {
                        self.behind.push(file);
                    }
                }
                Lines::Numbered if self.once.contains(&**file) => self.out.push('\n'),
                Lines::Numbered if depth == DEPTH => {
                    let _ = writeln!(self.out, "#error {file:?} includes itself");
                }
                Lines::Numbered => {
                    if inner.lines().any(|line| line.trim() == "#pragma once") {
                        self.once.insert(file);
                    }
                    // Writing to a string cannot fail.
                    let _ = writeln!(self.out, "#line 1 {file:?}");
                    self.add(file, inner, depth + 1);
                    let _ = writeln!(self.out, "#line {next} {name:?}");
                }
            }
        }
    }
}

/// The name in `#include "name"`.
fn included(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    let name = rest.strip_prefix("include")?.trim_start();
    name.strip_prefix('"')?.split('"').next()
}

/// The number, and the name if any, that a directive gives the next line: `#line 12 "name"`, `# 12 "name"`.
fn told(line: &str) -> Option<(usize, Option<&str>)> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("line").unwrap_or(rest);
    let (number, rest) = match rest.trim().split_once(char::is_whitespace) {
        Some((number, rest)) => (number, rest.trim_start()),
        None => (rest.trim(), ""),
    };
    let name = rest
        .strip_prefix('"')
        .and_then(|name| name.split('"').next());
    Some((number.parse().ok()?, name))
}

/// Rewrites a log: replaces `unnamed:12`, the twelfth line of a text, by the file and line that its `#line` directives
/// specify. NVIDIA's OpenCL ignores the directives.
#[cfg(feature = "opencl")]
pub(crate) fn heeding_lines(log: &str, unnamed: &str, text: &str) -> String {
    let begins = format!("{unnamed}:");
    let mut parts = log.split(&begins);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.find(|c: char| !c.is_ascii_digit());
        let (number, rest) = part.split_at(digits.unwrap_or(part.len()));
        match number.parse().map(|line| presumed(text, line)) {
            Ok((name, line)) => {
                let name = name.unwrap_or(unnamed);
                // Writing to a string cannot fail.
                let _ = write!(out, "{name}:{line}{rest}");
            }
            Err(_) => out.extend([&begins, part]),
        }
    }
    out
}

/// The name and number of a line according to the `#line` directives before it.
#[cfg(feature = "opencl")]
fn presumed(text: &str, line: usize) -> (Option<&str>, usize) {
    let (mut name, mut number) = (None, 1);
    for before in text.lines().take(line.saturating_sub(1)) {
        number += 1;
        if let Some((next, file)) = told(before) {
            number = next;
            name = file.or(name);
        }
    }
    (name, number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> BTreeMap<String, String> {
        let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        [
            file("a.h", "a\n#include \"b.h\"\n"),
            file("b.h", "#pragma once\nb"),
            file("self.h", "#include \"self.h\""),
        ]
        .into()
    }

    #[test]
    fn included_files_stand_where_they_are_included() {
        let text = "1\n#include \"a.h\"\n  # include \"b.h\" // again\n#include <a.h>\n5";
        let due = "1\n#line 1 \"a.h\"\na\n#line 1 \"b.h\"\n\nb\n#line 3 \"a.h\"\n#line 3 \"k\"\n\n#include <a.h>\n5\n";
        assert_eq!(expanded("k", text, &files(), Lines::Numbered), due);
    }

    #[test]
    fn or_behind_the_text() {
        let text = "1\n#include \"a.h\"\n3";
        let due = "1\n\n3\na\n\n\nb\n";
        assert_eq!(expanded("k", text, &files(), Lines::Kept), due);
    }

    #[test]
    fn a_file_that_includes_itself_is_an_error_of_the_text() {
        let out = expanded("k", "#include \"self.h\"", &files(), Lines::Numbered);
        assert!(out.contains("#error \"self.h\" includes itself"));
    }

    #[test]
    #[cfg(feature = "opencl")]
    fn logs_heed_lines() {
        let text = expanded("k", "x\n#include \"a.h\"\nz\n", &files(), Lines::Numbered);
        let at = |found: &str| 1 + text.lines().position(|line| line == found).expect("a line");
        let log = |found: &str| {
            let log = format!("<kernel>:{}:5: error\nnote <kernel>:?", at(found));
            heeding_lines(&log, "<kernel>", &text)
        };
        assert_eq!(log("x"), "<kernel>:1:5: error\nnote <kernel>:?");
        assert_eq!(log("a"), "a.h:1:5: error\nnote <kernel>:?");
        assert_eq!(log("b"), "b.h:2:5: error\nnote <kernel>:?");
        assert_eq!(log("z"), "k:3:5: error\nnote <kernel>:?");
        assert_eq!(heeding_lines("<kernel>:", "<kernel>", ""), "<kernel>:");
        // Directives of the user count as well.
        let text = "\n # line 40 \"k.y\"\nx\n# 7\ny\n#define line 3\nz";
        let log = heeding_lines(
            "<kernel>:3:1: x <kernel>:5:1: y <kernel>:7:1: z",
            "<kernel>",
            text,
        );
        assert_eq!(log, "k.y:40:1: x k.y:7:1: y k.y:9:1: z");
    }

    #[test]
    fn lines_go_on_as_the_text_numbers_them() {
        let numbered = |text: &str| expanded("k", text, &files(), Lines::Numbered);
        // After headers, whose end sets the line number of the text.
        let out = numbered("#include <h>\n#line 1\nx\n#include \"a.h\"\ny\n");
        assert!(out.contains("#line 3 \"k\"\ny\n"), "{out}");
        // In text generated from another one.
        let out = numbered("#line 40 \"k.y\"\n#include \"b.h\"\ny\n");
        assert!(out.contains("#line 41 \"k.y\"\ny\n"), "{out}");
    }
}
