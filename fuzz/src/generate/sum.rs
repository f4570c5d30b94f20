//! Values of one of several shapes: `Option`, and enums of the kernel's own.

use sarek_ir::Scalar;

use super::control::of_variable;
use super::item::Struct;
use super::{Gen, Rule, make};
use crate::tree::{Expr, Node};

/// An enum.
#[derive(Clone, Debug)]
pub(super) struct Sum {
    /// As Rust spells it.
    pub ty: String,
    pub variants: Vec<Variant>,
}

/// A variant: its path, its fields' types, and their names unless they have none.
#[derive(Clone, Debug)]
pub(super) struct Variant {
    pub path: String,
    pub fields: Vec<Part>,
    pub named: bool,
}

/// The type of a variant's field.
#[derive(Clone, Debug)]
pub(super) enum Part {
    Scalar(Scalar),
    Struct(Struct),
    Sum(Sum),
}

impl Part {
    /// As Rust spells it.
    pub fn ty(&self) -> String {
        match self {
            Part::Scalar(ty) => ty.to_string(),
            Part::Struct(of) => of.ty(),
            Part::Sum(of) => of.ty.clone(),
        }
    }
}

/// A local of an enum.
#[derive(Clone, Debug)]
pub(super) struct Local {
    pub name: String,
    sum: Sum,
    pub mutable: bool,
}

pub(super) const RULES: &[Rule<Expr>] = &[
    Rule {
        weight: 6,
        fits: |g, _| is_offered(g),
        make: matched,
    },
    Rule {
        weight: 3,
        fits: |g, _| is_offered(g),
        make: asked,
    },
    Rule {
        weight: 2,
        fits: |g, ty| ty == Scalar::Bool && is_offered(g),
        make: tested,
    },
];

pub(super) const STATEMENTS: &[Rule<Node>] = &[
    Rule {
        weight: 3,
        fits: |g, _| g.sums.len() < 4,
        make: declare,
    },
    Rule {
        weight: 4,
        fits: |g, _| g.sums.iter().any(|l| l.mutable),
        make: assign,
    },
    Rule {
        weight: 2,
        fits: |g, _| is_offered(g) && g.is_roomy(),
        make: branch,
    },
    Rule {
        weight: 2,
        fits: |g, _| is_offered(g) && !ways_out(g).is_empty(),
        make: or_else,
    },
    Rule {
        weight: 2,
        fits: |g, _| g.affords(4),
        make: drained,
    },
];

fn is_offered(g: &Gen) -> bool {
    !g.sums.is_empty() && !g.uniform
}

fn local(g: &mut Gen) -> Local {
    let locals = g.sums.clone();
    g.pick(&locals).clone()
}

/// `Option` of some type, or one of the kernel's enums.
fn sum(g: &mut Gen) -> Sum {
    if !g.enums.is_empty() && g.once_in(2) {
        let enums = g.enums.clone();
        return g.pick(&enums).clone();
    }
    let ty = g.ty(|_| true);
    let variant = |path: &str, fields| Variant {
        path: path.into(),
        fields,
        named: false,
    };
    Sum {
        ty: format!("Option<{ty}>"),
        variants: vec![
            variant("Some", vec![Part::Scalar(ty)]),
            variant("None", vec![]),
        ],
    }
}

impl Variant {
    /// The variant with these in the place of its fields.
    fn with(&self, parts: &[String]) -> String {
        let Variant { path, fields, .. } = self;
        if fields.is_empty() {
            return path.clone();
        }
        if self.named {
            let fields: Vec<_> = (0..)
                .zip(parts)
                .map(|(i, p)| format!("f{i}: {p}"))
                .collect();
            return format!("{path} {{ {} }}", fields.join(", "));
        }
        format!("{path}({})", parts.join(", "))
    }
}

/// Some variant with values.
fn value(g: &mut Gen, sum: &Sum, exprs: &mut Vec<Expr>) -> String {
    let variant = g.pick(&sum.variants).clone();
    let parts = variant.fields.iter().map(|part| match part {
        Part::Scalar(ty) => {
            exprs.push(g.settled(*ty));
            "@".to_owned()
        }
        Part::Struct(of) => g.record(of, None, exprs),
        Part::Sum(of) => value(g, of, exprs),
    });
    let parts: Vec<String> = parts.collect();
    variant.with(&parts)
}

/// One of two variants.
fn either(g: &mut Gen, sum: &Sum) -> (String, Vec<Expr>) {
    let mut exprs = vec![g.expr(Scalar::Bool)];
    let (a, b) = (value(g, sum, &mut exprs), value(g, sum, &mut exprs));
    (format!("if @ {{ {a} }} else {{ {b} }}"), exprs)
}

fn declare(g: &mut Gen, _: Scalar) -> Node {
    let sum = sum(g);
    let (text, exprs) = either(g, &sum);
    let (name, mutable) = (g.name(), g.once_in(2));
    let (word, ty) = (if mutable { "mut " } else { "" }, &sum.ty);
    let text = format!("let {word}{name}: {ty} = {text};");
    g.sums.push(Local { name, sum, mutable });
    Node::new(text, exprs, vec![])
}

fn assign(g: &mut Gen, _: Scalar) -> Node {
    let locals: Vec<_> = g.sums.iter().filter(|l| l.mutable).cloned().collect();
    let local = g.pick(&locals).clone();
    let (text, exprs) = either(g, &local.sum);
    Node::new(format!("{} = {text};", local.name), exprs, vec![])
}

/// A pattern of a variant that binds its fields, which are in scope from here on, and statements that say their types:
/// what is in an enum of the kernel's own is known to rustc alone.
fn bound(g: &mut Gen, variant: &Variant, is_refutable: bool) -> (String, String) {
    let (mut parts, mut typed) = (vec![], String::new());
    for part in &variant.fields {
        if let (Part::Sum(of), true) = (part, is_refutable && g.once_in(2)) {
            let inner = g.pick(&of.variants).clone();
            let (pattern, types) = bound(g, &inner, true);
            parts.push(pattern);
            typed += &types;
            continue;
        }
        let name = g.name();
        typed += &format!("let {name}: {} = {name}; ", part.ty());
        match part {
            Part::Scalar(ty) => g.bind(&name, *ty, of_variable(*ty), false),
            Part::Struct(of) => g.bind_record(&name, of, false),
            Part::Sum(of) => g.sums.push(Local {
                name: name.clone(),
                sum: of.clone(),
                mutable: false,
            }),
        }
        parts.push(name);
    }
    (variant.with(&parts), typed)
}

/// What `make` does, with a pattern's names in scope for it alone.
fn with_bound<T>(
    g: &mut Gen,
    variant: &Variant,
    is_refutable: bool,
    make: impl FnOnce(&mut Gen) -> T,
) -> (String, String, T) {
    let outer = (g.scope.clone(), g.sums.clone(), g.records.clone());
    let (pattern, typed) = bound(g, variant, is_refutable);
    let made = make(g);
    (g.scope, g.sums, g.records) = outer;
    (pattern, typed, made)
}

/// An arm for each variant, at times with a guard and one more.
fn matched(g: &mut Gen, ty: Scalar) -> Expr {
    let local = local(g);
    let (mut text, mut exprs) = (format!("(match {} {{ ", local.name), vec![]);
    for variant in &local.sum.variants {
        let guard = |g: &mut Gen| g.expr(Scalar::Bool);
        let guard = g.once_in(3).then(|| g.without_changing(&local.name, guard));
        let is_guarded = guard.is_some();
        exprs.extend(guard);
        let (pattern, typed, values) = with_bound(g, variant, false, |g| match is_guarded {
            true => vec![g.settled(ty), g.settled(ty)],
            false => vec![g.settled(ty)],
        });
        if is_guarded {
            text += &format!("{pattern} if @ => {{ {typed}@ }}, ");
        }
        exprs.extend(values);
        text += &format!("{pattern} => {{ {typed}@ }}, ");
    }
    make(ty, of_variable(ty), text + "})", exprs)
}

fn asked(g: &mut Gen, ty: Scalar) -> Expr {
    let local = local(g);
    let variant = g.pick(&local.sum.variants).clone();
    let (pattern, typed, value) = with_bound(g, &variant, true, |g| g.settled(ty));
    let text = format!(
        "(if let {pattern} = {} {{ {typed}@ }} else {{ @ }})",
        local.name
    );
    let exprs = vec![value, g.settled(ty)];
    make(ty, of_variable(ty), text, exprs)
}

fn tested(g: &mut Gen, ty: Scalar) -> Expr {
    let local = local(g);
    let variant = g.pick(&local.sum.variants).clone();
    let pattern = variant.with(&vec!["_".to_string(); variant.fields.len()]);
    let text = format!("matches!({}, {pattern})", local.name);
    make(ty, of_variable(ty), text, vec![])
}

fn branch(g: &mut Gen, _: Scalar) -> Node {
    let local = local(g);
    let variant = g.pick(&local.sum.variants).clone();
    let (pattern, typed, then) = with_bound(g, &variant, true, |g| g.block(1));
    let text = format!("if let {pattern} = {} {{ {typed}#}} else {{#}}", local.name);
    let otherwise = g.block(1);
    Node::new(text, vec![], vec![then, otherwise])
}

/// How a block may be left: the thread ends, or goes on elsewhere.
fn ways_out(g: &Gen) -> Vec<String> {
    let mut ways = vec![];
    if g.may_end() {
        ways.push("return".into());
    }
    for around in g.loops.iter().filter(|l| l.team.is_none()) {
        if around.value.is_none() {
            ways.push(format!("break {}", around.label));
        }
        if !around.is_block {
            ways.push(format!("continue {}", around.label));
        }
    }
    ways
}

/// `let else`.
fn or_else(g: &mut Gen, _: Scalar) -> Node {
    let (local, ways) = (local(g), ways_out(g));
    let (variant, way) = (g.pick(&local.sum.variants).clone(), g.pick(&ways).clone());
    let (pattern, typed) = bound(g, &variant, true);
    let text = format!("let {pattern} = {} else {{ {way}; }}; {typed}", local.name);
    Node::leaf(text.trim_end())
}

/// `while let`, a few times.
fn drained(g: &mut Gen, _: Scalar) -> Node {
    let ty = g.ty(Scalar::is_int);
    let (label, name, left, counter) = (g.label(), g.name(), g.name(), g.name());
    let (last, first) = (1 + g.below(3), g.expr(ty));
    let scope = g.scope.clone();
    g.bind(&left, ty, super::Facts::ANY, false);
    let body = g.inside(&label, false, None, |g| g.block(last));
    g.scope = scope;
    let text = format!(
        "let mut {counter} = 0u32; let mut {name}: Option<{ty}> = Some(@); {label}: while let Some({left}) = {name} {{ {counter} += 1; \
         {name} = if {counter} < {last} {{ Some({left} ^ 5) }} else {{ None }};#}}"
    );
    Node::new(text, vec![first], vec![body])
}
