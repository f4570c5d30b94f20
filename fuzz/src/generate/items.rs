//! Generates the items before a kernel: structs, enums and functions.

use sarek_ir::Scalar;

use super::array::Array;
use super::call::{Callee, MIN_SLICE_LEN, call, call_with_array};
use super::closure::Closure;
use super::control::of_variable;
use super::enums::{Enum, FieldType, Variant};
use super::{Form, Gen, Role, Rule, Slice};
use crate::tree::{Block, Expr, Function, Node};

/// A struct: its name and its fields, nested structs included.
#[derive(Clone, Debug)]
pub(super) struct Struct {
    /// The name as a path in an expression, such as `G::<i32>`.
    pub(super) name: String,
    pub(super) fields: Vec<Field>,
}

impl Struct {
    /// The name as a type, such as `G<i32>`.
    pub(super) fn ty(&self) -> String {
        self.name.replace("::<", "<")
    }
}

#[derive(Clone, Debug)]
pub(super) enum Field {
    Scalar(Scalar),
    Struct(Struct),
}

pub(super) const RULES: &[Rule<Expr>] = &[Rule {
    weight: 12,
    fits: |g, ty| {
        !g.uniform
            && g.callees
                .iter()
                .any(|c| c.yields == ty && !c.changes() && c.is_callable(g))
    },
    make: call,
}];

pub(super) const STATEMENTS: &[Rule<Node>] = &[
    Rule {
        weight: 8,
        fits: |g, _| g.callees.iter().any(|c| c.changes() && c.is_callable(g)),
        make: call_with_array,
    },
    Rule {
        weight: 5,
        fits: |g, _| !g.structs.is_empty(),
        make: declare,
    },
    Rule {
        weight: 3,
        fits: |g, _| g.records.iter().any(|(_, _, mutable)| *mutable),
        make: update,
    },
];

pub(super) const DERIVE: &str = "#[derive(Clone, Copy, KernelType)]";

impl Gen {
    /// Makes the items and returns their text.
    pub(super) fn items(&mut self) -> String {
        let mut text = String::new();
        for at in 0..self.below(3) {
            let strukt = self.new_struct(at);
            let fields = (0..).zip(&strukt.fields).map(|(i, field)| match field {
                Field::Scalar(ty) => format!("pub f{i}: {ty}"),
                Field::Struct(of) => format!("pub f{i}: {}", of.ty()),
            });
            let fields: Vec<String> = fields.collect();
            let (name, fields) = (&strukt.name, fields.join(", "));
            text += &format!("{DERIVE}\n#[repr(C)]\npub struct {name} {{ {fields} }}\n\n");
            self.structs.push(strukt);
        }
        if self.traits.rustc && self.once_in(2) {
            text += &self.generic_struct();
        }
        for at in 0..self.below(3) {
            text += &self.new_enum(at);
        }
        for at in 0..self.below(4) {
            text += &self.function(at);
        }
        if self.once_in(3) {
            text += &self.recursive();
        }
        if self.traits.rustc {
            text += &self.generic_items();
        }
        if self.traits.shared_memory {
            for at in 0..self.below(3) {
                text += &self.cooperative_fn(at);
            }
        }
        text
    }

    /// Removes the variables of a function from scope.
    pub(super) fn forget(&mut self) {
        self.arrays.clear();
        self.enum_locals.clear();
        self.records.clear();
        self.vectors.clear();
        self.closures.clear();
        self.slices.clear();
    }

    /// A type for a field: any but `usize`, which structs and enums may not contain.
    pub(super) fn field_type(&mut self) -> Scalar {
        self.ty(|ty| ty != Scalar::Usize)
    }

    fn new_struct(&mut self, at: usize) -> Struct {
        let mut fields = vec![];
        for _ in 0..1 + self.below(4) {
            let inner = self.structs.last().filter(|_| fields.is_empty()).cloned();
            fields.push(match inner {
                Some(inner) if self.once_in(2) => Field::Struct(inner),
                _ => Field::Scalar(self.field_type()),
            });
        }
        let name = format!("S{at}");
        Struct { name, fields }
    }

    /// The type of a variant's field, at times a user-defined one.
    fn variant_field(&mut self) -> FieldType {
        let (structs, enums) = (self.structs.clone(), self.enums.clone());
        match self.below(6) {
            0 if !structs.is_empty() => FieldType::Struct(self.pick(&structs).clone()),
            1 | 2 if !enums.is_empty() => FieldType::Enum(self.pick(&enums).clone()),
            _ => FieldType::Scalar(self.field_type()),
        }
    }

    fn new_enum(&mut self, at: usize) -> String {
        let mut variants = vec![];
        for v in 0..2 + self.below(3) {
            let fields: Vec<_> = (0..self.below(3)).map(|_| self.variant_field()).collect();
            let path = format!("E{at}::Case{v}");
            let named = self.once_in(2);
            variants.push(Variant {
                path,
                fields,
                named,
            });
        }
        let bare = variants.iter().all(|v| v.fields.is_empty());
        let repr = if bare { "u32" } else { "C, u32" };
        let spelled = (0..).zip(&variants).map(|(v, variant)| {
            let fields = (0..).zip(&variant.fields);
            match (variant.fields.is_empty(), variant.named) {
                (true, _) => format!("Case{v}"),
                (false, true) => {
                    let fields = fields.map(|(i, part)| format!("f{i}: {}", part.ty()));
                    let fields: Vec<_> = fields.collect();
                    format!("Case{v} {{ {} }}", fields.join(", "))
                }
                (false, false) => {
                    let fields: Vec<_> = fields.map(|(_, part)| part.ty()).collect();
                    format!("Case{v}({})", fields.join(", "))
                }
            }
        });
        let spelled: Vec<String> = spelled.collect();
        let ty = format!("E{at}");
        let text = format!(
            "{DERIVE}\n#[repr({repr})]\npub enum {ty} {{ {} }}\n\n",
            spelled.join(", ")
        );
        self.enums.push(Enum { ty, variants });
        text
    }

    /// Makes the body of a function, with only its own names in scope. The last result is the number of statements that inlining a call adds.
    pub(super) fn callee_body<T>(
        &mut self,
        make: impl FnOnce(&mut Gen) -> (T, Block),
    ) -> (T, Block, usize) {
        let outer = (
            std::mem::take(&mut self.scope),
            std::mem::replace(&mut self.in_function, true),
            std::mem::replace(&mut self.converged, false),
            self.budget,
        );
        let called = std::mem::take(&mut self.called);
        let (made, body) = make(self);
        (self.scope, self.in_function, self.converged, self.budget) = outer;
        self.forget();
        let size = crate::tree::statements(&body) + std::mem::replace(&mut self.called, called);
        (made, body, size)
    }

    /// A few statements.
    pub(super) fn few_statements(&mut self, most: usize) -> Block {
        self.budget = 1 + self.below(most);
        let mut body = vec![];
        while self.budget > 0 {
            body.push(self.statement());
        }
        body
    }

    /// Brings parameters of these types into scope, and returns their declarations.
    pub(super) fn parameters(&mut self, takes: &[Scalar]) -> Vec<String> {
        let declare = |(i, ty): (usize, &Scalar)| {
            let (name, mutable) = (format!("p{i}"), self.once_in(3));
            self.bind(&name, *ty, of_variable(*ty), mutable);
            format!("{}{name}: {ty}", if mutable { "mut " } else { "" })
        };
        takes.iter().enumerate().map(declare).collect()
    }

    /// A tail-recursive function, which calls itself up to seven times.
    fn recursive(&mut self) -> String {
        let ty = self.ty(|_| true);
        let ((), body, size) = self.callee_body(|g| {
            g.bind("p", ty, of_variable(ty), true);
            g.bind("n", Scalar::U32, of_variable(Scalar::U32), false);
            let first = g.settled(ty);
            let mut body = vec![Node::new(
                "if n & 7 == 0 { return @; }",
                vec![first],
                vec![],
            )];
            body.extend(g.few_statements(2));
            let value = g.settled(ty);
            let word = *g.pick(&["(n & 7) - 1", "(n & 7) / 2"]);
            body.push(Node::new(format!("again({word}, @)"), vec![value], vec![]));
            ((), body)
        });
        let head = format!("#[device]\npub fn again(n: u32, mut p: {ty}) -> {ty}");
        self.callees.push(Callee {
            takes: vec![Scalar::U32, ty],
            ..Callee::plain("again".into(), ty, size * 2)
        });
        format!("{}\n", Function { head, body })
    }

    /// A function. Its body is made like a kernel's, but uses only its parameters.
    fn function(&mut self, at: usize) -> String {
        let takes: Vec<_> = (0..1 + self.below(3)).map(|_| self.ty(|_| true)).collect();
        let (yields, name) = (self.ty(|_| true), format!("g{at}"));
        let ((params, callee), body, size) = self.callee_body(|g| {
            let mut params = g.parameters(&takes);
            let takes_struct = match g.structs.is_empty() || g.once_in(2) {
                true => None,
                false => {
                    let structs = g.structs.clone();
                    let strukt = g.pick(&structs).clone();
                    params.push(format!("s: {}", strukt.ty()));
                    g.bind_record("s", &strukt, false);
                    Some(strukt)
                }
            };
            let takes_slice = g.once_in(3).then(|| {
                let (elem, changes) = (g.ty(|ty| ty != Scalar::Usize), g.once_in(2));
                params.push(format!("q: &{}[{elem}]", if changes { "mut " } else { "" }));
                g.bind_slice(elem, changes);
                (elem, changes)
            });
            let takes_closure = g.once_in(4).then(|| {
                let (takes, yields) = (g.ty(|_| true), g.ty(|_| true));
                params.push(format!("f: impl Fn({takes}) -> {yields}"));
                let name = "f".into();
                g.closures.push(Closure {
                    name,
                    takes,
                    yields,
                });
                (takes, yields)
            });
            let mut body = g.few_statements(5);
            let value = g.settled(yields);
            body.push(Node::new("@", vec![value], vec![]));
            let callee = Callee {
                name,
                takes,
                takes_struct,
                receiver: None,
                takes_slice,
                takes_closure,
                yields,
                size: 0,
            };
            ((params, callee), body)
        });
        let (name, params) = (&callee.name, params.join(", "));
        let head = format!("#[device]\npub fn {name}({params}) -> {yields}");
        self.callees.push(Callee { size, ..callee });
        format!("{}\n", Function { head, body })
    }

    /// Brings a slice parameter of a function into scope. Callers pass a slice of the kernel or an array.
    fn bind_slice(&mut self, elem: Scalar, changes: bool) {
        let name = String::from("q");
        match changes {
            true => self.arrays.push(Array {
                name,
                elem,
                dims: vec![MIN_SLICE_LEN],
                mutable: true,
                borrowed: true,
            }),
            false => self.slices.push(Slice {
                name,
                elem,
                role: Role::In { covers: false },
                form: Form::Slice,
            }),
        }
    }

    /// Brings the fields of a struct into scope, as variables whose names contain dots.
    pub(super) fn bind_record(&mut self, name: &str, strukt: &Struct, mutable: bool) {
        for (i, field) in strukt.fields.iter().enumerate() {
            let name = format!("{name}.f{i}");
            match field {
                Field::Scalar(ty) => self.bind(&name, *ty, of_variable(*ty), mutable),
                Field::Struct(inner) => self.bind_record(&name, inner, mutable),
            }
        }
        self.records
            .push((name.to_owned(), strukt.clone(), mutable));
    }

    /// A struct expression with new values. With `base`, all fields but the first come from it.
    pub(super) fn record(
        &mut self,
        strukt: &Struct,
        base: Option<&str>,
        exprs: &mut Vec<Expr>,
    ) -> String {
        let mut fields = vec![];
        for (i, field) in strukt.fields.iter().enumerate() {
            let text = match field {
                Field::Scalar(ty) => {
                    exprs.push(self.settled(*ty));
                    "@".into()
                }
                Field::Struct(inner) => self.record(inner, None, exprs),
            };
            fields.push(format!("f{i}: {text}"));
            if base.is_some() {
                break;
            }
        }
        fields.extend(base.map(|base| format!("..{base}")));
        format!("{} {{ {} }}", strukt.name, fields.join(", "))
    }
}

fn declare(g: &mut Gen, _: Scalar) -> Node {
    let structs = g.structs.clone();
    let strukt = g.pick(&structs).clone();
    let mut exprs = vec![];
    let text = g.record(&strukt, None, &mut exprs);
    let (name, mutable) = (g.name(), g.once_in(2));
    g.bind_record(&name, &strukt, mutable);
    let word = if mutable { "mut " } else { "" };
    Node::new(format!("let {word}{name} = {text};"), exprs, vec![])
}

/// Assigns a whole struct, which may be nested in another. The value is another struct, new values, or a mix of both.
fn update(g: &mut Gen, _: Scalar) -> Node {
    let mutable: Vec<_> = g.records.iter().filter(|r| r.2).cloned().collect();
    let (name, strukt, _) = g.pick(&mutable).clone();
    let alike: Vec<_> = g
        .records
        .iter()
        .filter(|r| r.1.name == strukt.name)
        .cloned()
        .collect();
    let other = g.pick(&alike).0.clone();
    let mut exprs = vec![];
    let text = match g.below(3) {
        0 => other,
        1 => g.record(&strukt, Some(&other), &mut exprs),
        _ => g.record(&strukt, None, &mut exprs),
    };
    Node::new(format!("{name} = {text};"), exprs, vec![])
}
