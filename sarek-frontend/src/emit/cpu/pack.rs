//! Packing: what all rows of a tile read in a loop, `b[k * n + x]`, is copied once for each column of strips.
//!
//! Successive turns of such a loop read a part of each row of a matrix. These parts lie far apart, at the same places of
//! the cache's sets if rows have a power of two of elements, so they would be read from memory again for each
//! strip. The copy is contiguous and stays in the cache (Goto and van de Geijn, 2008). Blocks are tall then, so that
//! many strips read it.

use std::collections::BTreeMap;

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::format_ident;
use sarek_ir::facts::{Flow, Hazard, Reads, Work};
use sarek_ir::{
    Access, Axis, BinaryOp, Builtin, Expr, ExprId, LocalId, Memory, Scalar, Stmt, StmtId, Value,
};

use super::names::rust_type;
use super::strip_mine::Moved;
use super::{Writer, mixed};

/// The distance of elements in successive turns from which on a copy is worth its time.
const FAR: u64 = 64;

/// The most turns of a loop whose elements are copied. Tiles with longer loops run in other strips.
const TURNS: u64 = 1 << 14;

/// A loop that reads elements which depend on its counter and on the column.
#[derive(Clone)]
pub struct Pack {
    counter: LocalId,
    bounds: [ExprId; 2],
    loads: Vec<ExprId>,
}

impl Writer<'_> {
    /// True if the lanes of a body without barriers run in tiles that copy elements.
    pub fn packs(&self) -> bool {
        if !self.shapes.strips || self.kernel.block.is_some() || !self.joint.is_empty() {
            return false;
        }
        if !self.plan().tree.is_whole() {
            return false;
        }
        let ids: Vec<StmtId> = self.kernel.block(self.kernel.body).collect();
        let live = self.live(&ids);
        let plan = self.strip_plan(None, &live, true);
        plan.is_some_and(|(_, moved)| !self.packs_of(&live, &moved).is_empty())
    }

    /// The loops among statements that all lanes run, whose elements are copied.
    pub fn packs_of(&self, stmts: &[StmtId], moved: &Moved) -> Vec<Pack> {
        let is_plain = moved.steps.is_empty() && moved.turns.is_empty();
        let is_fit = is_plain && self.shapes.stacks && self.kernel.block.is_none();
        if !is_fit
            || !self.strip_guards(stmts).inside.is_empty()
            || self.tile(stmts, moved).is_none()
        {
            return vec![];
        }
        let before = stmts.iter().take_while(|stmt| !self.returns(&[**stmt]));
        let each = before.filter(|stmt| moved.loops.contains(stmt));
        each.filter_map(|stmt| self.pack(*stmt)).collect()
    }

    fn pack(&self, stmt: StmtId) -> Option<Pack> {
        let Stmt::For {
            local: counter,
            start,
            end,
            body,
            ..
        } = self.kernel.stmt(stmt)
        else {
            return None;
        };
        let bounds = [start, end];
        let is_index = matches!(
            self.kernel.locals[counter.index()].ty.as_scalar(),
            Some(Scalar::Usize | Scalar::U32 | Scalar::U64)
        );
        let is_known = bounds.iter().all(|bound| self.is_of_tile(*bound, None));
        let inside: Vec<StmtId> = self.kernel.block(body).collect();
        let jumps = self.kernel.stmts_in(inside.iter().copied()).any(|id| {
            match self.kernel.stmt(id).facts().flow {
                Flow::Break(_) | Flow::Continue(_) | Flow::Return | Flow::Panic => true,
                Flow::Next | Flow::Branch | Flow::Loop(_) => false,
            }
        });
        if !is_index || !is_known || jumps {
            return None;
        }
        let mut loads = vec![];
        for stmt in inside {
            let runs_once = match self.kernel.stmt(stmt).facts().flow {
                Flow::Next => true,
                Flow::Branch
                | Flow::Loop(_)
                | Flow::Break(_)
                | Flow::Continue(_)
                | Flow::Return
                | Flow::Panic => false,
            };
            for operand in self
                .kernel
                .operands_of(stmt)
                .into_iter()
                .filter(|_| runs_once)
            {
                self.loads_to_pack(operand, counter, &mut loads);
            }
        }
        (!loads.is_empty()).then_some(Pack {
            counter,
            bounds,
            loads,
        })
    }

    /// Finds the loads that are always evaluated with an expression.
    fn loads_to_pack(&self, expr: ExprId, counter: LocalId, found: &mut Vec<ExprId>) {
        match self.kernel.expr(expr).facts().work {
            Work::ShortCircuit | Work::Compound => return,
            Work::Load if self.is_packed(expr, counter) => found.push(expr),
            Work::Leaf | Work::Operator | Work::Call(_) | Work::Load => {}
        }
        for operand in self.kernel.operands(expr) {
            self.loads_to_pack(operand, counter, found);
        }
    }

    /// True for a load of scalars of which neighbouring columns read neighbours, and successive turns distant ones.
    fn is_packed(&self, expr: ExprId, counter: LocalId) -> bool {
        let Expr::Load {
            memory: memory @ Memory::Slice(_),
            index,
            ..
        } = self.kernel.expr(expr)
        else {
            return false;
        };
        let is_number = match self.kernel.type_of(expr).as_scalar() {
            Some(Scalar::Bool) | None => false,
            Some(_) => true,
        };
        let agreed = |value: ExprId| self.is_of_tile(value, Some(counter));
        let along_x = || {
            let index = self.lane_index(index, &agreed);
            index.is_some_and(|index| index.is_along(Axis::X))
        };
        is_number
            && self.kernel.access(memory) == Access::Read
            && self.is_far(index, counter)
            && along_x()
    }

    /// True if the counter is multiplied by something that may be large.
    fn is_far(&self, index: ExprId, counter: LocalId) -> bool {
        let index = self.resolved(index);
        let counts = |expr: ExprId| {
            let mut all = self.kernel.exprs_in([expr]);
            all.any(|e| self.kernel.expr(e) == Expr::Local(counter))
        };
        let is_long = |by: ExprId| {
            let is_short = |n: Value| matches!(n, Value::Usize(n) if n < FAR);
            !counts(by) && !self.kernel.literal(by).is_some_and(is_short)
        };
        let Expr::Binary { op, lhs, rhs } = self.kernel.expr(index) else {
            return false;
        };
        if op == BinaryOp::Mul {
            return counts(lhs) && is_long(rhs) || counts(rhs) && is_long(lhs);
        }
        op == BinaryOp::Add && (self.is_far(lhs, counter) || self.is_far(rhs, counter))
    }

    /// True if the value is the same for all lanes of a block in a turn of the loop with this counter, and can be
    /// evaluated before the lanes run.
    fn is_of_tile(&self, expr: ExprId, counter: Option<LocalId>) -> bool {
        if counter.is_some_and(|counter| self.kernel.expr(expr) == Expr::Local(counter)) {
            return true;
        }
        let facts = self.kernel.expr(expr).facts();
        let is_same = match facts.reads {
            Reads::Len(memory) => matches!(memory, Memory::Slice(_)),
            Reads::Id(builtin) => match builtin {
                Builtin::BlockIdx(_)
                | Builtin::BlockDim(_)
                | Builtin::GridDim(_)
                | Builtin::GlobalDim(_) => true,
                Builtin::ThreadIdx(_)
                | Builtin::GlobalIdx(_)
                | Builtin::GlobalThreadId
                | Builtin::SubgroupSize
                | Builtin::SubgroupLane => false,
            },
            Reads::Local(_) => {
                let value = self.resolved(expr);
                value != expr && self.is_of_tile(value, counter)
            }
            Reads::Memory(_) | Reads::Faults => false,
            Reads::Operands | Reads::Constant => true,
            Reads::Param(param) => self.is_param_of_all(param),
        };
        let is_simple = match facts.work {
            Work::Leaf | Work::Operator => true,
            Work::Call(_) | Work::ShortCircuit | Work::Load | Work::Compound => false,
        };
        let mut operands = self.kernel.operands(expr).into_iter();
        is_same
            && is_simple
            && self.kernel.hazard(expr) != Hazard::Fault
            && operands.all(|e| self.is_of_tile(e, counter))
    }

    /// Before the columns of strips: the bounds of the loops, and the memory of the copies. Also the tests under which
    /// copies are small.
    pub fn pack_memory(&self, packs: &[Pack], row: u32) -> (TokenStream, TokenStream) {
        let (mut tests, mut memory) = (TokenStream::new(), TokenStream::new());
        for pack in packs {
            let [first, turns] = [first_name(pack), turns_name(pack)];
            let lets = self.declared_again(&pack.bounds);
            let [start, end] = pack.bounds.map(|bound| self.expr(bound));
            let most = Literal::u64_unsuffixed(TURNS);
            tests.extend(mixed! {
                let (#first, #turns) = if __short {
                    #lets
                    let (__start, __end) = (#start, #end);
                    (__start, if __end > __start { (__end - __start) as __usize } else { 0 })
                } else {
                    (0, 0)
                };
                __short &= #turns <= #most;
            });
            let row = Literal::u32_unsuffixed(row);
            for load in &pack.loads {
                let (name, ty) = (pack_name(*load), rust_type(self.kernel.scalar_of(*load)));
                memory.extend(mixed! {
                    let #name = __host::Scratch::slice::<#ty>(__scratch, #turns * #row);
                });
            }
        }
        (tests, memory)
    }

    /// Copies what the strips of a column read.
    pub fn fill_packs(&self, packs: &[Pack], row: u32) -> TokenStream {
        let row = Literal::u32_unsuffixed(row);
        let each = packs.iter().map(|pack| {
            let [first, turns] = [first_name(pack), turns_name(pack)];
            let counter = self.local(pack.counter);
            let ty = self.local_type(pack.counter);
            let lets = self.declared_again(&pack.loads);
            let copies = pack.loads.iter().map(|load| {
                let (name, value) = (pack_name(*load), self.expr(*load));
                mixed!(*<[_]>::get_unchecked_mut(#name, __turn * #row + __v) = #value;)
            });
            mixed! {
                let mut __turn = 0;
                while __turn < #turns {
                    let #counter: #ty = #first + __turn as #ty;
                    for __v in 0..#row {
                        let __thread = [__first + __v, 0, __z];
                        #lets
                        #(#copies)*
                    }
                    __turn += 1;
                }
            }
        });
        mixed!(#({ #each })*)
    }

    /// The places of copied elements in the lanes of a strip.
    pub fn packed_loads(&self, packs: &[Pack], row: u32) -> BTreeMap<ExprId, TokenStream> {
        let row = Literal::u32_unsuffixed(row);
        let each = packs.iter().flat_map(|pack| {
            let (first, counter) = (first_name(pack), self.local(pack.counter));
            let row = row.clone();
            pack.loads.iter().map(move |load| {
                let name = pack_name(*load);
                let at = mixed!((#counter - #first) as __usize * #row + __v);
                (*load, mixed!(*<[_]>::get_unchecked(#name, #at)))
            })
        });
        each.collect()
    }
}

fn pack_name(load: ExprId) -> Ident {
    format_ident!("__pack{}", load.0, span = Span::mixed_site())
}

fn first_name(pack: &Pack) -> Ident {
    format_ident!("__from{}", pack.counter.0, span = Span::mixed_site())
}

fn turns_name(pack: &Pack) -> Ident {
    format_ident!("__turns{}", pack.counter.0, span = Span::mixed_site())
}

#[cfg(test)]
mod tests {
    /// The number of different loads that read a copy.
    fn packs(body: &str) -> usize {
        let source = format!(
            "unsafe fn k(n: usize, a: &[f32], b: &[f32], ids: &[u32], c: &mut [f32]) {{
                let (x, y) = (global_idx_x(), global_idx_y());
                let mut sum = 0.0;
                {body}
                c[y * n + x] = sum;
            }}"
        );
        let tokens = source.parse().expect("the source is tokens");
        let expansion = crate::expand::kernel(proc_macro2::TokenStream::new(), tokens);
        assert_eq!(expansion.errors, [""; 0], "{body}");
        let text: String = expansion.tokens.to_string().split_whitespace().collect();
        let is_tall = text.contains("constTALL:__bool=true;");
        let count = text.matches("let__pack").count();
        assert_eq!(is_tall, count > 0, "{body}");
        count
    }

    #[test]
    fn what_all_rows_read_from_far_rows_is_copied() {
        for (body, count) in [
            ("for k in 0..n { sum += a[y * n + k] * b[k * n + x]; }", 1),
            (
                "let m = n / 2 + 1; for k in 3..m { let at = x + n * k; sum += b[at] * a[at + m]; }",
                2,
            ),
            ("for k in 0..64u32 { sum += b[k as usize * 100 + x]; }", 1),
            (
                "for k in 0..n { sum += b[k * n + x]; } for k in 0..n { sum *= b[k * n + x]; }",
                2,
            ),
        ] {
            assert_eq!(packs(body), count, "{body}");
        }
    }

    #[test]
    fn other_loads_are_not() {
        for body in [
            // Near elements, and those of a column.
            "for k in 0..n { sum += y as f32 * b[k + x]; }",
            "for k in 0..n { sum += y as f32 * b[k * 4 + x]; }",
            "for k in 0..n { sum += y as f32 * b[x * n + k]; }",
            // Elements that depend on the row, on data or on another loop.
            "for k in 0..n { sum += b[(k + y) * n + x]; }",
            "for k in 0..n { sum += y as f32 * b[ids[k] as usize * n + x]; }",
            "for k in 0..n { for l in 0..n { sum += y as f32 * b[(k + l) * n + x]; } }",
            // Elements that some turns or lanes do not read.
            "for k in 0..n { if sum < 9.0 { sum += y as f32 * b[k * n + x]; } }",
            "for k in 0..n { if k > 40 { break; } sum += y as f32 * b[k * n + x]; }",
            "if y > 2 { for k in 0..n { sum += b[k * n + x]; } }",
            "if y == n { return; } for k in 0..n { sum += b[k * n + x]; }",
            // Bounds that depend on the row or on data.
            "for k in 0..y { sum += b[k * n + x]; }",
            "for k in 0..ids[0] as usize { sum += y as f32 * b[k * n + x]; }",
            "let mut m = n; m += 1; for k in 0..m { sum += y as f32 * b[k * n + x]; }",
            // Blocks that the kernel sees.
            "for k in 0..n { sum += thread_idx_y() as f32 * b[k * n + x]; } barrier();",
        ] {
            assert_eq!(packs(body), 0, "{body}");
        }
    }
}
