//! The catalogue of errors: its examples, and the pages generated from it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use sarek_frontend::diagnostics::{Code, Reporter, codes, page};

/// Each example reports its own code only. Examples of errors that rustc finds pass here.
#[test]
fn examples_are_told_by_their_code() {
    let mut wrong = vec![];
    for code in Code::all() {
        let entry = code.entry();
        if entry.wrong.is_empty() {
            assert_eq!(code, codes::INVALID, "{code} has no example");
            continue;
        }
        let told = |source: &str| -> Vec<Option<Code>> {
            let messages = page::messages(source);
            let mut codes: Vec<_> = messages.iter().map(|message| Code::of(message)).collect();
            codes.dedup();
            codes
        };
        let expected = match entry.reporter {
            Reporter::Macro => vec![Some(code)],
            Reporter::Rustc => vec![],
        };
        if told(entry.wrong) != expected {
            wrong.push((code, "wrong", page::messages(entry.wrong)));
        }
        if !told(entry.right).is_empty() {
            wrong.push((code, "right", page::messages(entry.right)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_code_has_one_number() {
    let numbers: Vec<u32> = Code::all().map(|code| code.entry().number).collect();
    let distinct: BTreeSet<u32> = numbers.iter().copied().collect();
    assert!(numbers.is_sorted());
    assert_eq!(distinct.len(), numbers.len());
}

/// Each message has the same parts: the mistake, the reason, the replacement.
#[test]
fn every_message_has_one_shape() {
    for code in Code::all() {
        let entry = code.entry();
        for text in [entry.title, entry.why] {
            assert!(!text.is_empty() && !text.ends_with('.'), "{code}: {text}");
        }
        for message in page::messages(entry.wrong) {
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

/// `SAREK_BLESS=1` regenerates the pages.
#[test]
fn the_pages_are_those_of_the_catalogue() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/errors");
    let bless = std::env::var_os("SAREK_BLESS").is_some();
    let mut due = vec![("README.md".to_string(), page::index())];
    due.extend(Code::all().map(|code| (page::name(code), page::page(code))));
    if bless {
        std::fs::create_dir_all(&folder).expect("the folder of the pages");
    }
    for (name, text) in &due {
        let path = folder.join(name);
        if bless {
            std::fs::write(&path, text).expect("a page is written");
        }
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(
            &found, text,
            "{name} is not what the catalogue says: SAREK_BLESS=1 writes it"
        );
    }
    let names: BTreeSet<String> = due.into_iter().map(|(name, _)| name).collect();
    for file in std::fs::read_dir(&folder).expect("the folder of the pages") {
        let name = file
            .expect("a page")
            .file_name()
            .into_string()
            .expect("a plain name");
        if !names.contains(&name) && bless {
            std::fs::remove_file(folder.join(&name)).expect("a page is removed");
        }
        assert!(names.contains(&name) || bless, "{name} is no code's page");
    }
}
