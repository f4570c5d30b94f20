//! The suite's own parts: names, comparisons and reports.

use std::collections::BTreeSet;
use std::time::Duration;

use sarek::Vector;
use sarek::testing::tolerance::EXACT;
use sarek_conformance::check::{Expected, TAIL, expect};
use sarek_conformance::input::Sample;
use sarek_conformance::{Capability, Entry, Outcome, Report};

#[test]
fn names_are_unique() {
    let mut seen = BTreeSet::new();
    for case in sarek_conformance::cases() {
        assert!(seen.insert(case.name), "{} occurs twice", case.name);
    }
    assert!(seen.len() > 100, "{} cases", seen.len());
}

#[test]
fn parts_select_cases() {
    let device = sarek::Device::of("native").expect("it is linked");
    let mut names = vec![];
    sarek_conformance::run_matching(&device, "transpose, bools", |case| names.push(case.name));
    let of = |part: &str| names.iter().filter(|name| name.contains(part)).count();
    let (first, second) = (of("transpose"), of("bools"));
    assert!(
        first > 0 && second > 0 && first + second == names.len(),
        "{names:?}"
    );
}

#[test]
#[should_panic(expected = "no case has `absent` in its name")]
fn no_part_is_in_vain() {
    let device = sarek::Device::of("native").expect("it is linked");
    sarek_conformance::run_matching(&device, "bools,absent", |_| ());
}

#[test]
fn expectations_tell_wrong_missing_and_stray_elements() {
    let mut data = vec![1, 2, 3];
    data.extend([i32::SENTINEL; TAIL]);
    let output = Vector::from_slice(&data);
    assert!(expect("x", &output, &[1, 2, 3]).is_ok());
    assert!(expect("x", &output, &[1, 2, 4]).is_err());
    assert!(expect("x", &output, &[1, 2]).is_err());
    data[4] = 0;
    assert!(expect("x", &Vector::from_slice(&data), &[1, 2, 3]).is_err());
}

#[test]
fn near_is_not_anything() {
    assert!(Expected::Near(1.0, EXACT).accepts(1.0f32));
    assert!(!Expected::Near(1.0, EXACT).accepts(1.000_000_1f32));
    assert!(Expected::<f32>::Anything.accepts(f32::NAN));
}

fn report(outcomes: &[Outcome]) -> Report {
    let entry = |outcome: &Outcome| Entry {
        case: "some/case",
        outcome: outcome.clone(),
        time: Duration::from_millis(2),
    };
    Report::new("native (cpu)".into(), outcomes.iter().map(entry).collect())
}

#[test]
fn the_table_names_failures_and_counts() {
    let text = report(&[
        Outcome::Passed,
        Outcome::Failed("element 3".into()),
        Outcome::Skipped(Capability::F64),
    ])
    .to_string();
    assert!(text.contains("FAILED"), "{text}");
    assert!(text.contains("      element 3"), "{text}");
    assert!(text.contains("the device lacks f64"), "{text}");
    assert!(
        text.ends_with("1 passed, 1 failed, 1 skipped in 6.0 ms"),
        "{text}"
    );
}

#[test]
fn skips_pass_but_are_not_complete() {
    let skipped = report(&[Outcome::Skipped(Capability::I64)]);
    skipped.assert_passed();
    assert!(std::panic::catch_unwind(|| skipped.assert_complete()).is_err());
}

#[test]
fn failures_and_empty_reports_do_not_pass() {
    let failed = report(&[Outcome::Passed, Outcome::Failed(String::new())]);
    assert!(std::panic::catch_unwind(|| failed.assert_passed()).is_err());
    assert!(std::panic::catch_unwind(|| report(&[]).assert_passed()).is_err());
}
