//! What every rule makes nodes of: chance, names, expressions, statements and blocks.

use sarek_ir::Scalar;

use super::{DEEPEST, EXPRESSIONS, Gen, Rule, STATEMENTS, Var, boolean, float, half, integer};
use crate::tree::{Block, Expr, Facts, Node};

impl Gen {
    /// Uniform below `n`.
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.random.below(n as u64) as usize
    }

    /// True once in `n` times.
    pub(super) fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(super) fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        let at = self.below(choices.len());
        &choices[at]
    }

    /// Some type that satisfies `fits`; there is one.
    pub(super) fn ty(&mut self, fits: impl Fn(Scalar) -> bool) -> Scalar {
        let types = self.traits.types.clone();
        let fitting: Vec<_> = types.into_iter().filter(|t| fits(*t)).collect();
        *self.pick(&fitting)
    }

    pub(super) fn has(&self, ty: Scalar) -> bool {
        self.traits.types.contains(&ty)
    }

    /// A name that nothing has.
    pub(super) fn name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    pub(super) fn choose<T>(
        &mut self,
        tables: &[&'static [Rule<T>]],
        ty: Scalar,
    ) -> &'static Rule<T> {
        let fitting: Vec<&'static Rule<T>> = tables
            .iter()
            .flat_map(|table| table.iter())
            .filter(|rule| (rule.fits)(self, ty))
            .collect();
        let total: u32 = fitting.iter().map(|rule| rule.weight).sum();
        let mut at = self.below(total as usize) as u32;
        for rule in fitting {
            match at.checked_sub(rule.weight) {
                None => return rule,
                Some(rest) => at = rest,
            }
        }
        unreachable!("the number is below the sum of the weights")
    }

    /// An exact expression of a type.
    pub(super) fn expr(&mut self, ty: Scalar) -> Expr {
        if self.depth >= self.traits.depth || self.once_in(5) {
            return self.leaf(ty);
        }
        self.depth += 1;
        let rule = self.choose(EXPRESSIONS, ty);
        let expr = (rule.make)(self, ty);
        self.depth -= 1;
        debug_assert_eq!(expr.ty, ty, "{expr:?}");
        expr
    }

    /// A variable or, at times, a literal.
    pub(super) fn leaf(&mut self, ty: Scalar) -> Expr {
        let fits = |v: &&Var| v.ty == ty && (v.uniform || !self.uniform);
        let fitting: Vec<_> = self.scope.iter().filter(fits).cloned().collect();
        if fitting.is_empty() || self.once_in(6) {
            return self.literal(ty);
        }
        // The latest ones more often, so that values flow on.
        let late = fitting.len().saturating_sub(4);
        let from = if self.once_in(2) { late } else { 0 };
        let var = self.pick(&fitting[from..]).clone();
        // What is in a struct of the kernel's own is known to rustc alone.
        let text = match var.name.contains(".f") {
            true => format!("({{ let it: {ty} = {}; it }})", var.name),
            false => var.name,
        };
        Expr {
            node: Node::leaf(text),
            ty,
            facts: var.facts,
        }
    }

    pub(super) fn literal(&mut self, ty: Scalar) -> Expr {
        match ty {
            Scalar::Bool => boolean::literal(self),
            Scalar::F32 | Scalar::F64 => float::literal(self, ty),
            Scalar::F16 | Scalar::Bf16 => half::literal(self, ty),
            _ => integer::literal(self, ty),
        }
    }

    pub(super) fn statement(&mut self) -> Node {
        self.budget = self.budget.saturating_sub(1);
        let rule = self.choose(STATEMENTS, Scalar::Bool);
        (rule.make)(self, Scalar::Bool)
    }

    /// A block of a few statements with a scope of its own, run `trips` times.
    pub(super) fn block(&mut self, trips: usize) -> Block {
        self.block_before(trips, false)
    }

    /// As [`Gen::block`]; with `keeps_names`, something made before stands at its end.
    pub(super) fn block_before(&mut self, trips: usize, keeps_names: bool) -> Block {
        let together = std::mem::replace(&mut self.together, false);
        let block = self.scoped(trips, keeps_names, Gen::statement);
        self.together = together;
        block
    }

    /// A block of a few statements that `statement` makes.
    pub(super) fn scoped(
        &mut self,
        trips: usize,
        keeps_names: bool,
        mut statement: impl FnMut(&mut Gen) -> Node,
    ) -> Block {
        let (scope, outer, depth) = (self.scope.clone(), self.trips, self.depth);
        let (arrays, sums) = (self.arrays.clone(), self.sums.clone());
        let records = self.records.clone();
        let (vectors, closures) = (self.vectors.clone(), self.closures.clone());
        let keeps_names = std::mem::replace(&mut self.keeps_names, keeps_names);
        self.trips *= trips;
        self.nest += 1;
        self.depth = 0;
        let count = (1 + self.below(4)).min(self.budget.max(1));
        let block = (0..count).map(|_| statement(self)).collect();
        self.nest -= 1;
        self.keeps_names = keeps_names;
        (self.scope, self.trips, self.depth) = (scope, outer, depth);
        (self.arrays, self.sums, self.records) = (arrays, sums, records);
        (self.vectors, self.closures) = (vectors, closures);
        block
    }

    /// May another block stand here?
    pub(super) fn is_roomy(&self) -> bool {
        self.budget > 0 && self.nest < DEEPEST && !self.uniform
    }

    /// May another loop of so many trips stand here?
    pub(super) fn affords(&self, trips: usize) -> bool {
        self.is_roomy() && self.trips * trips <= if self.traits.team { 24 } else { 96 }
    }

    /// Brings a name into scope, in place of one of the same text.
    pub(super) fn bind(&mut self, name: &str, ty: Scalar, facts: Facts, mutable: bool) {
        self.scope.retain(|var| var.name != name);
        self.scope.push(Var {
            name: name.to_owned(),
            ty,
            facts,
            mutable,
            uniform: false,
        });
    }

    /// The same for a name whose value all threads of the block share.
    pub(super) fn bind_uniform(&mut self, name: &str, ty: Scalar, facts: Facts) {
        self.bind(name, ty, facts, false);
        if let Some(var) = self.scope.last_mut() {
            var.uniform = true;
        }
    }
}

/// An expression from a text with holes.
pub(super) fn make(ty: Scalar, facts: Facts, text: impl Into<String>, exprs: Vec<Expr>) -> Expr {
    Expr {
        node: Node::new(text, exprs, vec![]),
        ty,
        facts,
    }
}

/// A float with which arithmetic has 24 bits at least.
pub(super) fn is_wide(ty: Scalar) -> bool {
    [Scalar::F32, Scalar::F64].contains(&ty)
}

/// What is known of a value below a bound.
pub(super) fn within(bound: f64) -> Facts {
    Facts {
        bound,
        ..Facts::ANY
    }
}
