//! Generates code that only rustc can link: generic structs and functions, methods, traits, and generic kernels.

use sarek_ir::Scalar;
use sarek_ir::numeric::{self, NumberTrait};

use super::call::{Callee, Receiver};
use super::control::of_variable;
use super::items::{DERIVE, Field, Struct};
use super::{Gen, within};
use crate::tree::{Block, Expr, Function, Node};

impl Gen {
    fn integer_type(&mut self) -> Scalar {
        self.ty(|ty| ty.is_int() && ty != Scalar::Usize)
    }

    /// A generic struct; adds the instances that the kernel uses to the known structs.
    pub(super) fn generic_struct(&mut self) -> String {
        let fixed = self.field_type();
        for _ in 0..1 + self.below(2) {
            let ty = self.integer_type();
            let name = format!("G::<{ty}>");
            if self.structs.iter().any(|s| s.name == name) {
                continue;
            }
            let fields = [ty, fixed, ty].map(Field::Scalar).into();
            self.structs.push(Struct { name, fields });
        }
        format!(
            "{DERIVE}\n#[repr(C)]\npub struct G<T> {{ pub f0: T, pub f1: {fixed}, pub f2: T }}\n\n"
        )
    }

    /// Generic functions, methods and a trait.
    pub(super) fn generic_items(&mut self) -> String {
        let mut text = String::new();
        for at in 0..self.below(3) {
            text += &self.generic_function(at);
        }
        let structs = self.structs.clone();
        for (at, strukt) in structs.iter().enumerate() {
            if self.once_in(2) {
                text += &self.methods(at, strukt);
            }
        }
        if structs.iter().any(|s| s.name.starts_with("G::")) && self.once_in(2) {
            text += &self.generic_method();
        }
        if !structs.is_empty() && self.once_in(2) {
            text += &self.new_trait(&structs);
        }
        text
    }

    /// An expression of the integer type `T`, from these variables of that type.
    fn of_parameter(&mut self, names: &[&str], depth: u32, exprs: &mut Vec<Expr>) -> String {
        if depth == 0 || self.once_in(5) {
            return (*self.pick(names)).to_owned();
        }
        let mut inner = |g: &mut Gen| g.of_parameter(names, depth - 1, exprs);
        match self.below(12) {
            0 => (*self.pick(&["T::ONE", "T::ZERO", "T::MAX", "T::MIN"])).to_owned(),
            1 => {
                exprs.push(self.expr(Scalar::U32));
                "T::from_u32(@)".into()
            }
            2 => {
                exprs.push(self.expr(Scalar::I32));
                "T::from_i32(@)".into()
            }
            3 => format!("(!{})", inner(self)),
            4 => {
                let op = *self.pick(&["<<", ">>"]);
                format!("({} {op} {}u32)", inner(self), self.below(9))
            }
            5 => {
                let method = *self.pick(&of_int(0));
                format!("T::from_u32({}.{method}())", inner(self))
            }
            6 => {
                let op = *self.pick(&["<", "<=", "==", "!="]);
                let (a, b) = (inner(self), inner(self));
                let (c, d) = (inner(self), inner(self));
                format!("(if {a} {op} {b} {{ {c} }} else {{ {d} }})")
            }
            7 => format!("({} / T::from_u32({}))", inner(self), 1 + self.below(9)),
            8 => {
                let method = *self.pick(&of_int(1));
                let (a, b) = (inner(self), inner(self));
                format!("{a}.{method}({b})")
            }
            _ => {
                let op = *self.pick(&["+", "-", "*", "&", "|", "^"]);
                let (a, b) = (inner(self), inner(self));
                format!("({a} {op} {b})")
            }
        }
    }

    fn assigned_of_parameter(&mut self, place: &str, names: &[&str]) -> Node {
        let mut exprs = vec![];
        let text = self.of_parameter(names, 3, &mut exprs);
        Node::new(format!("{place} = {text};"), exprs, vec![])
    }

    /// The body of a function with `<T: Int, const N: u32>`: operations on `T`, with other statements between them.
    fn generic_body(&mut self, names: &[&str]) -> Block {
        self.bind("N", Scalar::U32, within(9.0), false);
        let all: Vec<&str> = names.iter().copied().chain(["s"]).collect();
        let mut body = vec![self.assigned_of_parameter("let mut s: T", names)];
        body.extend(self.few_statements(2));
        let turn = vec![self.assigned_of_parameter("s", &all)];
        body.push(Node::new("for _ in 0..N {#}", vec![], vec![turn]));
        let mut exprs = vec![self.expr(Scalar::Bool)];
        let last = self.of_parameter(&all, 2, &mut exprs);
        body.push(Node::new(
            format!("if @ {{ s }} else {{ {last} }}"),
            exprs,
            vec![],
        ));
        body
    }

    fn generic_function(&mut self, at: usize) -> String {
        let takes = self.ty(|_| true);
        let ((), body, size) = self.callee_body(|g| {
            g.bind("c", takes, of_variable(takes), false);
            ((), g.generic_body(&["a", "b"]))
        });
        let name = format!("h{at}");
        for _ in 0..2 {
            let (ty, n) = (self.integer_type(), self.below(5));
            self.callees.push(Callee {
                takes: vec![ty, takes, ty],
                ..Callee::plain(format!("{name}::<{ty}, {n}>"), ty, size)
            });
        }
        let head =
            format!("#[device]\npub fn {name}<T: Int, const N: u32>(a: T, c: {takes}, b: T) -> T");
        format!("{}\n", Function { head, body })
    }

    /// A generic method for all instances of the generic struct.
    fn generic_method(&mut self) -> String {
        let ((), body, size) =
            self.callee_body(|g| ((), g.generic_body(&["self.f0", "self.f2", "b"])));
        let instances = self.structs.clone().into_iter();
        for strukt in instances.filter(|s| s.name.starts_with("G::")) {
            let (Field::Scalar(ty), n) = (strukt.fields[0].clone(), self.below(5)) else {
                unreachable!("its first field is of its parameter")
            };
            self.callees.push(Callee {
                takes: vec![ty],
                receiver: Some(Receiver::Shared),
                ..Callee::plain(format!("{}::mixed::<{n}>", strukt.name), ty, size).of(&strukt)
            });
        }
        let head =
            "#[device]\nimpl<T: Int> G<T> {\npub fn mixed<const N: u32>(&self, b: T) -> T".into();
        format!("{}}}\n\n", Function { head, body })
    }

    /// Brings the fields of `self` into scope.
    fn bind_self(&mut self, strukt: &Struct, receiver: Receiver) {
        self.bind_record("self", strukt, receiver == Receiver::Mutable);
        // `self` is a reference, which cannot be used as the struct itself.
        if receiver != Receiver::Value {
            self.records.retain(|(name, ..)| name != "self");
        }
    }

    /// A method's parameters, its body, and the size of a call.
    fn method(
        &mut self,
        strukt: &Struct,
        receiver: Receiver,
        takes: &[Scalar],
        yields: Scalar,
    ) -> (Vec<String>, Block, usize) {
        self.callee_body(|g| {
            g.bind_self(strukt, receiver);
            let params = g.parameters(takes);
            let mut body = g.few_statements(3);
            let value = g.settled(yields);
            body.push(Node::new("@", vec![value], vec![]));
            (params, body)
        })
    }

    fn methods(&mut self, at: usize, strukt: &Struct) -> String {
        let mut text = format!("#[device]\nimpl {} {{\n", strukt.ty());
        for k in 0..1 + self.below(2) {
            let receiver = *self.pick(&[Receiver::Value, Receiver::Shared, Receiver::Mutable]);
            let takes: Vec<_> = (0..self.below(3)).map(|_| self.ty(|_| true)).collect();
            let yields = self.ty(|_| true);
            let (params, body, size) = self.method(strukt, receiver, &takes, yields);
            let params: Vec<_> = [format!("{}self", receiver.borrow())]
                .into_iter()
                .chain(params)
                .collect();
            let name = format!("m{at}_{k}");
            let head = format!("pub fn {name}({}) -> {yields}", params.join(", "));
            text += &Function { head, body }.to_string();
            self.callees.push(Callee {
                takes,
                receiver: Some(receiver),
                ..Callee::plain(format!("{}::{name}", strukt.name), yields, size).of(strukt)
            });
        }
        text + "}\n\n"
    }

    /// A trait, its impls for the structs, and a function that is generic over it.
    fn new_trait(&mut self, structs: &[Struct]) -> String {
        let (by, yields) = (self.ty(|_| true), self.ty(|_| true));
        let mut text = format!(
            "#[device]\npub trait Kind: KernelType {{\n    const ORDER: u32;\n    fn weight(&self, p0: {by}) -> {yields};\n    \
             fn changed(self, p0: {by}) -> Self;\n    fn rank(p0: u32) -> u32;\n}}\n\n"
        );
        for strukt in structs {
            let (_, weight, size) = self.method(strukt, Receiver::Shared, &[by], yields);
            let ((), changed, more) = self.callee_body(|g| {
                g.bind_self(strukt, Receiver::Value);
                g.bind("p0", by, of_variable(by), false);
                let mut body = g.few_statements(2);
                let mut exprs = vec![];
                let value = g.record(strukt, None, &mut exprs);
                body.push(Node::new(value, exprs, vec![]));
                ((), body)
            });
            let weight = Function {
                // The body may assign to the parameter.
                head: format!("fn weight(&self, mut p0: {by}) -> {yields}"),
                body: weight,
            };
            let changed = Function {
                head: format!("fn changed(self, p0: {by}) -> Self"),
                body: changed,
            };
            let (order, rank) = (self.below(9), self.below(9));
            text += &format!(
                "#[device]\nimpl Kind for {} {{\n    const ORDER: u32 = {order};\n{weight}{changed}\
                 fn rank(p0: u32) -> u32 {{\n    p0 ^ {rank}\n}}\n}}\n\n",
                strukt.ty()
            );
            self.callees.push(Callee {
                takes: vec![by],
                ..Callee::plain(format!("judged::<{}>", strukt.ty()), yields, size + more)
                    .of(strukt)
            });
            self.callees.push(Callee {
                takes: vec![by],
                receiver: Some(Receiver::Shared),
                ..Callee::plain(format!("<{} as Kind>::weight", strukt.ty()), yields, size)
                    .of(strukt)
            });
        }
        text += &format!(
            "#[device]\npub fn judged<S: Kind>(p0: {by}, s: S) -> {yields} {{\n    let c: S = s.changed(p0);\n    \
             let order: u32 = S::ORDER;\n    let rank: u32 = S::rank(order);\n    let w: {yields} = c.weight(p0);\n    \
             if rank & 1 == 0 {{ w }} else {{ let v: {yields} = s.weight(p0); v }}\n}}\n\n"
        );
        text
    }

    /// The generic parameters of a kernel, their arguments, and the kernel's parameters of generic type. All are empty unless the kernel is generic.
    pub(super) fn generics(&mut self) -> (String, Vec<String>, Vec<String>) {
        if !self.traits.rustc || !self.once_in(3) {
            return Default::default();
        }
        let (ty, n, m) = (self.integer_type(), 1 + self.below(9), self.below(99));
        self.bind_uniform("N", Scalar::Usize, within(n as f64));
        self.bind_uniform("M", Scalar::I32, within(m as f64));
        (
            "<T: Int, const N: usize, const M: i32>".into(),
            vec![ty.to_string(), n.to_string(), m.to_string()],
            vec!["first: T".into(), "second: T".into()],
        )
    }

    /// Declares a variable converted from the kernel's type parameter.
    pub(super) fn parameter_to_variable(&mut self, body: &mut Block) {
        let mut exprs = vec![];
        let text = self.of_parameter(&["first", "second"], 3, &mut exprs);
        let name = self.name();
        let node = Node::new(
            format!("let mut {name} = ({text}).to_i32();"),
            exprs,
            vec![],
        );
        body.push(node);
        self.bind(&name, Scalar::I32, of_variable(Scalar::I32), true);
    }
}

impl Callee {
    /// A function without parameters.
    pub(super) fn plain(name: String, yields: Scalar, size: usize) -> Callee {
        Callee {
            name,
            takes: vec![],
            takes_struct: None,
            receiver: None,
            takes_slice: None,
            takes_closure: None,
            yields,
            size,
        }
    }

    /// Adds a struct parameter.
    fn of(mut self, strukt: &Struct) -> Callee {
        self.takes_struct = Some(strukt.clone());
        self
    }
}

/// The methods of the trait `Int` with so many arguments.
fn of_int(arguments: usize) -> Vec<&'static str> {
    let rows = numeric::methods().filter(|row| row.of_trait == Some(NumberTrait::Int));
    let rows = rows.filter(|row| row.args.len() == arguments);
    rows.map(|row| row.name).collect()
}
