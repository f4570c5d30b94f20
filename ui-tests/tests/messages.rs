//! Checks the form of every recorded compiler message of `fail/`, whether it comes from sarek or from rustc.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sarek_frontend::diagnostics::{Code, codes};

/// The kinds of mistakes: the folders of `fail/`.
const KINDS: [&str; 17] = [
    "barriers",
    "control",
    "crates",
    "derive",
    "functions",
    "generics",
    "kernel_test",
    "launch",
    "memory",
    "native",
    "output",
    "races",
    "signature",
    "strict",
    "syntax",
    "types",
    "unsafe",
];

/// Internal words of sarek, which no message may contain. Names that begin with two underscores are internal, too.
const INTERNAL: [&str; 5] = [
    "sarek_runtime::",
    "sarek_frontend::",
    "direct::",
    "MaybeUninit",
    "{constant#",
];

/// Parts of the parser's debug output.
const DUMPS: [&str; 6] = [
    "Span {",
    "Ident {",
    "TokenStream [",
    "Expr::",
    "syn::",
    "PathSegment",
];

/// Cases with two errors at one place, each with the reason.
const DOUBLE_ERRORS: [(&str, &str); 5] = [
    (
        "kernel_as_function.rs",
        "rustc tells of what a launch takes, and the expansion that a kernel is none of its functions",
    ),
    (
        "not_copy.rs",
        "rustc asks for `Copy` where the derived trait is implemented, and where it is used",
    ),
    (
        "kind_field.rs",
        "the type lacks two traits, and rustc tells of both",
    ),
    (
        "shared_of_a_foreign_type.rs",
        "the type lacks two traits, and rustc tells of both",
    ),
    (
        "local_of_the_host.rs",
        "rustc looks for it in the function, and among the constants that a kernel may name",
    ),
];

#[test]
fn there_are_cases_of_every_kind() {
    let mut fail = 0;
    let mut kinds = BTreeSet::new();
    for folder in files(&root().join("fail")) {
        let cases = sources(&folder);
        assert!(!cases.is_empty(), "{} is empty", folder.display());
        for case in &cases {
            let snapshot = case.with_extension("stderr");
            assert!(snapshot.exists(), "{} was never run", case.display());
        }
        fail += cases.len();
        kinds.insert(name(&folder));
    }
    let expected: BTreeSet<String> = KINDS.iter().map(ToString::to_string).collect();
    assert_eq!(kinds, expected);
    assert!(fail >= 150, "{fail} cases that fail");
    let pass = sources(&root().join("pass")).len();
    assert!(pass >= 30, "{pass} cases that pass");
}

/// A message points at the user's code, not at the attribute.
#[test]
fn no_message_stands_at_the_attribute() {
    let mut found = vec![];
    for snapshot in snapshots() {
        for (line, column, head) in snapshot.errors() {
            let place = snapshot.source.lines().nth(line - 1).unwrap_or_default();
            let is_attribute = ["#[kernel", "#[device", "#[derive"]
                .iter()
                .any(|a| place.trim_start().starts_with(a));
            // A message about an option points at the option, further to the right.
            if is_attribute && column == 1 {
                found.push(format!("{}: {head}", snapshot.case));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// Each mistake has one message, either the expansion's or rustc's.
#[test]
fn no_place_has_two_errors() {
    let mut found = vec![];
    for snapshot in snapshots() {
        let errors = snapshot.errors();
        let places: BTreeSet<_> = errors
            .iter()
            .map(|(line, column, _)| (line, column))
            .collect();
        let is_known = DOUBLE_ERRORS.iter().any(|(case, _)| *case == snapshot.case);
        if (places.len() < errors.len()) != is_known {
            found.push(format!("{}: {errors:#?}", snapshot.case));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn no_message_has_an_internal_name() {
    let mut found = vec![];
    for Snapshot { case, source, text } in snapshots() {
        for line in text.lines() {
            let is_hidden = |name: &str| {
                let is_name = name.starts_with("__") && name.contains(char::is_alphabetic);
                is_name && !source.contains(name)
            };
            let mut names = line.split(|c: char| !c.is_alphanumeric() && c != '_');
            let mut words = INTERNAL.iter().chain(&DUMPS);
            if names.any(is_hidden) || words.any(|word| line.contains(word)) {
                found.push(format!("{case}: {line}"));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// A message that is not rustc's own has a code, a problem, a reason (`why: `) and a fix (`instead: `).
#[test]
fn every_message_of_ours_has_its_code() {
    let mut found = vec![];
    for Snapshot { case, text, .. } in snapshots() {
        let lines: Vec<&str> = text.lines().collect();
        for (i, line) in lines.iter().enumerate() {
            let Some((head, message)) = line.split_once(": ") else {
                continue;
            };
            if !head.starts_with("error") {
                continue;
            }
            let message = message.trim_start_matches("evaluation panicked: ");
            let is_ours = head == "error" && !of_rustc(message) || message.starts_with("SRK");
            if !is_ours {
                continue;
            }
            let rest = lines[i + 1..]
                .iter()
                .take_while(|l| !l.starts_with("error"));
            let says = |part: &str| rest.clone().any(|l| l.contains(part));
            if Code::of(message).is_none() || !says("why: ") || !says("instead: ") {
                found.push(format!("{case}: {line}"));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// True for a message of rustc's that has no error code.
fn of_rustc(message: &str) -> bool {
    const WITHOUT_CODE: [&str; 12] = [
        "usage of an `unsafe` block",
        "this operation will panic at runtime",
        "cannot find attribute",
        "unused `",
        "argument never used",
        "multiple unused formatting arguments",
        "positional arguments in format string",
        "aborting due to",
        "expected one of",
        "expected `;`, found",
        "expected expression, found",
        "constant of non-structural type",
    ];
    WITHOUT_CODE.iter().any(|text| message.contains(text))
}

/// Each error code occurs in some case.
#[test]
fn every_code_has_a_case() {
    let all: Vec<String> = snapshots().map(|snapshot| snapshot.text).collect();
    let missing: Vec<String> = Code::all()
        // No source is known that only this code reports.
        .filter(|code| *code != codes::INVALID)
        .map(|code| code.to_string())
        .filter(|code| !all.iter().any(|text| text.contains(code.as_str())))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// A case and the compiler's output for it.
struct Snapshot {
    case: String,
    source: String,
    text: String,
}

impl Snapshot {
    /// The line, column and first line of text of each error.
    fn errors(&self) -> Vec<(usize, usize, &str)> {
        let lines: Vec<&str> = self.text.lines().collect();
        let heads = (0..lines.len()).filter(|i| lines[*i].starts_with("error"));
        let each = heads.filter_map(|head| {
            let place = lines[head..].iter().find_map(|line| {
                let at = line.trim_start().strip_prefix("--> fail/")?;
                let mut numbers = at.split(':').skip(1).map(str::parse);
                Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
            });
            place.map(|(line, column)| (line, column, lines[head]))
        });
        each.collect()
    }
}

fn snapshots() -> impl Iterator<Item = Snapshot> {
    let folders = files(&root().join("fail")).into_iter();
    folders.flat_map(|folder| sources(&folder)).map(|path| {
        let read = |path: &Path| std::fs::read_to_string(path).expect("a case is read");
        Snapshot {
            case: name(&path),
            source: read(&path),
            text: read(&path.with_extension("stderr")),
        }
    })
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder of cases");
    let mut files: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    files.sort();
    files
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = files(folder);
    files.retain(|path| path.extension().is_some_and(|e| e == "rs"));
    files
}

fn name(path: &Path) -> String {
    let name = path.file_name().expect("a path of a file");
    name.to_string_lossy().into_owned()
}
