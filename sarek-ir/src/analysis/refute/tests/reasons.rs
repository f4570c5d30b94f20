//! The reasons of an answer suffice for it, and leave out constraints without use.

use super::{Idiom, idioms};
use crate::analysis::refute::{Polynomial, System};

#[test]
fn reasons_suffice() {
    for idiom in idioms::proved() {
        let reasons = idiom.proved().expect(idiom.name);
        let again = idiom.system(reasons).same_thread();
        assert!(
            again.is_some_and(|r| r & !reasons == 0),
            "{}: {reasons:b}",
            idiom.name
        );
    }
}

#[test]
fn each_used_statement_is_a_reason() {
    let rows = Idiom::new(
        "",
        "r_ c_",
        "r_ < h; c_ < w; c_ < 2*w",
        "r_*w + c_",
        "r_*w + c_",
    );
    assert_eq!(rows.proved(), Some(0b010));
    let defined = Idiom::new("", "i_", "u != v; i_ := 4*q_", "q_", "q_");
    assert_eq!(defined.proved(), Some(0b10));
    let swap = Idiom::new("", "c_", "r_ < h; c_ < n; p != q", "p*n + c_", "q*n + c_");
    assert_eq!(swap.proved(), Some(0b110));
    let xor = Idiom::new("", "x_", "x_ < n; y_ ~ x_; y_ < m", "y_", "y_");
    assert_eq!(xor.proved(), Some(0b010));
}

#[test]
fn a_substitution_adds_its_reasons() {
    // c < u, u = w: the bound by the width holds only with the second condition.
    let rows = Idiom::new("", "r_ c_", "c_ < u; u := w", "r_*w + c_", "r_*w + c_");
    assert_eq!(rows.proved(), Some(0b11));
    let equality = Idiom::new(
        "",
        "r_ c_",
        "c_ < u; u == w; r_ < h",
        "r_*w + c_",
        "r_*w + c_",
    );
    assert_eq!(equality.proved(), Some(0b011));
}

#[test]
fn contradictions_need_no_ids() {
    let mut system = System::new();
    let x = Polynomial::var(system.variable(true, true).unwrap());
    let two = Polynomial::number(2);
    system.at_least_zero(x.clone(), 1);
    system.at_least_zero(x.minus(&two).unwrap(), 2);
    assert_eq!(system.clone().contradiction(), None);
    system.at_least_zero(Polynomial::number(1).minus(&x).unwrap(), 4);
    assert_eq!(system.contradiction(), Some(6));
}

#[test]
fn a_question_without_ids_has_one_thread() {
    assert_eq!(System::new().same_thread(), Some(0));
}

#[test]
fn variables_run_out() {
    let mut system = System::new();
    for _ in 0..127 {
        assert!(system.variable(true, false).is_some());
    }
    assert_eq!(system.variable(true, false), None);
    assert!(system.variable(false, false).is_some());
}
