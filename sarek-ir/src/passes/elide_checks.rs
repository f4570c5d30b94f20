use std::collections::BTreeSet;

use crate::facts::Check;
use crate::{Kernel, SiteId};

/// Removes the checks of sites that are not in `checked`, because they are proved. Loads, stores and divisions lose
/// their site, arithmetic wraps, and proved assertions disappear.
pub fn elide_checks(kernel: &mut Kernel, checked: &BTreeSet<SiteId>) {
    let is_proved = |check: Check| check.site().is_some_and(|site| !checked.contains(&site));
    for expr in kernel.exprs.to_mut() {
        if is_proved(expr.facts().check) {
            *expr = expr.unchecked();
        }
    }
    if !kernel.overflows.is_empty() {
        let overflows = kernel.overflows.to_mut();
        overflows.retain(|(_, site)| checked.contains(site));
    }
    super::rewrite(kernel, &mut |kernel, id, out| {
        let stmt = kernel.stmt(id);
        let check = stmt.facts().check;
        if is_proved(check) {
            match check {
                Check::Assertion(_) => return,
                Check::Bounds(_) => kernel.stmts.to_mut()[id.index()] = stmt.unchecked(),
                Check::Panic(_) | Check::Divisor(_) | Check::Parts | Check::None => {}
            }
        }
        out.push(id);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DivideOp, Expr, Loc, Scalar, Stmt, Value};

    #[test]
    fn proved_sites_go_and_checked_ones_stay() {
        let mut k = Kernel::new("k");
        let loc = Loc::default();
        let divide = |k: &mut Kernel, site| {
            let lhs = k.push_literal(Value::I32(7), loc);
            let rhs = k.push_literal(Value::I32(2), loc);
            let op = DivideOp::Div;
            let site = Some(SiteId(site));
            let divide = Expr::Divide { op, lhs, rhs, site };
            k.push_expr(divide, Scalar::I32, loc)
        };
        let (proved, open) = (divide(&mut k, 0), divide(&mut k, 1));
        let assert = |k: &mut Kernel, site| {
            let cond = k.push_literal(Value::Bool(true), loc);
            let site = SiteId(site);
            k.push_stmt(Stmt::Assert { cond, site }, loc)
        };
        let (gone, stays) = (assert(&mut k, 2), assert(&mut k, 3));
        k.body = k.push_block(&[gone, stays]);

        elide_checks(&mut k, &BTreeSet::from([SiteId(1), SiteId(3)]));
        let site = |id| match k.expr(id) {
            Expr::Divide { site, .. } => site,
            other => panic!("{other:?}"),
        };
        assert_eq!(site(proved), None);
        assert_eq!(site(open), Some(SiteId(1)));
        assert_eq!(k.block(k.body).collect::<Vec<_>>(), [stays]);
    }
}
