//! Checks that links in the documents have targets, that the book lists and tests all of its
//! chapters, that the files named in ARCHITECTURE.md and docs/decisions exist, and that
//! CONTRIBUTING.md quotes real code.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All Markdown files of the repository.
fn pages() -> BTreeMap<PathBuf, String> {
    let mut pages = BTreeMap::new();
    let mut folders = vec![root().to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).expect("a folder");
        for path in entries.map(|entry| entry.expect("an entry").path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let skipped = name == "target" || name.starts_with('.') && name != ".github";
            if path.is_dir() && !skipped {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let text = std::fs::read_to_string(&path).expect("a page");
                pages.insert(path, text);
            }
        }
    }
    pages
}

/// A page without its code blocks.
fn prose(page: &str) -> String {
    page.split("```").step_by(2).collect()
}

/// The address of this repository's files. Chapters of the book name files outside of it so.
const REPOSITORY: &str = "https://github.com/sarek-rs/sarek/";

/// The targets of a page's links, without those to other sites.
fn links(page: &str) -> Vec<String> {
    let prose = prose(page);
    let ends = prose.split("](").skip(1);
    ends.filter_map(|rest| rest.split_once(')'))
        .map(|(link, _)| link.to_owned())
        .filter(|link| !link.contains("://") || link.starts_with(REPOSITORY))
        .collect()
}

/// The file to which a link of a page leads.
fn target(page: &Path, file: &str) -> PathBuf {
    if let Some(rest) = file.strip_prefix(REPOSITORY) {
        let path = ["blob/main/", "tree/main/"]
            .iter()
            .find_map(|kind| rest.strip_prefix(kind));
        return root().join(path.unwrap_or(""));
    }
    match file {
        "" => page.to_owned(),
        file => page.parent().expect("a folder").join(file),
    }
}

/// The anchors of a page's headings, as GitHub makes them.
fn anchors(page: &str) -> BTreeSet<String> {
    let headings = prose(page);
    let headings = headings.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|line| line.trim_start_matches('#').trim().to_lowercase())
        .map(|heading| {
            let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
            heading.chars().filter(kept).collect::<String>()
        })
        .map(|heading| heading.replace(' ', "-"))
        .collect()
}

#[test]
fn links_resolve() {
    let pages = pages();
    let mut lost = vec![];
    for (page, text) in &pages {
        for link in links(text) {
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let found = target(page, file)
                .canonicalize()
                .is_ok_and(|target| anchor.is_empty() || anchors(&pages[&target]).contains(anchor));
            if !found {
                lost.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(lost.is_empty(), "{lost:#?}");
}

/// The chapters of the book: their paths in its folder, in the order of the summary.
fn chapters() -> Vec<String> {
    let summary = std::fs::read_to_string(root().join("book/src/SUMMARY.md"));
    links(&summary.expect("the summary"))
}

#[test]
fn the_summary_lists_every_chapter_once() {
    let book = root().join("book/src");
    let pages = pages().into_keys();
    let files = pages.filter_map(|page| page.strip_prefix(&book).ok().map(Path::to_owned));
    let files: BTreeSet<PathBuf> = files
        .filter(|file| file != Path::new("SUMMARY.md"))
        .collect();
    let listed = chapters();
    let set: BTreeSet<PathBuf> = listed.iter().map(PathBuf::from).collect();
    assert_eq!(set.len(), listed.len(), "a chapter is listed twice");
    assert_eq!(set, files);
}

/// mdBook does not change links to files outside of the book, nor those to a README, so they would lead nowhere.
#[test]
fn chapters_link_to_the_book_or_to_full_addresses() {
    let book = root().join("book/src");
    let mut lost = vec![];
    for (page, text) in pages() {
        if !page.starts_with(&book) {
            continue;
        }
        for link in links(&text) {
            let file = link.split('#').next().unwrap_or_default();
            let target = target(&page, file).canonicalize();
            let inside = target.is_ok_and(|target| target.starts_with(&book))
                && !file.ends_with("README.md");
            if !inside && !link.starts_with(REPOSITORY) {
                lost.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(lost.is_empty(), "{lost:#?}");
}

/// A chapter with a program is a page of `src/lib.rs`, whose programs are tests. Those that need other
/// libraries are tests of `tests/interop`.
#[test]
fn programs_of_chapters_are_tests() {
    let read = |path| std::fs::read_to_string(root().join(path)).expect("a library");
    let tested = read("src/lib.rs") + &read("tests/interop/src/lib.rs");
    let mut lost = vec![];
    for chapter in chapters() {
        let path = root().join("book/src").join(&chapter);
        let text = std::fs::read_to_string(path).expect("a chapter");
        let page = format!("../book/src/{chapter}\"");
        if text.contains("```rust") && !tested.contains(&page) {
            lost.push(chapter);
        }
    }
    assert!(lost.is_empty(), "{lost:?} are no pages of src/lib.rs");
}

/// Expands a pattern such as `a/{b,c}.rs`.
fn expand(pattern: &str) -> Vec<String> {
    let Some((before, rest)) = pattern.split_once('{') else {
        return vec![pattern.to_owned()];
    };
    let (choices, after) = rest.split_once('}').expect("a closing brace");
    let parts = choices.split(',');
    parts
        .flat_map(|part| expand(&format!("{before}{}{after}", part.trim())))
        .collect()
}

/// True if there is a file or folder with this path. A `*` at its end matches any suffix.
fn exists(path: &str) -> bool {
    let Some(start) = path.strip_suffix('*') else {
        return root().join(path).exists();
    };
    let (folder, start) = start.rsplit_once('/').unwrap_or(("", start));
    let names = std::fs::read_dir(root().join(folder));
    names.into_iter().flatten().flatten().any(|entry| {
        let name = entry.file_name();
        name.to_string_lossy().starts_with(start)
    })
}

/// The folders to which paths in the map and the decisions may be relative.
const RELATIVE: [&str; 8] = [
    "sarek-ir/src/",
    "sarek-ir/src/analysis/",
    "sarek-ir/src/passes/",
    "sarek-frontend/src/",
    "sarek-frontend/src/emit/",
    "sarek-runtime/src/",
    "sarek-backends/src/",
    "",
];

/// The paths that a page names in backquotes.
fn paths(page: &str) -> BTreeSet<String> {
    let prose = prose(page);
    let words = prose.split('`').skip(1).step_by(2);
    // Placeholders in paths.
    let example = |path: &str| {
        ["NAME", "KIND", "nnnn"]
            .iter()
            .any(|part| path.contains(part))
    };
    let is_path = |word: &&str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "/_-.{},*".contains(c);
        let file = word.contains('/') || word.contains(".rs");
        file && word.chars().all(plain) && !example(word)
    };
    words.filter(is_path).flat_map(expand).collect()
}

#[test]
fn the_map_and_the_decisions_name_files_that_exist() {
    let map = root().join("ARCHITECTURE.md");
    let decisions = root().join("docs/decisions");
    let mut lost = vec![];
    let mut count = 0;
    for (page, text) in pages() {
        if page != map && !page.starts_with(&decisions) {
            continue;
        }
        for path in paths(&text) {
            count += 1;
            let found = RELATIVE.iter().any(|base| exists(&format!("{base}{path}")));
            if !found {
                lost.push(format!("{}: {path}", page.display()));
            }
        }
    }
    assert!(lost.is_empty(), "{lost:#?}");
    assert!(count > 100, "only {count} paths");
}

/// The text of all files with this extension in these folders.
fn sources(folders: &[&str], extension: &str) -> String {
    let mut text = String::new();
    let mut folders: Vec<PathBuf> = folders.iter().map(|folder| root().join(folder)).collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                text += &std::fs::read_to_string(&path).expect("a file");
            }
        }
    }
    text
}

#[test]
fn coming_from_other_systems_names_tests_that_exist() {
    let page = std::fs::read_to_string(root().join("docs/coming-from.md")).expect("the page");
    let folders = [
        "tests",
        "sarek-ir/src",
        "sarek-ir/tests",
        "sarek-runtime/src",
        "sarek-backends",
        "sarek-conformance",
        "sarek-frontend/tests",
        "examples/custom_backend",
        "examples/outside",
        "ui-tests/tests",
    ];
    let code = sources(&folders, "rs");
    let (mut lost, mut states) = (vec![], BTreeMap::new());
    for line in page.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, number, _, state, _, tests, missing, _] = cells[..] else {
            continue;
        };
        let is_number = number[number.len().min(1)..].parse::<u32>().is_ok();
        if !is_number {
            continue;
        }
        *states.entry(state).or_insert(0) += 1;
        let names: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        let exists = |name: &&str| match name.split_once(' ') {
            Some(("case", case)) => code.contains(&format!("\"{case}\"")),
            Some(("ui:", file)) => ui_case(file),
            _ => code.contains(&format!("fn {}(", name.rsplit("::").next().unwrap_or(name))),
        };
        let unknown = names.iter().filter(|name| !exists(name));
        lost.extend(unknown.map(|name| format!("{number}: {name}")));
        if state == "works" && (names.is_empty() || !missing.is_empty()) {
            lost.push(format!("{number} works without a test, or lacks something"));
        }
    }
    assert!(lost.is_empty(), "{lost:#?}");
    let count = |state: &str| states.get(state).copied().unwrap_or_default();
    let [works, partly, missing] = ["works", "partly", "missing"].map(count);
    let told = format!(
        "{works} of {} lines work, {partly} partly; {missing} are missing.",
        works + partly + missing
    );
    assert!(page.contains(&told), "the last line should be: {told}");
    assert_eq!(works + partly + missing, 124);
}

/// True if a compile-fail case has this name.
fn ui_case(name: &str) -> bool {
    let mut folders = vec![root().join("ui-tests/fail")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.file_stem().is_some_and(|stem| stem == name) {
                return true;
            }
        }
    }
    false
}

/// The code blocks of a page, without the indentation of the list that contains them.
fn code(page: &str) -> Vec<String> {
    let blocks = page.split("```").skip(1).step_by(2);
    let unindented = |line: &str| line.strip_prefix("   ").unwrap_or(line).to_owned() + "\n";
    let blocks = blocks.map(|block| block.lines().skip(1).map(unindented));
    blocks.map(|lines| lines.collect::<String>()).collect()
}

#[test]
fn contributing_quotes_real_code() {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).expect("a file");
    let page = code(&read("CONTRIBUTING.md"));
    for (mark, file) in [
        ("\"is_power_of_two\"", "sarek-ir/src/numeric/integers.rs"),
        (
            "fn steps_kernel(",
            "sarek-conformance/src/cases/control/steps.rs",
        ),
    ] {
        let block = page.iter().find(|block| block.contains(mark));
        let block = block.expect("a block with the example").trim();
        assert!(read(file).contains(block), "{file} differs:\n{block}");
    }
}
