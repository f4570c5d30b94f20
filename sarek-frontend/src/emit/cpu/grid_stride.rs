//! Loops in which lanes take strides: `while i < n { …; i += global_dim_x() }`.
//!
//! Lanes next to each other touch elements next to each other in each *turn*, and a lane's own elements lie
//! far apart. A strip takes the turns together. Its lanes begin at indices in a row and advance alike, so that one
//! counter, the first lane's, tells those of all, and how many of them a turn has left; no lane is asked.
//!
//! Such a strip is wide: a turn then reads a long stretch of memory. What lanes keep from turn to turn lies in the
//! nearest cache meanwhile, which costs less than memory does. Elements of later turns are asked for part by part beside the
//! work: a processor foresees no stretch that lies far from the last one, and updates at places that late elements tell
//! stand in the way of each other.
//!
//! Indices are compared as numbers, not as remainders: where the start, the limit or the stride is so large that an index
//! could wrap, strips are not used.

use std::collections::BTreeSet;

use proc_macro2::{Literal, TokenStream};
use sarek_ir::analysis::local_uses::{self, LocalUse};
use sarek_ir::analysis::regions::Node;
use sarek_ir::analysis::uniformity::Uniformity;
use sarek_ir::{
    Axis, BinaryOp, Block, Builtin, Expr, ExprId, LocalId, Memory, ParamId, Scalar, Stmt, StmtId,
    Value,
};

use super::frame::Frame;
use super::guard_bounds::can_divide;
use super::names::param_name;
use super::{Writer, mixed};

/// The lanes of wide strips.
pub const WIDE: [u32; 3] = [256, 128, 64];

/// The lanes of a wide strip between which elements of a later turn are asked for.
const PART: u32 = 32;

/// Turns until elements that are asked for from the nearest cache are used; of several slices fewer. Strides often are
/// multiples of a page: then lines of all turns share the few places of one set.
const NEAR: usize = 2;

/// Turns until elements that are asked for from memory are used.
const FAR: usize = 8;

/// A loop that lanes take turns in.
#[derive(Clone, Copy)]
pub struct Turns {
    /// Where a lane is.
    pub counter: LocalId,
    /// Where it begins: lanes in a row differ by one.
    start: ExprId,
    /// It is below this.
    limit: ExprId,
    /// It advances by this.
    by: ExprId,
}

impl Writer<'_> {
    /// Is it such a loop, which all lanes enter and none leaves but by its condition? It has to be among statements that
    /// are run once, one after the other.
    pub fn turns(&self, among: &Uniformity, straight: &[StmtId], stmt: StmtId) -> Option<Turns> {
        let Stmt::Loop {
            cond: Some(cond),
            body,
            ..
        } = self.kernel.stmt(stmt)
        else {
            return None;
        };
        let (counter, limit) = self.below(cond)?;
        let by = self.advance(body, counter)?;
        let start = self.start(straight, stmt, counter)?;
        let fixed = self.is_fixed(limit)
            && self.is_fixed(by)
            && self.is_consecutive(Axis::X, start, &|added| self.is_fixed(added));
        let turns = Turns {
            counter,
            start,
            limit,
            by,
        };
        let fits = fixed && among.control(stmt) && !self.has_jumps(body);
        (fits && !self.is_small(by)).then_some(turns)
    }

    /// Is it no stride, but a step so small that a lane's elements are neighbours?
    fn is_small(&self, by: ExprId) -> bool {
        matches!(self.kernel.literal(by), Some(Value::Usize(step)) if step < u64::from(WIDE[2]))
    }

    /// The local that a condition holds to be below a value, and that value.
    fn below(&self, cond: ExprId) -> Option<(LocalId, ExprId)> {
        let Expr::Binary { op, lhs, rhs } = self.kernel.expr(cond) else {
            return None;
        };
        let (less, more) = match op {
            BinaryOp::Lt => (lhs, rhs),
            BinaryOp::Gt => (rhs, lhs),
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Le
            | BinaryOp::Ge => return None,
        };
        let local = self.as_local(less)?;
        let is_index = self.kernel.type_of(less) == Scalar::Usize;
        is_index.then_some((local, more))
    }

    fn as_local(&self, expr: ExprId) -> Option<LocalId> {
        if let Expr::Local(local) = self.kernel.expr(expr) {
            return Some(local);
        }
        None
    }

    /// What the last statement of a loop adds to the counter.
    fn advance(&self, body: Block, counter: LocalId) -> Option<ExprId> {
        let last = self.kernel.block(body).next_back()?;
        let Stmt::Assign { local, value } = self.kernel.stmt(last) else {
            return None;
        };
        let Expr::Binary {
            op: BinaryOp::Add,
            lhs,
            rhs,
        } = self.kernel.expr(value)
        else {
            return None;
        };
        let advances = local == counter && self.as_local(lhs) == Some(counter);
        advances.then_some(rhs)
    }

    /// What the counter is declared with, right where the loop stands, if nothing outside of the loop uses it and it is only
    /// written to advance.
    fn start(&self, straight: &[StmtId], looped: StmtId, counter: LocalId) -> Option<ExprId> {
        let (mut inside, mut all, mut writes) = (0, 0, 0);
        local_uses::stmt(self.kernel, looped, &mut |local, touch| {
            inside += usize::from(local == counter);
            writes += usize::from(local == counter && touch != LocalUse::Read);
        });
        for stmt in self.kernel.block(self.kernel.body) {
            local_uses::stmt(self.kernel, stmt, &mut |local, _| {
                all += usize::from(local == counter);
            });
        }
        let declared = straight.iter().any(|stmt| {
            matches!(self.kernel.stmt(*stmt), Stmt::Let { local, init: Some(_) } if local == counter)
        });
        let alone = declared && writes == 1 && all == inside + 1;
        self.values.get(counter).filter(|_| alone)
    }

    fn has_jumps(&self, body: Block) -> bool {
        self.kernel.block(body).any(|stmt| {
            let jumps = matches!(
                self.kernel.stmt(stmt),
                Stmt::Break { .. } | Stmt::Continue { .. } | Stmt::Return
            );
            let mut inner = local_uses::blocks(self.kernel, stmt).into_iter();
            jumps || inner.any(|b| self.has_jumps(b))
        })
    }

    /// Is it an index along an axis, to which something is added that is `fixed`?
    pub fn is_consecutive(&self, axis: Axis, expr: ExprId, fixed: &dyn Fn(ExprId) -> bool) -> bool {
        let expr = self.resolved(expr);
        match self.kernel.expr(expr) {
            Expr::Builtin(Builtin::GlobalThreadId) => axis == Axis::X,
            Expr::Builtin(Builtin::ThreadIdx(of) | Builtin::GlobalIdx(of)) => of == axis,
            Expr::Builtin(_) => false,
            Expr::Binary {
                op: BinaryOp::Add,
                lhs,
                rhs,
            } => {
                let index = |e| self.is_consecutive(axis, e, fixed);
                (index(lhs) && fixed(rhs)) || (fixed(lhs) && index(rhs))
            }
            Expr::Binary { .. }
            | Expr::Literal(_)
            | Expr::Link(_)
            | Expr::Local(_)
            | Expr::Param(_)
            | Expr::Len(_)
            | Expr::Load { .. }
            | Expr::Bounded { .. }
            | Expr::Unary { .. }
            | Expr::Divide { .. }
            | Expr::And { .. }
            | Expr::Or { .. }
            | Expr::Cast { .. }
            | Expr::Call { .. }
            | Expr::Compound(_)
            | Expr::Faulted => false,
        }
    }

    /// Is it the same for all lanes of a row, at any time, so that it may be evaluated before the loop?
    pub fn is_fixed(&self, expr: ExprId) -> bool {
        let itself = match self.kernel.expr(expr) {
            Expr::Literal(_)
            | Expr::Link(_)
            | Expr::Param(_)
            | Expr::Unary { .. }
            | Expr::Binary { .. }
            | Expr::Cast { .. } => true,
            Expr::Len(memory) => matches!(memory, Memory::Slice(_)),
            Expr::Builtin(builtin) => builtin.is_of_row(),
            Expr::Divide { rhs, .. } => can_divide(self.kernel, rhs),
            Expr::Call { args, .. } => {
                let mut types = self.kernel.list(args).map(|e| self.kernel.type_of(e));
                types.all(|ty| ty.as_scalar().is_some())
            }
            Expr::Local(local) => {
                let value = self.resolved(expr);
                return self.is_for_all(local) || value != expr && self.is_fixed(value);
            }
            Expr::And { .. }
            | Expr::Or { .. }
            | Expr::Load { .. }
            | Expr::Bounded { .. }
            | Expr::Compound(_)
            | Expr::Faulted => false,
        };
        let mut operands = self.kernel.operands(expr).into_iter();
        itself && operands.all(|e| self.is_fixed(e))
    }

    /// Can no index of the lanes from `__first` on wrap?
    pub fn is_exact(&self, turns: &Turns) -> TokenStream {
        let lets = self.declared_again(&[turns.start, turns.limit, turns.by]);
        let [start, limit, by] = [turns.start, turns.limit, turns.by].map(|e| self.expr(e));
        mixed! {{
            const __HALF: __usize = __usize::MAX / 2;
            let __thread = [__first, __y, __z];
            #lets
            let (__start, __limit): (__usize, __usize) = (#start, #limit);
            // A loop that is not entered evaluates no stride.
            __start <= __HALF && __limit <= __HALF && (__start >= __limit || #by <= __HALF)
        }}
    }

    /// The turns of a strip.
    pub fn take_turns(&self, frame: &Frame<'_>, node: &Node, turns: &Turns) -> TokenStream {
        let Node::Loop { stmt, body, .. } = node else {
            unreachable!("the node is a loop");
        };
        let read = self.read_in_turns(self.body_of(*stmt), turns.counter);
        let pointer = |param| {
            let (of, slice) = (self.slices(param), param_name(param));
            mixed!(#of::as_ptr(#slice))
        };
        let read: Vec<TokenStream> = read.into_iter().map(pointer).collect();
        let lane = Frame {
            turn: Some(turns.counter),
            ..frame.lane()
        };
        let writer = self.within(&lane);
        let bodies = body.iter().map(|node| {
            let Node::Region { id, stmts } = node else {
                unreachable!("a loop on whose turns lanes disagree holds no boundary");
            };
            let stmts = stmts.iter().map(|s| writer.stmt(*s));
            self.lane_body(&lane, *id, mixed!(#(#stmts)*))
        });
        let body = mixed!(#(#bodies)*);
        let lanes = |range: TokenStream| {
            mixed! {
                for __w in #range {
                    let __thread = [__thread[0] + __w, __thread[1], __thread[2]];
                    #body
                }
            }
        };
        let ask = |first: TokenStream, count: TokenStream| {
            mixed! {#(
                __host::prefetch(#read, __usize::wrapping_add(__later, #first), #count);
                __host::prefetch_far(#read, __usize::wrapping_add(__much_later, #first), #count);
            )*}
        };
        let all = if frame.wide {
            let part = Literal::u32_unsuffixed(PART);
            let (some, last) = (mixed!(#part), mixed!(__STRIP - 1));
            let (ask, ask_last) = (ask(mixed!(__part), some), ask(last, mixed!(1)));
            let lanes = lanes(mixed!(__part..__part + #part));
            mixed! {
                // Elements that do not begin with a line end in one more.
                #ask_last
                for __part in 0..__STRIP / #part {
                    let __part = __part * #part;
                    #ask
                    #lanes
                }
            }
        } else {
            // All lanes of it are in registers.
            let (ask, lanes) = (ask(mixed!(0), mixed!(__STRIP)), lanes(mixed!(0..__STRIP)));
            mixed!(#ask #lanes)
        };
        let some = lanes(mixed!(0..__count));
        // Slices share what the caches hold.
        let [near, far] = [NEAR, FAR].map(|turns| turns.div_ceil(read.len().max(1)));
        let [near, far] = [near, far].map(Literal::usize_unsuffixed);
        let once = self.within(frame);
        let (limit, by) = (once.expr(turns.limit), once.expr(turns.by));
        let counters = frame.array(turns.counter);
        mixed! {
            let mut __turn: __usize = *<[_]>::get_unchecked(#counters, 0);
            let __limit: __usize = #limit;
            while __turn < __limit {
                let __by: __usize = #by;
                let __count = ::core::cmp::Ord::min(__STRIP, __limit - __turn);
                if __count == __STRIP {
                    let __later = __usize::wrapping_add(__turn, __usize::wrapping_mul(__by, #near));
                    let __much_later = __usize::wrapping_add(__turn, __usize::wrapping_mul(__by, #far));
                    #all
                } else {
                    #some
                }
                __turn += __by;
            }
        }
    }

    /// The slices of which each lane reads the element that the counter tells.
    fn read_in_turns(&self, body: Block, counter: LocalId) -> BTreeSet<ParamId> {
        let mut found = BTreeSet::new();
        let mut open: Vec<ExprId> = vec![];
        for stmt in self.kernel.block(body) {
            self.operands_of_all(stmt, &mut open);
        }
        while let Some(expr) = open.pop() {
            open.extend(self.kernel.operands(expr));
            if let Expr::Load {
                memory: Memory::Slice(param),
                index,
                ..
            } = self.kernel.expr(expr)
                && self.as_local(self.resolved(index)) == Some(counter)
            {
                found.insert(param);
            }
        }
        found
    }

    fn operands_of_all(&self, stmt: StmtId, found: &mut Vec<ExprId>) {
        found.extend(local_uses::operands(self.kernel, stmt));
        for block in local_uses::blocks(self.kernel, stmt) {
            for inner in self.kernel.block(block) {
                self.operands_of_all(inner, found);
            }
        }
    }
}
