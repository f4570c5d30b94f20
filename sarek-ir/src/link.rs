//! Closing a kernel: constants that only the user's crate knows become literals.

use std::borrow::Cow;

use crate::{Expr, Kernel, Length, TypeDef, Value};

/// The kernel with every [`Expr::Link`] and [`Length::Link`] replaced by its value; `values` stand in the order of
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
    let lengths = closed.types.to_mut().iter_mut().map(|def| match def {
        TypeDef::Array { len, .. } => len,
    });
    let shared = closed
        .shared
        .to_mut()
        .iter_mut()
        .map(|array| &mut array.len);
    for len in lengths.chain(shared) {
        if let Length::Link(link) = *len
            && let Some(Value::Usize(value)) = values.get(link.index())
        {
            *len = Length::Fixed(*value);
        }
    }
    closed.links = Cow::Borrowed(&[]);
    closed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Link, LinkId, Loc, Scalar, SharedArray};

    #[test]
    fn every_use_of_a_link_gets_its_value() {
        let mut kernel = Kernel::new("k");
        for (path, ty) in [("N", Scalar::Usize), ("M", Scalar::F32)] {
            kernel.links.to_mut().push(Link {
                path: path.into(),
                ty,
            });
        }
        let m = kernel.push_expr(Expr::Link(LinkId(1)), Scalar::F32, Loc::default());
        let n = kernel.push_expr(Expr::Link(LinkId(0)), Scalar::Usize, Loc::default());
        let again = kernel.push_expr(Expr::Link(LinkId(1)), Scalar::F32, Loc::default());
        let (elem, len) = (Scalar::F32, Length::Link(LinkId(0)));
        kernel.push_type(TypeDef::Array { elem, len });
        kernel.shared.to_mut().push(SharedArray {
            name: "tile".into(),
            elem,
            len,
            atomic: false,
        });
        let closed = link(&kernel, &[Value::Usize(16), Value::f32(1.5)]);
        assert!(closed.is_closed());
        assert_eq!(closed.literal(n), Some(Value::Usize(16)));
        assert_eq!(closed.literal(m), Some(Value::f32(1.5)));
        assert_eq!(closed.literal(again), Some(Value::f32(1.5)));
        let len = Length::Fixed(16);
        assert_eq!(closed.types[0], TypeDef::Array { elem, len });
        assert_eq!(closed.shared[0].len, len);
    }
}
