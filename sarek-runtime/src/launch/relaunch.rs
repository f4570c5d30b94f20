//! Recorded launches, repeated with another scalar argument.
//!
//! A recording depends on its arguments: they decide the proofs, and so the text. A new scalar
//! therefore means making the same call again. Stand-ins replace its vectors, because only their
//! lengths and types are needed.

use std::any::TypeId;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;

use sarek_ir::{Scalar, Value};

use super::arg::ArgKind;
use super::prepare::Prepared;
use super::recorded::unbound;
use super::space::Shape;
use super::{Arg, Call, CodeVector, Lent, Ready, Recorded, VectorArg};
use crate::device::{Pending, StreamRef};
use crate::plugin::backend::{BackendEvent, Slice};
use crate::plugin::tag::{ScheduleKind, StorageKind, Tag};
use crate::vector::ErasedVector;
use crate::{Device, Error, Result};

/// Everything of a launch but its arguments and its instrumentation.
#[derive(Clone)]
pub(super) struct CallHead {
    kernel: Arc<Prepared>,
    shape: Shape,
    items: &'static [usize],
    strided: bool,
    environments: Option<Arc<[String]>>,
    schedule: Option<Tag<ScheduleKind>>,
    compounds: Vec<(usize, usize, Arc<[u8]>)>,
    parts: Vec<Range<usize>>,
    vouched: bool,
    optimize: bool,
}

impl CallHead {
    /// Keeps all of a launch but its arguments.
    pub(super) fn of(ready: &Ready<'_>) -> CallHead {
        let call = &ready.call;
        CallHead {
            kernel: call.kernel.clone(),
            shape: ready.shape,
            items: ready.items,
            strided: call.strided,
            environments: call.environments.clone(),
            schedule: call.schedule.clone(),
            compounds: call.compounds.clone(),
            parts: call.parts.clone(),
            vouched: call.vouched,
            optimize: call.optimize,
        }
    }

    /// The launch with these arguments. If it is `rebound`, replays may bind other vectors to it.
    pub(super) fn ready<'a>(&self, args: Vec<Arg<'a>>, rebound: bool) -> Ready<'a> {
        Ready {
            call: Call {
                args,
                kernel: self.kernel.clone(),
                compounds: self.compounds.clone(),
                parts: self.parts.clone(),
                optimize: self.optimize,
                rebound,
                vouched: self.vouched,
                strided: self.strided,
                environments: self.environments.clone(),
                schedule: self.schedule.clone(),
                instruments: None,
            },
            shape: self.shape,
            items: self.items,
            dispatched: false,
        }
    }
}

/// A call of a kernel without its vectors.
#[derive(Clone)]
pub(super) struct CallTemplate {
    head: CallHead,
    args: Vec<TemplateArg>,
}

/// An argument of the call.
#[derive(Clone)]
enum TemplateArg {
    Scalar(Value),
    Vector(StandIn, bool),
}

/// A stand-in for a vector, which knows the properties that do not change.
#[derive(Clone)]
struct StandIn {
    unit: (Scalar, u64),
    id: u64,
    size: usize,
    len: usize,
    element: (TypeId, &'static str),
    storage: Option<Tag<StorageKind>>,
}

impl CallTemplate {
    /// Keeps the call of a launch.
    pub(super) fn of(ready: &Ready<'_>) -> CallTemplate {
        let arg = |arg: &Arg<'_>| match (arg.scalar(), arg.vector()) {
            (Some(value), _) => TemplateArg::Scalar(value),
            (None, Some(vector)) => {
                let stand_in = StandIn {
                    unit: vector.unit(),
                    id: vector.id(),
                    size: vector.size(),
                    len: vector.len(),
                    element: vector.element(),
                    storage: vector.storage(),
                };
                TemplateArg::Vector(stand_in, matches!(arg.0, ArgKind::Write(_)))
            }
            (None, None) => unreachable!("a call has its scalars in its place"),
        };
        CallTemplate {
            head: CallHead::of(ready),
            args: ready.call.args.iter().map(arg).collect(),
        }
    }

    /// The scalar parameters of the kernel's source, each with its number and name. Parts of values
    /// and views are left out: they have meaning only together, and the linker's names for them may
    /// equal those of scalars.
    fn scalars(&self) -> impl Iterator<Item = (usize, &str)> {
        let is_part = |at: usize| self.head.parts.iter().any(|part| part.contains(&at));
        let params = self.head.kernel.params().iter().zip(&self.args).enumerate();
        params.filter_map(move |(at, (param, arg))| match arg {
            TemplateArg::Scalar(_) if !is_part(at) => Some((at, &*param.name)),
            TemplateArg::Scalar(_) | TemplateArg::Vector(..) => None,
        })
    }

    /// The vectors that the call takes, in the order of the parameters.
    pub(super) fn vectors(&self) -> impl Iterator<Item = CodeVector<'_>> {
        let params = self.head.kernel.params().iter().zip(&self.args);
        params.filter_map(|(param, arg)| match arg {
            TemplateArg::Scalar(_) => None,
            TemplateArg::Vector(vector, written) => Some(CodeVector {
                name: &param.name,
                written: *written,
                len: vector.len,
                element: vector.element,
            }),
        })
    }

    /// True if the caller vouched for the arguments by an `unsafe` call.
    pub(super) fn is_vouched(&self) -> bool {
        self.head.vouched
    }

    /// The call with other vectors, in the order of [`CallTemplate::vectors`].
    pub(super) fn with<'a>(&self, vectors: Vec<Lent<'a>>) -> Ready<'a> {
        let mut vectors = vectors.into_iter();
        let args = self.args.iter().map(|arg| {
            Arg(match arg {
                TemplateArg::Scalar(value) => ArgKind::Scalar(*value),
                TemplateArg::Vector(..) => match vectors.next() {
                    Some(Lent::Read(vector)) => ArgKind::Read(vector),
                    Some(Lent::Write(vector)) => ArgKind::Write(vector),
                    None => unreachable!("there is a vector for each parameter"),
                },
            })
        });
        self.head.ready(args.collect(), false)
    }

    /// Repeats the call.
    fn call<R>(&mut self, then: impl FnOnce(Ready<'_>) -> R) -> R {
        let args = self.args.iter_mut().map(|arg| {
            Arg(match arg {
                TemplateArg::Scalar(value) => ArgKind::Scalar(*value),
                TemplateArg::Vector(vector, true) => ArgKind::Write(vector),
                TemplateArg::Vector(vector, false) => ArgKind::Read(vector),
            })
        });
        let args = args.collect();
        then(self.head.ready(args, true))
    }
}

impl Recorded {
    /// The number of the scalar parameter called `name`, which is `parameter` or
    /// `kernel.parameter`.
    pub(crate) fn scalar_named(&self, name: &str) -> Option<usize> {
        let kernel = self.name();
        let short = name.strip_prefix(kernel).and_then(|n| n.strip_prefix('.'));
        let mut scalars = self.template.scalars();
        scalars.find_map(|(at, own)| (own == name || Some(own) == short).then_some(at))
    }

    /// The names of all scalar parameters.
    pub(crate) fn scalar_names(&self) -> Vec<String> {
        let scalars = self.template.scalars();
        scalars
            .map(|(_, name)| format!("{}.{name}", self.name()))
            .collect()
    }

    /// True if the caller vouched for the arguments by an `unsafe` call.
    pub(crate) fn is_vouched(&self) -> bool {
        self.template.head.vouched
    }

    /// Makes the same launch with another scalar, checked and proved again where that matters.
    /// `number` maps the identity of a vector to its number.
    pub(crate) fn with_scalar(
        &self,
        stream: StreamRef<'_>,
        at: usize,
        value: Value,
        number: impl Fn(u64) -> usize,
    ) -> Result<Recorded> {
        let mut template = self.template.clone();
        let TemplateArg::Scalar(arg) = &mut template.args[at] else {
            unreachable!("the number is that of a scalar");
        };
        let (have, want) = (value.scalar(), arg.scalar());
        if have != want {
            let (kernel, param) = (self.name(), &self.template.head.kernel.params()[at].name);
            return Err(Error::Graph {
                device: stream.device().to_string(),
                problem: format!("`{param}` of `{kernel}` is {want}, not {have}"),
            });
        }
        *arg = value;
        // A generic kernel takes its scalars as values of one part.
        let mut compounds = template.head.compounds.iter_mut();
        if let Some((_, count, bytes)) = compounds.find(|(first, ..)| *first == at) {
            let new = bytes_of(value);
            assert_eq!((*count, bytes.len()), (1, new.len()), "it is a scalar");
            *bytes = new;
        }
        let number = |used: VectorArg<'_>| number(used.vector.id());
        let recorded = template.call(|ready| ready.recorded(stream, number))?;
        let mut recorded = recorded.expect("the launch has the same size, which is not empty");
        recorded.keep_faults(self);
        Ok(recorded)
    }
}

/// The bytes of a value of one part.
fn bytes_of(value: Value) -> Arc<[u8]> {
    match value {
        Value::Bool(v) => Arc::new([u8::from(v)]),
        Value::I8(v) => Arc::new(v.to_ne_bytes()),
        Value::U8(v) => Arc::new(v.to_ne_bytes()),
        Value::I16(v) => Arc::new(v.to_ne_bytes()),
        Value::U16(v) | Value::F16(v) | Value::Bf16(v) => Arc::new(v.to_ne_bytes()),
        Value::I32(v) => Arc::new(v.to_ne_bytes()),
        Value::U32(v) | Value::F32(v) => Arc::new(v.to_ne_bytes()),
        Value::I64(v) => Arc::new(v.to_ne_bytes()),
        Value::U64(v) | Value::Usize(v) | Value::F64(v) => Arc::new(v.to_ne_bytes()),
    }
}

/// Recording runs nothing, so stand-ins are never accessed.
fn no_work() -> ! {
    unreachable!("a launch that is recorded does not run")
}

impl ErasedVector for StandIn {
    fn unit(&self) -> (Scalar, u64) {
        self.unit
    }

    fn id(&self) -> u64 {
        self.id
    }

    fn storage(&self) -> Option<Tag<StorageKind>> {
        self.storage.clone()
    }

    fn is_in_host_memory(&self, _: &Device) -> bool {
        no_work()
    }

    fn is_aligned(&self) -> bool {
        // Replays bind any vector.
        false
    }

    fn size(&self) -> usize {
        self.size
    }

    fn len(&self) -> usize {
        self.len
    }

    fn element(&self) -> (TypeId, &'static str) {
        self.element
    }

    fn on_host(&self) -> Result<*const u8> {
        // Replays replace this pointer.
        Ok(NonNull::dangling().as_ptr())
    }

    fn on_host_mut(&mut self) -> Result<*mut u8> {
        Ok(NonNull::dangling().as_ptr())
    }

    fn on_device(&self, _: StreamRef<'_>, _: bool, _: Option<&mut Vec<Pending>>) -> Result<Slice> {
        Ok(unbound())
    }

    fn on_host_to_overwrite(&mut self) -> Result<*mut u8> {
        no_work()
    }

    fn on_device_to_overwrite(&mut self, _: StreamRef<'_>) -> Result<Slice> {
        no_work()
    }

    fn forget_outcomes(&mut self) {
        no_work()
    }

    fn written_on(&mut self, _: StreamRef<'_>, _: &[Pending]) {
        no_work()
    }

    fn give_up(&mut self, _: StreamRef<'_>, _: &Error) {
        no_work()
    }

    fn passed(&mut self, _: StreamRef<'_>, _: &Arc<dyn BackendEvent>) {
        no_work()
    }

    fn fail(&mut self, _: Error) {
        no_work()
    }

    fn saved(&self) -> Result<Vec<u8>> {
        no_work()
    }

    fn restored(&self, _: &[u8]) -> Result<Box<dyn ErasedVector>, (u64, String)> {
        no_work()
    }

    fn kept_in(self: Box<Self>, _: &Tag<StorageKind>) -> Result<Box<dyn ErasedVector>> {
        no_work()
    }

    fn take_elements(&mut self, _: &dyn ErasedVector) -> Result<()> {
        no_work()
    }
}
