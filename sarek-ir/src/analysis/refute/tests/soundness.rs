//! Random small systems, and a search for solutions by enumeration.

use super::{Polynomial, Reasons, System, Var};
use crate::analysis::random::Rng;

/// A product: its coefficient, and the indices of its variables.
type Product = (i64, Vec<usize>);
type Sum = Vec<Product>;

/// A constraint, with its own bit among the reasons.
enum Constraint {
    AtLeastZero(Sum),
    Zero(Sum),
    NotZero(Sum),
    Define(usize, Sum),
    Equivalent(Sum, Sum),
}

/// A random system. Its evaluation is independent of [`Polynomial`].
struct Case {
    /// The least and greatest values that the enumeration tries; the least is 0 for natural variables.
    ranges: Vec<(i64, i64)>,
    uniform: Vec<bool>,
    ids: Vec<Sum>,
    constraints: Vec<Constraint>,
    /// True if factors are counted from numbers.
    is_shifted: bool,
}

impl Case {
    /// Variables of the two threads at even and odd positions, then uniform ones.
    fn random(rng: &mut Rng) -> Case {
        let own = 1 + rng.below(2) as usize;
        let uniform = rng.below(3) as usize;
        let mut case = Case {
            ranges: vec![],
            uniform: vec![],
            ids: vec![],
            constraints: vec![],
            is_shifted: false,
        };
        for at in 0..own + uniform {
            let range = if rng.below(4) == 0 { (-3, 3) } else { (0, 4) };
            let copies = if at < own { 2 } else { 1 };
            for _ in 0..copies {
                case.ranges.push(range);
                case.uniform.push(copies == 1);
            }
        }
        for at in 0..=rng.below(own as u64) as usize {
            case.ids
                .push(vec![(1, vec![2 * at]), (-1, vec![2 * at + 1])]);
        }
        for _ in 0..=rng.below(4) {
            case.constrain(rng, own);
        }
        let index = case.sum(rng);
        let other = if rng.below(4) == 0 {
            case.sum(rng)
        } else {
            index.clone()
        };
        case.constraints
            .push(Constraint::Zero(difference(&index, &swapped(&other, own))));
        case.is_shifted = rng.below(2) == 0;
        case
    }

    /// A sum in variables of the first thread and uniform ones, sometimes of both threads.
    fn sum(&self, rng: &mut Rng) -> Sum {
        let both = rng.below(8) == 0;
        let usable = (0..self.ranges.len()).filter(|v| both || self.uniform[*v] || v % 2 == 0);
        let usable: Vec<usize> = usable.collect();
        let terms = (0..=rng.below(3)).map(|_| {
            let factors = [0, 1, 1, 1, 2][rng.below(5) as usize];
            let coefficient = rng.pick(&[-4, -3, -2, -1, -1, 1, 1, 1, 2, 3, 4]);
            (
                coefficient,
                (0..factors).map(|_| rng.pick(&usable)).collect(),
            )
        });
        terms.collect()
    }

    /// Adds a constraint on one thread, and mostly the same one on the other.
    fn constrain(&mut self, rng: &mut Rng, own: usize) {
        let (a, b) = (self.sum(rng), self.sum(rng));
        let both = rng.below(5) != 0;
        let (other, defined) = (swapped(&a, own), 2 * rng.below(own as u64) as usize);
        match rng.below(10) {
            0 => self.pair(both, Constraint::Zero(a), Constraint::Zero(other)),
            1 => self.pair(both, Constraint::NotZero(a), Constraint::NotZero(other)),
            2 => self.pair(
                both,
                Constraint::Define(defined, a),
                Constraint::Define(defined + 1, other),
            ),
            3 => {
                let (a, b) = (difference(&a, &other), difference(&b, &swapped(&b, own)));
                self.constraints.push(Constraint::Equivalent(a, b));
            }
            _ => self.pair(
                both,
                Constraint::AtLeastZero(a),
                Constraint::AtLeastZero(other),
            ),
        }
    }

    fn pair(&mut self, both: bool, first: Constraint, second: Constraint) {
        self.constraints.push(first);
        if both {
            self.constraints.push(second);
        }
    }

    /// The system with the constraints whose bits are in `kept`.
    fn system(&self, kept: Reasons) -> System {
        let mut system = System::new();
        if self.is_shifted {
            system.count_from_bounds();
        }
        let new = self.ranges.iter().zip(&self.uniform);
        let variables = new.map(|(range, uniform)| system.variable(range.0 == 0, *uniform));
        let variables: Vec<Var> = variables.map(Option::unwrap).collect();
        let read = |sum: &Sum| polynomial(sum, &variables);
        for id in &self.ids {
            system.thread_id(read(id));
        }
        for (at, constraint) in self.constraints.iter().enumerate() {
            let reason = 1 << at;
            if kept & reason == 0 {
                continue;
            }
            match constraint {
                Constraint::AtLeastZero(a) => system.at_least_zero(read(a), reason),
                Constraint::Zero(a) => system.zero(read(a), reason),
                Constraint::NotZero(a) => system.not_zero(read(a), reason),
                Constraint::Define(v, a) => system.define(variables[*v], read(a), reason),
                Constraint::Equivalent(a, b) => {
                    system.equivalent(Polynomial::number(0), [read(a), read(b)], reason);
                }
            }
        }
        system
    }

    /// Finds values that satisfy the constraints with bits in `kept`; with `threads`, for two different threads.
    fn solution(&self, kept: Reasons, threads: bool) -> Option<Vec<i64>> {
        let mut values: Vec<i64> = self.ranges.iter().map(|r| r.0).collect();
        loop {
            let differ = !threads || self.ids.iter().any(|id| value(id, &values) != 0);
            if differ && self.satisfied(kept, &values) {
                return Some(values);
            }
            let next = (0..values.len()).find(|v| values[*v] < self.ranges[*v].1)?;
            values[next] += 1;
            for (value, range) in values.iter_mut().zip(&self.ranges).take(next) {
                *value = range.0;
            }
        }
    }

    fn satisfied(&self, kept: Reasons, values: &[i64]) -> bool {
        let mut constraints = self.constraints.iter().enumerate().rev();
        constraints.all(|(at, constraint)| {
            kept & (1 << at) == 0
                || match constraint {
                    Constraint::AtLeastZero(a) => value(a, values) >= 0,
                    Constraint::Zero(a) => value(a, values) == 0,
                    Constraint::NotZero(a) => value(a, values) != 0,
                    Constraint::Define(v, a) => value(a, values) == values[*v],
                    Constraint::Equivalent(a, b) => {
                        (value(a, values) == 0) == (value(b, values) == 0)
                    }
                }
        })
    }
}

/// The sum for the other thread.
fn swapped(sum: &Sum, own: usize) -> Sum {
    let swap = |v: &usize| if *v < 2 * own { v ^ 1 } else { *v };
    let terms = sum
        .iter()
        .map(|(c, factors)| (*c, factors.iter().map(swap).collect()));
    terms.collect()
}

fn difference(a: &Sum, b: &Sum) -> Sum {
    let negated = b.iter().map(|(c, factors)| (-c, factors.clone()));
    a.iter().cloned().chain(negated).collect()
}

fn value(sum: &Sum, values: &[i64]) -> i64 {
    let mut total = 0;
    for (coefficient, factors) in sum {
        let mut product = *coefficient;
        for factor in factors {
            product *= values[*factor];
        }
        total += product;
    }
    total
}

fn polynomial(sum: &Sum, variables: &[Var]) -> Polynomial {
    let mut total = Polynomial::default();
    for (coefficient, factors) in sum {
        let mut product = Polynomial::number(*coefficient);
        for factor in factors {
            product = product.times(&Polynomial::var(variables[*factor])).unwrap();
        }
        total = total.plus(&product).unwrap();
    }
    total
}

/// Checks random systems, and returns the number of proofs.
fn check(seed: u64, cases: usize, threads: bool) -> usize {
    let mut rng = Rng(seed);
    let mut proofs = 0;
    for at in 0..cases {
        let case = Case::random(&mut rng);
        let prove = |kept| match threads {
            true => case.system(kept).same_thread(),
            false => case.system(kept).contradiction(),
        };
        let Some(reasons) = prove(Reasons::MAX) else {
            continue;
        };
        proofs += 1;
        // The reasons suffice, so even the system without the other constraints has no solution.
        let solution = case.solution(reasons, threads);
        assert_eq!(solution, None, "case {at} of seed {seed}");
        // Without other constraints, other numbers may be counted from.
        assert!(
            case.is_shifted || prove(reasons).is_some(),
            "case {at} of seed {seed}: too few reasons"
        );
    }
    proofs
}

#[test]
fn no_solution_of_a_proved_system_has_two_threads() {
    let proofs = check(1, 4000, true);
    assert!(proofs > 500, "{proofs} proofs");
}

#[test]
fn a_contradictory_system_has_no_solution() {
    let proofs = check(2, 3000, false);
    assert!(proofs > 100, "{proofs} proofs");
}
