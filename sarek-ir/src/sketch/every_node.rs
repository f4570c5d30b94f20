//! A kernel for each node of the IR on each type that has it, and their texts in a dialect.

use super::{Sketch, SketchExpr, SketchLocal};
use crate::print::{Format, Notation, PrintPiece};
use crate::write::{Dialect, Source, Unsupported, default_variant, render};
use crate::{
    AtomicOp, Axis, BinaryOp, Builtin, DivideOp, Expr, Intrinsic, Kernel, NativeText, Origin,
    Piece, Scalar, Scope, SiteId, SubgroupOp, UnaryOp, Unroll, Value,
};

/// A node, as a kernel that has it.
pub struct NodeKernel {
    /// The node with its type, such as `Add i32` or `atomic Max u64 shared`.
    pub node: String,
    /// A closed, validated kernel.
    pub kernel: Kernel,
}

/// The text of a node, or what the dialect lacks for it.
pub struct RenderedNode {
    /// The node, as in [`NodeKernel`]; followed by ` checked` if the text has all of its checks.
    pub node: String,
    /// The text.
    pub outcome: Result<Source, Unsupported>,
}

/// The texts of all nodes in a dialect.
pub struct RenderedNodes(Vec<RenderedNode>);

impl RenderedNodes {
    /// All nodes.
    pub fn nodes(&self) -> &[RenderedNode] {
        &self.0
    }

    /// The text of a node; `None` if the dialect refuses it, or if there is no such node.
    pub fn text(&self, node: &str) -> Option<&str> {
        let found = self.0.iter().find(|rendered| rendered.node == node)?;
        Some(&found.outcome.as_ref().ok()?.text)
    }

    /// The nodes that the dialect refuses.
    pub fn refused(&self) -> Vec<&str> {
        let refused = self.0.iter().filter(|rendered| rendered.outcome.is_err());
        refused.map(|rendered| &*rendered.node).collect()
    }

    /// Each node whose text calls a helper that is defined nowhere, with the helper.
    pub fn undefined(&self) -> Vec<(&str, String)> {
        let each = self.0.iter().filter_map(|rendered| {
            let source = rendered.outcome.as_ref().ok()?;
            Some((&*rendered.node, undefined_helper(&source.text)?))
        });
        each.collect()
    }

    /// Panics if the dialect refuses a node that is not in `allowed`, or a text calls a helper that is
    /// defined nowhere. An entry of `allowed` stands for all nodes that contain it.
    ///
    /// # Panics
    /// In these cases, with all such nodes.
    pub fn assert_rendered(&self, allowed: &[&str]) {
        let is_allowed = |node: &&str| allowed.iter().any(|part| node.contains(part));
        let mut refused = self.refused();
        refused.retain(|node| !is_allowed(node));
        assert!(refused.is_empty(), "refused: {refused:#?}");
        let undefined = self.undefined();
        assert!(undefined.is_empty(), "undefined helpers: {undefined:#?}");
    }
}

/// Renders every node of the IR by a dialect, without a device: once with its checks taken as proved, and once with them.
pub fn render_all(dialect: &dyn Dialect) -> RenderedNodes {
    let mut all = vec![];
    for NodeKernel { node, kernel } in every_node(dialect.name()) {
        let mut variant = default_variant(&kernel, dialect);
        let outcome = render(&kernel, dialect, &variant);
        all.push(RenderedNode {
            node: node.clone(),
            outcome,
        });
        let sites = (0..kernel.sites.len() as u32).map(SiteId);
        variant.checked = sites.collect();
        if !variant.checked.is_empty() {
            all.push(RenderedNode {
                node: format!("{node} checked"),
                outcome: render(&kernel, dialect, &variant),
            });
        }
    }
    RenderedNodes(all)
}

/// The first helper (`srk_…`) that a text calls and neither defines nor declares.
fn undefined_helper(text: &str) -> Option<String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let calls = text.match_indices("srk_").filter_map(|(at, _)| {
        let (before, rest) = text.split_at(at);
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let is_call = rest[end..].starts_with('(') && !before.ends_with(is_word);
        is_call.then_some((before, &rest[..end]))
    });
    // A definition has the type of its result before the name.
    let is_definition = |before: &str| {
        let before = before.trim_end_matches([' ', '*']);
        let start = before.rfind(|c| !is_word(c)).map_or(0, |at| at + 1);
        let word = &before[start..];
        !word.is_empty() && word != "return" && word != "else"
    };
    let (defined, called): (Vec<_>, Vec<_>) = calls.partition(|(before, _)| is_definition(before));
    let lost = |name: &&str| !defined.iter().any(|(_, known)| known == name);
    called
        .into_iter()
        .map(|(_, name)| name)
        .find(lost)
        .map(str::to_owned)
}

/// A kernel for each node that a closed kernel can have. `target` is that of the native text.
pub fn every_node(target: &'static str) -> Vec<NodeKernel> {
    let mut all = Nodes(vec![]);
    all.expressions();
    all.conversions();
    all.methods();
    all.statements();
    all.loops();
    all.memory();
    all.atomics();
    all.collectives();
    all.text(target);
    all.0
}

/// The thread's index, in a local.
fn index(s: &Sketch) -> SketchLocal<'_> {
    s.let_("i", s.id(Builtin::GlobalIdx(Axis::X)))
}

/// A value of this type that no compiler knows. It is made of buffers of 32 and 64 bits, which most targets have.
fn operand<'s>(
    s: &'s Sketch,
    i: SketchLocal<'s>,
    name: &'static str,
    ty: Scalar,
) -> SketchExpr<'s> {
    let load = |elem: Scalar| s.load(s.slice(name, elem), i.get());
    match ty {
        Scalar::Usize => s.arg(s.scalar(name, ty)),
        Scalar::Bool => load(Scalar::U32).ne(s.u32(0)),
        Scalar::I8 | Scalar::I16 => load(Scalar::I32).cast(ty),
        Scalar::U8 | Scalar::U16 => load(Scalar::U32).cast(ty),
        Scalar::Bf16 => {
            let bits = load(Scalar::U32).cast(Scalar::U16);
            s.call(Intrinsic::Bf16FromBits, &[bits])
        }
        Scalar::I32
        | Scalar::U32
        | Scalar::I64
        | Scalar::U64
        | Scalar::F16
        | Scalar::F32
        | Scalar::F64 => load(ty),
    }
}

/// Writes a value to a buffer of such a type.
fn keep<'s>(s: &'s Sketch, i: SketchLocal<'s>, value: SketchExpr<'s>) {
    let value = match value.ty() {
        Scalar::Bool | Scalar::I8 | Scalar::U8 | Scalar::I16 | Scalar::U16 | Scalar::Usize => {
            value.cast(Scalar::U32)
        }
        Scalar::Bf16 => s.call(Intrinsic::ToBits, &[value]).cast(Scalar::U32),
        Scalar::I32
        | Scalar::U32
        | Scalar::I64
        | Scalar::U64
        | Scalar::F16
        | Scalar::F32
        | Scalar::F64 => value,
    };
    s.store(s.slice_mut("out", value.ty()), i.get(), value);
}

struct Nodes(Vec<NodeKernel>);

impl Nodes {
    /// Adds a kernel, unless the validator finds that the language has no such node.
    fn add(&mut self, node: String, fill: impl FnOnce(&Sketch)) {
        let s = Sketch::new("node");
        fill(&s);
        let kernel = s.finish();
        if crate::validate(&kernel).is_ok() {
            self.0.push(NodeKernel { node, kernel });
        }
    }

    /// Adds a kernel that computes and keeps a value.
    fn value(
        &mut self,
        node: String,
        of: impl for<'s> FnOnce(&'s Sketch, SketchLocal<'s>) -> SketchExpr<'s>,
    ) {
        self.add(node, |s| {
            let i = index(s);
            let value = of(s, i);
            keep(s, i, value);
        });
    }

    fn expressions(&mut self) {
        use BinaryOp::*;
        for ty in Scalar::ALL {
            for op in [UnaryOp::Neg, UnaryOp::Not] {
                self.value(format!("{op:?} {ty}"), |s, i| {
                    let arg = operand(s, i, "a", ty).id;
                    s.expr(Expr::Unary { op, arg }, ty)
                });
            }
            for op in [
                Add, Sub, Mul, Div, Rem, BitAnd, BitOr, BitXor, Shl, Shr, Eq, Ne, Lt, Le, Gt, Ge,
            ] {
                self.value(format!("{op:?} {ty}"), |s, i| {
                    let other = if op.is_shift() { Scalar::U32 } else { ty };
                    let lhs = operand(s, i, "a", ty).id;
                    let rhs = operand(s, i, "b", other).id;
                    let result = if op.is_comparison() { Scalar::Bool } else { ty };
                    s.expr(Expr::Binary { op, lhs, rhs }, result)
                });
            }
            for op in [
                DivideOp::Div,
                DivideOp::Rem,
                DivideOp::DivEuclid,
                DivideOp::RemEuclid,
            ] {
                self.value(format!("{op:?} {ty} integer"), |s, i| {
                    operand(s, i, "a", ty).divide(op, operand(s, i, "b", ty))
                });
            }
            self.value(format!("param {ty}"), |s, _| s.arg(s.scalar("a", ty)));
        }
        for (name, builtin) in Builtin::ALL {
            self.value(format!("id {name}"), |s, _| s.id(builtin));
        }
        for (node, or) in [("and", false), ("or", true)] {
            self.value(node.into(), |s, i| {
                let lhs = operand(s, i, "a", Scalar::Bool);
                let rhs = operand(s, i, "b", Scalar::Bool);
                if or { lhs.or(rhs) } else { lhs.and(rhs) }
            });
        }
        self.value("bounded".into(), |s, i| {
            let out = s.slice("x", Scalar::U32);
            let bounded = s.bounded(out, 0, i.get(), s.arg(s.scalar("n", Scalar::Usize)));
            s.load(out, bounded)
        });
    }

    fn conversions(&mut self) {
        for from in Scalar::ALL {
            for to in Scalar::ALL.into_iter().filter(|to| *to != from) {
                self.value(format!("{from} as {to}"), |s, i| {
                    operand(s, i, "a", from).cast(to)
                });
            }
        }
        for value in literals() {
            let node = format!("literal {} {value:?}", value.scalar());
            self.value(node, |s, _| s.lit(value));
        }
    }

    fn methods(&mut self) {
        for ty in Scalar::ALL {
            for intrinsic in Intrinsic::ALL.iter().filter(|i| i.stands_on(ty)) {
                self.value(format!("{intrinsic:?} {ty}"), |s, i| {
                    let mut args = vec![operand(s, i, "a", ty)];
                    let others = intrinsic.args().iter().zip(["b", "c"]);
                    args.extend(others.map(|(arg, name)| operand(s, i, name, arg.of(ty))));
                    s.call(*intrinsic, &args)
                });
            }
        }
    }

    fn statements(&mut self) {
        for ty in Scalar::ALL {
            self.value(format!("assign {ty}"), |s, i| {
                let local = s.let_uninit("value", ty);
                s.set(local, operand(s, i, "a", ty));
                local.get()
            });
        }
        self.value("if".into(), |s, i| {
            let local = s.let_mut("value", s.u32(0));
            s.if_else(
                operand(s, i, "a", Scalar::Bool),
                || s.set(local, s.u32(1)),
                || s.set(local, s.u32(2)),
            );
            local.get()
        });
        self.add("assert".into(), |s| {
            let i = index(s);
            s.assert(operand(s, i, "a", Scalar::Bool), "it is true");
        });
        self.add("panic".into(), |s| {
            let i = index(s);
            s.if_(operand(s, i, "a", Scalar::Bool), || s.panic("it is true"));
        });
        self.add("return".into(), |s| {
            let i = index(s);
            s.if_(operand(s, i, "a", Scalar::Bool), || s.return_());
            keep(s, i, s.u32(1));
        });
        self.add("print".into(), |s| {
            let i = index(s);
            let format = Format {
                fill: ' ',
                align: None,
                plus: false,
                alternate: false,
                zero: false,
                width: None,
                precision: None,
                notation: Notation::Display,
            };
            let pieces = vec![
                PrintPiece::Text("value ".into()),
                PrintPiece::Arg { index: 0, format },
            ];
            s.print(pieces, &[operand(s, i, "a", Scalar::F32)]);
        });
    }

    fn loops(&mut self) {
        self.value("for".into(), |s, i| {
            let sum = s.let_mut("sum", s.u32(0));
            s.for_(
                "k",
                s.u32(0),
                operand(s, i, "a", Scalar::U32),
                |k, label| {
                    s.unroll(label, Unroll::Times(4));
                    s.if_(k.get().eq(s.u32(7)), || s.continue_(label));
                    s.set(sum, sum.get() + k.get());
                },
            );
            sum.get()
        });
        self.value("while".into(), |s, i| {
            let left = s.let_mut("left", operand(s, i, "a", Scalar::U32));
            s.while_(left.get().gt(s.u32(3)), |_| {
                // May fault in the loop.
                let step = left.get() / operand(s, i, "b", Scalar::U32);
                s.set(left, step);
            });
            left.get()
        });
        self.value("loop".into(), |s, i| {
            let sum = s.let_mut("sum", operand(s, i, "a", Scalar::U32));
            s.loop_(|outer| {
                s.loop_(|_| {
                    s.set(sum, sum.get() + s.u32(3));
                    s.if_(sum.get().gt(s.u32(99)), || s.break_(outer));
                });
            });
            sum.get()
        });
    }

    fn memory(&mut self) {
        for ty in Scalar::ALL {
            self.add(format!("buffer {ty}"), |s| {
                let (i, x, out) = (index(s), s.slice("x", ty), s.slice_mut("out", ty));
                s.store(out, i.get(), s.load(x, i.get()));
            });
            self.value(format!("local array {ty}"), |s, i| {
                let array = s.array("values", ty, 4);
                s.store(array, i.get(), operand(s, i, "a", ty));
                s.load(array, s.n(1))
            });
            for (node, fixed) in [("shared array", true), ("shared slice", false)] {
                self.value(format!("{node} {ty}"), |s, i| {
                    let shared = match fixed {
                        true => s.shared("tile", ty, 64),
                        false => {
                            let len = s.arg(s.scalar("n", Scalar::Usize));
                            s.shared_slice("tile", ty, len)
                        }
                    };
                    s.store(shared, i.get(), operand(s, i, "a", ty));
                    s.barrier();
                    s.load(shared, s.n(0))
                });
            }
            if let Some(value) = literals().into_iter().find(|v| v.scalar() == ty) {
                self.value(format!("table {ty}"), |s, i| {
                    let table = s.table("TABLE", &[value, Value::zero(ty)]);
                    s.load(table, i.get())
                });
            }
        }
        self.value("len".into(), |s, _| s.len(s.slice("x", Scalar::F32)));
    }

    fn atomics(&mut self) {
        for ty in Scalar::ALL {
            for (name, op) in AtomicOp::ALL {
                for shared in [false, true] {
                    let space = if shared { "shared" } else { "global" };
                    self.add(format!("atomic {op:?} {ty} {space}"), |s| {
                        let i = index(s);
                        let count = match name {
                            "load" => 0,
                            "compare_exchange" => 2,
                            _ => 1,
                        };
                        let args: Vec<_> = ["a", "b"][..count]
                            .iter()
                            .map(|name| operand(s, i, name, ty))
                            .collect();
                        let old = match shared {
                            true => s.atomic(op, s.shared_atomics("tile", ty, 8), i.get(), &args),
                            false => s.atomic(op, s.atomics("all", ty), i.get(), &args),
                        };
                        if op != AtomicOp::Store {
                            keep(s, i, old.get());
                        }
                    });
                }
            }
        }
    }

    fn collectives(&mut self) {
        for ty in Scalar::ALL {
            let ops = SubgroupOp::ALL.iter().map(|(_, op)| *op);
            for op in ops.filter(|op| op.result(ty).is_some()) {
                for lane in [false, true] {
                    self.value(format!("{} {ty}", op.name()), |s, i| {
                        let mut args = vec![operand(s, i, "a", ty)];
                        args.extend(lane.then(|| s.arg(s.scalar("lane", Scalar::Usize))));
                        s.subgroup(op, &args).get()
                    });
                }
            }
        }
        self.add("barrier".into(), |s| s.barrier());
        for scope in [Scope::Block, Scope::Device] {
            self.add(format!("{scope:?} fence"), |s| s.fence(scope));
        }
    }

    fn text(&mut self, target: &'static str) {
        for (node, of) in [
            ("native text", target),
            ("native fallback", "another target"),
        ] {
            self.value(node.into(), |s, i| {
                let local = s.let_mut("value", operand(s, i, "a", Scalar::F32));
                let text = NativeText {
                    target: of.into(),
                    pieces: vec![Piece::Local(local.id), Piece::Text(" = 1;".into())].into(),
                    origin: Origin::default(),
                };
                let fallback = || s.set(local, s.f32(1.0));
                s.native(vec![text], Some(&fallback));
                local.get()
            });
        }
    }
}

/// Constants of each type, among them those that targets have no literal for.
fn literals() -> Vec<Value> {
    let mut all = vec![
        Value::Bool(true),
        Value::I8(i8::MIN),
        Value::I16(i16::MIN),
        Value::I32(i32::MIN),
        Value::I64(i64::MIN),
        Value::U8(u8::MAX),
        Value::U16(u16::MAX),
        Value::U32(u32::MAX),
        Value::U64(u64::MAX),
        Value::Usize(7),
    ];
    for value in [1.5, 0.0, f32::INFINITY, f32::NAN] {
        all.extend([Value::f16(value), Value::bf16(value), Value::f32(value)]);
        all.push(Value::f64(value.into()));
    }
    all
}

#[cfg(test)]
mod tests;
