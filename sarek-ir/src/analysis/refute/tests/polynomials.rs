//! Arithmetic of polynomials.

use crate::analysis::random::Rng;
use crate::analysis::refute::monomial::{Monomial, Var};
use crate::analysis::refute::{Polynomial, System};

/// Two natural variables and one of any sign.
fn variables() -> [Var; 3] {
    let mut system = System::new();
    [true, true, false].map(|natural| system.variable(natural, false).unwrap())
}

fn random(rng: &mut Rng, variables: &[Var]) -> Polynomial {
    let mut sum = Polynomial::default();
    for _ in 0..=rng.below(3) {
        let mut product = Polynomial::number(rng.below(9) as i64 - 4);
        for _ in 0..rng.below(3) {
            product = product
                .times(&Polynomial::var(rng.pick(variables)))
                .unwrap();
        }
        sum = sum.plus(&product).unwrap();
    }
    sum
}

fn value(p: &Polynomial, variables: &[Var], values: &[i64]) -> i64 {
    let terms = p.terms().iter().map(|(monomial, coefficient)| {
        let factors = variables.iter().zip(values);
        let powers = factors.map(|(var, value)| value.pow(monomial.exponent(*var)));
        coefficient * powers.product::<i64>()
    });
    terms.sum()
}

#[test]
fn operations_keep_values() {
    let variables = variables();
    let mut rng = Rng(1);
    for _ in 0..500 {
        let (a, b) = (random(&mut rng, &variables), random(&mut rng, &variables));
        let values = [0; 3].map(|_| rng.below(7) as i64 - 3);
        let at = |p: &Polynomial| value(p, &variables, &values);
        assert_eq!(at(&a.plus(&b).unwrap()), at(&a) + at(&b));
        assert_eq!(at(&a.minus(&b).unwrap()), at(&a) - at(&b));
        assert_eq!(at(&a.times(&b).unwrap()), at(&a) * at(&b));
        let factor = (Monomial::var(variables[0]), 2);
        let (quotient, rest) = a.divided(factor);
        assert_eq!(2 * values[0] * at(&quotient) + at(&rest), at(&a));
        // x1 = b / 3
        let (by, _) = b.divided((Monomial::var(variables[1]), 1));
        let rest = b
            .minus(&Polynomial::var(variables[1]).times(&by).unwrap())
            .unwrap();
        if !rest.has(variables[1]) {
            let scaled = rest.scaled(3).unwrap();
            let replaced = a.replaced(variables[1], &scaled, 3).unwrap();
            let mut values = values;
            values[1] = value(&rest, &variables, &values);
            let original = value(&a, &variables, &values);
            let powers = (0..5).map(|d| 3i64.pow(d) * original);
            assert!(
                powers
                    .into_iter()
                    .any(|v| v == value(&replaced, &variables, &values))
            );
        }
    }
}

#[test]
fn tightening_rounds_down() {
    let [x, ..] = variables().map(Polynomial::var);
    let p = x.scaled(4).unwrap().minus(&Polynomial::number(7)).unwrap();
    let tight = x.minus(&Polynomial::number(2)).unwrap();
    assert_eq!(p.tightened(), tight);
}

#[test]
fn overflow_has_no_result() {
    let [x, y, _] = variables().map(Polynomial::var);
    let large = x.scaled(i64::MAX).unwrap();
    assert!(large.plus(&x).is_none());
    assert!(large.scaled(2).is_none());
    assert!(large.times(&y.scaled(2).unwrap()).is_none());
    let mut power = x.clone();
    for _ in 1..8 {
        power = power.times(&x).unwrap();
    }
    assert!(power.times(&y).is_none());
}

#[test]
fn monomials_divide_and_multiply() {
    let [x, y, z] = variables().map(Monomial::var);
    let product = x
        .times(z)
        .and_then(|p| p.times(y))
        .and_then(|p| p.times(x))
        .unwrap();
    assert_eq!(product.degree(), 4);
    assert_eq!(product.divided(x).and_then(|p| p.divided(x)), y.times(z));
    assert_eq!(product.divided(y.times(y).unwrap()), None);
    assert_eq!(product.common(x.times(y).unwrap()), x.times(y).unwrap());
    assert!(!product.is_natural());
    assert!(x.times(y).unwrap().is_natural());
}
