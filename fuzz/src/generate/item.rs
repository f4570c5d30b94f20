//! What stands before a kernel: structs, enums, and functions on them.

use sarek::ir::Scalar;

use super::array::Array;
use super::closure::Closure;
use super::control::of_variable;
use super::sum::{Sum, Variant};
use super::{Gen, Role, Rule, Slice, make};
use crate::tree::{Expr, Function, Node};

/// A struct: its name, and its fields with their paths down to scalars.
#[derive(Clone, Debug)]
pub(super) struct Struct {
    name: String,
    fields: Vec<Field>,
}

#[derive(Clone, Debug)]
enum Field {
    Scalar(Scalar),
    Struct(Struct),
}

/// A `#[device]` function.
#[derive(Clone, Debug)]
pub(super) struct Callee {
    name: String,
    takes: Vec<Scalar>,
    takes_struct: Option<Struct>,
    /// An array or slice, and whether it is changed.
    takes_slice: Option<(Scalar, bool)>,
    /// What it is given to call takes and yields this.
    takes_closure: Option<(Scalar, Scalar)>,
    yields: Scalar,
    /// The number of its statements, with those of the functions that it calls: a call puts all of them in its place.
    size: usize,
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

const DERIVE: &str = "#[derive(Clone, Copy, KernelType)]";

impl Gen {
    /// Makes the items, as text.
    pub(super) fn items(&mut self) -> String {
        let mut text = String::new();
        for at in 0..self.below(3) {
            let strukt = self.new_struct(at);
            let fields = (0..).zip(&strukt.fields).map(|(i, field)| match field {
                Field::Scalar(ty) => format!("pub f{i}: {ty}"),
                Field::Struct(of) => format!("pub f{i}: {}", of.name),
            });
            let fields: Vec<String> = fields.collect();
            let (name, fields) = (&strukt.name, fields.join(", "));
            text += &format!("{DERIVE}\n#[repr(C)]\npub struct {name} {{ {fields} }}\n\n");
            self.structs.push(strukt);
        }
        for at in 0..self.below(2) {
            text += &self.new_enum(at);
        }
        for at in 0..self.below(4) {
            text += &self.function(at);
        }
        if self.traits.team {
            for at in 0..self.below(3) {
                text += &self.collective(at);
            }
        }
        text
    }

    /// What a function had goes out of scope.
    pub(super) fn forget(&mut self) {
        self.arrays.clear();
        self.sums.clear();
        self.records.clear();
        self.vectors.clear();
        self.closures.clear();
        self.slices.clear();
    }

    /// Indices do not stand in such types.
    fn field_type(&mut self) -> Scalar {
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

    fn new_enum(&mut self, at: usize) -> String {
        let mut variants = vec![];
        for v in 0..2 + self.below(3) {
            let fields: Vec<_> = (0..self.below(3)).map(|_| self.field_type()).collect();
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
                    let fields: Vec<_> = fields.map(|(i, ty)| format!("f{i}: {ty}")).collect();
                    format!("Case{v} {{ {} }}", fields.join(", "))
                }
                (false, false) => {
                    let fields: Vec<_> = fields.map(|(_, ty)| ty.to_string()).collect();
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
        self.enums.push(Sum { ty, variants });
        text
    }

    /// A function whose body is made as a kernel's is, of its parameters alone.
    fn function(&mut self, at: usize) -> String {
        let outer = (
            std::mem::take(&mut self.scope),
            std::mem::replace(&mut self.in_function, true),
            std::mem::replace(&mut self.together, false),
            self.budget,
        );
        let called = std::mem::take(&mut self.called);
        let takes: Vec<_> = (0..1 + self.below(3)).map(|_| self.ty(|_| true)).collect();
        let mut params: Vec<String> = vec![];
        for (i, ty) in takes.iter().enumerate() {
            let (name, mutable) = (format!("p{i}"), self.once_in(3));
            self.bind(&name, *ty, of_variable(*ty), mutable);
            params.push(format!("{}{name}: {ty}", if mutable { "mut " } else { "" }));
        }
        let takes_struct = match self.structs.is_empty() || self.once_in(2) {
            true => None,
            false => {
                let structs = self.structs.clone();
                let strukt = self.pick(&structs).clone();
                params.push(format!("s: {}", strukt.name));
                self.bind_record("s", &strukt, false);
                Some(strukt)
            }
        };
        let takes_slice = self.once_in(3).then(|| {
            let (elem, changes) = (self.ty(|ty| ty != Scalar::Usize), self.once_in(2));
            params.push(format!("q: &{}[{elem}]", if changes { "mut " } else { "" }));
            self.lend(elem, changes);
            (elem, changes)
        });
        let takes_closure = self.once_in(4).then(|| {
            let (takes, yields) = (self.ty(|_| true), self.ty(|_| true));
            params.push(format!("f: impl Fn({takes}) -> {yields}"));
            let name = "f".into();
            self.closures.push(Closure {
                name,
                takes,
                yields,
            });
            (takes, yields)
        });
        let yields = self.ty(|_| true);
        self.budget = 1 + self.below(5);
        let mut body = vec![];
        while self.budget > 0 {
            body.push(self.statement());
        }
        let value = self.settled(yields);
        body.push(Node::new("@", vec![value], vec![]));
        let name = format!("g{at}");
        let head = format!(
            "#[device]\npub fn {name}({}) -> {yields}",
            params.join(", ")
        );
        (self.scope, self.in_function, self.together, self.budget) = outer;
        self.forget();
        self.callees.push(Callee {
            name,
            takes,
            takes_struct,
            takes_slice,
            takes_closure,
            yields,
            size: crate::tree::statements(&body) + std::mem::replace(&mut self.called, called),
        });
        format!("{}\n", Function { head, body })
    }

    /// Brings a slice into scope that a function is lent: one of the kernel's, or an array.
    fn lend(&mut self, elem: Scalar, changes: bool) {
        let name = String::from("q");
        match changes {
            true => self.arrays.push(Array {
                name,
                elem,
                dims: vec![LENT],
                mutable: true,
                lent: true,
            }),
            false => self.slices.push(Slice {
                name,
                elem,
                role: Role::In { covers: false },
            }),
        }
    }

    /// Brings the fields of a struct into scope: they are variables whose names have dots.
    fn bind_record(&mut self, name: &str, strukt: &Struct, mutable: bool) {
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

    /// A struct of new values; `base` may lend all but the first.
    fn record(&mut self, strukt: &Struct, base: Option<&str>, exprs: &mut Vec<Expr>) -> String {
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

/// A whole struct, at times but for some fields, or an inner one.
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

/// An array that is lent has so many elements at least.
const LENT: usize = 2;

impl Callee {
    /// Does it change what it is lent?
    fn changes(&self) -> bool {
        self.takes_slice.is_some_and(|(_, changes)| changes)
    }

    fn is_callable(&self, g: &Gen) -> bool {
        let has_array = |elem| !arrays(g, elem).is_empty();
        let is_small = self.size + g.called <= if g.in_function { 12 } else { 60 };
        is_small
            && (self.takes_closure.is_none() || !g.in_closure)
            && self
                .takes_slice
                .is_none_or(|(elem, changes)| !changes || has_array(elem))
    }
}

/// The arrays that may be lent to be changed.
fn arrays(g: &Gen, elem: Scalar) -> Vec<String> {
    let fits = |a: &&Array| a.mutable && a.elem == elem && a.dims.len() == 1 && a.dims[0] >= LENT;
    let arrays = g.arrays.iter().filter(fits);
    arrays
        .map(|a| match a.lent {
            true => a.name.clone(),
            false => format!("&mut {}", a.name),
        })
        .collect()
}

impl Gen {
    /// What stands before a call of a function, the call, and what stands in the holes of both.
    fn callee(&mut self, callee: &Callee) -> (&'static str, String, Vec<Expr>) {
        let (mut before, mut exprs, mut lent) = ("", vec![], None);
        if let Some((elem, changes)) = callee.takes_slice {
            let known = match changes {
                true => arrays(self, elem),
                false => self.readable(elem),
            };
            lent = Some(if known.is_empty() {
                before = "let lent = [@, @]; ";
                exprs.extend([self.settled(elem), self.settled(elem)]);
                String::from("&lent")
            } else {
                self.pick(&known).clone()
            });
        }
        let mut parts = vec!["@".to_string(); callee.takes.len()];
        exprs.extend(
            callee
                .takes
                .iter()
                .map(|ty| self.settled(*ty))
                .collect::<Vec<_>>(),
        );
        if let Some(strukt) = &callee.takes_struct {
            let fits = |r: &&(String, Struct, bool)| r.1.name == strukt.name;
            let alike: Vec<_> = self.records.iter().filter(fits).cloned().collect();
            parts.push(match alike.is_empty() {
                true => self.record(strukt, None, &mut exprs),
                false => self.pick(&alike).0.clone(),
            });
        }
        parts.extend(lent);
        if let Some((takes, yields)) = callee.takes_closure {
            let (text, value) = self.closure(takes, yields);
            exprs.push(value);
            parts.push(text);
        }
        self.called += callee.size;
        let call = format!("{}({})", callee.name, parts.join(", "));
        (before, call, exprs)
    }

    /// The slices and arrays that may be lent to be read.
    fn readable(&self, elem: Scalar) -> Vec<String> {
        let inputs = self.slices.iter().filter(|s| s.elem == elem);
        let inputs = inputs.filter(|s| matches!(s.role, Role::In { .. }));
        let arrays = self
            .arrays
            .iter()
            .filter(|a| a.elem == elem && a.dims.len() == 1);
        let lent = |a: &Array| {
            if a.lent {
                a.name.clone()
            } else {
                format!("&{}", a.name)
            }
        };
        inputs
            .map(|s| s.name.clone())
            .chain(arrays.map(lent))
            .collect()
    }
}

fn call(g: &mut Gen, ty: Scalar) -> Expr {
    let fits = |c: &&Callee| c.yields == ty && !c.changes() && c.is_callable(g);
    let callees: Vec<_> = g.callees.iter().filter(fits).cloned().collect();
    let callee = g.pick(&callees).clone();
    let (before, text, exprs) = g.callee(&callee);
    // What it yields is known to rustc alone.
    let text = format!("({{ {before}let it: {ty} = {text}; it }})");
    make(ty, of_variable(ty), text, exprs)
}

/// A call that changes an array.
fn call_with_array(g: &mut Gen, _: Scalar) -> Node {
    let fits = |c: &&Callee| c.changes() && c.is_callable(g);
    let callees: Vec<_> = g.callees.iter().filter(fits).cloned().collect();
    let callee = g.pick(&callees).clone();
    let (_, text, exprs) = g.callee(&callee);
    let (name, ty) = (g.name(), callee.yields);
    g.bind(&name, ty, of_variable(ty), false);
    Node::new(format!("let {name}: {ty} = {text};"), exprs, vec![])
}
