//! Strips in `#[device]` functions: a loop of a function is as fast as the same loop in the kernel.
//!
//! The macro of a kernel sees no loop in a call, and LLVM does not vectorise the loop over lanes
//! around one. If all threads of a block call a function together, it is therefore called once for
//! all lanes, like a collective function ([`super::collective_call`]). Its body for all lanes moves
//! its loops outside of strips ([`super::strip_mine`]).
//!
//! A loop moves only if all lanes agree on its bounds. The bounds are often parameters, for which
//! all threads pass the same value. The macro of the function cannot know that, so the body compares
//! the values of the lanes first. If they differ, or if only some lanes call, each lane runs the
//! body for one lane.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use proc_macro2::TokenStream;
use sarek_ir::analysis::regions::{Node, Plan, Values};
use sarek_ir::analysis::uniformity::{Among, Uniformity};
use sarek_ir::facts::{Effect, Flow, Reads};
use sarek_ir::passes;
use sarek_ir::{
    Access, CallTarget, Expr, ExprId, FunctionId, Kernel, ParamId, ParamKind, Scalar, Stmt, StmtId,
};

use super::collective_call::Joint;
use super::frame::{Frame, Lanes};
use super::names::param_name;
use super::strip_mine::Moved;
use super::tree::{each_node, rows};
use super::{Writer, mixed};
use crate::lower::Lowered;
use crate::parse::Shapes;

/// A loop that is known to end within so many turns is left to LLVM, which unrolls it.
const FEW: i128 = 16;

/// A function that has loops for strips.
pub struct FunctionStrips {
    /// Its body, in which each loop is left in one way.
    kernel: Kernel,
    values: Values,
    /// Those that may differ between lanes.
    differ: HashSet<ParamId>,
    /// Those on which the lanes must agree.
    agreed: BTreeSet<ParamId>,
}

impl FunctionStrips {
    /// `None` if no loop of the function moves outside of strips.
    pub fn of(lowered: &Lowered) -> Option<FunctionStrips> {
        let is_loop = |stmt: &Stmt| stmt.loop_label().is_some();
        let has_loops = lowered.kernel.stmts.iter().any(is_loop);
        let is_plain = lowered.kernel.callables.is_empty()
            && lowered.kernel.closures.is_empty()
            && lowered.kernel.natives.is_empty();
        if lowered.max_depth.is_some() || !is_plain || !has_loops || prints(&lowered.kernel) {
            return None;
        }
        let mut kernel = lowered.kernel.clone();
        passes::flag_returns(&mut kernel);
        let values = Values::of(&kernel);
        let agreed = bounds(lowered, &kernel, &values);
        let params = (0..kernel.params.len() as u32).map(ParamId);
        let differ = params.filter(|p| !lowered.is_view_part(*p) && !agreed.contains(p));
        let found = FunctionStrips {
            differ: differ.collect(),
            agreed,
            kernel,
            values,
        };
        let (known, joint) = (HashMap::new(), Joint::default());
        let writer = found.writer(lowered, &known, &joint);
        let plan = writer.plan();
        writer.moves_loops(&plan).then_some(found)
    }

    fn writer<'a>(
        &'a self,
        lowered: &'a Lowered,
        known: &'a HashMap<ExprId, bool>,
        joint: &'a Joint,
    ) -> Writer<'a> {
        Writer {
            kernel: &self.kernel,
            shapes: Shapes {
                trim: true,
                strips: true,
                masked: true,
                inside: true,
                ..Shapes::none()
            },
            arrays: Some(&self.differ),
            ..Writer::of_function(lowered, known, joint, &self.values)
        }
    }
}

/// The scalar parameters that bound loops.
fn bounds(lowered: &Lowered, kernel: &Kernel, values: &Values) -> BTreeSet<ParamId> {
    let mut found = BTreeSet::new();
    let mut open: Vec<ExprId> = vec![];
    for stmt in kernel.stmts.iter() {
        if let Stmt::For { start, end, .. } = stmt {
            open.extend([start, end]);
        } else if let Stmt::Loop {
            cond: Some(cond), ..
        } = stmt
        {
            // A lane may leave the loop by a value of its own, but a comparison of integers is mostly that of a count.
            open.extend(counts(kernel, *cond));
        }
    }
    let mut seen = HashSet::new();
    while let Some(expr) = open.pop() {
        if !seen.insert(expr) {
            continue;
        }
        match kernel.expr(expr).facts().reads {
            Reads::Param(param) => {
                let is_scalar = matches!(kernel.params[param.index()].kind, ParamKind::Scalar(_));
                let is_receiver = param.index() == 0 && lowered.has_receiver;
                if is_scalar && !is_receiver && !lowered.is_view_part(param) {
                    found.insert(param);
                }
            }
            Reads::Local(local) => open.extend(values.get(local)),
            Reads::Operands
            | Reads::Constant
            | Reads::Len(_)
            | Reads::Id(_)
            | Reads::Memory(_)
            | Reads::Faults => {}
        }
        open.extend(kernel.operands(expr));
    }
    found
}

/// The comparisons of integers in a condition.
fn counts(kernel: &Kernel, cond: ExprId) -> Vec<ExprId> {
    let exprs = kernel.exprs_in([cond]);
    let is_count = |id: &ExprId| {
        let Expr::Binary { op, lhs, .. } = kernel.expr(*id) else {
            return false;
        };
        let ty = kernel.type_of(lhs).as_scalar();
        op.is_comparison() && ty.is_some_and(Scalar::is_int)
    };
    exprs.filter(is_count).collect()
}

/// The assumptions of a function about the lanes that call it together.
pub fn among(lowered: &Lowered) -> Among {
    let params = (0..lowered.kernel.params.len() as u32).map(ParamId);
    Among {
        params: params.collect(),
        function: true,
        ..Among::default()
    }
}

/// The calls that all lanes reach together, and whose callees may have loops for strips.
pub fn calls(lowered: &Lowered, among: &Among) -> BTreeMap<StmtId, FunctionId> {
    let kernel = &lowered.kernel;
    if lowered.max_depth.is_some() || !kernel.callables.is_empty() || prints(kernel) {
        return BTreeMap::new();
    }
    let mut found = BTreeMap::new();
    let mut uniformity = None;
    for id in kernel.stmts_in(kernel.block(kernel.body)) {
        let Stmt::Call { call } = kernel.stmt(id) else {
            continue;
        };
        let of_call = &kernel.calls[call.index()];
        let CallTarget::Function(function) = of_call.called else {
            continue;
        };
        let callee = lowered.callee(call);
        let is_named = !callee.is_unnamed && !callee.is_self && callee.of_trait.is_none();
        let uniformity = uniformity.get_or_insert_with(|| Uniformity::among(kernel, among));
        if is_named && of_call.callable_args.is_empty() && uniformity.control(id) {
            found.insert(id, function);
        }
    }
    found
}

/// True if threads print, in an order of their own.
fn prints(kernel: &Kernel) -> bool {
    let mut stmts = kernel.stmts.iter();
    stmts.any(|stmt| {
        matches!(stmt.facts().effect, Effect::Print(_)) || stmt.facts().flow == Flow::Panic
    })
}

impl Writer<'_> {
    /// True if some region moves a loop of many turns outside of strips.
    fn moves_loops(&self, plan: &Plan) -> bool {
        let frame = Frame::new(plan, Lanes::Block);
        let writer = self.within(&frame);
        let mut moves = false;
        each_node(&plan.tree.nodes, &mut |node| {
            if let Node::Region { stmts, .. } = node {
                let moved = writer.strip_plan(Some(&frame), &writer.live(stmts), true);
                moves |= moved.is_some_and(|(_, moved)| self.takes_long(&moved));
            }
        });
        moves && plan.tree.root.is_none()
    }

    fn takes_long(&self, moved: &Moved) -> bool {
        moved.loops.iter().any(|stmt| {
            let Stmt::For { end, .. } = self.kernel.stmt(*stmt) else {
                return true;
            };
            let end = self.kernel.literal(end).and_then(|end| end.as_int());
            moved.steps.contains(stmt) || end.is_none_or(|end| end > FEW)
        })
    }

    /// The statements of a body for all lanes, whose loops strips run.
    pub fn in_strips(&self, strips: &FunctionStrips, lane_body: &TokenStream) -> TokenStream {
        let (known, joint) = (HashMap::new(), Joint::default());
        let writer = strips.writer(self.lowered, &known, &joint);
        let together = writer.block_body(&writer.plan(), &strips.differ, false);
        let agree = strips.agreed.iter().map(|param| {
            let name = param_name(*param);
            mixed!(&& __host::all_agree(#name, __lanes, __dim))
        });
        let (alone, ended) = (self.each_lane_alone(lane_body), self.ended());
        mixed! {
            if __host::none(__lanes) {
                return #ended;
            }
            if __FULL && !__CHECK #(#agree)* {
                #together
            } else {
                #alone
                #ended
            }
        }
    }

    /// Calls the body for one lane for each lane that takes part.
    fn each_lane_alone(&self, lane_body: &TokenStream) -> TokenStream {
        let params = (0..self.kernel.params.len() as u32).map(ParamId);
        let args = params.map(|param| {
            let name = param_name(param);
            let is_receiver = param.index() == 0 && self.lowered.has_receiver;
            let lent = mixed!(::core::mem::MaybeUninit::assume_init_mut(<[_]>::get_unchecked_mut(#name, __lane)));
            let read = mixed!(::core::mem::MaybeUninit::assume_init_read(<[_]>::get_unchecked(#name, __lane)));
            match self.kernel.params[param.index()].kind {
                ParamKind::Scalar(_) | ParamKind::Value(_) if is_receiver => lent,
                ParamKind::Scalar(_) if self.lowered.is_view_part(param) => mixed!(#name),
                ParamKind::Scalar(_) | ParamKind::Value(_) => read,
                ParamKind::Reference(_) => lent,
                ParamKind::Slice { access, .. } => match access {
                    Access::Read | Access::Write => mixed!(__host::Slices::of(&#name, __lane)),
                    Access::Atomic => mixed!(#name),
                },
            }
        });
        let lanes = rows(
            None,
            mixed! {
                if !__FULL && !*<[_]>::get_unchecked(__active, __lane) { continue; }
                let __returned = #lane_body(
                    __host::Flag::<__CHECK>, __block, __thread, __dim, __base, (#(#args,)*)
                );
                match __host::returned_by_lane(__returned) {
                    ::core::result::Result::Ok(__value) => {
                        *<[_]>::get_unchecked_mut(__result, __lane) = ::core::mem::MaybeUninit::new(__value);
                    }
                    ::core::result::Result::Err(__fault) => return ::core::result::Result::Err(__fault),
                }
            },
        );
        mixed!(#lanes)
    }
}

/// True if the function has loops of its own for strips.
pub fn has_strips(lowered: &Lowered, is_cooperative: bool) -> bool {
    !is_cooperative && FunctionStrips::of(lowered).is_some()
}

/// For each callee that all lanes reach together: a constant that is true if it has such loops.
pub fn callees_with_strips(lowered: &Lowered) -> Vec<TokenStream> {
    let functions: BTreeSet<FunctionId> = calls(lowered, &among(lowered)).into_values().collect();
    let callees = functions.iter().map(|f| &lowered.callees[f.index()]);
    callees.map(|callee| callee.strips()).collect()
}

#[cfg(test)]
mod tests {
    /// True if the function has loops for strips, and the parameters on whose values its lanes must agree.
    fn strips(function: &str) -> (bool, Vec<u32>) {
        let tokens = function.parse().expect("the source is tokens");
        let expansion = crate::expand::device(proc_macro2::TokenStream::new(), tokens);
        assert_eq!(expansion.errors, [""; 0], "{function}");
        let text: String = expansion.tokens.to_string().split_whitespace().collect();
        let told = text.contains("strips:true");
        assert_eq!(told, text.contains("__STRIP"), "{function}");
        let agreed = (0..8).filter(|i| text.contains(&format!("all_agree(__arg{i},")));
        (told, agreed.collect())
    }

    #[test]
    fn loops_of_many_turns_run_in_strips() {
        for (body, agreed) in [
            ("let mut s = 0.0; for _ in 0..n { s += x; } s", vec![1]),
            ("let mut s = 0.0; for _ in 0..100 { s += x; } s", vec![]),
            ("let mut s = x; while s < 9.0 { s += x; } s", vec![]),
            (
                "let (mut s, mut k) = (x, 0); while k < n && s < 9.0 { s += x; k += 1; } s",
                vec![1],
            ),
            (
                "for k in 0..n { if k as f32 > x { return 1.0; } } 0.0",
                vec![1],
            ),
        ] {
            let found = strips(&format!("fn f(x: f32, n: u32) -> f32 {{ {body} }}"));
            assert_eq!(found, (true, agreed), "{body}");
        }
    }

    #[test]
    fn others_do_not() {
        for body in [
            "x * n as f32",
            "let mut s = 0.0; for _ in 0..4 { s += x; } s",
            // Lanes would print in another order.
            "let mut s = 0.0; for _ in 0..n { s += x; } println!(\"{s}\"); s",
        ] {
            let found = strips(&format!("fn f(x: f32, n: u32) -> f32 {{ {body} }}"));
            assert_eq!(found, (false, vec![]), "{body}");
        }
    }
}
