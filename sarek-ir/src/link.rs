//! Closing a kernel: constants that only the user's crate knows become literals.

use std::borrow::Cow;

use crate::{Expr, Kernel, Value};

/// The kernel with every [`Expr::Link`] replaced by its value; `values` stand in the order of
/// [`Kernel::links`] and have the types named there, which rustc checked where they were made.
pub fn link(kernel: &Kernel, values: &[Value]) -> Kernel {
    debug_assert_eq!(kernel.links.len(), values.len(), "one value for each link");
    let mut closed = kernel.clone();
    for expr in closed.exprs.to_mut() {
        if let Expr::Link(link) = *expr
            && let Some(value) = values.get(link.index())
        {
            *expr = Expr::Literal(*value);
        }
    }
    closed.links = Cow::Borrowed(&[]);
    closed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Link, LinkId, Loc, Scalar};

    #[test]
    fn every_use_of_a_link_gets_its_value() {
        let mut kernel = Kernel::new("k");
        for (path, ty) in [("N", Scalar::Usize), ("M", Scalar::F32)] {
            kernel.links.to_mut().push(Link {
                path: path.into(),
                ty: ty.into(),
            });
        }
        let m = kernel.push_expr(Expr::Link(LinkId(1)), Scalar::F32, Loc::default());
        let n = kernel.push_expr(Expr::Link(LinkId(0)), Scalar::Usize, Loc::default());
        let again = kernel.push_expr(Expr::Link(LinkId(1)), Scalar::F32, Loc::default());
        let closed = link(&kernel, &[Value::Usize(16), Value::f32(1.5)]);
        assert!(closed.is_closed());
        assert_eq!(closed.literal(n), Some(Value::Usize(16)));
        assert_eq!(closed.literal(m), Some(Value::f32(1.5)));
        assert_eq!(closed.literal(again), Some(Value::f32(1.5)));
    }
}
