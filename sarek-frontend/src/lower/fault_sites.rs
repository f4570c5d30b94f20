//! Fault sites: removes unused ones, and determines which of them a launch can prove.

use sarek_ir::facts::{Check, Effect, Reads};
use sarek_ir::{
    Argument, Compound, Expr, ExprId, Place, Precondition, Root, Scalar, SiteId, Step, StmtId,
    Value as Constant,
};

use super::Lowerer;

impl Lowerer<'_> {
    /// Drops sites that no node uses.
    pub(super) fn compact_sites(&mut self) {
        let old = std::mem::take(self.kernel.sites.to_mut());
        let mut sites = vec![];
        let mut numbers = vec![None; old.len()];
        let mut renumber = |site: &mut SiteId| {
            sites.push(old[site.index()].clone());
            let number = SiteId(sites.len() as u32 - 1);
            numbers[site.index()] = Some(number);
            *site = number;
        };
        for expr in self.kernel.exprs.to_mut() {
            expr.site_mut()
                .into_iter()
                .flatten()
                .for_each(&mut renumber);
        }
        for stmt in self.kernel.stmts.to_mut() {
            stmt.site_mut().into_iter().for_each(&mut renumber);
        }
        for compound in self.kernel.compounds.to_mut() {
            if let Compound::Index {
                site: Some(site), ..
            } = compound
            {
                renumber(site);
            }
        }
        for place in self.kernel.places.to_mut() {
            place_sites(place).into_iter().for_each(&mut renumber);
        }
        for precondition in self.kernel.preconditions.to_mut() {
            if let Precondition::Holds(site) = precondition {
                *site = numbers[site.index()].expect("its assertion stands at the kernel's head");
            }
        }
        self.kernel.sites = sites.into();
    }

    /// Marks a site as not provable if its check depends on memory or on floats.
    pub(super) fn mark_provable_sites(&mut self) {
        let mut data = DataDependence {
            locals: vec![false; self.kernel.locals.len()],
        };
        while data.grow(&self.kernel) {}
        let kernel = &self.kernel;
        let mut unprovable = vec![];
        let mut check = |site: Option<SiteId>, depends: bool| {
            unprovable.extend(site.filter(|_| depends));
        };
        for id in (0..kernel.exprs.len() as u32).map(ExprId) {
            let operands = kernel.operands(id);
            match kernel.expr(id).facts().check {
                Check::Bounds(site) => {
                    check(site, operands.iter().any(|o| data.expr(kernel, *o)));
                }
                Check::Divisor(site) => check(site, data.divisor(kernel, operands[0], operands[1])),
                // The parts of compound values and places follow.
                Check::None | Check::Parts => {}
                Check::Assertion(_) | Check::Panic(_) => unreachable!("a check of statements"),
            }
        }
        for compound in kernel.compounds.iter() {
            if let Compound::Index { index, site, .. } = *compound {
                check(site, data.expr(kernel, index));
            }
        }
        for place in kernel.places.iter() {
            if let Root::Element { index, site, .. } = place.root {
                check(site, data.expr(kernel, index));
            }
            for step in place.steps.iter() {
                if let Step::Index { index, site } = *step {
                    check(site, data.expr(kernel, index));
                }
            }
        }
        for id in (0..kernel.stmts.len() as u32).map(StmtId) {
            // An index is the last operand, a condition the only one.
            let last = kernel.operands_of(id).last().copied();
            let depends = last.is_some_and(|operand| data.expr(kernel, operand));
            match kernel.stmt(id).facts().check {
                Check::Bounds(site) => check(site, depends),
                Check::Assertion(site) => check(Some(site), depends),
                Check::None | Check::Parts | Check::Panic(_) => {}
                Check::Divisor(_) => unreachable!("a check of expressions"),
            }
        }
        for site in unprovable {
            self.kernel.sites.to_mut()[site.index()].provable = false;
        }
    }
}

/// Data-flow analysis: the locals that depend on memory or on floats.
struct DataDependence {
    locals: Vec<bool>,
}

impl DataDependence {
    /// True if the definedness of `lhs / rhs` depends on data.
    fn divisor(&self, kernel: &sarek_ir::Kernel, lhs: ExprId, rhs: ExprId) -> bool {
        let literal = kernel.literal(rhs).and_then(Constant::as_int);
        if literal.is_some_and(|d| d != 0 && d != -1) {
            return false;
        }
        let signed = kernel
            .type_of(rhs)
            .as_scalar()
            .is_none_or(Scalar::is_signed);
        self.expr(kernel, rhs) || signed && self.expr(kernel, lhs)
    }

    fn expr(&self, kernel: &sarek_ir::Kernel, id: ExprId) -> bool {
        let is_length = |c: &Compound| matches!(c, Compound::Len { .. });
        match kernel.expr(id).facts().reads {
            Reads::Memory(_) => true,
            Reads::Local(local) => {
                let ty = kernel.type_of(id).as_scalar();
                self.locals[local.index()] || ty.is_none_or(Scalar::is_float)
            }
            Reads::Constant | Reads::Param(_) | Reads::Len(_) | Reads::Id(_) | Reads::Faults => {
                false
            }
            Reads::Operands => match kernel.expr(id) {
                Expr::Compound(id) if is_length(&kernel.compounds[id.index()]) => false,
                _ => {
                    let mut operands = kernel.operands(id).into_iter();
                    operands.any(|o| self.expr(kernel, o))
                }
            },
        }
    }

    /// Propagates along assignments; returns `true` if that found more locals.
    fn grow(&mut self, kernel: &sarek_ir::Kernel) -> bool {
        let before = self.locals.iter().filter(|l| **l).count();
        for id in (0..kernel.stmts.len() as u32).map(StmtId) {
            let facts = kernel.stmt(id).facts();
            match facts.effect {
                Effect::None
                | Effect::Store(_)
                | Effect::Print(_)
                | Effect::Fence
                | Effect::Barrier => {
                    if let Some(local) = facts.declares.or(facts.assigns) {
                        let mut operands = kernel.operands_of(id).into_iter();
                        self.locals[local.index()] |= operands.any(|o| self.expr(kernel, o));
                    }
                }
                Effect::Atomic(..) | Effect::Subgroup(..) => {
                    if let Some(local) = facts.assigns {
                        self.locals[local.index()] = true;
                    }
                }
                Effect::Native(native) => {
                    for local in kernel.changed_by_text(native) {
                        self.locals[local.index()] = true;
                    }
                }
                Effect::Place(place) => {
                    if let Root::Local(local) = kernel.places[place.index()].root {
                        self.locals[local.index()] = true;
                    }
                }
                Effect::Call(call) => {
                    let call = &kernel.calls[call.index()];
                    let changed = call.args.iter().filter_map(|arg| match arg {
                        Argument::Local(local) => Some(*local),
                        Argument::Value(_) | Argument::Memory(_) => None,
                    });
                    for local in changed.chain(call.result) {
                        self.locals[local.index()] = true;
                    }
                }
            }
        }
        self.locals.iter().filter(|l| **l).count() > before
    }
}

fn place_sites(place: &mut Place) -> Vec<&mut SiteId> {
    let root = match &mut place.root {
        Root::Element { site, .. } => site.as_mut(),
        Root::Local(_) | Root::Param(_) => None,
    };
    let steps = place.steps.to_mut().iter_mut();
    let steps = steps.filter_map(|step| match step {
        Step::Index { site, .. } => site.as_mut(),
        Step::Field(_) => None,
    });
    root.into_iter().chain(steps).collect()
}
