//! Methods of `Atomic<T>`: statements on an element, with a result.

use sarek_ir::{Access, AtomicOp, Memory, Scalar, Stmt};

use super::array::{index_chain, peeled};
use crate::diagnostics::codes;
use crate::lower::{Known, Lowerer, Value};
use crate::tokens::range::{Ranged, SourceRange};

/// The operation of a method of `Atomic<T>`. `compare_exchange` is not among them: std's returns a
/// `Result`, while `compare_and_swap` returns the previous value.
fn operation(method: &str) -> Option<AtomicOp> {
    match method {
        "compare_and_swap" => Some(AtomicOp::CompareExchange),
        "compare_exchange" => None,
        other => AtomicOp::from_name(other),
    }
}

impl Lowerer<'_> {
    /// `v[i].fetch_add(x)`. `None` if the receiver is no atomic element. `wanted` is true if the
    /// result is used.
    pub(in crate::lower) fn atomic_call(
        &mut self,
        e: &syn::ExprMethodCall,
        wanted: bool,
    ) -> Option<Value> {
        let (base, indices) = index_chain(&e.receiver);
        if indices.is_empty() {
            return None;
        }
        let (memory, _) = self.find_memory(base)?;
        let name = e.method.to_string();
        if self.kernel.access(memory) != Access::Atomic {
            if name == "compare_exchange" || operation(&name).is_some() {
                self.errors.at(
                    codes::ATOMIC_OPERATION,
                    e.method.range(),
                    format!("`{name}` is a method of atomics"),
                    format!(
                        "declare `{}` with elements of type `Atomic<T>`",
                        self.kernel.memory_name(memory)
                    ),
                );
                return Some(Value::Never);
            }
            return None;
        }
        // The element type of a shared array may only become known at the end.
        let elem = self.element_type(memory);
        let elem = match self.types.look(elem) {
            Known::Scalar(elem) => elem,
            Known::Int
            | Known::Float
            | Known::Nothing
            | Known::Compound
            | Known::Foreign
            | Known::Parameter => self.kernel.element(memory),
        };
        let Some(op) = operation(&name) else {
            let what = format!("`Atomic<{elem}>` has no method `{name}` in a kernel");
            let instead = match name.starts_with("compare_exchange") {
                true => "use `compare_and_swap(current, new)`, which returns the old value",
                false => {
                    "use `load`, `store`, `swap`, `compare_and_swap` or a method that begins with `fetch_`"
                }
            };
            self.errors
                .at(codes::ATOMIC_OPERATION, e.method.range(), what, instead);
            return Some(Value::Never);
        };
        self.check_rank(memory, indices.len(), e.receiver.range());
        if indices.len() != self.rank(memory) || !self.atomic_fits(op, elem, e) {
            return Some(Value::Never);
        }
        Some(self.atomic(op, memory, &indices, e, wanted))
    }

    /// Checks that the element's type has the operation, and that the operands fit.
    fn atomic_fits(&mut self, op: AtomicOp, elem: Scalar, e: &syn::ExprMethodCall) -> bool {
        let bits = matches!(op, AtomicOp::And | AtomicOp::Or | AtomicOp::Xor);
        if bits && !elem.is_int() {
            self.errors.at(
                codes::ATOMIC_OPERATION,
                e.method.range(),
                format!("`Atomic<{elem}>` has no `{}`", e.method),
                "use it on integers",
            );
            return false;
        }
        let (wanted, found) = (op.arity() as usize, e.args.len());
        if wanted != found {
            let s = if wanted == 1 { "" } else { "s" };
            self.errors.at(
                codes::ARGUMENT_COUNT,
                e.method.range(),
                format!(
                    "`{}` takes {wanted} argument{s}, but the call has {found}",
                    e.method
                ),
                format!("pass {wanted}"),
            );
        }
        wanted == found
    }

    fn atomic(
        &mut self,
        op: AtomicOp,
        memory: Memory,
        indices: &[&syn::Expr],
        e: &syn::ExprMethodCall,
        wanted: bool,
    ) -> Value {
        let (mut index, site) = self.element_index(memory, indices, e.receiver.range());
        let elem = self.element_type(memory);
        let mark = self.mark();
        let arguments: Vec<&syn::Expr> = e.args.iter().collect();
        let args = self.operands(&arguments);
        if self.mark() > mark && !self.kernel.is_fixed_leaf(index) {
            index = self.spill_at(mark, index);
        }
        for arg in &args {
            let (ty, span) = (self.ty(*arg), self.span(*arg));
            self.unify(elem, ty, span);
        }
        let (args, span) = (self.kernel.push_list(&args), e.method.range());
        let result = (wanted && op != AtomicOp::Store).then(|| self.result(elem));
        if let Some(local) = result {
            self.push(Stmt::Let { local, init: None }, span);
        }
        let atomic = Stmt::Atomic {
            op,
            memory,
            index,
            args,
            result,
            site,
        };
        self.push(atomic, span);
        result.map_or(Value::Unit, |local| Value::Scalar(self.read(local, span)))
    }

    /// Lowers an expression statement if it is an atomic operation with an unused result.
    pub(in crate::lower) fn atomic_statement(&mut self, expr: &syn::Expr) -> Option<Value> {
        match peeled(expr) {
            syn::Expr::MethodCall(call) => self.atomic_call(call, false),
            _ => None,
        }
    }

    /// Reports a non-atomic use of atomics.
    pub(in crate::lower) fn atomic_misuse(&mut self, memory: Memory, span: SourceRange) {
        let name = self.kernel.memory_name(memory);
        let what = format!("the elements of `{name}` are atomic, but this is a plain access");
        let instead =
            format!("read them with `{name}[i].load()`, write them with `{name}[i].store(x)`");
        self.errors.at(codes::PLAIN_ATOMIC, span, what, instead);
    }
}
