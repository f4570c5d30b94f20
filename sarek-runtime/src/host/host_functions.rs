//! Host functions of intrinsics, which devices without texts call: their registry, and the calls by compiled bodies.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use sarek_ir::interp::Ids;
use sarek_ir::{Axis, Builtin, Kernel, LocalId, Native, ParamKind, Piece, Scalar, Value};

use super::Block;
use crate::sync::lock;
use crate::types::ScalarArg;
use crate::{Error, Result};

/// The ids and extents of the thread that calls a host function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ThreadState(Ids);

impl ThreadState {
    /// The state of a thread at this position.
    pub fn new(ids: Ids) -> ThreadState {
        ThreadState(ids)
    }

    /// The index of the thread in its block, along x, y and z.
    pub fn thread_idx(&self) -> [usize; 3] {
        self.0.thread_idx.map(|i| i as usize)
    }

    /// The index of the block in the grid.
    pub fn block_idx(&self) -> [usize; 3] {
        self.0.block_idx.map(|i| i as usize)
    }

    /// The number of threads of a block.
    pub fn block_dim(&self) -> [usize; 3] {
        self.0.block_dim.map(|i| i as usize)
    }

    /// The number of blocks of the grid.
    pub fn grid_dim(&self) -> [usize; 3] {
        self.0.grid_dim.map(|i| i as usize)
    }

    /// The index of the thread in the launch.
    pub fn global_idx(&self) -> [usize; 3] {
        Axis::ALL.map(|axis| self.0.global(axis) as usize)
    }

    /// The number of threads of the launch.
    pub fn global_dim(&self) -> [usize; 3] {
        self.0.global_dim.map(|i| i as usize)
    }

    /// The number of the thread in the launch, x running fastest.
    pub fn global_thread_id(&self) -> usize {
        self.0.get(Builtin::GlobalThreadId) as usize
    }

    /// The number of the thread in its block, x running fastest.
    pub fn lane(&self) -> usize {
        self.0.linear() as usize
    }

    /// The index of the thread in its subgroup.
    pub fn subgroup_lane(&self) -> usize {
        self.0.get(Builtin::SubgroupLane) as usize
    }

    /// The maximal number of threads of a subgroup.
    pub fn subgroup_size(&self) -> usize {
        self.0.get(Builtin::SubgroupSize) as usize
    }
}

/// The scalar types of an intrinsic's parameters and of its result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    parameters: Vec<Scalar>,
    result: Scalar,
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parameters: Vec<String> = self.parameters.iter().map(Scalar::to_string).collect();
        write!(f, "fn({}) -> {}", parameters.join(", "), self.result)
    }
}

/// A function for [`register_host`]: a closure or a `fn` that takes up to six scalars and returns
/// one. A `&ThreadState` may stand before the scalars. `Form` is the function's pointer type, which
/// rustc infers.
pub trait HostFunction<Form>: Send + Sync + 'static {
    /// The types of the scalars, as a tuple.
    type Args;

    /// The type of the result.
    type Result;

    /// The function on values of any type.
    #[doc(hidden)]
    fn erased(self) -> Erased;
}

/// A host function on values.
#[doc(hidden)]
pub struct Erased {
    signature: Signature,
    /// `None` if the values are not of the signature's types.
    call: Box<Call>,
}

type Call = dyn Fn(&ThreadState, &[Value]) -> Option<Value> + Send + Sync;

macro_rules! host_functions {
    ($(($($name:ident),*))*) => {$(
        impl<F, R, $($name),*> HostFunction<fn($($name),*) -> R> for F
        where
            F: Fn($($name),*) -> R + Send + Sync + 'static,
            R: HostScalar,
            $($name: HostScalar,)*
        {
            type Args = ($($name,)*);
            type Result = R;

            #[allow(non_snake_case)]
            fn erased(self) -> Erased {
                let of_thread = move |_: &ThreadState, $($name: $name),*| self($($name),*);
                HostFunction::<fn(&ThreadState, $($name),*) -> R>::erased(of_thread)
            }
        }

        impl<F, R, $($name),*> HostFunction<fn(&ThreadState, $($name),*) -> R> for F
        where
            F: Fn(&ThreadState, $($name),*) -> R + Send + Sync + 'static,
            R: HostScalar,
            $($name: HostScalar,)*
        {
            type Args = ($($name,)*);
            type Result = R;

            #[allow(non_snake_case)]
            fn erased(self) -> Erased {
                let parameters = vec![$($name::SCALAR),*];
                let call = move |thread: &ThreadState, values: &[Value]| {
                    let [$($name),*] = *values else {
                        return None;
                    };
                    Some(self(thread, $($name::from_value($name)?),*).value())
                };
                Erased {
                    signature: Signature { parameters, result: R::SCALAR },
                    call: Box::new(call),
                }
            }
        }
    )*};
}

host_functions! {
    ()
    (A)
    (A, B)
    (A, B, C)
    (A, B, C, D)
    (A, B, C, D, E)
    (A, B, C, D, E, G)
}

/// A scalar that host functions take and return.
pub trait HostScalar: ScalarArg {
    /// Its type in the IR.
    const SCALAR: Scalar;
}

macro_rules! host_scalars {
    ($($ty:ty, $scalar:ident;)*) => {
        $(impl HostScalar for $ty {
            const SCALAR: Scalar = Scalar::$scalar;
        })*
    };
}

host_scalars! {
    bool, Bool;
    i8, I8;
    u8, U8;
    i16, I16;
    u16, U16;
    i32, I32;
    u32, U32;
    i64, I64;
    u64, U64;
    usize, Usize;
    half::f16, F16;
    half::bf16, Bf16;
    f32, F32;
    f64, F64;
}

/// A `#[device(intrinsic)]` function. The attribute implements this for the type of the function's
/// name.
///
/// ```ignore
/// use sarek::intrinsic::Intrinsic as _;
///
/// fast_tanh::register_host(|x: f32| x.tanh())?;
/// ```
pub trait Intrinsic {
    /// The intrinsic's name in the registry.
    const NAME: &'static str;

    /// The types of its parameters, as a tuple.
    type Args;

    /// The type of its result.
    type Result;

    /// Registers a host function, whose types rustc compares with those of the declaration.
    ///
    /// # Errors
    /// As for [`register_host`].
    fn register_host<Form>(
        function: impl HostFunction<Form, Args = Self::Args, Result = Self::Result>,
    ) -> Result<()> {
        let function = function.erased();
        declare(Self::NAME, &function.signature);
        add(Self::NAME, function)
    }
}

/// The host functions of a moment, by the intrinsic's name.
type Table = BTreeMap<String, Arc<Erased>>;

/// Host functions that a launch may call.
#[derive(Clone, Default)]
pub(crate) struct Hosts(Arc<Table>);

impl fmt::Debug for Hosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Hosts {
    /// The functions that are registered now; `None` if there is none.
    #[inline]
    pub(crate) fn now() -> Option<Hosts> {
        // Relaxed is enough: whoever registers a function and launches orders the two by itself.
        if !ANY.load(Ordering::Relaxed) {
            return None;
        }
        Some(lock(hosts()).clone())
    }

    /// The result of an intrinsic; `None` if it has no host function.
    ///
    /// # Panics
    /// If the function takes other types: it was replaced while the launch ran.
    pub(crate) fn call(&self, name: &str, thread: &ThreadState, args: &[Value]) -> Option<Value> {
        let function = self.0.get(name)?;
        let Some(value) = (function.call)(thread, args) else {
            let signature = &function.signature;
            panic!("the host function of the intrinsic `{name}` became a `{signature}`");
        };
        Some(value)
    }
}

static ANY: AtomicBool = AtomicBool::new(false);

fn hosts() -> &'static Mutex<Hosts> {
    static HOSTS: OnceLock<Mutex<Hosts>> = OnceLock::new();
    HOSTS.get_or_init(Mutex::default)
}

/// The signatures with which intrinsics are known to be declared. Two crates may use the same name.
type Declared = BTreeMap<String, Vec<Signature>>;

fn declared() -> &'static Mutex<Declared> {
    static DECLARED: OnceLock<Mutex<Declared>> = OnceLock::new();
    DECLARED.get_or_init(Mutex::default)
}

/// Registers an intrinsic's host function: `native`, the interpreter and all other devices without
/// texts call it instead of the intrinsic's Rust body.
///
/// ```
/// use sarek_runtime::intrinsic::{self, ThreadState};
///
/// intrinsic::register_host("doc_scaled", |x: f32| 2.0 * x)?;
/// intrinsic::register_host("doc_lane", |thread: &ThreadState, x: u32| thread.lane() as u32 + x)?;
/// # intrinsic::unregister_host("doc_scaled");
/// # intrinsic::unregister_host("doc_lane");
/// # Ok::<(), sarek_runtime::Error>(())
/// ```
///
/// It may return anything: no proof about a kernel relies on the result of an intrinsic. Its panic
/// is an error of the launch. It must not wait for other launches. Launches that are queued or
/// recorded already call either the function or the body. [`crate::Kernel::reference`] and calls
/// by host code always run the body.
///
/// # Errors
/// [`Error::Intrinsic`] if the intrinsic has a host function, or if it is declared with other types
/// in a kernel that was launched before. Kernels that declare it with other types are refused later.
pub fn register_host<Form>(name: &str, function: impl HostFunction<Form>) -> Result<()> {
    add(name, function.erased())
}

fn add(name: &str, function: Erased) -> Result<()> {
    if let Some(known) = lock(declared()).get(name)
        && !known.contains(&function.signature)
    {
        return Err(mismatch(name, &function.signature, &known[0]));
    }
    let mut hosts = lock(hosts());
    if hosts.0.contains_key(name) {
        let what = "it has a host function already; remove that with `unregister_host`";
        return Err(problem(name, HOST, what));
    }
    Arc::make_mut(&mut hosts.0).insert(name.to_owned(), Arc::new(function));
    ANY.store(true, Ordering::Relaxed);
    Ok(())
}

/// Removes a host function, and returns true if it was registered. Later launches run the
/// intrinsic's Rust body.
pub fn unregister_host(name: &str) -> bool {
    let mut hosts = lock(hosts());
    let removed = Arc::make_mut(&mut hosts.0).remove(name).is_some();
    ANY.store(!hosts.0.is_empty(), Ordering::Relaxed);
    removed
}

/// The intrinsics that have a host function, sorted by name.
pub fn registered_hosts() -> Vec<String> {
    lock(hosts()).0.keys().cloned().collect()
}

/// The result of an intrinsic's host function, for a backend that interprets the IR; `None` if it
/// has none, and its fallback is to run.
///
/// # Panics
/// If the function takes other types: it was replaced while the launch ran.
pub fn call_host(name: &str, thread: &ThreadState, args: &[Value]) -> Option<Value> {
    Hosts::now()?.call(name, thread, args)
}

/// The target in messages about host functions.
const HOST: &str = "the host";

fn mismatch(name: &str, registered: &Signature, declared: &Signature) -> Error {
    let what = format!("its host function is a `{registered}`, but it is declared as `{declared}`");
    problem(name, HOST, what)
}

/// Remembers how an intrinsic is declared.
fn declare(name: &str, signature: &Signature) {
    let mut declared = lock(declared());
    let known = declared.entry(name.to_owned()).or_default();
    if !known.contains(signature) {
        known.push(signature.clone());
    }
}

/// True if one of these intrinsics has a host function.
pub(crate) fn is_hosted(names: &[String]) -> bool {
    !names.is_empty()
        && Hosts::now().is_some_and(|hosts| names.iter().any(|name| hosts.0.contains_key(name)))
}

/// Compares the intrinsics of a linked kernel with their host functions.
pub(crate) fn check_hosts(kernel: &Kernel) -> Result<()> {
    for native in kernel.natives.iter() {
        let Some((name, signature)) = signature(kernel, native) else {
            continue;
        };
        declare(name, &signature);
        if let Some(function) = lock(hosts()).0.get(name)
            && function.signature != signature
        {
            return Err(mismatch(name, &function.signature, &signature));
        }
    }
    Ok(())
}

/// The name and the types of an intrinsic, from a use in a linked kernel.
fn signature<'k>(kernel: &'k Kernel, native: &'k Native) -> Option<(&'k str, Signature)> {
    let name = native.intrinsic.as_deref()?;
    let of_local = |local| kernel.local_scalar(&kernel.locals[LocalId::index(local)]);
    let pieces = native.texts.first().map_or(&[][..], |text| &text.pieces);
    let parameters = pieces.iter().filter_map(|piece| match piece {
        Piece::Local(local) => Some(of_local(*local)),
        Piece::Param(param) => match kernel.params[param.index()].kind {
            ParamKind::Scalar(scalar) => Some(scalar),
            ParamKind::Slice { .. } | ParamKind::Value(_) | ParamKind::Reference(_) => None,
        },
        Piece::Text(_) | Piece::Shared(_) | Piece::Place(_) => None,
    });
    let signature = Signature {
        parameters: parameters.collect(),
        result: of_local(native.result?),
    };
    Some((name, signature))
}

/// The error about an intrinsic on a target.
pub(crate) fn problem(name: &str, target: &str, problem: impl Into<String>) -> Error {
    Error::Intrinsic {
        name: name.to_owned(),
        target: target.to_owned(),
        problem: problem.into(),
    }
}

/// The result of an intrinsic for the thread at these indices of the block; `None` if it has no
/// host function. The arguments are in order.
///
/// # Panics
/// If the function takes or returns other types: it was replaced while the launch ran.
#[cold]
#[inline(never)]
pub fn hosted<R: ScalarArg>(
    block: &Block,
    name: &str,
    thread: [usize; 3],
    args: &[Value],
) -> Option<R> {
    let value = block
        .hosts()?
        .call(name, &block.thread_state(thread), args)?;
    let Some(result) = R::from_value(value) else {
        panic!("the host function of the intrinsic `{name}` returned another type");
    };
    Some(result)
}

/// A scalar as a value.
#[inline(always)]
pub fn hosted_arg<T: ScalarArg>(value: T) -> Value {
    value.value()
}

/// The message of a panic.
pub fn panic_message(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        return (*text).to_string();
    }
    match payload.downcast_ref::<String>() {
        Some(text) => text.clone(),
        None => "the kernel panicked".to_string(),
    }
}
