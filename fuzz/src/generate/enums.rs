//! Generates values of `Option` and of user-defined enums, and matches on them.

use sarek_ir::Scalar;

use super::control::of_variable;
use super::items::Struct;
use super::{Gen, Rule, make};
use crate::tree::{Expr, Node};

/// An enum.
#[derive(Clone, Debug)]
pub(super) struct Enum {
    /// The text of the type.
    pub ty: String,
    pub variants: Vec<Variant>,
}

/// A variant: its path and the types of its fields. The fields of a `named` variant have names.
#[derive(Clone, Debug)]
pub(super) struct Variant {
    pub path: String,
    pub fields: Vec<FieldType>,
    pub named: bool,
}

/// The type of a variant's field.
#[derive(Clone, Debug)]
pub(super) enum FieldType {
    Scalar(Scalar),
    Struct(Struct),
    Enum(Enum),
}

impl FieldType {
    /// The text of the type.
    pub fn ty(&self) -> String {
        match self {
            FieldType::Scalar(ty) => ty.to_string(),
            FieldType::Struct(of) => of.ty(),
            FieldType::Enum(of) => of.ty.clone(),
        }
    }
}

/// A local variable of an enum type.
#[derive(Clone, Debug)]
pub(super) struct Local {
    pub name: String,
    ty: Enum,
    pub mutable: bool,
}

pub(super) const RULES: &[Rule<Expr>] = &[
    Rule {
        weight: 6,
        fits: |g, _| has_locals(g),
        make: matched,
    },
    Rule {
        weight: 3,
        fits: |g, _| has_locals(g),
        make: if_let,
    },
    Rule {
        weight: 2,
        fits: |g, ty| ty == Scalar::Bool && has_locals(g),
        make: is_variant,
    },
];

pub(super) const STATEMENTS: &[Rule<Node>] = &[
    Rule {
        weight: 3,
        fits: |g, _| g.enum_locals.len() < 4,
        make: declare,
    },
    Rule {
        weight: 4,
        fits: |g, _| g.enum_locals.iter().any(|l| l.mutable),
        make: assign,
    },
    Rule {
        weight: 2,
        fits: |g, _| has_locals(g) && g.is_roomy(),
        make: branch,
    },
    Rule {
        weight: 2,
        fits: |g, _| has_locals(g) && !exits(g).is_empty(),
        make: let_else,
    },
    Rule {
        weight: 2,
        fits: |g, _| g.affords(4),
        make: while_let,
    },
];

fn has_locals(g: &Gen) -> bool {
    !g.enum_locals.is_empty() && !g.uniform
}

fn local(g: &mut Gen) -> Local {
    let locals = g.enum_locals.clone();
    g.pick(&locals).clone()
}

/// `Option` of some type, or one of the user-defined enums.
fn any_enum(g: &mut Gen) -> Enum {
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
    Enum {
        ty: format!("Option<{ty}>"),
        variants: vec![
            variant("Some", vec![FieldType::Scalar(ty)]),
            variant("None", vec![]),
        ],
    }
}

impl Variant {
    /// The text of the variant with these texts for its fields.
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

/// A random variant with random values.
fn value(g: &mut Gen, enum_: &Enum, exprs: &mut Vec<Expr>) -> String {
    let variant = g.pick(&enum_.variants).clone();
    let parts = variant.fields.iter().map(|part| match part {
        FieldType::Scalar(ty) => {
            exprs.push(g.settled(*ty));
            "@".to_owned()
        }
        FieldType::Struct(of) => g.record(of, None, exprs),
        FieldType::Enum(of) => value(g, of, exprs),
    });
    let parts: Vec<String> = parts.collect();
    variant.with(&parts)
}

/// A choice between two values.
fn either(g: &mut Gen, enum_: &Enum) -> (String, Vec<Expr>) {
    let mut exprs = vec![g.expr(Scalar::Bool)];
    let (a, b) = (value(g, enum_, &mut exprs), value(g, enum_, &mut exprs));
    (format!("if @ {{ {a} }} else {{ {b} }}"), exprs)
}

fn declare(g: &mut Gen, _: Scalar) -> Node {
    let enum_ = any_enum(g);
    let (text, exprs) = either(g, &enum_);
    let (name, mutable) = (g.name(), g.once_in(2));
    let (word, ty) = (if mutable { "mut " } else { "" }, &enum_.ty);
    let text = format!("let {word}{name}: {ty} = {text};");
    g.enum_locals.push(Local {
        name,
        ty: enum_,
        mutable,
    });
    Node::new(text, exprs, vec![])
}

fn assign(g: &mut Gen, _: Scalar) -> Node {
    let locals: Vec<_> = g
        .enum_locals
        .iter()
        .filter(|l| l.mutable)
        .cloned()
        .collect();
    let local = g.pick(&locals).clone();
    let (text, exprs) = either(g, &local.ty);
    Node::new(format!("{} = {text};", local.name), exprs, vec![])
}

/// A pattern for a variant, which binds its fields and brings them into scope. The second result is `let` statements that state
/// the fields' types, since only rustc knows the types in a user-defined enum.
fn bound(g: &mut Gen, variant: &Variant, is_refutable: bool) -> (String, String) {
    let (mut parts, mut typed) = (vec![], String::new());
    for part in &variant.fields {
        if let (FieldType::Enum(of), true) = (part, is_refutable && g.once_in(2)) {
            let inner = g.pick(&of.variants).clone();
            let (pattern, types) = bound(g, &inner, true);
            parts.push(pattern);
            typed += &types;
            continue;
        }
        let name = g.name();
        typed += &format!("let {name}: {} = {name}; ", part.ty());
        match part {
            FieldType::Scalar(ty) => g.bind(&name, *ty, of_variable(*ty), false),
            FieldType::Struct(of) => g.bind_record(&name, of, false),
            FieldType::Enum(of) => g.enum_locals.push(Local {
                name: name.clone(),
                ty: of.clone(),
                mutable: false,
            }),
        }
        parts.push(name);
    }
    (variant.with(&parts), typed)
}

/// Runs `make` with the names of a variant's pattern in scope, and returns the pattern, the `let` statements and the result.
fn with_bound<T>(
    g: &mut Gen,
    variant: &Variant,
    is_refutable: bool,
    make: impl FnOnce(&mut Gen) -> T,
) -> (String, String, T) {
    let outer = (g.scope.clone(), g.enum_locals.clone(), g.records.clone());
    let (pattern, typed) = bound(g, variant, is_refutable);
    let made = make(g);
    (g.scope, g.enum_locals, g.records) = outer;
    (pattern, typed, made)
}

/// A `match` with an arm for each variant. At times a second arm with a guard precedes it.
fn matched(g: &mut Gen, ty: Scalar) -> Expr {
    let local = local(g);
    let (mut text, mut exprs) = (format!("(match {} {{ ", local.name), vec![]);
    for variant in &local.ty.variants {
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

fn if_let(g: &mut Gen, ty: Scalar) -> Expr {
    let local = local(g);
    let variant = g.pick(&local.ty.variants).clone();
    let (pattern, typed, value) = with_bound(g, &variant, true, |g| g.settled(ty));
    let text = format!(
        "(if let {pattern} = {} {{ {typed}@ }} else {{ @ }})",
        local.name
    );
    let exprs = vec![value, g.settled(ty)];
    make(ty, of_variable(ty), text, exprs)
}

fn is_variant(g: &mut Gen, ty: Scalar) -> Expr {
    let local = local(g);
    let variant = g.pick(&local.ty.variants).clone();
    let pattern = variant.with(&vec!["_".to_string(); variant.fields.len()]);
    let text = format!("matches!({}, {pattern})", local.name);
    make(ty, of_variable(ty), text, vec![])
}

fn branch(g: &mut Gen, _: Scalar) -> Node {
    let local = local(g);
    let variant = g.pick(&local.ty.variants).clone();
    let (pattern, typed, then) = with_bound(g, &variant, true, |g| g.block(1));
    let text = format!("if let {pattern} = {} {{ {typed}#}} else {{#}}", local.name);
    let otherwise = g.block(1);
    Node::new(text, vec![], vec![then, otherwise])
}

/// The jumps that are valid here: `return`, `break` and `continue`.
fn exits(g: &Gen) -> Vec<String> {
    let mut exits = vec![];
    if g.may_end() {
        exits.push("return".into());
    }
    for around in g.loops.iter().filter(|l| l.uniform.is_none()) {
        if around.value.is_none() {
            exits.push(format!("break {}", around.label));
        }
        if !around.is_block {
            exits.push(format!("continue {}", around.label));
        }
    }
    exits
}

/// A `let … else` statement.
fn let_else(g: &mut Gen, _: Scalar) -> Node {
    let (local, exits) = (local(g), exits(g));
    let (variant, exit) = (g.pick(&local.ty.variants).clone(), g.pick(&exits).clone());
    let (pattern, typed) = bound(g, &variant, true);
    let text = format!("let {pattern} = {} else {{ {exit}; }}; {typed}", local.name);
    Node::leaf(text.trim_end())
}

/// A `while let` loop of a few iterations.
fn while_let(g: &mut Gen, _: Scalar) -> Node {
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
