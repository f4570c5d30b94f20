//! The code of a strip that exchanges values within subgroups: the operations, the loops around them, and branches
//! that one lane of each subgroup takes. See [`super::subgroup_strips`].

use std::collections::BTreeMap;

use proc_macro2::{Ident, Literal, Span, TokenStream};
use sarek_ir::analysis::regions::{Node, Place, RegionId};
use sarek_ir::{
    Axis, BinaryOp, Builtin, DivideOp, Expr, ExprId, LocalId, Scalar, Stmt, StmtId, SubgroupOp,
    Value,
};

use super::frame::Frame;
use super::loops::{Head, LoopParts};
use super::names::literal;
use super::tree::each_node;
use super::{Writer, mixed};

/// The number of lanes of a subgroup.
const SUBGROUP: u32 = 32;

/// The most turns of a loop that is unrolled.
const MOST_TURNS: u64 = 8;

impl Writer<'_> {
    /// An `if` that one lane of each subgroup takes.
    pub fn leaders(&self, frame: &Frame<'_>, stmt: StmtId, then: &[Node]) -> TokenStream {
        let (Some(leader), [Node::Region { id, stmts }]) = (self.leader(stmt), then) else {
            unreachable!("the plan has no other branches");
        };
        let lane = frame.lane();
        let writer = self.within(&lane);
        let stmts = stmts.iter().map(|stmt| writer.stmt(*stmt));
        let body = self.lane_body(frame, *id, mixed!(#(#stmts)*));
        let [leader, size] = [leader, SUBGROUP].map(Literal::u32_unsuffixed);
        mixed! {
            let mut __leader = #leader;
            while __leader < __STRIP {
                let __w: __usize = __leader;
                {
                    let __thread = [__thread[0] + __w, __thread[1], __thread[2]];
                    #body
                }
                __leader += #size;
            }
        }
    }

    /// The turns of a loop that exchanges values, one after the other, if a constant tells their number.
    pub fn unrolled(&self, frame: &Frame<'_>, stmt: StmtId, body: &[Node]) -> Option<TokenStream> {
        let mut exchanges = false;
        each_node(body, &mut |node| {
            exchanges |= matches!(node, Node::Subgroup { .. })
        });
        if !frame.subgroups || !exchanges {
            return None;
        }
        let mut known = frame.known.clone();
        let (counter, turns) = match LoopParts::of(self, stmt).head {
            Head::For(local, bounds) => {
                let [start, end] = bounds.map(|bound| self.constant_in(&known, bound));
                let (start, end) = (as_index(start?)?, as_index(end?)?);
                let ty = self.kernel.locals[local.index()].ty.as_scalar()?;
                (Some((local, start, ty)), Some(end.saturating_sub(start)))
            }
            Head::While(Some(_)) => (None, None),
            Head::While(None) => return None,
        };
        if turns.is_some_and(|turns| turns > MOST_TURNS) {
            return None;
        }
        known.extend(self.initial(stmt, body));
        let mut code = TokenStream::new();
        for turn in 0..=MOST_TURNS {
            let goes_on = match LoopParts::of(self, stmt).head {
                Head::For(..) => turns? > turn,
                Head::While(cond) => self.constant_in(&known, cond?)? == Value::Bool(true),
            };
            if !goes_on {
                return Some(code);
            }
            let count = counter.map(|(local, start, ty)| {
                let value = sarek_ir::operators::cast(Value::U64(start + turn), ty);
                known.insert(local, value);
                let (name, value) = (self.local(local), literal(value));
                mixed!(let #name = #value;)
            });
            let mut inner = TokenStream::new();
            for node in body {
                let mut within = frame.clone();
                within.known = known.clone();
                inner.extend(self.node(&within, node));
                if let Node::Once(assigns) = node
                    && let Stmt::Assign { local, value } = self.kernel.stmt(*assigns)
                    && known.contains_key(&local)
                {
                    known.insert(local, self.constant_in(&known, value)?);
                }
            }
            code.extend(mixed!({ #count #inner }));
        }
        None
    }

    /// The constants with which locals begin that only the turns of a loop change, each turn in the same way.
    fn initial(&self, stmt: StmtId, body: &[Node]) -> BTreeMap<LocalId, Value> {
        let mut assigned: BTreeMap<LocalId, usize> = BTreeMap::new();
        for node in body {
            if let Node::Once(assigns) = node
                && let Stmt::Assign { local, .. } = self.kernel.stmt(*assigns)
            {
                *assigned.entry(local).or_default() += 1;
            }
        }
        let fixed = assigned.into_iter().filter_map(|(local, times)| {
            let init = self.values.get(local)?;
            let is_own = self.is_beside(local, stmt) && self.writes(local) == times;
            let value = self.constant_in(&BTreeMap::new(), init)?;
            is_own.then_some((local, value))
        });
        fixed.collect()
    }

    /// An operation of a strip's subgroups, all of whose lanes take part.
    pub fn subgroup_of_strip(&self, frame: &Frame<'_>, id: RegionId, stmt: StmtId) -> TokenStream {
        let Stmt::Subgroup { op, args, result } = self.kernel.stmt(stmt) else {
            unreachable!("the statement is an operation of subgroups");
        };
        let lane = frame.lane();
        let writer = self.within(&lane);
        let args: Vec<ExprId> = self.kernel.list(args).collect();
        let same = self.same_lane(frame, op, &args);
        let constant = same.and_then(|lane| as_index(self.constant_in(&frame.known, lane)?));
        let (mut lets, mut given) = (vec![], vec![]);
        for (i, arg) in args
            .iter()
            .enumerate()
            .take(2 - usize::from(same.is_some()))
        {
            let kept = match self.kernel.expr(*arg) == Expr::Local(result) {
                true => None,
                false => self.array_of(frame, *arg),
            };
            given.push(kept.unwrap_or_else(|| {
                let name = frame.name(&format!("operand{i}_"), stmt.0);
                let zero = literal(Value::zero(self.kernel.scalar_of(*arg)));
                let (fetch, value) = (self.fetch(frame, id), writer.expr(*arg));
                let fill = mixed!(#fetch *<[_]>::get_unchecked_mut(#name, __w) = #value;);
                let fill = self.lanes(frame, None, fill);
                lets.push(mixed!(let #name = &mut [#zero; __STRIP]; #fill));
                name
            }));
        }
        let zero = literal(Value::zero(self.kernel.locals[result.index()].ty.scalar()));
        let is_kept = self.within(frame).is_kept(result);
        let (out, declared) = match is_kept {
            true => (frame.array(result), None),
            false => {
                let out = frame.name("joined", stmt.0);
                let declared = mixed!(let #out = &mut [#zero; __STRIP];);
                (out, Some(declared))
            }
        };
        let name = op.name().trim_start_matches("subgroup_");
        let named = |name: String| Ident::new(&name, Span::mixed_site());
        let constant = constant.filter(|_| op != SubgroupOp::Broadcast);
        let call = match (same, constant) {
            (_, Some(by)) => {
                // A distance without a lane is that of the lane itself.
                let (op, by) = (named(name.to_owned()), by.min(SUBGROUP.into()));
                let by = Literal::u64_unsuffixed(by);
                mixed!(__host::subgroup_strips::#op::<_, #by, __STRIP>(#(&*#given,)* &mut *#out);)
            }
            (Some(lane), None) => {
                let once = self.within(frame);
                let (lets, lane) = (once.declared_again(&[lane]), once.expr(lane));
                let op = named(format!("{name}_by"));
                mixed! {
                    {
                        #lets
                        __host::subgroup_strips::#op(#(&*#given,)* #lane, &mut *#out);
                    }
                }
            }
            (None, None) => {
                let op = match args.len() > 1 && op != SubgroupOp::Shuffle {
                    true => named(format!("{name}_each")),
                    false => named(name.to_owned()),
                };
                mixed!(__host::subgroup_strips::#op(#(&*#given,)* &mut *#out);)
            }
        };
        mixed!(#declared { #(#lets)* #call })
    }

    /// The array of a local that is the whole expression.
    fn array_of(&self, frame: &Frame<'_>, expr: ExprId) -> Option<Ident> {
        let Expr::Local(local) = self.kernel.expr(expr) else {
            return None;
        };
        let is_kept = frame.plan.place(local) == Place::Lanes;
        is_kept.then(|| frame.array(local))
    }

    /// The lane of each subgroup that alone takes an `if` without `else`: `if thread_idx_x() % 32 == 0 { … }`.
    pub fn leader(&self, stmt: StmtId) -> Option<u32> {
        let Stmt::If {
            cond, otherwise, ..
        } = self.kernel.stmt(stmt)
        else {
            return None;
        };
        let (is_if, is_equal) = (
            self.kernel.block(otherwise).next().is_none(),
            self.fixed(cond),
        );
        let Expr::Binary {
            op: BinaryOp::Eq,
            lhs,
            rhs,
        } = self.kernel.expr(is_equal)
        else {
            return None;
        };
        let (lane, number) = match (
            self.constant_in(&BTreeMap::new(), lhs),
            self.constant_in(&BTreeMap::new(), rhs),
        ) {
            (None, Some(number)) => (lhs, number),
            (Some(number), None) => (rhs, number),
            (Some(_), Some(_)) | (None, None) => return None,
        };
        let number = as_index(number).filter(|number| *number < u64::from(SUBGROUP))?;
        (is_if && self.is_lane_of_subgroup(lane)).then_some(number as u32)
    }

    /// The initialiser of a local that never changes, in place of the local.
    fn fixed(&self, expr: ExprId) -> ExprId {
        let mut expr = expr;
        while let Expr::Local(local) = self.kernel.expr(expr) {
            let value = self.values.get(local);
            match value.filter(|_| !self.kernel.locals[local.index()].mutable) {
                Some(value) => expr = value,
                None => break,
            }
        }
        expr
    }

    /// True for the number of a lane in its subgroup, in rows of complete subgroups.
    fn is_lane_of_subgroup(&self, expr: ExprId) -> bool {
        let expr = self.fixed(expr);
        let none = BTreeMap::new();
        let is_at = |of: ExprId, number: ExprId, due: u32| {
            let number = self.constant_in(&none, number).and_then(as_index);
            let of = self.kernel.expr(self.fixed(of));
            let is_id = matches!(
                of,
                Expr::Builtin(
                    Builtin::ThreadIdx(Axis::X)
                        | Builtin::GlobalIdx(Axis::X)
                        | Builtin::SubgroupLane
                )
            );
            is_id && number == Some(u64::from(due))
        };
        let kernel = self.kernel;
        if let Expr::Builtin(builtin) = kernel.expr(expr) {
            return builtin == Builtin::SubgroupLane;
        }
        if let Expr::Divide {
            op: DivideOp::Rem,
            lhs,
            rhs,
            ..
        } = kernel.expr(expr)
        {
            return is_at(lhs, rhs, SUBGROUP);
        }
        if let Expr::Binary {
            op: BinaryOp::BitAnd,
            lhs,
            rhs,
        } = kernel.expr(expr)
        {
            return is_at(lhs, rhs, SUBGROUP - 1);
        }
        if let Expr::Cast { arg } = kernel.expr(expr) {
            return self.is_lane_of_subgroup(arg);
        }
        false
    }

    /// The value of an expression that is a constant if some locals have known values.
    pub fn constant_in(&self, known: &BTreeMap<LocalId, Value>, expr: ExprId) -> Option<Value> {
        use sarek_ir::operators;
        let kernel = self.kernel;
        if let Expr::Literal(value) = kernel.expr(expr) {
            return Some(value);
        }
        if let Expr::Local(local) = kernel.expr(expr) {
            let fixed = || {
                let is_fixed = !kernel.locals[local.index()].mutable;
                self.values.get(local).filter(|_| is_fixed)
            };
            return match known.get(&local) {
                Some(value) => Some(*value),
                None => self.constant_in(known, fixed()?),
            };
        }
        if let Expr::Binary { op, lhs, rhs } = kernel.expr(expr) {
            let [lhs, rhs] = [lhs, rhs].map(|side| self.constant_in(known, side));
            return Some(operators::binary(op, lhs?, rhs?));
        }
        if let Expr::Divide { op, lhs, rhs, .. } = kernel.expr(expr) {
            let [lhs, rhs] = [lhs, rhs].map(|side| self.constant_in(known, side));
            return operators::divide(op, lhs?, rhs?);
        }
        if let Expr::Cast { arg } = kernel.expr(expr) {
            let to = kernel.type_of(expr).as_scalar()?;
            return Some(operators::cast(self.constant_in(known, arg)?, to));
        }
        match kernel.expr(expr) == Expr::Builtin(Builtin::SubgroupSize) {
            true => Some(Value::Usize(SUBGROUP.into())),
            false => None,
        }
    }
}

/// An integer that is not negative.
fn as_index(value: Value) -> Option<u64> {
    if !value.scalar().is_int() {
        return None;
    }
    match sarek_ir::operators::cast(value, Scalar::I64) {
        Value::I64(value) => value.try_into().ok(),
        other => unreachable!("{other:?} is no I64"),
    }
}
