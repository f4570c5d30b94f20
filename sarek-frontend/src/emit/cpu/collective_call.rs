//! Collective calls: calls that all lanes make together, and the bodies of their callees.
//!
//! A function is *collective* if the threads of a block work together in it, for instance by
//! barriers. Its body is split into regions like a kernel's, and is called once for all lanes of a
//! block. Each argument is an array with one element per lane, and so is the result. The caller
//! passes a mask of the lanes that take part.
//!
//! The macro sees only the callee's name, so it does not know whether the callee is collective. A
//! caller that reaches some call with all threads of a block therefore has two bodies, and rustc
//! selects one. In the first body each lane makes its calls alone; in the other, such a call ends a
//! region.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use sarek_ir::analysis::contract::{Contract, joint_calls};
use sarek_ir::analysis::regions::{Plan, RegionId, Values};
use sarek_ir::analysis::uniformity::Among;
use sarek_ir::{
    Access, Argument, CallId, CallTarget, ExprId, FunctionId, LocalId, Memory, ParamId, ParamKind,
    Stmt, StmtId,
};

use super::call::given_name;
use super::frame::{Frame, Lanes};
use super::function_strips::{self, FunctionStrips};
use super::names::{located, param_name, rust_type};
use super::{Writer, instance_name, mixed};
use crate::diagnostics::{Mistake, codes};
use crate::lower::{Callee, Lowered};
use crate::parse::Shapes;

/// The calls that all lanes of a block make together.
#[derive(Default)]
pub struct Joint {
    /// Those whose callees may be collective.
    collective: BTreeMap<StmtId, FunctionId>,
    /// Those whose callees may have loops that strips run: [`super::function_strips`].
    strips: BTreeMap<StmtId, FunctionId>,
}

impl Joint {
    /// The calls that all lanes reach together.
    pub fn of(lowered: &Lowered, is_function: bool) -> Joint {
        let kernel = &lowered.kernel;
        let calls = match lowered.max_depth {
            None if kernel.callables.is_empty() => joint_calls(kernel, is_function),
            // An assertion guarantees that none of the callees is collective.
            None | Some(_) => vec![],
        };
        let collective = calls.into_iter().filter_map(|(stmt, call)| {
            let function = kernel.calls[call.index()].called.function();
            Some((stmt, function?))
        });
        Joint {
            collective: collective.collect(),
            strips: BTreeMap::new(),
        }
    }

    /// The same, with the calls whose callees may have loops for strips.
    pub fn with_strips(self, lowered: &Lowered, among: &Among) -> Joint {
        Joint {
            strips: function_strips::calls(lowered, among),
            ..self
        }
    }

    pub fn is_empty(&self) -> bool {
        self.collective.is_empty() && self.strips.is_empty()
    }

    pub fn contains(&self, stmt: &StmtId) -> bool {
        self.collective.contains_key(stmt) || self.strips.contains_key(stmt)
    }

    pub fn stmts(&self) -> impl Iterator<Item = StmtId> {
        let all: BTreeSet<StmtId> = self
            .collective
            .keys()
            .chain(self.strips.keys())
            .copied()
            .collect();
        all.into_iter()
    }

    /// A condition, known when the code is compiled, that is true if one of the calls is made once
    /// for all lanes. `None` without calls.
    pub fn condition(&self, lowered: &Lowered) -> Option<TokenStream> {
        let callees = |of: &BTreeMap<StmtId, FunctionId>| -> Vec<&Callee> {
            let functions: BTreeSet<_> = of.values().collect();
            functions
                .iter()
                .map(|f| &lowered.callees[f.index()])
                .collect()
        };
        let collective = callees(&self.collective)
            .into_iter()
            .map(Callee::collective);
        let strips = callees(&self.strips).into_iter().map(Callee::strips);
        together(collective.collect(), strips.collect())
    }

    /// The same for one of the calls.
    fn condition_of(&self, lowered: &Lowered, stmt: StmtId) -> Option<TokenStream> {
        let callee = |of: &BTreeMap<StmtId, FunctionId>| {
            let function = of.get(&stmt)?;
            Some(&lowered.callees[function.index()])
        };
        let collective = callee(&self.collective).map(Callee::collective);
        let strips = callee(&self.strips).map(Callee::strips);
        together(
            collective.into_iter().collect(),
            strips.into_iter().collect(),
        )
    }
}

/// True if one of the callees is collective, or if one has loops for strips and every provable check
/// was proved.
fn together(collective: Vec<TokenStream>, strips: Vec<TokenStream>) -> Option<TokenStream> {
    match (&collective[..], &strips[..]) {
        ([], []) => None,
        (_, []) => Some(mixed!(const { #(#collective)||* })),
        ([], _) => Some(mixed!((!__CHECK && const { #(#strips)||* }))),
        (_, _) => {
            Some(mixed!((const { #(#collective)||* } || !__CHECK && const { #(#strips)||* })))
        }
    }
}

/// The body of a function for all lanes: parameters, statements. `result_type` is the type of its
/// result, and `lane_body` is the path of its body for one lane.
pub fn block(
    lowered: &Lowered,
    result_type: &TokenStream,
    is_cooperative: bool,
    lane_body: &TokenStream,
) -> (TokenStream, TokenStream) {
    let kernel = &lowered.kernel;
    let strips = match is_cooperative {
        true => None,
        false => FunctionStrips::of(lowered),
    };
    let joint = Joint::of(lowered, true).with_strips(lowered, &function_strips::among(lowered));
    let parts = Contract::by_parameter(kernel);
    let differ = (0..kernel.params.len() as u32)
        .map(ParamId)
        .filter(|param| !parts[param.index()].barrier && !lowered.is_view_part(*param))
        .collect();
    let (known, values) = (Default::default(), Values::of(kernel));
    let writer = Writer {
        shapes: Shapes {
            trim: true,
            ..Shapes::none()
        },
        arrays: Some(&differ),
        ..Writer::of_function(lowered, &known, &joint, &values)
    };
    let params = writer.block_params();
    let params = mixed!(#params __result: &mut [::core::mem::MaybeUninit<#result_type>]);
    let of_strips = match strips {
        Some(strips) => writer.in_strips(&strips, lane_body),
        None => mixed!(::core::unreachable!("each lane calls it alone")),
    };
    let of_block = || writer.block_body(&writer.plan(), &differ, true);
    let body = match (is_cooperative, joint.condition(lowered)) {
        (true, _) => of_block(),
        (false, None) => of_strips,
        (false, Some(together)) => {
            let of_block = of_block();
            mixed!(if #together { #of_block } else { #of_strips })
        }
    };
    (params, body)
}

/// Calls that can only be made for one lane at a time, each with the error message if the callee is
/// collective.
pub fn unsplit(lowered: &Lowered, is_function: bool) -> Vec<(CallId, String)> {
    let kernel = &lowered.kernel;
    let of = |call: CallId| {
        lowered.callee(call).is_unnamed.then(|| {
            let what = "the threads of a block work together in this method, so the type of its receiver must be written";
            let instead = "write it where the value is bound, as in `let p: Point = …;`";
            (call, Mistake::new(codes::COLLECTIVE_CALL, what, instead).to_string())
        })
    };
    let calls = joint_calls(kernel, is_function);
    calls.into_iter().flat_map(|(_, call)| of(call)).collect()
}

impl Writer<'_> {
    // The caller's side.

    /// A call that all lanes reach together.
    pub(super) fn joint_call(&self, frame: &Frame<'_>, id: RegionId, stmt: StmtId) -> TokenStream {
        let Stmt::Call { call } = self.kernel.stmt(stmt) else {
            unreachable!("only calls are joint");
        };
        let is_together = self.joint.condition_of(self.lowered, stmt);
        let together = self.call_of_lanes(frame, id, stmt, call);
        let lane = frame.lane();
        let alone = self.within(&lane).stmt(stmt);
        let alone = self.lane_body(frame, id, alone);
        let alone = self.lanes(frame, frame.mask(), alone);
        mixed!(if #is_together { #together } else { #alone })
    }

    fn call_of_lanes(
        &self,
        frame: &Frame<'_>,
        id: RegionId,
        stmt: StmtId,
        id_of_call: CallId,
    ) -> TokenStream {
        let call = &self.kernel.calls[id_of_call.index()];
        let callee = self.lowered.callee(id_of_call);
        if callee.is_unnamed {
            return mixed!(::core::unreachable!(
                "an assertion keeps it from being called"
            ));
        }
        let span = located(self.lowered.stmt_span(stmt));
        let (block, base) = (callee.block(), self.base(id_of_call));
        let (mut rooms, mut fill, mut args, mut back) = (vec![], vec![], vec![], vec![]);
        let lane = frame.lane();
        let position = frame.position();
        let parts = self.lowered.view_parts_in(call);
        for (i, arg) in call.args.iter().enumerate() {
            args.push(match *arg {
                Argument::Value(part) if parts.contains(&i) => self.expr(part),
                Argument::Value(value) => {
                    let is_borrowed = self.lowered.borrowed.contains(&value);
                    let room = given_name(i, self.lowered.expr_span(value));
                    let value = self.within(&lane).expr(value);
                    rooms.push(mixed!(let #room = __host::Scratch::room(__scratch, __threads);));
                    fill.push(mixed! {
                        *<[_]>::get_unchecked_mut(#room, #position) = ::core::mem::MaybeUninit::new(#value);
                    });
                    match i == 0 && callee.has_receiver {
                        true => quote_spanned!(room.span()=> &mut *#room),
                        false if i == 0 && callee.method.is_some() || is_borrowed => {
                            quote_spanned!(room.span()=> __host::pass_mut_lanes(&mut *#room))
                        }
                        false => quote_spanned!(room.span()=> &*#room),
                    }
                }
                Argument::Memory(memory @ Memory::Local(local))
                    if self.within(frame).is_kept_whole(local) =>
                {
                    let arrays = self.lent_lanes(frame, local);
                    let each = mixed!(__host::Slices::each(#arrays));
                    self.rows(memory, &mixed!(__host::Slices), each)
                }
                Argument::Memory(memory @ Memory::Local(local)) => {
                    let (room, own) = (given_name(i, span), self.within(&lane));
                    let at = mixed!(__index);
                    let (load, store) = (own.load(memory, &at), own.store(memory, &at));
                    let len = self.len(memory, Span::mixed_site());
                    let ty = self.nested(local, mixed!(_));
                    rooms.push(mixed! {
                        let #room: &mut [::core::mem::MaybeUninit<#ty>] = __host::Scratch::room(__scratch, __threads);
                    });
                    fill.push(mixed! {
                        *<[_]>::get_unchecked_mut(#room, #position) =
                            ::core::mem::MaybeUninit::new(::core::array::from_fn(|__index| #load));
                    });
                    back.push(mixed! {
                        let __array = ::core::mem::MaybeUninit::assume_init(*<[_]>::get_unchecked(#room, #position));
                        for __index in (0..#len) {
                            let __value = __array[__index];
                            #store
                        }
                    });
                    let each = mixed!(__host::Slices::each(&mut *#room));
                    self.rows(memory, &mixed!(__host::Slices), each)
                }
                Argument::Memory(memory) => self.lend_to_all(memory),
                Argument::Local(local) => {
                    let lanes = self.lent_lanes(frame, local);
                    let is_receiver = i == 0 && callee.has_receiver;
                    match self.is_received(local) && !is_receiver {
                        true => mixed!(__host::pass_mut_lanes(#lanes)),
                        false => lanes,
                    }
                }
            });
        }
        let fill = (!fill.is_empty()).then(|| {
            let fetch = self.fetch(frame, id);
            self.lanes(frame, frame.mask(), mixed!(#fetch #(#fill)*))
        });
        let back = (!back.is_empty()).then(|| self.lanes(frame, frame.mask(), mixed!(#(#back)*)));
        let result = match call.result {
            Some(local) => self.lent_lanes(frame, local),
            None => mixed!(__host::Scratch::room(__scratch, __threads)),
        };
        let (full, active, any) = self.who(frame);
        let of = call.called.function().map(instance_name);
        let args = callee.known(&quote_spanned!(span=> (#(#args,)*)));
        let result = callee.known(&result);
        quote_spanned! {span=>
            #any {
                let __mark = __host::Scratch::mark(__scratch);
                #(#rooms)*
                #fill
                if let ::core::result::Result::Err(__fault) = __host::returned_by_all(#of, #block(
                    __host::Flag::<__CHECK>, __host::Flag::<#full>, __block, __lanes, __dim, __scratch, #base, #active, #args, #result,
                )) {
                    return ::core::result::Result::Err(__fault);
                }
                #back
                __host::Scratch::release(__scratch, __mark);
            }
        }
    }

    /// Passes a memory to a function that all lanes call together.
    fn lend_to_all(&self, memory: Memory) -> TokenStream {
        let is_given = matches!(memory, Memory::Slice(_)) && self.is_given_slices();
        match (self.kernel.access(memory), memory) {
            (Access::Read | Access::Write, Memory::Slice(param)) if is_given => {
                param_name(param).to_token_stream()
            }
            (Access::Read | Access::Write, _) => {
                let lent = self.lend(memory);
                mixed!(__host::Slices::one(#lent))
            }
            (Access::Atomic, _) => self.lend(memory),
        }
    }

    /// True in the body of a function that all lanes call together, which takes one slice per lane.
    pub(super) fn is_given_slices(&self) -> bool {
        self.arrays.is_some()
    }

    /// A slice parameter, as the lane sees it.
    pub(super) fn slice_of_lane(&self, param: ParamId) -> TokenStream {
        let name = param_name(param);
        if !self.is_given_slices() || self.kernel.access(Memory::Slice(param)) == Access::Atomic {
            return name.to_token_stream();
        }
        match self.is_once() {
            true => mixed!(__host::Slices::of(&#name, __first)),
            false => {
                let lane = self.lane_of_block();
                mixed!(__host::Slices::of(&#name, #lane))
            }
        }
    }

    /// The lane's position in the block.
    fn lane_of_block(&self) -> TokenStream {
        match self.frame.map(|frame| frame.lanes) {
            Some(Lanes::Strip) => mixed!((__lane + __w)),
            Some(Lanes::Block) | None => mixed!(__lane),
        }
    }

    /// Passes an array of lanes to a function.
    fn lent_lanes(&self, frame: &Frame<'_>, local: LocalId) -> TokenStream {
        let array = frame.array(local);
        match self.within(frame).is_kept_whole(local) {
            true => mixed!(__host::LaneValues::lend(&#array)),
            false => mixed!(__host::as_uninit(&mut #array[..])),
        }
    }

    /// The locals that collective calls borrow, or that receive their results.
    pub(super) fn lent_to_calls(&self) -> HashSet<LocalId> {
        let calls = self.joint.stmts().flat_map(|stmt| {
            let Stmt::Call { call } = self.kernel.stmt(stmt) else {
                unreachable!("only calls are joint");
            };
            let call = &self.kernel.calls[call.index()];
            let lent = call.args.iter().filter_map(|arg| match arg {
                Argument::Local(local) | Argument::Memory(Memory::Local(local)) => Some(*local),
                Argument::Value(_) | Argument::Memory(_) => None,
            });
            lent.chain(call.result)
        });
        calls.collect()
    }

    /// The lanes that take part in a call: the flag for all lanes, the mask, and a test that the
    /// mask has some lane.
    fn who(&self, frame: &Frame<'_>) -> (TokenStream, TokenStream, Option<TokenStream>) {
        match frame.mask() {
            Some(mask) => {
                let mask = frame.mask_name(mask);
                let any = mixed!(if __host::any(&#mask[..]));
                (mixed!(false), mixed!(&#mask[..]), Some(any))
            }
            None if frame.given => (mixed!(__FULL), mixed!(__active), None),
            None => (mixed!(true), mixed!(&[]), None),
        }
    }

    // The callee's side.

    /// The parameters of a body for all lanes.
    fn block_params(&self) -> TokenStream {
        let params = self.kernel.params.iter().zip(&self.lowered.param_types);
        let params = params.enumerate().map(|(i, (param, written))| {
            let is_receiver = i == 0 && self.lowered.has_receiver;
            let lanes = |ty: TokenStream| mixed!([::core::mem::MaybeUninit<#ty>]);
            let written = written.clone();
            match param.kind {
                ParamKind::Slice { access, .. } => match access {
                    Access::Read | Access::Write => mixed!(__host::Slices<'_, #written>),
                    Access::Atomic => mixed!(&[__host::Atomic<#written>]),
                },
                ParamKind::Scalar(_) | ParamKind::Value(_) if is_receiver => {
                    let lanes = lanes(written);
                    mixed!(&mut #lanes)
                }
                ParamKind::Scalar(ty) if self.lowered.is_view_part(ParamId(i as u32)) => {
                    rust_type(ty)
                }
                ParamKind::Scalar(ty) => {
                    let lanes = lanes(rust_type(ty));
                    mixed!(&#lanes)
                }
                ParamKind::Value(_) => {
                    let lanes = lanes(written);
                    mixed!(&#lanes)
                }
                ParamKind::Reference(_) => {
                    let lanes = lanes(written);
                    mixed!(&mut #lanes)
                }
            }
        });
        let names = self.param_names();
        let (calls, called) = self.callable_params();
        mixed! {
            __block: &__host::Block,
            __lanes: [__usize; 3],
            __dim: [__usize; 3],
            __scratch: &__host::Scratch,
            __base: __u32,
            __active: &[__bool],
            (#(#names,)* #(#calls,)*): (#(#params,)* #(#called,)*),
        }
    }

    /// The statements of a body for all lanes, or for those of `__active` if some are `given`.
    pub(super) fn block_body(
        &self,
        plan: &Plan,
        differ: &HashSet<ParamId>,
        given: bool,
    ) -> TokenStream {
        let mut frame = Frame::new(plan, Lanes::Block);
        frame.given = given;
        let result = self.kernel.result.map(|local| {
            let array = frame.array(local);
            match self.within(&frame).is_kept_whole(local) {
                true => mixed!(let #array = __host::LaneValues::of(__result);),
                false => mixed!(let #array = __host::assume_all_init(__result);),
            }
        });
        let arrays = self.arrays(&frame).into_iter();
        let yielded = self.kernel.result.map(|local| frame.array(local));
        let arrays = arrays.filter(|array| Some(&array.name) != yielded.as_ref());
        let arrays = arrays.map(|array| {
            let (name, value) = (array.name, array.value);
            mixed!(let #name = #value;)
        });
        let agreed = self.agreed(differ).map(|param| {
            let name = param_name(param);
            mixed!(let #name = ::core::mem::MaybeUninit::assume_init_read(<[_]>::get_unchecked(#name, __first));)
        });
        let (tree, kept) = (self.tree(&frame), self.kept(&frame));
        let (params, instances) = (self.known_params(), self.instances());
        let ended = self.ended();
        mixed! {
            #instances
            #params
            let __threads = __dim[0] * __dim[1] * __dim[2];
            let __thread = [0; 3];
            let __first = __host::first(__FULL, __active);
            #(#agreed)*
            #result
            #(#arrays)*
            #kept
            #tree
            #ended
        }
    }

    /// The value that a body for all lanes returns at its end. For a function, its type names the
    /// function.
    pub(super) fn ended(&self) -> TokenStream {
        match self.is_given_slices() {
            true => mixed!(::core::result::Result::Ok(__host::Returned::new(
                ::core::marker::PhantomData
            ))),
            false => mixed!(::core::result::Result::Ok(())),
        }
    }

    /// The by-value parameters on which all lanes agree.
    fn agreed(&self, differ: &HashSet<ParamId>) -> impl Iterator<Item = ParamId> {
        let params = (0..self.kernel.params.len() as u32).map(ParamId);
        params.filter(|param| {
            let is_value = match self.kernel.params[param.index()].kind {
                ParamKind::Scalar(_) | ParamKind::Value(_) => {
                    let is_receiver = param.index() == 0 && self.lowered.has_receiver;
                    !is_receiver && !self.lowered.is_view_part(*param)
                }
                ParamKind::Reference(_) | ParamKind::Slice { .. } => false,
            };
            is_value && !differ.contains(param)
        })
    }

    /// True if a parameter has one value in all lanes; for a slice, one length.
    pub(super) fn is_param_of_all(&self, param: ParamId) -> bool {
        let may_differ = match self.kernel.params[param.index()].kind {
            ParamKind::Scalar(_) | ParamKind::Value(_) => self.param_of_lane(param).is_some(),
            ParamKind::Reference(_) => self.arrays.is_some(),
            ParamKind::Slice { .. } => false,
        };
        !may_differ
    }

    /// The lane's own value of a parameter, if the parameter may differ between lanes.
    pub(super) fn param_of_lane(&self, param: ParamId) -> Option<TokenStream> {
        let differ = self.arrays?;
        if self.lowered.is_view_part(param) || self.agreed(differ).any(|agreed| agreed == param) {
            return None;
        }
        let name = param_name(param);
        let position = match self.is_once() {
            true => mixed!(__first),
            false => self.lane_of_block(),
        };
        Some(
            mixed!(::core::mem::MaybeUninit::assume_init_read(<[_]>::get_unchecked(#name, #position))),
        )
    }

    /// A pointer to the referent of a `&mut T` parameter.
    pub(super) fn referent(&self, param: ParamId) -> TokenStream {
        let name = param_name(param);
        match self.arrays {
            Some(_) => {
                let lane = self.lane_of_block();
                mixed!(::core::mem::MaybeUninit::as_mut_ptr(<[_]>::get_unchecked_mut(#name, #lane)))
            }
            None => mixed!(&raw mut *#name),
        }
    }
}

impl Lowered {
    /// The source span of an expression; nodes that a pass adds have none.
    pub fn expr_span(&self, id: ExprId) -> Span {
        let span = self.expr_spans.get(id.index());
        span.map_or_else(Span::mixed_site, |span| span.first)
    }

    /// The same for a statement.
    pub fn stmt_span(&self, id: StmtId) -> Span {
        let span = self.stmt_spans.get(id.index());
        span.map_or_else(Span::mixed_site, |span| span.first)
    }

    /// The function that a call calls.
    pub fn callee(&self, call: CallId) -> &Callee {
        match self.kernel.calls[call.index()].called {
            CallTarget::Function(function) => &self.callees[function.index()],
            CallTarget::Callable(_) => unreachable!("it is asked of calls of functions"),
        }
    }
}
