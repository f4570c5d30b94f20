//! The building blocks of all rules: random choices, names, expressions, statements and blocks.

use sarek_ir::Scalar;

use super::{DEEPEST, EXPRESSIONS, Gen, Rule, STATEMENTS, Var, boolean, float, half, integer};
use crate::tree::{Block, Expr, Facts, Node};

impl Gen {
    /// A number uniformly distributed below `n`.
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.random.below(n as u64) as usize
    }

    /// True with probability 1 / `n`.
    pub(super) fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(super) fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        let at = self.below(choices.len());
        &choices[at]
    }

    /// A random type that satisfies `fits`. There must be one.
    pub(super) fn ty(&mut self, fits: impl Fn(Scalar) -> bool) -> Scalar {
        let types = self.traits.types.clone();
        let fitting: Vec<_> = types.into_iter().filter(|t| fits(*t)).collect();
        *self.pick(&fitting)
    }

    pub(super) fn has(&self, ty: Scalar) -> bool {
        self.traits.types.contains(&ty)
    }

    /// A fresh name.
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

    /// An expression of a type, whose value is exact on every target.
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
        // Recent variables are more likely, so that data flows from statement to statement.
        let late = fitting.len().saturating_sub(4);
        let from = if self.once_in(2) { late } else { 0 };
        let var = self.pick(&fitting[from..]).clone();
        // Only rustc knows the type of a user-defined struct's field, so the text states it.
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

    /// A block of a few statements with its own scope, run at most `trips` times.
    pub(super) fn block(&mut self, trips: usize) -> Block {
        self.block_before(trips, false)
    }

    /// Like [`Gen::block`]. With `keeps_names`, the block's end was made before its statements, which must not shadow names.
    pub(super) fn block_before(&mut self, trips: usize, keeps_names: bool) -> Block {
        let converged = std::mem::replace(&mut self.converged, false);
        let block = self.scoped(trips, keeps_names, Gen::statement);
        self.converged = converged;
        block
    }

    /// A block of a few statements made by `statement`.
    pub(super) fn scoped(
        &mut self,
        trips: usize,
        keeps_names: bool,
        mut statement: impl FnMut(&mut Gen) -> Node,
    ) -> Block {
        let (scope, outer, depth) = (self.scope.clone(), self.trips, self.depth);
        let (arrays, enum_locals) = (self.arrays.clone(), self.enum_locals.clone());
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
        (self.arrays, self.enum_locals, self.records) = (arrays, enum_locals, records);
        (self.vectors, self.closures) = (vectors, closures);
        block
    }

    /// True if the budget and the nesting depth allow another block here.
    pub(super) fn is_roomy(&self) -> bool {
        self.budget > 0 && self.nest < DEEPEST && !self.uniform
    }

    /// True if another loop of this many iterations is allowed here.
    pub(super) fn affords(&self, trips: usize) -> bool {
        self.is_roomy() && self.trips * trips <= if self.traits.shared_memory { 24 } else { 96 }
    }

    /// Brings a name into scope; it shadows an equal name.
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

    /// Brings a name with a uniform value into scope.
    pub(super) fn bind_uniform(&mut self, name: &str, ty: Scalar, facts: Facts) {
        self.bind(name, ty, facts, false);
        if let Some(var) = self.scope.last_mut() {
            var.uniform = true;
        }
    }
}

/// An expression from a text template and its operands.
pub(super) fn make(ty: Scalar, facts: Facts, text: impl Into<String>, exprs: Vec<Expr>) -> Expr {
    Expr {
        node: Node::new(text, exprs, vec![]),
        ty,
        facts,
    }
}

/// True for the float types with at least 24 significant bits.
pub(super) fn is_wide(ty: Scalar) -> bool {
    [Scalar::F32, Scalar::F64].contains(&ty)
}

/// The bounds of a value of at most this magnitude.
pub(super) fn within(bound: f64) -> Facts {
    Facts {
        bound,
        ..Facts::ANY
    }
}
