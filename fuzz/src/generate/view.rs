//! Generates strided views as parameters, and their layouts for the launch.

use sarek_ir::Scalar;

use super::{Gen, Role, Slice, integer};
use crate::case::Layout;
use crate::tree::Expr;

/// The methods that return the extents, outermost dimension first.
pub(super) fn extents(rank: usize) -> &'static [&'static str] {
    const ALL: [&str; 3] = ["depth", "rows", "cols"];
    &ALL[ALL.len() - rank..]
}

impl Gen {
    /// An element of a view, for [`Gen::element`]. In an output, the first index is the thread's own.
    pub(super) fn element_of_view(
        &mut self,
        slice: &Slice,
        rank: usize,
        faulty: bool,
    ) -> (String, Vec<Expr>) {
        let name = &slice.name;
        if let Role::Out { each } | Role::Inexact { each } = slice.role {
            let at = self.below(each);
            let index = if rank == 2 { "" } else { "0, " };
            return (format!("{name}[[i, {index}{at}]]"), vec![]);
        }
        let (mut indices, mut exprs) = (vec![], vec![]);
        for extent in extents(rank) {
            if faulty && self.once_in(2) {
                indices.push("@".to_owned());
                exprs.push(integer::small(self, Scalar::Usize, 15));
            } else {
                indices.push(format!("@ % {name}.{extent}()"));
                exprs.push(self.expr(Scalar::Usize));
            }
        }
        (format!("{name}[[{}]]", indices.join(", ")), exprs)
    }

    /// A vector's length, and its layout as a view of this shape. The dimensions have any order, some with gaps. Elements of a read-only view
    /// may overlap.
    pub(super) fn layout(&mut self, shape: Vec<usize>, is_read: bool) -> (usize, Layout) {
        let mut order: Vec<usize> = (0..shape.len()).collect();
        order.rotate_left(self.below(shape.len()));
        if self.once_in(3) {
            order.swap(0, 1);
        }
        let mut strides = vec![0; shape.len()];
        let mut next = 1;
        for at in order.into_iter().rev() {
            strides[at] = match is_read && self.once_in(6) {
                true => self.below(3),
                false => next,
            };
            next =
                next.max(strides[at] * shape[at]) + if self.once_in(4) { self.below(3) } else { 0 };
        }
        let offset = if self.once_in(2) { self.below(9) } else { 0 };
        let far = shape
            .iter()
            .zip(&strides)
            .map(|(n, stride)| (n - 1) * stride);
        let len = offset + far.sum::<usize>() + 1 + self.below(4);
        (
            len,
            Layout {
                shape,
                offset,
                strides,
            },
        )
    }

    /// The shape of a view for a launch of this many threads.
    pub(super) fn shape_of(&mut self, role: Role, rank: usize, threads: usize) -> Vec<usize> {
        let shape = match role {
            Role::Out { each } | Role::Inexact { each } => [threads, each],
            _ => [1 + self.below(9), 1 + self.below(9)],
        };
        match rank {
            2 => shape.into(),
            _ => vec![shape[0], 1 + self.below(2), shape[1]],
        }
    }
}
