use std::collections::BTreeSet;

use super::*;
use crate::Stmt;
use crate::write::{DIALECTS, Derived, OpenCl};

/// A node's name; `None` for those that linking removes.
fn stmt(stmt: Stmt) -> Option<&'static str> {
    Some(match stmt {
        Stmt::Let { .. } => "let",
        Stmt::Assign { .. } => "assign",
        Stmt::Store { .. } => "store",
        Stmt::Assert { .. } => "assert",
        Stmt::Panic { .. } => "panic",
        Stmt::Print { .. } => "print",
        Stmt::If { .. } => "if",
        Stmt::Loop { .. } => "loop",
        Stmt::For { .. } => "for",
        Stmt::Break { .. } => "break",
        Stmt::Continue { .. } => "continue",
        Stmt::Return => "return",
        Stmt::Barrier => "barrier",
        Stmt::Fence { .. } => "fence",
        Stmt::Atomic { .. } => "atomic",
        Stmt::Subgroup { .. } => "subgroup",
        Stmt::Native { .. } => "native",
        Stmt::Update { .. } | Stmt::Call { .. } => return None,
    })
}

/// The same for expressions. A pass makes `Faulted` of loops with checks.
fn expr(expr: Expr) -> Option<&'static str> {
    Some(match expr {
        Expr::Literal(_) => "literal",
        Expr::Local(_) => "local",
        Expr::Param(_) => "param",
        Expr::Len(_) => "len",
        Expr::Builtin(_) => "id",
        Expr::Load { .. } => "load",
        Expr::Bounded { .. } => "bounded",
        Expr::Unary { .. } => "unary",
        Expr::Binary { .. } => "binary",
        Expr::Divide { .. } => "divide",
        Expr::And { .. } => "and",
        Expr::Or { .. } => "or",
        Expr::Cast { .. } => "cast",
        Expr::Call { .. } => "call",
        Expr::Link(_) | Expr::Compound(_) | Expr::Faulted => return None,
    })
}

#[test]
fn every_node_has_a_kernel() {
    let all = every_node("mine");
    let (mut stmts, mut exprs) = (BTreeSet::new(), BTreeSet::new());
    for NodeKernel { node, kernel } in &all {
        assert!(kernel.is_closed(), "{node}");
        stmts.extend(kernel.stmts.iter().filter_map(|s| stmt(*s)));
        exprs.extend(kernel.exprs.iter().filter_map(|e| expr(*e)));
    }
    assert_eq!((stmts.len(), exprs.len()), (17, 14), "{stmts:?} {exprs:?}");
    let names: BTreeSet<&str> = all.iter().map(|one| &*one.node).collect();
    assert_eq!(names.len(), all.len(), "two nodes have the same name");
    for ty in Scalar::ALL {
        for intrinsic in Intrinsic::ALL.iter().filter(|i| i.stands_on(ty)) {
            let name = format!("{intrinsic:?} {ty}");
            assert!(names.contains(&*name), "{name}");
        }
        for (_, op) in SubgroupOp::ALL
            .iter()
            .filter(|(_, op)| op.result(ty).is_some())
        {
            let name = format!("{} {ty}", op.name());
            assert!(names.contains(&*name), "{name}");
        }
    }
    for name in [
        "Add i8",
        "Rem f64",
        "Shl u64",
        "Ge bf16",
        "Neg f16",
        "Not bool",
        "Not u8",
        "DivEuclid i64 integer",
        "f32 as i8",
        "u64 as usize",
        "bool as u32",
        "table f64",
        "shared slice u8",
        "atomic Max u64 shared",
        "atomic Add f32 global",
        "Device fence",
    ] {
        assert!(names.contains(name), "{name}");
    }
}

/// The types, and the groups of nodes, that a built-in dialect refuses.
fn lacking(dialect: &str) -> &'static [&'static str] {
    match dialect {
        "opencl" => &["subgroup"],
        "wgsl" => &["f64", "fence"],
        _ => &[],
    }
}

#[test]
fn the_built_in_dialects_render_every_node() {
    for dialect in DIALECTS {
        let rendered = render_all(dialect);
        assert!(rendered.nodes().len() > 1000, "{}", rendered.nodes().len());
        rendered.assert_rendered(lacking(dialect.name()));
        // Nothing stands in the list that the dialect has.
        for part in lacking(dialect.name()) {
            let has_part = rendered.refused().iter().any(|node| node.contains(part));
            assert!(has_part, "{}: {part}", dialect.name());
        }
    }
}

/// A dialect that has no barriers, and forgot the text of a helper.
struct Mine;

impl Derived for Mine {
    fn base(&self) -> &dyn Dialect {
        &OpenCl
    }

    fn name(&self) -> &'static str {
        "mine"
    }

    fn snippet(&self, name: &str) -> Option<String> {
        match name {
            "srk_rem_euclid_i64" => None,
            _ => self.base().snippet(name),
        }
    }

    fn barrier(&self, _: bool) -> Result<&'static str, Unsupported> {
        Err(Unsupported::new("mine", "barrier"))
    }
}

#[test]
fn a_dialect_of_ones_own_is_told_what_it_lacks() {
    let rendered = render_all(&Mine);
    let undefined: Vec<&str> = rendered.undefined().iter().map(|(node, _)| *node).collect();
    let node = "RemEuclid i64 integer";
    assert_eq!(undefined, [node.to_owned(), format!("{node} checked")]);
    let refused = rendered.refused();
    assert!(refused.contains(&"barrier") && refused.contains(&"shared array f32"));
    let lacks = ["barrier", "shared", "subgroup"];
    assert!(
        refused
            .iter()
            .all(|node| lacks.iter().any(|part| node.contains(part)))
    );
    assert!(
        rendered
            .text("native text")
            .is_some_and(|text| text.contains("value = 1;"))
    );
}
