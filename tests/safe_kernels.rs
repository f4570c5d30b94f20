//! Checks that at least four of five kernels in the conformance suite are plain `fn`, proved free of races, rather than `unsafe fn`.

use std::fs;
use std::path::Path;

/// Collects the Rust files under a folder.
fn texts(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("the suite's folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            texts(&path, found);
        } else {
            found.push(fs::read_to_string(&path).expect("a text"));
        }
    }
}

/// For each kernel of a text, true if it is an `unsafe fn`.
fn kernels(text: &str) -> Vec<bool> {
    // `#[kernel_type(…)]` begins with the same word.
    let after = text.split("#[kernel").skip(1);
    after
        .filter(|rest| rest.starts_with([']', '(']))
        .filter_map(|rest| {
            let at = rest.find("fn ")?;
            Some(rest[..at].trim_end().ends_with("unsafe"))
        })
        .collect()
}

#[test]
fn four_of_five_kernels_are_plain_functions() {
    let mut all = vec![];
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("sarek-conformance/src/cases");
    texts(&cases, &mut all);
    let kernels: Vec<bool> = all.iter().flat_map(|text| kernels(text)).collect();
    let plain = kernels.iter().filter(|is_unsafe| !**is_unsafe).count();
    assert!(kernels.len() > 150, "{} kernels were found", kernels.len());
    assert!(
        plain * 5 >= kernels.len() * 4,
        "{plain} of {} kernels are plain `fn`",
        kernels.len()
    );
}

#[test]
fn kernels_are_found_in_a_text() {
    let text = "#[kernel]\nfn a() {}\n#[kernel(block = 3)]\n#[allow(x)]\npub unsafe fn b() {}";
    assert_eq!(kernels(text), [false, true]);
    let no_kernel = "#[kernel_type(crate = crate)]\nstruct A;\nfn host() {}";
    assert_eq!(kernels(no_kernel), [false; 0]);
}
