//! Checks that the layers of each crate import each other without cycles. A layer is a top-level folder or module of `src`.
//!
//! `imports.rs` defines the imports that count. `known.txt` lists the remaining imports that close a cycle. That list may only shrink.

mod imports;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::sync::LazyLock;

use imports::{Import, Imports};
use rayon::prelude::*;

/// The folders of the crates that are checked.
const CRATES: [&str; 6] = [
    ".",
    "sarek-ir",
    "sarek-frontend",
    "sarek-runtime",
    "sarek-backends",
    "sarek-conformance",
];

/// The imports of each crate.
static FOUND: LazyLock<BTreeMap<&str, Imports>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |folder: &&'static str| (*folder, imports::imports(&root.join(folder)));
    CRATES.par_iter().map(read).collect()
});

/// The imports in `known.txt`, by crate.
static KNOWN: LazyLock<BTreeMap<&str, BTreeSet<Import>>> = LazyLock::new(|| {
    let mut known: BTreeMap<&str, BTreeSet<Import>> = BTreeMap::new();
    let lines = include_str!("known.txt").lines();
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let parts: Vec<&str> = line.splitn(3, ": ").collect();
        let [folder, layers, _reason] = parts[..] else {
            panic!("not `CRATE: LAYER -> LAYER: reason`: {line}");
        };
        assert!(CRATES.contains(&folder), "no crate that is read: {line}");
        let (from, to) = layers.split_once(" -> ").expect("two layers");
        let import = (from.to_owned(), to.to_owned());
        assert!(
            known.entry(folder).or_default().insert(import),
            "twice: {line}"
        );
    }
    known
});

/// The imports of a crate that are not in `known.txt`.
fn rest(folder: &str) -> BTreeSet<Import> {
    let known = KNOWN.get(folder);
    let is_known = |import: &&Import| known.is_some_and(|known| known.contains(import));
    let found = FOUND[folder].keys();
    found.filter(|import| !is_known(import)).cloned().collect()
}

/// The shortest chain of imports from one layer to another, by breadth-first search.
fn chain(imports: &BTreeSet<Import>, from: &str, to: &str) -> Option<Vec<Import>> {
    let mut reached = BTreeMap::from([(from, vec![])]);
    let mut next = VecDeque::from([from]);
    while let Some(layer) = next.pop_front() {
        for import in imports.iter().filter(|(importer, _)| importer == layer) {
            let mut so_far = reached[layer].clone();
            so_far.push(import.clone());
            if import.1 == to {
                return Some(so_far);
            }
            if !reached.contains_key(import.1.as_str()) {
                reached.insert(&import.1, so_far);
                next.push_back(&import.1);
            }
        }
    }
    None
}

/// The shortest cycle of imports.
fn cycle(imports: &BTreeSet<Import>) -> Option<Vec<Import>> {
    let layers: BTreeSet<&String> = imports.iter().map(|(layer, _)| layer).collect();
    let cycles = layers
        .into_iter()
        .filter_map(|layer| chain(imports, layer, layer));
    cycles.min_by_key(Vec::len)
}

#[test]
fn no_cycle_is_new() {
    for folder in CRATES {
        if let Some(cycle) = cycle(&rest(folder)) {
            let line = |import: &Import| {
                let (from, to) = import;
                format!("  {from} imports {to} in {}", FOUND[folder][import])
            };
            let lines: Vec<String> = cycle.iter().map(line).collect();
            panic!("layers of `{folder}` form a cycle:\n{}", lines.join("\n"));
        }
    }
}

#[test]
fn each_known_import_still_closes_a_cycle() {
    for (folder, known) in KNOWN.iter() {
        let rest = rest(folder);
        for import in known {
            let (from, to) = import;
            assert!(
                FOUND[folder].contains_key(import),
                "`{from}` of {folder} no longer imports `{to}`: take it off the list"
            );
            assert!(
                chain(&rest, to, from).is_some(),
                "`{from}` of {folder} closes no cycle by `{to}`: take it off the list"
            );
        }
    }
}

#[test]
fn cycles_are_found() {
    let imports = |pairs: &[(&str, &str)]| -> BTreeSet<Import> {
        let owned = pairs
            .iter()
            .map(|(from, to)| ((*from).into(), (*to).into()));
        owned.collect()
    };
    let line = imports(&[("a", "b"), ("b", "c"), ("a", "c")]);
    assert_eq!(cycle(&line), None);
    let ring = imports(&[("a", "b"), ("b", "c"), ("c", "a"), ("d", "a")]);
    assert_eq!(cycle(&ring).map(|cycle| cycle.len()), Some(3));
}
