//! Inlines calls of functions and of callable arguments.

use std::rc::Rc;

use super::Function;
use super::build::{BoundCallable, Exit, Frame, Linker, call_sites, site_count};
use super::leaf::{Part, Storage};
use super::shape::Shape;
use crate::facts::Flow;
use crate::{
    Argument, Block, Call, CallId, CallTarget, CallableArg, ClosureId, Expr, ExprId, FunctionId,
    Kernel, Loc, Local, Native, ParamKind, SiteId, Stmt, StmtId,
};

impl Linker {
    pub fn call(&mut self, frame: &mut Frame<'_>, id: CallId, loc: Loc) {
        let call = &frame.ir.calls[id.index()];
        match call.called {
            CallTarget::Function(function) => {
                let function = &frame.links.functions[function.index()];
                let first = frame.call_sites[id.index()];
                let given = bound_callables(frame, id);
                self.call_function(frame, call, (function, first), given, loc);
            }
            CallTarget::Callable(callable) => match frame.callables[callable.index()].clone() {
                BoundCallable::Closure(home, closure) => {
                    self.call_closure(frame, call, (&home, closure), loc);
                }
                BoundCallable::Function(function, first) => {
                    self.call_function(frame, call, (function, first), vec![], loc);
                }
            },
        }
    }

    fn call_function<'a>(
        &mut self,
        frame: &mut Frame<'a>,
        call: &Call,
        (function, first): (&'a Function, u32),
        callables: Vec<BoundCallable<'a>>,
        loc: Loc,
    ) {
        let (ir, links) = (function.ir, &function.links);
        let mut inner = self.frame(ir, links);
        inner.sites = (first..first + ir.sites.len() as u32).map(SiteId).collect();
        inner.call_sites = call_sites(ir, links, first);
        inner.callables = callables;
        for (param, arg) in ir.params.iter().zip(call.args.iter()) {
            let part = self.argument(frame, &inner, (&param.name, param.kind), *arg, loc);
            inner.params.push(part);
        }
        self.shared(&mut inner);
        self.tables(&mut inner);
        self.preludes(ir, links);
        let body = self.in_block(|this| this.body(&mut inner, loc));
        self.preconditions(&inner);
        // The function's names are in a block of their own; a result outlives it.
        let stmts: Vec<StmtId> = self.out.block(body).collect();
        let open = self.blocks.last_mut();
        open.unwrap_or_else(|| unreachable!("a block is open"))
            .extend(stmts);
        if let (Some(to), Some(from)) = (call.result, ir.result) {
            let (from, to) = (inner.local(from), frame.local(to));
            self.copy(from, to, loc);
        }
    }

    /// Inlines a closure. The names in its block have the meaning that they have where the closure is written.
    fn call_closure<'a>(
        &mut self,
        frame: &mut Frame<'a>,
        call: &Call,
        (home, closure): (&Frame<'a>, ClosureId),
        loc: Loc,
    ) {
        let mut inner = home.clone();
        let closure = &inner.ir.closures[closure.index()];
        for (param, arg) in closure.params.iter().zip(call.args.iter()) {
            let Argument::Value(value) = *arg else {
                unreachable!("a closure takes values")
            };
            let local = &inner.ir.locals[param.index()];
            let shape = inner.resolve(local.ty);
            let part = self.value(frame, (&local.name, local.mutable), shape, value, loc);
            inner.locals[param.index()] = Some(part);
        }
        if let Some(result) = closure.result {
            let Local { name, ty, .. } = &inner.ir.locals[result.index()];
            let part = self.declare(name, &inner.resolve(*ty), loc);
            inner.locals[result.index()] = Some(part);
        }
        let body = closure.body;
        let from = closure.result;
        self.block_stmts(&mut inner, body);
        if let (Some(to), Some(from)) = (call.result, from) {
            let (from, to) = (inner.local(from), frame.local(to));
            self.copy(from, to, loc);
        }
    }

    /// Binds a parameter to its argument in the output.
    fn argument(
        &mut self,
        frame: &mut Frame<'_>,
        inner: &Frame<'_>,
        (name, kind): (&str, ParamKind),
        arg: Argument,
        loc: Loc,
    ) -> Part {
        match arg {
            Argument::Memory(memory) => match kind {
                ParamKind::Slice { elem, .. } => frame.memory(memory).lent_as(inner.resolve(elem)),
                ParamKind::Scalar(_) | ParamKind::Value(_) | ParamKind::Reference(_) => {
                    unreachable!("rustc checked that memory is lent as a slice")
                }
            },
            Argument::Local(local) => frame.local(local),
            Argument::Value(value) => {
                if let Some(param) = scalar_param(frame, value) {
                    return param;
                }
                if let Some(part) = self.lent_table(frame, inner, value) {
                    return match kind {
                        ParamKind::Slice { elem, .. } => part.lent_as(inner.resolve(elem)),
                        ParamKind::Scalar(_) | ParamKind::Value(_) | ParamKind::Reference(_) => {
                            part
                        }
                    };
                }
                let shape = match kind {
                    ParamKind::Scalar(scalar) => Shape::Scalar(scalar),
                    ParamKind::Value(id) => inner.shapes[id.index()].clone(),
                    // An array passed as a slice.
                    ParamKind::Slice { .. } => frame.resolve(frame.ir.type_of(value)),
                    ParamKind::Reference(_) => {
                        unreachable!("rustc checked that the argument is no value")
                    }
                };
                self.value(frame, (name, false), shape, value, loc)
            }
        }
    }

    /// A constant with arrays, passed as a table without a copy, since no code writes it. `None` if the callee has
    /// native text, in which a table has no name.
    fn lent_table(
        &mut self,
        frame: &mut Frame<'_>,
        inner: &Frame<'_>,
        value: ExprId,
    ) -> Option<Part> {
        let Expr::Link(link) = frame.ir.expr(value) else {
            return None;
        };
        let is_text = |native: &Native| !native.texts.is_empty();
        if inner.ir.natives.iter().any(is_text) {
            return None;
        }
        let part = self.constant(frame, link);
        let has_arrays = part.shape.leaves().iter().any(|leaf| !leaf.dims.is_empty());
        has_arrays.then_some(part)
    }

    /// Declares a local for an argument passed by value.
    fn value(
        &mut self,
        frame: &mut Frame<'_>,
        (name, mutable): (&str, bool),
        shape: Shape,
        value: ExprId,
        loc: Loc,
    ) -> Part {
        if let Shape::Scalar(_) = shape {
            let value = self.expr(frame, value);
            let local = self.out.push_local(Local {
                name: name.to_owned().into(),
                ty: self.out.type_of(value),
                mutable,
            });
            let init = Some(value);
            self.push(Stmt::Let { local, init }, loc);
            return Part::whole(Storage::Locals(Rc::new([local])), shape);
        }
        let part = self.declare(name, &shape, loc);
        self.initialise(frame, part.clone(), value, loc);
        part
    }

    /// Inlines the body of a function.
    fn body(&mut self, frame: &mut Frame<'_>, loc: Loc) {
        if let Some(stmts) = structured(frame.ir, frame.ir.body) {
            frame.exit = Exit::End;
            return self.run(frame, &stmts);
        }
        let label = self.fresh_label();
        frame.exit = Exit::Loop(label);
        // The declarations at the top, the result among them, must outlive the loop.
        let ir = frame.ir;
        let all: Vec<StmtId> = ir.block(ir.body).collect();
        let is_declaration = |id: &&StmtId| matches!(ir.stmt(**id), Stmt::Let { init: None, .. });
        let declared = all.iter().take_while(is_declaration).count();
        for id in &all[..declared] {
            self.stmt(frame, *id);
        }
        let body = self.in_block(|this| {
            for id in &all[declared..] {
                this.stmt(frame, *id);
            }
            this.push(Stmt::Break { label }, loc);
        });
        let cond = None;
        self.push(Stmt::Loop { label, cond, body }, loc);
    }

    fn run(&mut self, frame: &mut Frame<'_>, stmts: &[Structured]) {
        for stmt in stmts {
            match stmt {
                Structured::Plain(id) => self.stmt(frame, *id),
                Structured::Branch {
                    id,
                    then,
                    otherwise,
                } => {
                    let loc = frame.stmt_loc(*id);
                    let Stmt::If { cond, .. } = frame.ir.stmt(*id) else {
                        unreachable!("only `if` has branches")
                    };
                    let branch = Stmt::If {
                        cond: self.expr(frame, cond),
                        then: self.in_block(|this| this.run(frame, then)),
                        otherwise: self.in_block(|this| this.run(frame, otherwise)),
                    };
                    self.push(branch, loc);
                }
            }
        }
    }
}

/// The scalar parameter that an expression names. Parameters are immutable, so it needs no copy.
fn scalar_param(frame: &Frame<'_>, value: ExprId) -> Option<Part> {
    let Expr::Param(param) = frame.ir.expr(value) else {
        return None;
    };
    match frame.ir.params[param.index()].kind {
        ParamKind::Scalar(_) => Some(frame.params[param.index()].clone()),
        ParamKind::Value(_) | ParamKind::Reference(_) | ParamKind::Slice { .. } => None,
    }
}

/// The callable arguments of a call.
fn bound_callables<'a>(frame: &Frame<'a>, id: CallId) -> Vec<BoundCallable<'a>> {
    let call = &frame.ir.calls[id.index()];
    let function = |id: FunctionId| &frame.links.functions[id.index()];
    let called = call.called.function().map(function);
    let mut next = frame.call_sites[id.index()] + called.map_or(0, site_count);
    let each = call.callable_args.iter().map(|given| match *given {
        CallableArg::Closure(closure) => BoundCallable::Closure(Rc::new(frame.clone()), closure),
        CallableArg::Function(id) => {
            let (function, first) = (function(id), next);
            next += site_count(function);
            BoundCallable::Function(function, first)
        }
        CallableArg::Callable(callable) => frame.callables[callable.index()].clone(),
    });
    each.collect()
}

/// A body in which no statement follows a `return`: the statements after an `if` with a `return` move to its other
/// branch.
enum Structured {
    Plain(StmtId),
    Branch {
        id: StmtId,
        then: Vec<Structured>,
        otherwise: Vec<Structured>,
    },
}

/// The body in that form; `None` if it would duplicate statements, or if a loop contains a `return`.
fn structured(ir: &Kernel, body: Block) -> Option<Vec<Structured>> {
    let all: Vec<StmtId> = ir.block(body).collect();
    sequence(ir, &all)
}

fn sequence(ir: &Kernel, stmts: &[StmtId]) -> Option<Vec<Structured>> {
    let mut out = vec![];
    for (i, &id) in stmts.iter().enumerate() {
        let stmt = ir.stmt(id);
        if stmt == Stmt::Return {
            return Some(out);
        }
        if !returns(ir, id) {
            out.push(Structured::Plain(id));
            if stmt.facts().flow == Flow::Panic {
                return Some(out);
            }
            continue;
        }
        let Stmt::If {
            then, otherwise, ..
        } = stmt
        else {
            return None;
        };
        let branch = |block: Block, rest: &[StmtId]| {
            let mut all: Vec<StmtId> = ir.block(block).collect();
            all.extend(rest);
            sequence(ir, &all)
        };
        let rest = &stmts[i + 1..];
        let (then, otherwise) = match (always(ir, then), always(ir, otherwise)) {
            (true, true) => (branch(then, &[])?, branch(otherwise, &[])?),
            (true, false) => (branch(then, &[])?, branch(otherwise, rest)?),
            (false, true) => (branch(then, rest)?, branch(otherwise, &[])?),
            (false, false) if rest.is_empty() => (branch(then, &[])?, branch(otherwise, &[])?),
            (false, false) => return None,
        };
        out.push(Structured::Branch {
            id,
            then,
            otherwise,
        });
        return Some(out);
    }
    Some(out)
}

/// True if the statement contains a `return`.
fn returns(ir: &Kernel, id: StmtId) -> bool {
    ir.stmts_in([id]).any(|id| ir.stmt(id) == Stmt::Return)
}

/// True if every path through the block ends the function or thread.
fn always(ir: &Kernel, block: Block) -> bool {
    ir.block(block).any(|id| match ir.stmt(id).facts().flow {
        Flow::Return | Flow::Panic => true,
        Flow::Branch => ir
            .blocks_of(id)
            .into_iter()
            .all(|branch| always(ir, branch)),
        Flow::Next | Flow::Loop(_) | Flow::Break(_) | Flow::Continue(_) => false,
    })
}
