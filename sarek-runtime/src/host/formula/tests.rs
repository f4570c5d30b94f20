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

/// The value of a formula in `u8`.
fn value(formula: &Formula, inputs: [u8; 2]) -> u8 {
    let terms = formula.terms[..formula.len].iter().map(|term| {
        let factors = term.factors[..term.degree].iter();
        let product = factors.map(|of| inputs[of.parameter]);
        product.fold(term.coefficient as u8, u8::wrapping_mul)
    });
    terms.fold(0, u8::wrapping_add)
}

/// A random expression: its formula, and its value in `u8`.
fn random(state: &mut u32, depth: u32, inputs: [u8; 2]) -> (Formula, u8) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    let chosen = *state;
    match chosen % 6 {
        number @ 0..=1 if depth == 0 || number == 0 => {
            let number = (chosen >> 8) as u8;
            (Formula::number(number.into()), number)
        }
        kind @ 3..=5 if depth > 0 => {
            let (a, x) = random(state, depth - 1, inputs);
            let (b, y) = random(state, depth - 1, inputs);
            match kind {
                3 => (a.plus(b, 1), x.wrapping_add(y)),
                4 => (a.plus(b, -1), x.wrapping_sub(y)),
                _ => (a.times(b), x.wrapping_mul(y)),
            }
        }
        _ => {
            let at = (chosen >> 8) as usize % 2;
            (Formula::variable(Variable::new(at, "")), inputs[at])
        }
    }
}

#[test]
fn a_formula_has_the_value_of_its_expression_even_where_that_wraps() {
    let (mut state, mut known) = (1, 0);
    for turn in 0..4000_u32 {
        let inputs = [turn as u8, ((turn * 7) >> 4) as u8];
        let (formula, due) = random(&mut state, turn % 5, inputs);
        if matches!(formula.state, State::Known) {
            known += 1;
            assert_eq!(value(&formula, inputs), due, "{formula:?}");
        }
    }
    assert!(known > 2000, "{known} formulas are known");
}
