//! Questions in a small notation.
//!
//! A name that ends in `_` is a variable of a thread, any other name is uniform. All are natural. Statements are
//! separated by `;` and have a bit of the reasons each, in their order:
//!
//! | statement | meaning |
//! |---|---|
//! | `a < b`, `a <= b`, `a == b`, `a != b` | comparisons; with variables of a thread they hold for both |
//! | `x := a` | a definition |
//! | `shift` | uniform factors are counted from a number |
//! | `a ~ b` | the two threads have the same `a` exactly if they have the same `b` |

mod idioms;
mod polynomials;
mod racy;
mod reasons;
mod soundness;

use std::collections::HashMap;

use super::search::STEPS;
use super::{Polynomial, Reasons, System, Var};

/// A question: two threads compute `first` and `second` under some statements.
struct Idiom {
    name: &'static str,
    /// The ids that tell threads apart, separated by spaces.
    ids: &'static str,
    statements: &'static str,
    first: &'static str,
    second: &'static str,
}

impl Idiom {
    const fn new(
        name: &'static str,
        ids: &'static str,
        statements: &'static str,
        first: &'static str,
        second: &'static str,
    ) -> Idiom {
        Idiom {
            name,
            ids,
            statements,
            first,
            second,
        }
    }

    /// The system with the statements whose bits are in `kept`.
    fn system(&self, kept: Reasons) -> System {
        let mut builder = Builder::default();
        for id in self.ids.split_whitespace() {
            let difference = builder.difference(id);
            builder.system.thread_id(difference);
        }
        for (at, statement) in self.statements.split(';').enumerate() {
            let reason = 1 << at;
            let is_kept = kept & reason != 0 || statement.trim() == "shift";
            if is_kept && !statement.trim().is_empty() {
                builder.both(statement, reason);
            }
        }
        self.meet(builder)
    }

    /// The system with further bounds of the ids, as a launch gives them.
    fn bounded(&self) -> System {
        let mut builder = Builder::default();
        for statement in self.statements.split(';').filter(|s| !s.trim().is_empty()) {
            builder.both(statement, 1);
        }
        for (at, id) in self.ids.split_whitespace().enumerate() {
            let difference = builder.difference(id);
            builder.system.thread_id(difference);
            builder.both(&format!("{id} < E{at}"), 2);
            builder.both(&format!("{id} < D{at}*G{at}"), 2);
            builder.both(&format!("E{at} <= D{at}*G{at}"), 2);
            builder.both(&format!("1 <= D{at}"), 2);
            builder.both(&format!("E{at} <= N"), 2);
        }
        self.meet(builder)
    }

    /// Adds the equality of the indices.
    fn meet(&self, mut builder: Builder) -> System {
        let first = builder.polynomial(self.first, "");
        let second = builder.polynomial(self.second, "'");
        let difference = first.minus(&second).unwrap();
        builder.system.zero(difference, 0);
        builder.system
    }

    fn proved(&self) -> Option<Reasons> {
        self.system(Reasons::MAX).same_thread()
    }

    /// The steps that the searches take.
    fn steps(&self) -> u32 {
        let mut system = self.system(Reasons::MAX);
        system.substitute_definitions();
        if system.from_bounds {
            system.shift();
        }
        system.solve();
        STEPS - system.steps.get()
    }
}

/// Builds a system from text.
#[derive(Default)]
struct Builder {
    system: System,
    names: HashMap<String, Var>,
}

impl Builder {
    fn var(&mut self, name: &str, thread: &str) -> Var {
        let (key, uniform) = match name.strip_suffix('_') {
            Some(own) => (format!("{own}_{thread}"), false),
            None => (name.to_string(), true),
        };
        let system = &mut self.system;
        let new = || system.variable(true, uniform).unwrap();
        *self.names.entry(key).or_insert_with(new)
    }

    /// Reads a polynomial for one thread. The suffix `'` names the variables of the second thread.
    fn polynomial(&mut self, text: &str, thread: &str) -> Polynomial {
        let spaced = ["+", "-", "*", "(", ")"];
        let text = spaced.iter().fold(text.to_string(), |text, sign| {
            text.replace(sign, &format!(" {sign} "))
        });
        let mut tokens: Vec<&str> = text.split_whitespace().rev().collect();
        let sum = self.sum(&mut tokens, thread);
        assert!(tokens.is_empty(), "unread: {tokens:?}");
        sum
    }

    fn sum(&mut self, tokens: &mut Vec<&str>, thread: &str) -> Polynomial {
        let mut sum = Polynomial::default();
        let mut sign = 1;
        loop {
            let product = self.product(tokens, thread).scaled(sign).unwrap();
            sum = sum.plus(&product).unwrap();
            sign = match tokens.last() {
                Some(&"+") => 1,
                Some(&"-") => -1,
                _ => return sum,
            };
            tokens.pop();
        }
    }

    fn product(&mut self, tokens: &mut Vec<&str>, thread: &str) -> Polynomial {
        let mut product = self.factor(tokens, thread);
        while tokens.last() == Some(&"*") {
            tokens.pop();
            product = product.times(&self.factor(tokens, thread)).unwrap();
        }
        product
    }

    fn factor(&mut self, tokens: &mut Vec<&str>, thread: &str) -> Polynomial {
        let token = tokens.pop().expect("a factor");
        if token == "(" {
            let sum = self.sum(tokens, thread);
            assert_eq!(tokens.pop(), Some(")"));
            return sum;
        }
        match token.parse() {
            Ok(number) => Polynomial::number(number),
            Err(_) => Polynomial::var(self.var(token, thread)),
        }
    }

    /// The difference of a polynomial of the two threads.
    fn difference(&mut self, text: &str) -> Polynomial {
        let (a, b) = (self.polynomial(text, ""), self.polynomial(text, "'"));
        a.minus(&b).unwrap()
    }

    /// Adds a statement, for both threads if it mentions variables of a thread.
    fn both(&mut self, text: &str, reason: Reasons) {
        if text.trim() == "shift" {
            return self.system.count_from_bounds();
        }
        if let Some((a, b)) = text.split_once('~') {
            let (a, b) = (self.difference(a), self.difference(b));
            self.system
                .equivalent(Polynomial::number(0), [a, b], reason);
            return;
        }
        self.one(text, "", reason);
        if text.contains('_') {
            self.one(text, "'", reason);
        }
    }

    fn one(&mut self, text: &str, thread: &str, reason: Reasons) {
        let split = |by: &str| text.split_once(by);
        if let Some((name, is)) = split(":=") {
            let is = self.polynomial(is, thread);
            let var = self.var(name.trim(), thread);
            return self.system.define(var, is, reason);
        }
        for (sign, strict) in [("<=", false), ("==", false), ("!=", false), ("<", true)] {
            let Some((a, b)) = split(sign) else { continue };
            let (a, b) = (self.polynomial(a, thread), self.polynomial(b, thread));
            let difference = b.minus(&a).unwrap();
            let less = Polynomial::number(i64::from(strict));
            match sign {
                "==" => self.system.zero(difference, reason),
                "!=" => self.system.not_zero(difference, reason),
                _ => self
                    .system
                    .at_least_zero(difference.minus(&less).unwrap(), reason),
            }
            return;
        }
        panic!("no statement: {text}");
    }
}
