//! The pages of the error codes: their form, their examples, and the index of all.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sarek_frontend::diagnostics::{Code, codes};
use sarek_frontend::expand::messages;

/// The line in place of messages on a page whose mistake rustc reports.
const BY_RUSTC: &str = "rustc reports this error at the code with the mistake.";

/// The last line of the index before the list of codes.
const RULE: &str = "|---|---|\n";

/// The parts of a page.
struct Page {
    title: &'static str,
    meaning: &'static str,
    why: &'static str,
    /// Every page has examples, but for [`codes::INVALID`].
    examples: Option<Examples>,
}

struct Examples {
    /// Items with the mistake.
    wrong: &'static str,
    /// The part between the examples: the quoted messages, or [`BY_RUSTC`].
    between: &'static str,
    /// The same items without the mistake.
    right: &'static str,
}

impl Page {
    fn of(code: Code) -> Page {
        let text = code.page();
        Page::parse(code, text).unwrap_or_else(|| {
            panic!("the page of {code} lacks a part, or has one out of order:\n{text}")
        })
    }

    fn parse(code: Code, text: &'static str) -> Option<Page> {
        let text = text.strip_prefix(&format!("# {code}: "))?;
        let (title, text) = text.split_once("\n\n")?;
        let (meaning, text) = text.split_once("\n\n**Why**: ")?;
        let (why, text) = text.split_once(".\n")?;
        let examples = match text {
            "" => None,
            text => Some(Examples::parse(text)?),
        };
        Some(Page {
            title,
            meaning,
            why,
            examples,
        })
    }
}

impl Examples {
    fn parse(text: &'static str) -> Option<Examples> {
        let text = text.strip_prefix("\nWrong:\n\n```rust\n")?;
        let (wrong, text) = text.split_once("\n```\n\n")?;
        let (between, text) = text.split_once("Right:\n\n```rust\n")?;
        let right = text.strip_suffix("\n```\n")?;
        (!right.contains("```")).then_some(Examples {
            wrong,
            between,
            right,
        })
    }

    /// The correct text between the examples.
    fn expected(&self) -> String {
        let messages = messages(self.wrong);
        if messages.is_empty() {
            return format!("{BY_RUSTC}\n\n");
        }
        let quoted: Vec<String> = messages
            .iter()
            .map(|message| format!("error: {}", message.replace('\n', "\n       ")))
            .collect();
        format!("```text\n{}\n```\n\n", quoted.join("\n"))
    }
}

#[test]
fn every_page_has_its_parts() {
    for code in Code::all() {
        let page = Page::of(code);
        assert_eq!(page.why, code.why());
        for phrase in [page.title, page.why] {
            assert!(
                !phrase.is_empty() && !phrase.ends_with('.'),
                "{code}: {phrase}"
            );
            assert!(!phrase.contains('\n'), "{code}: {phrase}");
        }
        assert!(page.meaning.ends_with('.'), "{code}: {}", page.meaning);
        assert_eq!(page.examples.is_none(), code == codes::INVALID, "{code}");
    }
}

/// The macro reports the code of the page for the wrong example, and nothing for the right one. For mistakes that rustc reports, the macro
/// accepts both.
#[test]
fn examples_have_the_code_of_their_page() {
    let mut wrong = vec![];
    for code in Code::all() {
        let Some(examples) = Page::of(code).examples else {
            continue;
        };
        let reported = messages(examples.wrong);
        let is_other = |message: &String| Code::of(message) != Some(code);
        if reported.iter().any(is_other) {
            wrong.push((code, "wrong", reported));
        }
        let reported = messages(examples.right);
        if !reported.is_empty() {
            wrong.push((code, "right", reported));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A message has three lines: the mistake, the reason, and what to write instead.
#[test]
fn every_message_has_three_lines() {
    for code in Code::all() {
        let Some(examples) = Page::of(code).examples else {
            continue;
        };
        for message in messages(examples.wrong) {
            let lines: Vec<&str> = message.lines().collect();
            let [what, why, instead] = lines[..] else {
                panic!("{message}");
            };
            assert!(what.starts_with(&format!("{code}: ")), "{message}");
            assert!(why.starts_with("why: "), "{message}");
            assert!(instead.starts_with("instead: "), "{message}");
        }
    }
}

/// Pages quote messages as the macro writes them. `SAREK_BLESS=1` rewrites the quotations.
#[test]
fn pages_quote_the_messages() {
    for code in Code::all() {
        let Some(examples) = Page::of(code).examples else {
            continue;
        };
        let around = |between: &str| format!("\n```\n\n{between}Right:\n\n");
        let found = around(examples.between);
        let text = code.page().replace(&found, &around(&examples.expected()));
        hold(&folder().join(format!("{code}.md")), &text);
    }
}

/// The index lists all pages with their titles. `SAREK_BLESS=1` rewrites the list.
#[test]
fn the_index_lists_all_pages() {
    let path = folder().join("README.md");
    let text = std::fs::read_to_string(&path).expect("an index");
    let (head, _) = text.split_once(RULE).expect("a table");
    let row = |code: Code| format!("| [{code}]({code}.md) | {} |\n", Page::of(code).title);
    let rows: String = Code::all().map(row).collect();
    hold(&path, &format!("{head}{RULE}{rows}"));
}

/// The book has a chapter for each page, which includes it. `SAREK_BLESS=1` writes the chapters.
#[test]
fn the_book_includes_all_pages() {
    let chapters = Path::new(env!("CARGO_MANIFEST_DIR")).join("../book/src/errors");
    let chapter = |name: &str, page: &str| {
        let text = format!("{{{{#include ../../../sarek-frontend/errors/{page}}}}}\n");
        hold(&chapters.join(name), &text);
    };
    for code in Code::all() {
        let page = format!("{code}.md");
        chapter(&page, &page);
    }
    // mdBook does not resolve links to a README.
    chapter("list.md", "README.md");
}

#[test]
fn every_page_has_a_code() {
    let codes: Vec<String> = Code::all().map(|code| code.to_string()).collect();
    assert!(codes.is_sorted_by(|a, b| a < b), "{codes:?}");
    let mut expected: BTreeSet<String> = codes.iter().map(|code| format!("{code}.md")).collect();
    expected.insert("README.md".to_string());
    let files = std::fs::read_dir(folder()).expect("the folder of the pages");
    let found: BTreeSet<String> = files
        .map(|file| file.expect("a page").file_name())
        .map(|name| name.into_string().expect("a plain name"))
        .collect();
    assert_eq!(found, expected);
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("errors")
}

/// Asserts that a file has this text. With `SAREK_BLESS` set, writes the text to the file.
fn hold(path: &Path, text: &str) {
    let found = std::fs::read_to_string(path).unwrap_or_default();
    if found == text {
        return;
    }
    if std::env::var_os("SAREK_BLESS").is_some() {
        std::fs::write(path, text).expect("a page is written");
        return;
    }
    assert_eq!(
        found,
        text,
        "{} is out of date: SAREK_BLESS=1 rewrites it",
        path.display()
    );
}
