use super::*;

const A: Formula = Formula::variable(Variable::new(0, ""));
const B: Formula = Formula::variable(Variable::new(1, ""));
const W: Formula = Formula::variable(Variable::new(1, "w"));

const fn term(factors: &[Variable], coefficient: i128) -> FormTerm<'_> {
    FormTerm {
        factors,
        least: coefficient,
        most: coefficient,
    }
}

#[test]
fn equal_polynomials_are_the_same_formula() {
    let square = A.plus(B, 1).times(A.plus(B, -1));
    let difference = A.times(A).plus(B.times(B), -1);
    assert!(square.is(&difference) && difference.is(&square));
    assert!(!square.is(&A.times(A)) && !A.times(A).is(&square));
    assert!(A.plus(A, -1).is(&Formula::number(0)));
}

#[test]
fn a_form_names_all_terms() {
    const AW: &[Variable] = &[Variable::new(1, "w"), Variable::new(0, "")];
    let formula = A.times(W).plus(Formula::number(3), 1);
    assert!(formula.has(&[term(AW, 1), term(&[], 3)]));
    assert!(!formula.has(&[term(AW, 1)]));
    assert!(!formula.has(&[term(AW, 2), term(&[], 3)]));
    let some = FormTerm {
        factors: &[],
        least: 0,
        most: 9,
    };
    assert!(formula.has(&[term(AW, 1), some]));
    assert!(A.times(W).has(&[term(AW, 1), some]));
    // Another field, and another parameter.
    const AH: &[Variable] = &[Variable::new(0, ""), Variable::new(1, "h")];
    assert!(!A.times(W).has(&[term(AH, 1)]));
    assert!(!A.times(B).has(&[term(AW, 1)]));
}

#[test]
fn an_unknown_result_has_no_form() {
    let unknown = Formula::UNKNOWN;
    let all = [
        unknown,
        unknown.plus(A, 0),
        A.plus(unknown, 0),
        unknown.times(Formula::number(0)),
        A.times(A).times(A).times(A),
        Formula::number(i128::MAX).plus(Formula::number(1), 1),
        A.of(&[Passed::Parameter(0)]),
        W.of(&[Passed::Formula(A), Passed::Formula(A)]),
    ];
    for formula in all {
        assert!(!formula.has(&[]) && !formula.is(&formula), "{formula:?}");
    }
    // Of a missing function nothing is reported.
    assert!(Formula::MISSING.has(&[]) && Formula::MISSING.is(&A));
}

#[test]
fn arguments_take_the_place_of_parameters() {
    let index = A.times(W).plus(B, 1);
    let passed = [
        Passed::Formula(A.plus(Formula::number(2), 1)),
        Passed::Parameter(3),
    ];
    let w = Formula::variable(Variable::new(3, "w"));
    let due = A.times(w).plus(w, 2);
    assert!(A.times(W).of(&passed).is(&due));
    assert!(!index.of(&passed).is(&due));
}

#[test]
fn coefficients_have_a_sign() {
    let formula = Formula::number(7).plus(A, -2);
    let a = [Variable::new(0, "")];
    assert_eq!(formula.coefficient(&a), -2);
    assert_eq!([false, true].map(|sign| formula.factor(&a, sign)), [0, 2]);
    assert_eq!([false, true].map(|sign| formula.factor(&[], sign)), [7, 0]);
}
