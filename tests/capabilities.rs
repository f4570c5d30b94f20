//! Compares `book/src/capabilities.md` with the devices of this machine.
//!
//! A column is the best device of one backend. Absent backends are skipped, unless `SAREK_REQUIRE` names
//! them. `SAREK_BLESS=1` rewrites the columns of the present devices.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sarek::Device;
use sarek::backend::Features;

/// A row: its text, and a predicate that is true if a device has the feature.
type Row = (&'static str, fn(&Features) -> bool);

const ROWS: [Row; 11] = [
    ("`f64`", |f| f.f64),
    ("elementary functions on `f64`", |f| f.f64_math),
    ("`i64`, `u64`", |f| f.i64),
    ("vectors of `bool`, `i8`, `u8`", |f| f.storage8),
    ("vectors of `i16`, `u16`, `bf16`", |f| f.storage16),
    ("vectors and shared arrays of `f16`", |f| f.f16),
    ("atomics of 64 bits", |f| f.atomics64),
    ("subgroups", |f| f.subgroups),
    ("subgroups in blocks of several dimensions", |f| {
        f.shaped_subgroups
    }),
    ("fences without a barrier", |f| f.fences),
    ("`#[kernel(strict)]`", |f| f.strict),
];

const BACKENDS: [&str; 5] = ["native", "interpreter", "cuda", "opencl", "wgpu"];

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("book/src/capabilities.md")
}

/// The cells of a device's column, from top to bottom.
fn column(device: &Device) -> Vec<String> {
    let features = device.info().features;
    let cells = ROWS.iter().map(|(_, has)| match has(&features) {
        true => "yes",
        false => "no",
    });
    cells.map(str::to_owned).collect()
}

/// Parses the columns of the first table, by their headings.
fn columns(text: &str) -> BTreeMap<String, Vec<String>> {
    let cells = |line: &str| -> Vec<String> {
        let inner = line.trim().trim_matches('|');
        inner
            .split('|')
            .map(|cell| cell.trim().to_owned())
            .collect()
    };
    let table: Vec<Vec<String>> = text
        .lines()
        .skip_while(|line| !line.starts_with('|'))
        .take_while(|line| line.starts_with('|'))
        .filter(|line| !line.starts_with("|---"))
        .map(cells)
        .collect();
    let Some((head, rows)) = table.split_first() else {
        return BTreeMap::new();
    };
    let column = |i: usize| rows.iter().map(|row| row[i].clone()).collect();
    (1..head.len())
        .map(|i| (head[i].trim_matches('`').to_owned(), column(i)))
        .collect()
}

fn table(columns: &BTreeMap<String, Vec<String>>) -> String {
    let mut out = String::from("| |");
    for backend in BACKENDS {
        out += &format!(" `{backend}` |");
    }
    out += "\n|---|";
    out += &"---|".repeat(BACKENDS.len());
    for (i, (name, _)) in ROWS.iter().enumerate() {
        out += &format!("\n| {name} |");
        for backend in BACKENDS {
            let cell = columns.get(backend).and_then(|column| column.get(i));
            out += &format!(" {} |", cell.map_or("", String::as_str));
        }
    }
    out + "\n"
}

#[test]
fn the_page_lists_the_capabilities_of_the_devices() {
    let text = std::fs::read_to_string(page()).unwrap_or_default();
    let mut known = columns(&text);
    let mut different = vec![];
    for backend in BACKENDS {
        match Device::of(backend) {
            Ok(device) => {
                let found = column(&device);
                if known.get(backend) != Some(&found) {
                    different.push(format!("{backend}: {found:?}"));
                }
                known.insert(backend.to_owned(), found);
            }
            Err(reason) => {
                let required = std::env::var("SAREK_REQUIRE").unwrap_or_default();
                let required = required.split(',').any(|name| name == backend);
                assert!(!required, "{reason}");
                eprintln!("not compared: {reason}");
            }
        }
    }
    if std::env::var_os("SAREK_BLESS").is_some() {
        let start = text.find("| |").unwrap_or(text.len());
        let end = text[start..]
            .find("\n\n")
            .map_or(text.len(), |i| start + i + 1);
        let page_text = format!("{}{}{}", &text[..start], table(&known), &text[end..]);
        std::fs::write(page(), page_text).expect("the page is written");
        return;
    }
    assert!(
        different.is_empty(),
        "book/src/capabilities.md is out of date (SAREK_BLESS=1 rewrites it): {different:#?}"
    );
}

#[test]
fn built_in_backends_have_the_customary_priorities() {
    let found = sarek::registry::inventory().backends;
    for (backend, priority) in [
        ("cuda", 100),
        ("opencl", 90),
        ("wgpu", 80),
        ("native", 50),
        ("interpreter", 10),
    ] {
        let expected = (backend.to_owned(), priority);
        assert!(found.contains(&expected), "{backend}: {found:?}");
    }
}
