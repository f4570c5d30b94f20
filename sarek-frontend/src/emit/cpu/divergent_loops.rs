//! Divergent loops in strips: loops that lanes leave at different iterations, run by predication.
//!
//! If one lane after another runs `while x[w] < 4 { … }`, the code is scalar. Here all lanes of a
//! strip take each step together, until none is left. The values that a lane computes after it left
//! are discarded by a select, `x[w] = if on { new } else { x[w] }`. The loop over the strip
//! therefore has no branch. This is the if-conversion of whole-function vectorization (Karrenberg
//! and Hack, 2011).
//!
//! Masks are integers of all ones or all zeros, as vector comparisons yield them: LLVM keeps vectors
//! of `bool` in narrower registers. Two kinds of values need no select. A value that nothing reads
//! after the loop may be anything in a lane that left. A value that is the same in all lanes that
//! have not left, such as a count of turns, is computed once for the strip.
//!
//! A lane that left still computes. Only operations that cannot fault or panic and are fast are
//! therefore accepted: arithmetic on locals. An integer operation that panics on overflow does so
//! only for lanes that have not left ([`Writer::guarded`]).

use std::collections::HashSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::format_ident;
use sarek_ir::analysis::local_uses::{self, LocalUse};
use sarek_ir::analysis::regions::Node;
use sarek_ir::analysis::uniformity::Uniformity;
use sarek_ir::facts::{BinaryKind, Flow, Hazard, Reads, Work};
use sarek_ir::{
    Arithmetic, BinaryOp, Block, Expr, ExprId, Intrinsic, LabelId, LocalId, Memory, Scalar, Stmt,
    StmtId,
};

use super::frame::Frame;
use super::loops::{Head, LoopParts};
use super::names::rust_type;
use super::{Writer, mixed};

impl Writer<'_> {
    /// True if the lanes of a strip can take the steps of this loop together.
    pub fn can_mask(&self, among: &Uniformity, stmt: StmtId) -> bool {
        among.control(stmt)
            && match self.kernel.stmt(stmt) {
                Stmt::Loop { label, cond, body } => {
                    cond.is_none_or(|cond| self.is_free(cond)) && self.can_select(label, body)
                }
                Stmt::For {
                    label,
                    start,
                    end,
                    body,
                    ..
                } => {
                    let bounds = [start, end].iter().all(|e| among.expr(*e));
                    bounds && self.can_select(label, body)
                }
                other => {
                    debug_assert_eq!(other.loop_label(), None);
                    false
                }
            }
    }

    fn can_select(&self, label: LabelId, body: Block) -> bool {
        self.kernel.block(body).all(|id| {
            let stmt = self.kernel.stmt(id);
            let allowed = match stmt.facts().flow {
                Flow::Break(of) | Flow::Continue(of) => of == label,
                Flow::Branch => true,
                Flow::Next => match stmt {
                    Stmt::Let { local, .. } => {
                        self.kernel.locals[local.index()].ty.as_scalar().is_some()
                    }
                    other => matches!(other, Stmt::Assign { .. }),
                },
                Flow::Loop(_) | Flow::Return | Flow::Panic => false,
            };
            let mut values = self.kernel.operands_of(id).into_iter();
            let mut inner = self.kernel.blocks_of(id).into_iter();
            allowed
                && values.all(|value| self.is_free(value))
                && inner.all(|block| self.can_select(label, block))
        })
    }

    /// True if a lane that has left may evaluate the expression.
    fn is_free(&self, expr: ExprId) -> bool {
        self.kernel.exprs_in([expr]).all(|e| self.is_free_node(e))
    }

    fn is_free_node(&self, id: ExprId) -> bool {
        let kernel = self.kernel;
        let expr = kernel.expr(id);
        let facts = expr.facts();
        let is_at_hand = match facts.reads {
            Reads::Len(Memory::Local(_) | Memory::Table(_)) | Reads::Memory(_) | Reads::Faults => {
                false
            }
            Reads::Len(Memory::Slice(_) | Memory::Shared(_))
            | Reads::Operands
            | Reads::Constant
            | Reads::Param(_)
            | Reads::Id(_)
            | Reads::Local(_) => true,
        };
        let is_quick = match facts.work {
            Work::Leaf | Work::ShortCircuit => true,
            // The remainder of floats is a call.
            Work::Operator => !matches!(
                expr,
                Expr::Binary {
                    op: BinaryOp::Rem,
                    ..
                }
            ),
            Work::Call(intrinsic) => {
                let on = kernel.type_of(kernel.operands(id)[0]).as_scalar();
                is_quick(intrinsic) && on.is_some_and(Scalar::is_float)
            }
            Work::Load | Work::Compound => false,
        };
        let is_safe = match kernel.hazard(id) {
            Hazard::None => true,
            Hazard::Overflow(arithmetic) => match arithmetic {
                // These wrap for lanes that are off.
                Arithmetic::Add | Arithmetic::Sub | Arithmetic::Mul => true,
                Arithmetic::Shl | Arithmetic::Shr => {
                    kernel.literal(kernel.operands(id)[1]).is_some()
                }
                Arithmetic::Neg | Arithmetic::Abs | Arithmetic::Pow => false,
            },
            Hazard::Fault => false,
        };
        kernel.type_of(id).as_scalar().is_some() && is_at_hand && is_quick && is_safe
    }

    /// A loop of a strip, run step by step.
    pub fn steps(&self, frame: &Frame<'_>, node: &Node) -> TokenStream {
        let Node::Loop {
            stmt,
            masked: Some(masked),
            body,
            ..
        } = node
        else {
            unreachable!("the node is a masked loop");
        };
        let parts = LoopParts::of(self, *stmt);
        let mut lane = frame.lane();
        let same = self.same_in_lanes(frame, *stmt);
        lane.same = same.iter().map(|same| same.local).collect();
        lane.discarded = self.discarded(*stmt);
        let lane = lane;
        let writer = Writer {
            guarded: true,
            ..self.within(&lane)
        };
        // The loop contains no boundary.
        let mut regions = vec![masked.cond];
        for node in body {
            if let Node::Region { id, .. } = node {
                regions.push(*id);
            }
        }
        let (fetch, keep) = (
            self.fetch_all(&lane, &regions),
            self.keep_all(&lane, &regions),
        );
        let live = frame.mask_name(masked.live);
        let (block, head) = match parts.head {
            Head::While(cond) => (self.body_of(*stmt), cond.map(|cond| writer.expr(cond))),
            Head::For(..) => (self.body_of(*stmt), None),
        };
        let head = head.map(|cond| {
            mixed! {
                let __p = __host::is_on(__on);
                __on = __on & __host::lane_mask(#cond);
                __live = __on;
            }
        });
        let counter = match parts.head {
            Head::For(local, _) => {
                let local = self.local(local);
                Some(mixed!(let #local = __counter;))
            }
            Head::While(_) => None,
        };
        let stmts = writer.select(block, &None);
        let step = self.lanes(
            frame,
            None,
            mixed! {
                #fetch
                #counter
                let mut __live: __u32 = #live[__w];
                let mut __on = __live;
                #head
                #stmts
                #live[__w] = __live;
                __any |= __live;
                #keep
            },
        );
        let once = self.within(frame);
        let each = match parts.head {
            Head::While(_) => mixed!(loop),
            Head::For(_, bounds) => {
                let [start, end] = bounds.map(|e| once.expr(e));
                mixed!(for __counter in (#start..#end))
            }
        };
        let begin = same.iter().map(|same| {
            let (name, ty) = (same_name(same.local), self.local_type(same.local));
            let (lets, init) = (once.declared_again(&[same.init]), once.expr(same.init));
            mixed!(let mut #name: #ty = { #lets #init };)
        });
        let wrapping = Writer {
            guarded: true,
            ..once
        };
        let next = same.iter().map(|same| {
            let (name, local) = (same_name(same.local), self.local(same.local));
            let value = wrapping.expr(same.next);
            mixed!(#name = { let (#local, __p) = (#name, false); #value };)
        });
        mixed! {
            let mut #live = [__u32::MAX; __STRIP];
            #(#begin)*
            #each {
                let mut __any: __u32 = 0;
                #step
                if __any == 0 { break; }
                #(#next)*
            }
        }
    }

    /// The locals that have one value in all lanes that have not left a loop, such as a count of its
    /// turns. They begin with the same value, and each turn changes them once, in the same way.
    fn same_in_lanes(&self, frame: &Frame<'_>, stmt: StmtId) -> Vec<Same> {
        let body = self.body_of(stmt);
        if self.continues(stmt) {
            return vec![];
        }
        let once = self.within(frame);
        let each = self.kernel.block(body).filter_map(|id| {
            let Stmt::Assign { local, value } = self.kernel.stmt(id) else {
                return None;
            };
            let is_scalar = self.kernel.locals[local.index()].ty.as_scalar().is_some();
            let init = self
                .values
                .get(local)
                .filter(|_| self.is_beside(local, stmt))?;
            let is_same = |expr: ExprId| {
                let mut exprs = self.kernel.exprs_in([expr]);
                exprs.all(|e| match self.kernel.expr(e).facts().reads {
                    Reads::Local(of) => of == local || once.is_uniform(e),
                    Reads::Operands => true,
                    Reads::Constant
                    | Reads::Param(_)
                    | Reads::Len(_)
                    | Reads::Id(_)
                    | Reads::Memory(_)
                    | Reads::Faults => once.is_uniform(e),
                })
            };
            let fits = once.is_kept(local)
                && is_scalar
                && self.writes(local) == 1
                && once.is_uniform(init)
                && is_same(value);
            fits.then_some(Same {
                local,
                init,
                next: value,
            })
        });
        each.collect()
    }

    /// The locals whose values are of no interest in lanes that have left the loop.
    fn discarded(&self, stmt: StmtId) -> HashSet<LocalId> {
        if self.continues(stmt) {
            return HashSet::new();
        }
        let inside: HashSet<StmtId> = self.kernel.stmts_in([stmt]).collect();
        let mut reads = HashSet::new();
        for id in (0..self.kernel.stmts.len() as u32).map(StmtId) {
            local_uses::itself(self.kernel, id, &mut |local, used| {
                if used == LocalUse::Read && !inside.contains(&id) {
                    reads.insert(local);
                }
            });
        }
        let locals = (0..self.kernel.locals.len() as u32).map(LocalId);
        let unread = locals.filter(|local| !reads.contains(local));
        unread
            .filter(|local| self.is_beside(*local, stmt))
            .collect()
    }

    /// True if a local is declared in the same block as a statement, so that each run of the
    /// statement follows a declaration.
    pub fn is_beside(&self, local: LocalId, stmt: StmtId) -> bool {
        let declares = |id: StmtId| self.kernel.stmt(id).facts().declares == Some(local);
        let blocks = (0..self.kernel.stmts.len() as u32).map(StmtId);
        let blocks = blocks.flat_map(|id| self.kernel.blocks_of(id));
        let mut blocks = blocks.chain([self.kernel.body]);
        blocks.any(|block| {
            let mut stmts = self.kernel.block(block);
            stmts.any(declares) && self.kernel.block(block).any(|id| id == stmt)
        })
    }

    /// The number of assignments to a local, besides its declaration.
    pub fn writes(&self, local: LocalId) -> usize {
        let all = (0..self.kernel.stmts.len() as u32).map(StmtId);
        let writes = all.filter(|id| {
            let mut writes = false;
            local_uses::itself(self.kernel, *id, &mut |of, used| {
                writes |= of == local && used == LocalUse::Write;
            });
            writes
        });
        writes.count()
    }

    /// True if a lane may go on with the next turn of a loop from inside of a turn.
    fn continues(&self, stmt: StmtId) -> bool {
        let mut inner = self.kernel.stmts_in([stmt]);
        inner.any(|id| matches!(self.kernel.stmt(id).facts().flow, Flow::Continue(_)))
    }

    pub fn body_of(&self, stmt: StmtId) -> Block {
        let [body] = self.kernel.blocks_of(stmt)[..] else {
            unreachable!("a loop has one body");
        };
        body
    }

    /// Statements whose effects count only for the lanes that are on and for which `branch` holds.
    fn select(&self, block: Block, branch: &Option<Ident>) -> TokenStream {
        let each = self.kernel.block(block).map(|stmt| {
            let itself = self.select_stmt(stmt, branch.is_none());
            let here = here(branch);
            mixed!(let __here = #here; let __p = __host::is_on(__here); #itself)
        });
        each.collect()
    }

    /// A statement of the loop's body. `always` is true if all lanes that have not left run it.
    fn select_stmt(&self, id: StmtId, always: bool) -> TokenStream {
        match self.kernel.stmt(id) {
            Stmt::Let { local, init } if self.is_kept(local) => {
                let init = init.map(|init| self.expr(init));
                init.map(|init| self.select_value(local, init, always))
                    .unwrap_or_default()
            }
            Stmt::Let { local, init } => self.declare(local, init, Span::mixed_site()),
            Stmt::Assign { local, value } => self.select_value(local, self.expr(value), always),
            Stmt::If {
                cond,
                then,
                otherwise,
            } => {
                let cond = self.expr(cond);
                let yes = format_ident!("__yes{}", id.0, span = Span::mixed_site());
                let no = format_ident!("__no{}", id.0, span = Span::mixed_site());
                let (then, otherwise) = (
                    self.select(then, &Some(yes.clone())),
                    self.select(otherwise, &Some(no.clone())),
                );
                // The braces keep the branches' locals apart.
                mixed! {
                    let __cond = __host::lane_mask(#cond);
                    let #yes = __here & __cond;
                    let #no = __here & !__cond;
                    { #then }
                    { #otherwise }
                }
            }
            Stmt::Break { .. } => mixed!(__live = __live & !__here; __on = __on & !__here;),
            Stmt::Continue { .. } => mixed!(__on = __on & !__here;),
            other => unreachable!("`can_select` rejects {other:?}"),
        }
    }

    /// Gives a local a value in the lanes that are on.
    fn select_value(&self, local: LocalId, value: TokenStream, always: bool) -> TokenStream {
        let name = self.local(local);
        let frame = self.frame.filter(|_| always);
        let discards = frame.is_some_and(|f| f.discarded.contains(&local));
        if let Some(frame) = frame.filter(|f| f.same.contains(&local)) {
            // The lanes that have left keep their last value in the array.
            let (array, position) = (frame.array(local), frame.position());
            let keep = (!discards).then(|| {
                mixed! {
                    let __kept = <[_]>::get_unchecked_mut(#array, #position);
                    *__kept = if __p { #name } else { *__kept };
                }
            });
            return mixed!(#name = #value; #keep);
        }
        match discards {
            true => mixed!(#name = #value;),
            false => mixed!(#name = { let __new = #value; if __p { __new } else { #name } };),
        }
    }

    /// An integer operator that may overflow. If overflow panics, it does so only for lanes that
    /// are on.
    pub fn guarded_operator(
        &self,
        op: BinaryOp,
        lhs: ExprId,
        rhs: ExprId,
        plain: &TokenStream,
    ) -> Option<TokenStream> {
        let ty = self.kernel.type_of(lhs).as_scalar();
        let ty = ty.filter(|ty| self.guarded && ty.is_int())?;
        let BinaryKind::Arithmetic(arithmetic) = op.kind() else {
            return None;
        };
        let wrapping = match arithmetic {
            Arithmetic::Add => "wrapping_add",
            Arithmetic::Sub => "wrapping_sub",
            Arithmetic::Mul => "wrapping_mul",
            Arithmetic::Shl
            | Arithmetic::Shr
            | Arithmetic::Neg
            | Arithmetic::Abs
            | Arithmetic::Pow => return None,
        };
        let (wrapping, ty) = (Ident::new(wrapping, Span::mixed_site()), rust_type(ty));
        let (lhs, rhs) = (self.expr(lhs), self.expr(rhs));
        Some(mixed! {{
            let (__lhs, __rhs): (#ty, #ty) = (#lhs, #rhs);
            if __p { __lhs #plain __rhs } else { #ty::#wrapping(__lhs, __rhs) }
        }})
    }
}

/// A local with one value in all lanes that have not left a loop.
struct Same {
    local: LocalId,
    /// Its value before the loop.
    init: ExprId,
    /// Its value after a turn.
    next: ExprId,
}

/// The variable that holds such a value at the beginning of a turn.
pub fn same_name(local: LocalId) -> Ident {
    format_ident!("__same{}", local.0, span = Span::mixed_site())
}

/// The mask of the lane, in this branch.
fn here(branch: &Option<Ident>) -> TokenStream {
    match branch {
        Some(branch) => mixed!(__on & #branch),
        None => mixed!(__on),
    }
}

/// True if the processor computes it in a few instructions.
fn is_quick(intrinsic: Intrinsic) -> bool {
    matches!(
        intrinsic,
        Intrinsic::Abs
            | Intrinsic::Min
            | Intrinsic::Max
            | Intrinsic::Clamp
            | Intrinsic::Sqrt
            | Intrinsic::Rsqrt
            | Intrinsic::Floor
            | Intrinsic::Ceil
            | Intrinsic::Trunc
            | Intrinsic::Copysign
            | Intrinsic::IsNan
            | Intrinsic::IsInfinite
            | Intrinsic::IsFinite
    )
}
