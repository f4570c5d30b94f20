//! Writes the compiled body: a kernel's IR as Rust code, inside loops over the threads of a block.
//!
//! One thread of the processor runs a whole block. The block's threads are the *lanes* of that
//! processor thread. A body without barriers is one loop over the lanes. A body with barriers is
//! split at them into *regions* ([`sarek_ir::analysis::regions`]), and each region has its own
//! loop, see [`tree`]. This is the loop fission of MCUDA (Stratton, Stone and Hwu, 2008).
//!
//! [`stmt`], [`expr`], [`memory`] and [`call`] write the code of one lane. The other shapes of the
//! loop over lanes are one module each; [`Shapes`] lists them.
//!
//! The body is one `unsafe` block that this module writes. The user's own `unsafe` blocks were
//! lowered to IR like any other code. Accesses are unchecked except for the tests that this module
//! writes. A test that a launch may prove stands under `__CHECK`, a const generic; all other tests
//! always run. A guard against threads beyond the data is not a test but the end of a loop, see
//! [`guard_bounds`].

mod atomic;
mod call;
mod collective_call;
mod columns;
mod compound;
mod cost;
mod debug_builds;
mod divergent_loops;
mod elastic_strips;
mod exact;
mod expr;
mod frame;
mod function_strips;
mod grid_stride;
mod guard_bounds;
mod known_branches;
mod lane_index;
mod lane_rows;
mod loop_versioning;
mod loops;
mod memory;
mod names;
mod pack;
mod peel;
mod register_tile;
mod stmt;
mod storage;
mod strip_guards;
mod strip_mine;
mod subgroup;
mod subgroup_strip_ops;
mod subgroup_strips;
mod tree;
mod usual_blocks;

use std::collections::{HashMap, HashSet};

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::format_ident;
use sarek_ir::analysis::regions::{Node, Place, Plan, Rules, Values};
use sarek_ir::analysis::uniformity::{Among, Uniformity};
use sarek_ir::facts::Effect;
use sarek_ir::{Access, ExprId, FunctionId, Kernel, ParamId, ParamKind, StmtId};

use crate::lower::Lowered;
use crate::parse::{Parameters, Shapes};
use crate::tokens;
use collective_call::Joint;
pub use collective_call::{block, unsplit};
use frame::{Frame, Lanes};
pub use function_strips::{callees_with_strips, has_strips};
use guard_bounds::{Index, Limit, Trim};
use names::param_name;
pub use names::rust_type;

/// Tokens with mixed-site spans, so that all names of the body have the same hygiene and none is
/// the user's. The names begin with `__` nevertheless: a constant of the user's could be taken for
/// a pattern.
macro_rules! mixed {
    ($($token:tt)*) => { ::quote::quote_spanned!(::proc_macro2::Span::mixed_site()=> $($token)*) };
}
use mixed;

/// The length from which on LLVM does not unroll a row completely.
const LONG: u32 = 64;

/// Writes the parts of a body.
#[derive(Clone, Copy)]
struct Writer<'a> {
    lowered: &'a Lowered,
    kernel: &'a Kernel,
    /// Conditions whose value is known.
    known: &'a HashMap<ExprId, bool>,
    values: &'a Values,
    shapes: Shapes,
    /// True if lanes that have left a loop run the code, too. `__p` is then true for the lanes that
    /// have not left.
    guarded: bool,
    /// True if the code runs only in launches that proved every provable check. It then contains no
    /// such checks.
    proved: bool,
    /// True in a trial evaluation, which yields `None` instead of faulting.
    tries: bool,
    /// True for the body of a `#[device]` function.
    is_function: bool,
    /// Calls that are made once for all lanes if the callee is collective.
    joint: &'a Joint,
    /// In a function that is called for all lanes: the parameters that may differ between lanes,
    /// which are arrays.
    arrays: Option<&'a HashSet<ParamId>>,
    /// The surroundings of the code, once the body is split.
    frame: Option<&'a Frame<'a>>,
}

/// The items of `impl DirectKernel`. The imports of [`super::scope`] must be in scope. Without
/// shapes, the build selects them: [`debug_builds`].
pub fn body(lowered: &Lowered, shapes: Option<Shapes>) -> TokenStream {
    let kernel = &lowered.kernel;
    let (none, values) = (Joint::default(), Values::of(kernel));
    let of_release = shapes.unwrap_or_default();
    let trim = trim(lowered, &values, of_release);
    let cost = Literal::u32_unsuffixed(cost::cost(kernel));
    let writer = Writer {
        shapes: of_release,
        is_function: false,
        ..Writer::of_function(lowered, &trim.known, &none, &values)
    };
    let is_row_wise = writer.is_row_wise();
    let is_any_block = columns::is_free_of_blocks(kernel);
    let is_tall = is_any_block && writer.packs();
    let block = debug_builds::by_build(shapes, &|shapes| block_fn(lowered, &values, shapes));
    mixed! {
        const COST: __u32 = #cost;
        const ROW_WISE: __bool = #is_row_wise;
        const ANY_BLOCK: __bool = #is_any_block;
        const TALL: __bool = #is_tall;

        #block
    }
}

/// The guards that become bounds of the loop over lanes.
fn trim(lowered: &Lowered, values: &Values, shapes: Shapes) -> Trim {
    match shapes.trim {
        true => Trim::of(&lowered.kernel, values),
        false => Trim::default(),
    }
}

/// The function that runs a block.
fn block_fn(lowered: &Lowered, values: &Values, shapes: Shapes) -> TokenStream {
    let trim = trim(lowered, values, shapes);
    let none = Joint::default();
    let writer = Writer {
        shapes,
        is_function: false,
        ..Writer::of_function(lowered, &trim.known, &none, values)
    };
    let entry = writer.entries(&trim);
    mixed! {
        #[inline(always)]
        // A type of another crate may reach its fields by `Deref`, as glam's SIMD types do. The pointers are of
        // valid values that no one else accesses.
        #[allow(unused, dangerous_implicit_autorefs, clippy::all)]
        unsafe fn block<const __CHECK: __bool>(
            __args: &[__host::DirectArg],
            __block: &__host::Block,
            __scratch: &__host::Scratch,
        ) -> ::core::result::Result<(), __host::RawFault> {
            #entry
        }
    }
}

/// The parameters and statements of a `#[device]` function's body, which one lane runs. A
/// cooperative function has no such body: it is only called for all lanes at once, see [`block`].
pub fn function(lowered: &Lowered, is_cooperative: bool) -> (TokenStream, TokenStream) {
    let (known, none, values) = (
        HashMap::new(),
        Joint::default(),
        Values::of(&lowered.kernel),
    );
    let writer = Writer::of_function(lowered, &known, &none, &values);
    let params = writer.function_params(None);
    let body = match (is_cooperative, lowered.max_depth) {
        (true, _) => mixed!(::core::unreachable!("it is called for all lanes at once")),
        (false, None) => debug_builds::by_build(None, &|shapes| {
            let writer = Writer {
                shapes: shapes.of_one_lane(),
                ..writer
            };
            let (body, result_type) = writer.function_body();
            mixed! {{
                #body
                ::core::result::Result::Ok(__host::Returned::new(#result_type))
            }}
        }),
        (false, Some(depth)) => {
            let names = writer.param_names();
            mixed! {
                let __nest = Self::__sarek_nest::<__CHECK>(__block, __thread, __dim, __base, #depth, (#(#names,)*));
                match __nest {
                    ::core::result::Result::Ok(__value) => {
                        ::core::result::Result::Ok(__host::Returned::new(__value))
                    }
                    ::core::result::Result::Err(__fault) => ::core::result::Result::Err(__fault),
                }
            }
        }
    };
    (params, body)
}

/// The same for a function that nests calls of itself; `__depth` is the number of calls left.
pub fn nested(lowered: &Lowered) -> (TokenStream, TokenStream) {
    let (known, none, values) = (
        HashMap::new(),
        Joint::default(),
        Values::of(&lowered.kernel),
    );
    let writer = Writer::of_function(lowered, &known, &none, &values);
    let depth = mixed!(__depth: __u32,);
    let params = writer.function_params(Some(depth));
    let (body, result_type) = writer.function_body();
    let body = mixed! {
        let __nested = match __depth {
            0 => 1,
            _ => Self::__sarek_levels[__depth as __usize - 1],
        };
        #body
        ::core::result::Result::Ok(#result_type)
    };
    (params, body)
}

/// The name of the value that identifies a called function.
fn instance_name(function: FunctionId) -> Ident {
    format_ident!("__of{}", function.0, span = Span::mixed_site())
}

impl<'a> Writer<'a> {
    /// A writer for the body of a function, which one lane runs.
    fn of_function(
        lowered: &'a Lowered,
        known: &'a HashMap<ExprId, bool>,
        joint: &'a Joint,
        values: &'a Values,
    ) -> Writer<'a> {
        Writer {
            lowered,
            kernel: &lowered.kernel,
            known,
            values,
            shapes: Shapes::none(),
            guarded: false,
            proved: false,
            tries: false,
            is_function: true,
            joint,
            arrays: None,
            frame: None,
        }
    }
}

impl Writer<'_> {
    /// A value of one of the user's types. The error gate keeps rustc from reporting errors about
    /// it if the function does not type check.
    fn known(&self, value: TokenStream) -> TokenStream {
        match self.lowered.gate {
            Some(_) => {
                self.lowered.names_gate.set(true);
                let name = tokens::names::gate(Span::mixed_site());
                mixed!(__host::if_type_checked::<{ #name }, _>(#value))
            }
            None => value,
        }
    }

    /// The same for a type.
    fn known_type(&self, ty: &TokenStream) -> TokenStream {
        match self.lowered.gate {
            Some(_) => {
                self.lowered.names_gate.set(true);
                let name = tokens::names::gate(Span::mixed_site());
                mixed!(__host::CheckedType<{ #name }, #ty>)
            }
            None => ty.clone(),
        }
    }

    /// Shadows the parameters whose types only rustc knows by values behind the error gate.
    fn known_params(&self) -> TokenStream {
        let params = (0..).map(ParamId).zip(self.kernel.params.iter());
        let foreign = params.filter(|(_, param)| match param.kind {
            ParamKind::Scalar(_) => false,
            ParamKind::Value(_) => true,
            ParamKind::Reference(ty) | ParamKind::Slice { elem: ty, .. } => {
                ty.as_scalar().is_none()
            }
        });
        let known = foreign.filter(|_| self.lowered.gate.is_some());
        let each = known.map(|(param, _)| {
            let name = param_name(param);
            let known = self.known(mixed!(#name));
            mixed!(let #name = #known;)
        });
        each.collect()
    }

    /// Declares one value for each called function. A body that is found by name must belong to the
    /// same function as this value, so that it is the function with the proof. The expressions that
    /// determine the function are never evaluated.
    fn instances(&self) -> Option<TokenStream> {
        let callees = (0..).map(FunctionId).zip(&self.lowered.callees);
        let callees = callees.filter(|(_, callee)| !callee.is_self);
        let (names, each): (Vec<_>, Vec<_>) = callees
            .map(|(id, callee)| (instance_name(id), callee.instance()))
            .unzip();
        let literal_types = &self.lowered.literal_types;
        (!each.is_empty()).then(|| mixed!(let (#(#names,)*) = { #literal_types (#(#each,)*) };))
    }

    /// Splits the body into regions.
    fn plan(&self) -> Plan {
        let among = Among {
            known: self.known.clone(),
            params: self.arrays.cloned().unwrap_or_default(),
            function: self.is_function,
            ..Among::default()
        };
        let kernel = self.kernel;
        let rules = Rules {
            kernel,
            uniformity: &Uniformity::among(kernel, &among),
            boundary: &|id: StmtId| match kernel.stmt(id).facts().effect {
                Effect::Barrier | Effect::Subgroup(..) => true,
                Effect::Call(_) => self.joint.contains(&id),
                Effect::None
                | Effect::Store(_)
                | Effect::Atomic(..)
                | Effect::Place(_)
                | Effect::Print(_)
                | Effect::Fence
                | Effect::Native(_) => false,
            },
        };
        let result = kernel.result.filter(|_| self.is_function);
        // The result of a function lies in an array of its caller.
        let outer = result.into_iter().map(|local| (local, Place::Lanes));
        Plan::of(&rules, &self.body_stmts(), &outer.collect())
    }

    /// The statements of the body, without the declaration of the result.
    fn body_stmts(&self) -> Vec<StmtId> {
        let result = self.kernel.result;
        let stmts = self.kernel.block(self.kernel.body);
        let is_result = |id: &StmtId| {
            let declared = self.kernel.stmt(*id).facts().declares;
            declared.is_some() && declared == result
        };
        stmts.filter(|id| !is_result(id)).collect()
    }

    /// The body of `block`. Only rustc knows which callees are collective, or have loops for strips.
    /// If all threads reach some call together, there are two bodies, and a constant selects one.
    fn entries(&self, trim: &Trim) -> TokenStream {
        let alone = self.for_blocks(trim);
        let joint = Joint::of(self.lowered, false);
        let among = Among {
            known: self.known.clone(),
            ..Among::default()
        };
        let joint = match self.shapes.strips {
            true => joint.with_strips(self.lowered, &among),
            false => joint,
        };
        let together = Writer {
            joint: &joint,
            ..*self
        };
        match joint.condition(self.lowered) {
            Some(is_together) => {
                let together = together.for_blocks(trim);
                mixed!(if #is_together { #together } else { #alone })
            }
            None => alone,
        }
    }

    /// The body of `block`: it reads arguments and arrays and passes them to a function that runs
    /// the lanes.
    fn entry(&self, trim: &Trim) -> TokenStream {
        let plan = self.plan();
        let mut frame = Frame::new(&plan, Lanes::Block);
        frame.rows = self.arrays_in_rows(&plan);
        let params = (0..self.kernel.params.len()).map(|i| ParamId(i as u32));
        let names: Vec<Ident> = params.clone().map(param_name).collect();
        let types = params.clone().map(|p| self.param_type(p));
        let values = params.map(|p| self.param_value(p));
        let arrays = self.arrays(&frame);
        let (array, array_ty): (Vec<_>, Vec<_>) = arrays.iter().map(|a| (&a.name, &a.ty)).unzip();
        let array_value = arrays.iter().map(|a| &a.value);
        let (dim, prelude) = (self.dim(), self.trimmed(trim, &plan));
        let Parameters {
            declared,
            names: generics,
            clause,
            ..
        } = &self.lowered.parameters;
        let declared = (!declared.is_empty()).then(|| mixed!(#declared,));
        let generics = (!generics.is_empty()).then(|| mixed!(#generics,));
        let (kept, instances) = (self.kept(&frame), self.instances());
        let raw_slices = self.raw_slices();
        let calls = !self.joint.is_empty();
        let scratch = calls || kept.is_some() || self.packs();
        let (scratch_ty, scratch) = (
            scratch.then(|| mixed!(__scratch: &__host::Scratch,)),
            scratch.then(|| mixed!(__scratch,)),
        );
        let lanes = if plan.tree.is_whole() && !calls {
            self.whole()
        } else {
            self.split(&frame)
        };
        let sizes = (!arrays.is_empty()).then(|| mixed!(#dim let __thread = [0; 3];));
        mixed! {
            #[inline(always)]
            unsafe fn __body<#declared const __CHECK: __bool>(
                __block: &__host::Block,
                #scratch_ty
                #(#names: #types,)*
                #(#array: &mut #array_ty,)*
            ) -> ::core::result::Result<(), __host::RawFault> #clause {
                #dim
                #instances
                #raw_slices
                #kept
                #prelude
                #lanes
                ::core::result::Result::Ok(())
            }
            #sizes
            // SAFETY: arguments are those of the parameters by contract of `block`, of which this
            // is the body; the block's arrays are taken from a scratch without other users. The
            // conditions of `__body` are those that the caller of `block` promised.
            #(let #names = unsafe { #values };)*
            #(let #array = unsafe { #array_value };)*
            unsafe { __body::<#generics __CHECK>(__block, #scratch #(#names,)* #(#array,)*) }
        }
    }

    /// The size of the block.
    fn dim(&self) -> TokenStream {
        let dim = match self.kernel.block {
            Some(dim) => {
                let dim = dim.map(Literal::u32_unsuffixed);
                mixed!([#(#dim),*])
            }
            None => mixed!(__block.dim),
        };
        mixed! {
            let __dim: [__usize; 3] = #dim;
            let __threads = __dim[0] * __dim[1] * __dim[2];
        }
    }

    /// A body that is one region.
    fn whole(&self) -> TokenStream {
        let ids: Vec<StmtId> = self.kernel.block(self.kernel.body).collect();
        let body = |writer: &Writer<'_>| {
            let stmts = writer.block(writer.kernel.body);
            mixed!('thread: { #stmts })
        };
        let rows = match self.strips(None, &ids) {
            Some(strips) => tree::rows(Some(strips), body(self)),
            None => self.peeled_rows(&ids, &body),
        };
        // SAFETY: see the module's head: unchecked accesses were tested by code of this module, or
        // proved for the launch.
        mixed!(unsafe { #rows })
    }

    /// A body of several regions.
    fn split(&self, frame: &Frame<'_>) -> TokenStream {
        let (tree, ended) = (self.tree(frame), self.ended());
        mixed! {
            // A block without lanes evaluates nothing.
            if __host::none(__lanes) {
                return #ended;
            }
            let __thread = [0; 3];
            // SAFETY: as in `whole`; a region runs after those before it, and its lanes access only
            // their own elements.
            unsafe { #tree }
        }
    }

    /// Declares `__lanes`, the number of threads of the block that have something to do.
    fn trimmed(&self, trim: &Trim, plan: &Plan) -> TokenStream {
        let bounds = self.bounds(trim);
        let mut has_barrier = false;
        tree::each_node(&plan.tree.nodes, &mut |node| {
            has_barrier |= *node == Node::Barrier;
        });
        // Kernels with barriers run all lanes of a block. The lane count is then a constant if that
        // makes the loop cheaper. Short rows are excluded: LLVM would unroll them instead of
        // vectorising.
        let lanes = match (has_barrier, self.kernel.block) {
            (true, Some([x, y, z])) => {
                let known = [x >= LONG, y == 1, z == 1].into_iter().enumerate();
                let lanes = known.map(|(axis, known)| {
                    let axis = Literal::usize_unsuffixed(axis);
                    match known {
                        true => mixed!(__dim[#axis]),
                        false => mixed!(__block.lanes[#axis]),
                    }
                });
                mixed!({ __host::Block::assert_whole(__block, __dim); [#(#lanes),*] })
            }
            (true, None) | (false, _) => mixed!(__block.lanes),
        };
        if trim.bounds.is_empty() {
            return mixed!(let __lanes = #lanes;);
        }
        mixed! {
            let mut __lanes = #lanes;
            // SAFETY: as in `whole`: these are the tests' own expressions.
            unsafe { #bounds }
            let __lanes = __lanes;
        }
    }

    /// Reduces `__lanes` by the guards that were removed.
    fn bounds(&self, trim: &Trim) -> TokenStream {
        let fixed = trim.fixed.iter().map(|id| self.stmt(*id));
        let bounds = trim.bounds.iter().map(|bound| {
            let limit = match bound.limit {
                Limit::Below(limit) => self.expr(limit),
                Limit::First => mixed!(1),
            };
            match bound.index {
                Index::Global(axis) => {
                    let axis = Literal::usize_unsuffixed(axis.index());
                    mixed!(__lanes[#axis] = __host::Block::lanes_below(__block, #axis, __lanes[#axis], #limit);)
                }
                Index::Thread(axis) => {
                    let axis = Literal::usize_unsuffixed(axis.index());
                    mixed!(__lanes[#axis] = ::core::cmp::Ord::min(__lanes[#axis], #limit);)
                }
            }
        });
        mixed!(#(#fixed)* #(#bounds)*)
    }

    fn param_type(&self, param: ParamId) -> TokenStream {
        match self.kernel.params[param.index()].kind {
            ParamKind::Scalar(ty) => rust_type(ty),
            ParamKind::Value(_) => self.known_type(&self.lowered.param_types[param.index()]),
            ParamKind::Reference(_) => unreachable!("a kernel has no `&mut T`"),
            ParamKind::Slice { access, elem } => {
                let written = &self.lowered.param_types[param.index()];
                let elem = match elem.as_scalar() {
                    Some(_) => written.clone(),
                    None => self.known_type(written),
                };
                match access {
                    Access::Read => mixed!(&[#elem]),
                    Access::Write => mixed!(__host::RawSliceMut<'_, #elem>),
                    Access::Atomic => mixed!(&[__host::Atomic<#elem>]),
                }
            }
        }
    }

    fn param_value(&self, param: ParamId) -> TokenStream {
        let i = Literal::usize_unsuffixed(param.index());
        match self.kernel.params[param.index()].kind {
            ParamKind::Scalar(_) => mixed!(__host::scalar(__args, #i)),
            ParamKind::Value(_) => mixed!(__host::value(__args, #i)),
            ParamKind::Reference(_) => unreachable!("a kernel has no `&mut T`"),
            ParamKind::Slice { access, .. } => match access {
                Access::Read => mixed!(__host::input(__args, #i)),
                Access::Write => mixed!(__host::output(__args, #i)),
                Access::Atomic => mixed!(__host::atomics(__args, #i)),
            },
        }
    }
}
