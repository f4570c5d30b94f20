//! The reference of each macro explains the options that the macro takes, and no others.

use std::collections::BTreeSet;

use sarek_frontend::expand::TEST_OPTIONS;
use sarek_frontend::parse::{DEVICE_OPTIONS, KERNEL_OPTIONS};

/// The options in the table of a macro's documentation.
fn explained(name: &str) -> BTreeSet<&'static str> {
    const SOURCE: &str = include_str!("../src/lib.rs");
    let (before, _) = SOURCE
        .split_once(&format!("\npub fn {name}("))
        .expect("the macro");
    let (_, section) = before.rsplit_once("/// # Options\n").expect("a section");
    let section = section.lines().take_while(|line| !line.contains("/// # "));
    let cells = section.filter_map(|line| line.strip_prefix("/// | `")?.split(" | ").next());
    let forms = cells.flat_map(|cell| cell.split('`').step_by(2));
    forms
        .filter(|form| !form.is_empty())
        .map(|form| match form.contains("crate = ") {
            true => "crate",
            false => form.split([' ', '(']).next().unwrap_or_default(),
        })
        .collect()
}

#[test]
fn each_option_is_explained() {
    assert_eq!(explained("kernel"), BTreeSet::from(KERNEL_OPTIONS));
    assert_eq!(explained("device"), BTreeSet::from(DEVICE_OPTIONS));
    assert_eq!(explained("kernel_type"), BTreeSet::from(["crate"]));
    let names = TEST_OPTIONS.split('`').skip(1).step_by(2);
    assert_eq!(
        explained("kernel_test"),
        names.chain(["crate"]).collect::<BTreeSet<_>>()
    );
}
