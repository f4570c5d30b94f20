//! Grid-stride loops in strips: `while i < n { …; i += global_dim_x() }`.
//!
//! In each iteration, called a *turn*, adjacent lanes access adjacent elements, while a lane's own
//! elements lie far apart. A strip takes the turns together. Its lanes begin at consecutive indices
//! and advance by the same stride. One counter, that of the first lane, therefore determines the
//! indices of all lanes, and how many lanes take part in a turn. No lane is tested by itself.
//!
//! Such a strip is wide, so that a turn reads a long stretch of memory. The values that lanes keep
//! between turns lie in the L1 cache, which costs less than memory does. Elements of later turns
//! are prefetched part by part beside the work. The processor does not predict a stretch that lies
//! far from the last one. Without prefetching, updates whose address depends on late elements also
//! delay each other.
//!
//! Indices are compared as numbers, not modulo the word size. If the start, the limit or the stride
//! is so large that an index could wrap, strips are not used.

use std::collections::BTreeSet;

use proc_macro2::{Literal, TokenStream};
use sarek_ir::analysis::linear::Guard;
use sarek_ir::analysis::local_uses::{self, LocalUse};
use sarek_ir::analysis::regions::Node;
use sarek_ir::analysis::uniformity::Uniformity;
use sarek_ir::facts::{Hazard, Reads, Work};
use sarek_ir::{
    Axis, BinaryOp, Block, Expr, ExprId, LocalId, Memory, ParamId, Scalar, Stmt, StmtId, Value,
};

use super::frame::Frame;
use super::lane_index::{LaneIndex, LaneIndices};
use super::names::param_name;
use super::{Writer, mixed};

/// The numbers of lanes in wide strips.
pub const WIDE: [u32; 3] = [256, 128, 64];

/// The lanes of a wide strip that run between two prefetches for a later turn.
const PART: u32 = 32;

/// Turns ahead for prefetches into the nearest cache; fewer with several slices. Strides are often
/// multiples of a page, so the lines of all turns compete for the few ways of one cache set.
const NEAR: usize = 2;

/// Turns ahead for prefetches from memory.
const FAR: usize = 8;

/// A grid-stride loop.
#[derive(Clone, Copy)]
pub struct Turns {
    /// The lane's index.
    pub counter: LocalId,
    /// The initial index, which differs by one between adjacent lanes.
    start: ExprId,
    /// The upper bound of the index.
    limit: ExprId,
    /// The stride.
    by: ExprId,
}

impl Writer<'_> {
    /// Recognizes a grid-stride loop that all lanes enter and that none leaves except by its
    /// condition. The loop must be among `straight`, statements that run once, one after the other.
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
        let index = self.lane_index(start, &|value| self.is_fixed(value));
        let is_consecutive = index.is_some_and(|index| index.is_along(Axis::X));
        let fixed = self.is_fixed(limit) && self.is_fixed(by) && is_consecutive;
        let turns = Turns {
            counter,
            start,
            limit,
            by,
        };
        let fits = fixed && among.control(stmt) && !self.has_jumps(body);
        (fits && !self.is_small(by)).then_some(turns)
    }

    /// True for a step that is so small that a lane's elements are neighbours.
    fn is_small(&self, by: ExprId) -> bool {
        matches!(self.kernel.literal(by), Some(Value::Usize(step)) if step < u64::from(WIDE[2]))
    }

    /// Splits a condition `local < value` into the local and the value.
    fn below(&self, cond: ExprId) -> Option<(LocalId, ExprId)> {
        let Guard::Compare(comparison) = Guard::of(self.kernel, cond, true) else {
            return None;
        };
        let [less, more] = comparison.strictly_ordered()?;
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

    /// The value that the last statement of a loop adds to the counter.
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

    /// The initial value of the counter, if it is declared among `straight`, is used only in the
    /// loop, and is written only to advance.
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
        let mut inner = self.kernel.stmts_in(self.kernel.block(body));
        inner.any(|stmt| self.kernel.stmt(stmt).facts().flow.is_jump())
    }

    /// The index that an expression denotes, plus a value for which `fixed` holds.
    pub fn lane_index(&self, expr: ExprId, fixed: &dyn Fn(ExprId) -> bool) -> Option<LaneIndex> {
        let mut indices = LaneIndices {
            kernel: self.kernel,
            values: self.values,
            agreed: fixed,
        };
        indices.index(expr)
    }

    /// True if the value is the same for all lanes of a row at any time, so that it may be
    /// evaluated before the loop. It may overflow: then the loop would overflow, too.
    pub fn is_fixed(&self, expr: ExprId) -> bool {
        let facts = self.kernel.expr(expr).facts();
        let is_same = match facts.reads {
            Reads::Len(memory) => matches!(memory, Memory::Slice(_)),
            Reads::Id(builtin) => builtin.is_of_row(),
            Reads::Local(local) => {
                let value = self.resolved(expr);
                self.is_for_all(local) || value != expr && self.is_fixed(value)
            }
            Reads::Memory(_) | Reads::Faults => false,
            Reads::Operands | Reads::Constant => true,
            Reads::Param(param) => self.is_param_of_all(param),
        };
        let operands = self.kernel.operands(expr);
        let is_simple = match facts.work {
            Work::Leaf | Work::Operator => true,
            Work::Call(_) => {
                let mut types = operands.iter().map(|e| self.kernel.type_of(*e));
                types.all(|ty| ty.as_scalar().is_some())
            }
            Work::ShortCircuit | Work::Load | Work::Compound => false,
        };
        is_same
            && is_simple
            && self.kernel.hazard(expr) != Hazard::Fault
            && operands.into_iter().all(|e| self.is_fixed(e))
    }

    /// A test that no index of the lanes from `__first` on can wrap.
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
                // Elements that do not begin at a cache line extend into one more line.
                #ask_last
                for __part in 0..__STRIP / #part {
                    let __part = __part * #part;
                    #ask
                    #lanes
                }
            }
        } else {
            // All lanes of the strip fit in registers.
            let (ask, lanes) = (ask(mixed!(0), mixed!(__STRIP)), lanes(mixed!(0..__STRIP)));
            mixed!(#ask #lanes)
        };
        let some = lanes(mixed!(0..__count));
        // Several slices share the capacity of the caches.
        let [near, far] = [NEAR, FAR].map(|turns| turns.div_ceil(read.len().max(1)));
        let [near, far] = [near, far].map(Literal::usize_unsuffixed);
        let once = self.within(frame);
        // A local of the loop's body may hold the stride.
        let [limit, by] = [turns.limit, turns.by].map(|of| {
            let (lets, value) = (once.declared_again(&[of]), once.expr(of));
            mixed!({ #lets #value })
        });
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

    /// The slices of which each lane reads the element at the counter.
    fn read_in_turns(&self, body: Block, counter: LocalId) -> BTreeSet<ParamId> {
        let stmts = self.kernel.stmts_in(self.kernel.block(body));
        let exprs = stmts.flat_map(|stmt| self.kernel.exprs_in(self.kernel.operands_of(stmt)));
        let mut found = BTreeSet::new();
        for expr in exprs {
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
}
