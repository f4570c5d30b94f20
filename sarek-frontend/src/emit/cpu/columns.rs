//! Loop interchange for blocks whose threads write along y: `out[x * height + y] = …`.
//!
//! Lanes usually run row by row, x fastest. If neighbours along y store to adjacent elements, and
//! neighbours along x to distant ones, each row would write one element to each cache line. The
//! line would have left the cache before the next row writes to it again. For such blocks the inner
//! loop runs over y.

use std::collections::HashSet;

use proc_macro2::TokenStream;
use sarek_ir::analysis::access::{self, Access, Place};
use sarek_ir::analysis::linear::{Affine, Atom, Poly};
use sarek_ir::facts::{Effect, Flow};
use sarek_ir::{Axis, Builtin, Expr, Kernel, Stmt, StmtId, Value};

use super::{Writer, mixed};

/// Elements nearer to each other than this are in the same cache line or in the next.
const FAR: u128 = 16;

impl Writer<'_> {
    /// True if all stores of these statements to slices run along y.
    pub fn are_columns(&self, stmts: &[StmtId]) -> bool {
        let y = [Builtin::GlobalIdx(Axis::Y), Builtin::ThreadIdx(Axis::Y)].map(Expr::Builtin);
        let is_along_y = |expr: &Expr| y.contains(expr);
        if !self.shapes.columns || !self.kernel.exprs.iter().any(is_along_y) {
            return false;
        }
        let inside: HashSet<StmtId> = self.kernel.stmts_in(stmts.iter().copied()).collect();
        let all = access::accesses(self.kernel);
        let mut stores = all.iter().filter(|access| match access.place {
            Place::Store(stmt) => inside.contains(&stmt),
            Place::Load(_) => false,
        });
        let mut any = false;
        stores.all(|store| {
            any = true;
            is_column(store)
        }) && any
    }

    /// True if a thread does a little work on elements along x, and nothing else. It may have loops of
    /// a few turns that store elements. Running such threads row by row accesses memory sequentially.
    /// A body that uses block indices or sizes is not row-wise: there the shape of the blocks affects
    /// more than the running time.
    pub fn is_row_wise(&self) -> bool {
        let is_plain = |stmt: &Stmt| {
            let facts = stmt.facts();
            let is_short = match facts.flow {
                Flow::Loop(_) => self.is_short_stream(stmt),
                Flow::Break(_) | Flow::Continue(_) => false,
                Flow::Next | Flow::Branch | Flow::Return | Flow::Panic => true,
            };
            is_short
                && match facts.effect {
                    Effect::None | Effect::Store(_) | Effect::Place(_) | Effect::Print(_) => true,
                    Effect::Atomic(..)
                    | Effect::Fence
                    | Effect::Barrier
                    | Effect::Subgroup(..)
                    | Effect::Call(_)
                    | Effect::Native(_) => false,
                }
        };
        let is_known = |access: &Access| match access.coordinates.as_slice() {
            [] => access.form.is_some(),
            coordinates => coordinates.iter().all(Option::is_some),
        };
        let along_x = |access: &Access| is_known(access) && !is_column(access);
        self.kernel.stmts.iter().all(is_plain)
            && !self.kernel.exprs.iter().any(is_of_block)
            && access::of_slices(self.kernel).iter().all(along_x)
    }

    /// True for a loop of a few turns that stores to slices.
    fn is_short_stream(&self, stmt: &Stmt) -> bool {
        let Stmt::For { end, body, .. } = *stmt else {
            return false;
        };
        let is_few = matches!(self.kernel.literal(end), Some(Value::Usize(n)) if n <= FEW);
        let mut inner = self.kernel.stmts_in(self.kernel.block(body));
        is_few && inner.any(|id| self.stores_to_slice(id))
    }
}

/// The most turns of a loop in a row-wise body.
const FEW: u64 = 16;

/// True if threads neither wait for each other nor see how the launch is divided into blocks.
pub fn is_free_of_blocks(kernel: &Kernel) -> bool {
    let is_alone = |stmt: &Stmt| match stmt.facts().effect {
        Effect::None
        | Effect::Store(_)
        | Effect::Atomic(..)
        | Effect::Place(_)
        | Effect::Print(_)
        | Effect::Fence => true,
        // A callee and native text may use the block.
        Effect::Barrier | Effect::Subgroup(..) | Effect::Call(_) | Effect::Native(_) => false,
    };
    let is_whole = kernel.block.is_none() && kernel.shared.is_empty();
    is_whole && kernel.stmts.iter().all(is_alone) && !kernel.exprs.iter().any(is_of_block)
}

/// True if an index of `&mut` memory is adjacent to that of the next thread along y, and far from
/// that of the next one along x.
fn is_column(access: &Access) -> bool {
    let along = |affine: &Affine, axis| {
        let of = |id| affine.form.coefficient(Atom::Id(id));
        of(Builtin::GlobalIdx(axis)).plus(&of(Builtin::ThreadIdx(axis)))
    };
    let is = |poly: &Poly, value| poly.as_constant() == Some(value);
    if let [rows @ .., Some(last)] = access.coordinates.as_slice() {
        let rows_move = rows.iter().flatten().any(|r| !is(&along(r, Axis::X), 0));
        return rows_move && is(&along(last, Axis::Y), 1) && is(&along(last, Axis::X), 0);
    }
    let is_far = |poly: Poly| poly.as_constant().is_none_or(|c| c.unsigned_abs() >= FAR);
    access
        .form
        .as_ref()
        .is_some_and(|form| is(&along(form, Axis::Y), 1) && is_far(along(form, Axis::X)))
}

/// True for an index or a size that depends on how a launch is divided into blocks.
fn is_of_block(expr: &Expr) -> bool {
    let Expr::Builtin(builtin) = expr else {
        return false;
    };
    match builtin {
        Builtin::GlobalIdx(_) | Builtin::GlobalDim(_) | Builtin::GlobalThreadId => false,
        Builtin::ThreadIdx(_)
        | Builtin::BlockIdx(_)
        | Builtin::BlockDim(_)
        | Builtin::GridDim(_)
        | Builtin::SubgroupSize
        | Builtin::SubgroupLane => true,
    }
}

/// The loop over all lanes of a block, y fastest.
pub fn columns(body: TokenStream) -> TokenStream {
    mixed! {
        for __z in 0..__lanes[2] {
            for __x in 0..__lanes[0] {
                for __y in 0..__lanes[1] {
                    let __row = (__z * __dim[1] + __y) * __dim[0];
                    let __thread = [__x, __y, __z];
                    let __lane = __row + __x;
                    #body
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    /// True if a kernel with this body is row-wise.
    fn is_row_wise(body: &str) -> bool {
        let source = format!(
            "unsafe fn k(w: usize, h: usize, x: &[f32], ids: &[u32], out: &mut [f32], sums: &[Atomic<u32>]) {{
                let (i, j) = (global_idx_x(), global_idx_y());
                {body}
            }}"
        );
        let tokens = source.parse().expect("the source is tokens");
        let expansion = crate::expand::kernel(proc_macro2::TokenStream::new(), tokens);
        assert_eq!(expansion.errors, [""; 0], "{body}");
        let text: String = expansion.tokens.to_string().split_whitespace().collect();
        let [yes, no] =
            ["true", "false"].map(|b| text.contains(&format!("constROW_WISE:__bool={b};")));
        assert_ne!(yes, no, "{body}");
        yes
    }

    #[test]
    fn kernels_that_run_along_x_are_row_wise() {
        for body in [
            "out[i] = 2.0 * x[i];",
            "if i < w && j < h { out[j * w + i] = x[j * w + i] + x[(j + 1) * w + i] + x[i] + x[j]; }",
            "out[3 * (j * w + i) + 1] = 0.0;",
        ] {
            assert!(is_row_wise(body), "{body}");
        }
    }

    #[test]
    fn others_do_not() {
        for body in [
            // Reads or writes across rows.
            "out[i * h + j] = x[j * w + i];",
            "out[j * w + i] = x[i * h + j];",
            // Addresses that depend on data.
            "out[j * w + i] = x[ids[i] as usize];",
            "if i < w { sums[i].fetch_add(1); }",
            // More than a little work.
            "let mut sum = 0.0; for k in 0..w { sum += x[k]; } out[j * w + i] = sum;",
            "let mut k = i; while k < w { out[k] = 1.0; k += global_dim_x(); }",
            "barrier(); out[i] = 1.0;",
            // Positions inside the block.
            "out[i] = thread_idx_x() as f32;",
        ] {
            assert!(!is_row_wise(body), "{body}");
        }
    }
}
