//! Tests that forms are kernels, that each is accepted and refused at times, and that no accepted one races.

use super::judge::FormTally;
use super::*;

/// Judges candidates of each form until one was accepted and launched, and one was refused and raced.
#[test]
fn each_form_is_accepted_and_refused() {
    let mut tally = FormTally::default();
    let is_covered = |tally: &FormTally, form| {
        let counts = tally.forms.get(form).copied().unwrap_or_default();
        counts.clean > 0 && counts.racing > 0
    };
    for seed in 0..12_000 {
        if !is_covered(&tally, candidate(seed).form) {
            tally.judge_seed(seed);
        }
    }
    assert!(tally.findings.is_empty(), "{tally}");
    for form in names() {
        assert!(is_covered(&tally, form), "{form}:\n{tally}");
    }
}

#[test]
fn generated_kernels_are_accepted_and_launched() {
    let made: Vec<_> = (0..20).filter_map(generated).collect();
    assert!(made.len() > 15, "{} kernels", made.len());
    for made in made {
        let case = made.case();
        let def = crate::judge::lower(&case).unwrap_or_else(|why| panic!("{why}\n{case}"));
        assert_eq!(
            sanitizer::first_error(def.ir, &case.launch, 1),
            None,
            "{case}"
        );
    }
}

#[test]
fn kernels_with_several_results_are_not_compared() {
    for seed in [700_052, 711_128] {
        let text = generated(seed).map(|made| made.case().to_string());
        let barriers = |text: &String| text.matches("barrier();").count();
        assert!(
            text.is_none_or(|text| !text.contains("Atomic<") || barriers(&text) == 2),
            "{seed}"
        );
    }
}
