//! The traits that a backend implements. The built-in backends use nothing else.
//!
//! A [`Backend`] lists and opens devices. A [`BackendDevice`] describes itself ([`DeviceInfo`]),
//! selects how kernels become programs ([`Codegen`]), loads programs and allocates memory. Its
//! [`BackendStream`]s run copies and launches in FIFO order. All traits are object-safe.
//!
//! The framework links, proves, renders and caches kernels, keeps vectors coherent, and turns
//! faults into errors; a backend never sees a vector. The framework checks sizes and bounds before
//! each call.
//!
//! # Safety
//!
//! The framework trusts a backend with memory, and a backend trusts the framework. So both sides
//! make promises:
//!
//! - The traits of the objects that a backend makes (devices, streams, memory, events, graphs,
//!   renderers, compilers) are `unsafe` to implement. Their "Safety" sections list what the
//!   framework relies on.
//! - Functions that load, run or access memory are `unsafe` to call. Any caller, such as the
//!   framework, keeps the promises in their "Safety" sections.
//!
//! [`Backend`] itself is a safe trait: it only returns devices, whose implementations make the
//! promises.

mod artifact;
mod block;
mod buffer;
mod codegen;
mod info;
mod parameter;
pub(crate) mod parts;
mod renderer;
mod scalar_bytes;
mod states;

use std::any::Any;
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sarek_ir::write::Source;

pub use crate::host::{Direct, DirectArg, IndexSpace, RawFault};
pub use crate::output::{Printing, print};
pub use crate::plugin::claims::{self, Claims};
use crate::plugin::tag::{Language, ScheduleKind, StorageKind, Tag};
pub use crate::sync::fork::is_forked;
use crate::{Error, Result};
pub use artifact::Artifact;
pub use block::{BlockRequest, OpenBlocks};
pub use buffer::BufferRequest;
pub(crate) use codegen::Pipeline;
pub use codegen::{Codegen, Custom, Translation, Translator};
pub use info::{DeviceInfo, Features};
pub use parameter::{Parameter, Passed};
pub use parts::Parts;
pub use renderer::{LaunchTags, Renderer};
pub use scalar_bytes::ScalarBytes;
pub use states::{Held, State, States};

/// A family of devices behind one driver.
pub trait Backend: Send + Sync {
    /// The name by which users select the backend: `cuda`, `opencl`, …
    fn name(&self) -> &'static str;

    /// Returns the number of devices, or the reason why there are none.
    fn count(&self) -> Result<usize, String>;

    /// Opens a device. Called once for each ordinal below [`Backend::count`]; the result is kept.
    fn open(&self, ordinal: usize) -> Result<Arc<dyn BackendDevice>>;

    /// The priority; higher is preferred. A device may lower its own, see [`DeviceInfo::priority`].
    /// Asked once, when the backend is registered: for another priority, it is registered anew.
    fn priority(&self) -> i32 {
        0
    }

    /// Details about the backend as a whole for people, such as the versions of its driver and compiler.
    /// Those of a device are [`BackendDevice::debug_info`].
    fn debug_info(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// Adds the backend's claims, see [`crate::plugin::claims`]. Called once, when the backend is
    /// registered, and before the registry has it. It may ask the registry for other backends and
    /// their devices.
    fn claims(&self, _claims: &mut Claims) {}
}

/// A device.
///
/// # Safety
/// An implementation guarantees the following, for any order of calls to its safe functions.
///
/// - [`BackendDevice::info`] is true. If [`DeviceInfo::host_memory`] is set, a launch works on the
///   arguments of [`Args::Host`]; otherwise on the device's own memory.
/// - A loaded program does what its body, its kernel or its source says. It accesses the memory of
///   its arguments and no other, and writes no read-only argument.
/// - Allocated memory has at least the requested size and is disjoint from all other memory. It
///   stays valid until it is dropped and the work that uses it has ended.
/// - Its streams and their events are implementations of [`BackendStream`] and [`BackendEvent`] for
///   this device.
pub unsafe trait BackendDevice: Any + Send + Sync {
    /// The device's limits and features; constant.
    fn info(&self) -> &DeviceInfo;

    /// Selects how kernels become programs.
    fn codegen(&self) -> Codegen<'_>;

    /// Makes a program launchable. The result becomes [`Launch::program`].
    ///
    /// # Safety
    /// The program is sound for the arguments that it will be launched with:
    ///
    /// - A [`Direct`] body belongs to a kernel, see [`crate::Kernel`].
    /// - A [`Program::Ir`] is closed and valid.
    /// - An artifact is the result of this device's [`Compiler`] for the source with these parts.
    ///   The source is the result of its [`Renderer`] for the kernel, or text whose author vouches
    ///   for it.
    unsafe fn load(&self, program: &Program<'_>) -> Result<Arc<dyn Any + Send + Sync>>;

    /// Allocates device memory with arbitrary contents; `bytes` is never 0. Dropping the result
    /// frees the memory, after the work that uses it.
    fn alloc(&self, bytes: usize) -> Result<Arc<dyn Mem>>;

    /// Allocates memory of a storage other than [`StorageKind::device`], which the backend has
    /// claimed.
    fn alloc_in(&self, bytes: usize, storage: &Tag<StorageKind>) -> Result<Arc<dyn Mem>> {
        Err(Error::Unsupported {
            backend: self.info().name.clone(),
            what: format!("{bytes} bytes of the storage `{storage}`"),
        })
    }

    /// True if buffers carry the type of their elements. The framework then allocates the memory of
    /// vectors by [`BackendDevice::alloc_elements`], and reuses it for vectors of the same type only.
    /// Otherwise memory is bytes: small vectors are parts of common buffers, and vectors of other
    /// types get what is free.
    fn types_buffers(&self) -> bool {
        false
    }

    /// The same as [`BackendDevice::alloc`] and [`BackendDevice::alloc_in`] for the elements of a
    /// vector, if [`BackendDevice::types_buffers`] is true.
    fn alloc_elements(&self, request: &BufferRequest<'_>) -> Result<Arc<dyn Mem>> {
        match request.storage {
            None => self.alloc(request.bytes),
            Some(storage) => self.alloc_in(request.bytes, storage),
        }
    }

    /// Makes host memory usable by the device in place, for [`StorageKind::zero_copy`]; `None`
    /// makes the framework call [`BackendDevice::alloc_in`]. The memory is aligned to 16 bytes.
    /// Copies between this memory and the same host addresses are queued as usual. They move
    /// nothing, but order the accesses: work after the copy sees the other side's writes.
    ///
    /// # Safety
    /// The memory is valid until the result is dropped. While queued work writes it, the host does
    /// not access it; while queued work reads it, the host does not write it.
    unsafe fn import_host(&self, _at: NonNull<u8>, _bytes: usize) -> Result<Option<Arc<dyn Mem>>> {
        Ok(None)
    }

    /// Frees memory that the backend keeps for later allocations and that no work uses. The
    /// framework waits for all streams first.
    fn trim(&self) -> Result<()> {
        Ok(())
    }

    /// The default stream.
    fn stream(&self) -> Arc<dyn BackendStream>;

    /// Makes another stream; returns the default one if the device has only one.
    fn new_stream(&self) -> Result<Arc<dyn BackendStream>> {
        Ok(self.stream())
    }

    /// Picks the block size of a launch that leaves it open: `.grid(…)` without a block, and `.over(…)`
    /// and `.cover(…)` of a kernel that fixes none. `None` lets the framework pick it, as the default
    /// does.
    ///
    /// Equal requests get equal blocks; the framework may ask more than once for one launch. A block
    /// that does not pass [`BlockRequest::check`] makes the launch fail. For [`OpenBlocks::Cover`], a
    /// block is used only if its blocks have the threads that the launch has on every device.
    fn pick_block(&self, _request: &BlockRequest<'_>) -> Option<[u32; 3]> {
        None
    }

    /// True if a loaded program fixes the lengths of shared arrays that a launch chooses. The
    /// framework then loads it once for each set of lengths.
    fn fixes_shared(&self) -> bool {
        false
    }

    /// Combines operations, in this order, into a graph that the driver launches as a whole. `None`
    /// if the driver has no graphs: the framework then queues the operations one by one at each
    /// replay.
    ///
    /// # Safety
    /// Whenever the result is replayed, each operation meets the contract of
    /// [`BackendStream::launch`], [`BackendStream::copy`] or [`BackendStream::zero`]. Everything
    /// that the operations use lives as long as the result.
    unsafe fn graph(&self, _operations: &[GraphOp<'_>]) -> Result<Option<Box<dyn BackendGraph>>> {
        Ok(None)
    }

    /// The used and total memory in bytes, as the driver reports it.
    fn used_memory(&self) -> Option<(u64, u64)> {
        None
    }

    /// Details from the driver, as text for people.
    fn debug_info(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }
}

/// Compiles source text to a binary.
///
/// # Safety
/// An artifact does what the text says. Compilers with equal fingerprints make interchangeable
/// artifacts. [`Compiler::is_harmless_flag`] and [`Compiler::is_harmless_library`] are false for
/// anything that could make a correct text access other memory than it says.
pub unsafe trait Compiler: Send + Sync {
    /// Identifies the compiler, its options and the architecture in cache keys.
    fn fingerprint(&self) -> String;

    /// True if artifacts are worth keeping on disk; false if they are the text itself.
    fn keeps_artifacts(&self) -> bool {
        true
    }

    /// True if safe code may use this option. Other options need [`Parts::raw_flag`], which is
    /// `unsafe`.
    ///
    /// An option is harmless if it keeps the meaning of a text, or only changes its floats or its
    /// language version: optimisation levels, warnings, fast math.
    fn is_harmless_flag(&self, _flag: &str) -> bool {
        false
    }

    /// True if safe code may use this library. Other libraries need [`Parts::raw_library`], which
    /// is `unsafe`.
    fn is_harmless_library(&self, _library: &str) -> bool {
        false
    }

    /// Compiles one source, with the parts of its environments.
    ///
    /// # Safety
    /// The framework has checked the parts, or their author vouches for them: an option may make a
    /// compiler load code.
    unsafe fn compile(&self, kernel: &str, source: &Source, parts: &Parts) -> Result<Artifact>;

    /// The languages, besides the renderer's target, in which foreign text is accepted.
    fn languages(&self) -> Vec<Tag<Language>> {
        Vec::new()
    }

    /// The same as [`Compiler::compile`] for the user's own text, in the renderer's target or one
    /// of [`Compiler::languages`].
    ///
    /// # Safety
    /// As for [`Compiler::compile`].
    unsafe fn compile_foreign(
        &self,
        kernel: &str,
        _language: &Tag<Language>,
        source: &Source,
        parts: &Parts,
    ) -> Result<Artifact> {
        // SAFETY: the caller's promise.
        unsafe { self.compile(kernel, source, parts) }
    }

    /// The number of texts in which the compiler wants the kernels of a batch: fewer than there are
    /// kernels if one text of several compiles faster. The framework then joins the texts that may
    /// stand together ([`sarek_ir::write::join`]); an artifact has several entry points.
    fn joined(&self, kernels: usize) -> usize {
        kernels
    }

    /// Compiles several sources; `None` stays `None`.
    ///
    /// # Safety
    /// As for [`Compiler::compile`].
    unsafe fn compile_batch(
        &self,
        sources: &[Option<(&str, &Source)>],
        parts: &Parts,
    ) -> Vec<Option<Result<Artifact>>> {
        // SAFETY: the caller's promise.
        let one = |(kernel, source)| unsafe { self.compile(kernel, source, parts) };
        sources.iter().map(|source| source.map(one)).collect()
    }
}

/// The argument of [`BackendDevice::load`]; the device's [`Codegen`] determines the variant.
pub enum Program<'a> {
    /// For [`Codegen::Direct`].
    Direct(Direct),
    /// For [`Codegen::Interpret`]: a closed kernel with all of its checks.
    Ir(Arc<sarek_ir::Kernel>),
    /// For [`Codegen::Jit`] and [`Codegen::Custom`].
    Binary {
        /// The compiled source.
        artifact: &'a Artifact,
        /// The entry point to load. An artifact has several if its text has; one that it lacks is
        /// [`Error::NoEntry`] with the names that exist.
        entry: &'a str,
        /// The source that was compiled, with its slots.
        source: &'a Source,
        /// The kernel's name, for messages.
        kernel: &'a str,
        /// The block size that the program is for (WGSL fixes it in the pipeline).
        block: [u32; 3],
        /// The lengths of the kernel's shared arrays, in elements. Lengths that a launch chooses
        /// are meaningful only if [`BackendDevice::fixes_shared`] is true.
        shared: &'a [u64],
        /// The parts of its environments, with which the artifact was compiled.
        parts: &'a Parts,
        /// The origin of the text.
        origin: Origin<'a>,
    },
}

/// The origin of a program's text.
#[derive(Clone, Copy)]
pub enum Origin<'a> {
    /// A rendering of this kernel, which is closed.
    Rendered(&'a Arc<sarek_ir::Kernel>),
    /// The user's own text, which takes these parameters as [`crate::foreign`] describes. A backend
    /// that can query the parameters of an entry point compares them, and returns
    /// [`Error::Signature`] if they differ.
    Foreign(&'a [Parameter]),
}

/// A piece of device memory.
///
/// # Safety
/// [`Mem::len`] never exceeds the memory's size.
pub unsafe trait Mem: Any + Send + Sync {
    /// The size in bytes.
    fn len(&self) -> usize;

    /// True if the size is 0, which the contract rules out.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A part of device memory, within its bounds.
#[derive(Clone)]
pub struct Slice {
    /// The memory.
    pub mem: Arc<dyn Mem>,
    /// Offset in bytes.
    pub offset: usize,
    /// Length in bytes.
    pub len: usize,
}

/// A queue of work on a device, run in order.
///
/// # Safety
/// Work runs in the order in which it was queued, and accesses only the memory that it was given. A
/// successful copy has copied all bytes; a failed one no longer uses host memory when it returns.
/// [`BackendStream::sync`] returns when all earlier work has ended; if it returns an error instead,
/// no remaining work uses host memory. A recorded event is not done before the work before it.
pub unsafe trait BackendStream: Any + Send + Sync {
    /// Copies to the device; `src` may be reused on return.
    ///
    /// # Safety
    /// The slice lies within its memory, which belongs to the device, and is as long as `src`. No
    /// code relies on its contents, and no work of another stream uses it until the copy is done.
    unsafe fn copy_in(&self, dst: &Slice, src: &[u8]) -> Result<()>;

    /// Copies from the device, after all earlier work; complete on return.
    ///
    /// # Safety
    /// The slice lies within its memory, which belongs to the device, is as long as `dst` and is
    /// initialised. No work of another stream writes it until the copy is done.
    unsafe fn copy_out(&self, src: &Slice, dst: &mut [u8]) -> Result<()>;

    /// Queues a launch. A backend that runs it before returning returns its first fault. Others
    /// record faults in the buffer of [`sarek_ir::write::SlotKind::Faults`] and return `None`.
    ///
    /// # Safety
    /// This device loaded the program, for blocks of this size, and the arguments are those that it
    /// takes.
    ///
    /// - Slices lie within memory of this device. Pointers are to memory of their length that the
    ///   host lends for the call. Until the program has ended, no other work and no host code uses
    ///   memory that it writes, or writes memory that it reads.
    /// - Checks that the program leaves out were proved for these arguments and this index space.
    ///   So were the kernel's preconditions.
    unsafe fn launch(&self, launch: &Launch<'_>) -> Result<Option<RawFault>>;

    /// Waits for all earlier work.
    fn sync(&self) -> Result<()>;

    /// Records an event behind the work queued so far. The default waits for the work and returns
    /// an event that is done.
    fn record(&self) -> Result<Arc<dyn BackendEvent>> {
        self.sync()?;
        Ok(Arc::new(Done(Instant::now())))
    }

    /// The same as [`BackendStream::record`], with an event that records the time, if the device
    /// can.
    fn record_time(&self) -> Result<Arc<dyn BackendEvent>> {
        self.record()
    }

    /// Makes later work of this stream wait for an event of the same backend, possibly of another
    /// device. For any other event it waits by [`BackendEvent::sync`].
    fn wait(&self, event: &Arc<dyn BackendEvent>) -> Result<()> {
        event.sync()
    }

    /// True if all work has finished.
    fn is_idle(&self) -> Result<bool> {
        Ok(true)
    }

    /// Fills with zero bytes, in order.
    ///
    /// # Safety
    /// As for [`BackendStream::copy_in`].
    unsafe fn zero(&self, dst: &Slice) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.copy_in(dst, &vec![0; dst.len]) }
    }

    /// Copies within the device, or from another device of the backend, in order. `false` makes the
    /// framework copy through the host.
    ///
    /// # Safety
    /// Both slices lie within their memory and are equally long; `src` is initialised. `dst` meets
    /// the contract of [`BackendStream::copy_in`], and `src` that of [`BackendStream::copy_out`].
    /// Parts of the same memory may overlap: the copy then works like `memmove`, or returns
    /// `false`.
    unsafe fn copy(&self, _dst: &Slice, _src: &Slice) -> Result<bool> {
        Ok(false)
    }
}

/// A point in the order of a stream.
///
/// # Safety
/// The event is not done, and a wait for it does not return, before the work before it has ended:
/// memory is reused then.
pub unsafe trait BackendEvent: Any + Send + Sync {
    /// True if the stream has passed the event.
    fn is_done(&self) -> Result<bool>;

    /// Waits until the stream has passed the event.
    fn sync(&self) -> Result<()>;

    /// The time on the device since an earlier event of the same device; both events are done.
    /// `None` if they record no time; an error or `None` for any other event.
    fn elapsed(&self, _since: &dyn BackendEvent) -> Result<Option<Duration>> {
        Ok(None)
    }
}

/// An event of a stream that finishes its work before each call returns.
struct Done(Instant);

// SAFETY: the work had ended when it was made.
unsafe impl BackendEvent for Done {
    fn elapsed(&self, since: &dyn BackendEvent) -> Result<Option<Duration>> {
        let since = (since as &dyn Any).downcast_ref::<Done>();
        Ok(since.map(|since| self.0.saturating_duration_since(since.0)))
    }

    fn is_done(&self) -> Result<bool> {
        Ok(true)
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }
}

/// One launch of a program.
pub struct Launch<'a> {
    /// The result of [`BackendDevice::load`].
    pub program: &'a (dyn Any + Send + Sync),
    /// The kernel's name, for messages.
    pub kernel: &'a str,
    /// The logical index space; never empty.
    pub space: IndexSpace,
    /// The physical grid, within the device's limits. It is `space.grid` unless folded; with a
    /// strided schedule it may have fewer blocks.
    pub grid: [u32; 3],
    /// The schedule of the threads: one of the framework's, or one that the backend has claimed.
    pub schedule: &'a Tag<ScheduleKind>,
    /// The states that environments keep on the device, among them those of all environments of the
    /// launch.
    pub environments: &'a States,
    /// The arguments.
    pub args: Args<'a>,
}

/// An operation of a graph, on device memory.
pub enum GraphOp<'a> {
    /// The same as [`BackendStream::launch`], for a program on device memory.
    Launch(&'a Launch<'a>),
    /// The same as [`BackendStream::copy`], within the device.
    Copy {
        /// The destination.
        to: &'a Slice,
        /// The source.
        from: &'a Slice,
    },
    /// The same as [`BackendStream::zero`].
    Zero(&'a Slice),
}

/// A graph of operations that the driver launches as a whole; see [`BackendDevice::graph`].
///
/// # Safety
/// A replay has the effect of queuing the operations one by one on that stream.
pub unsafe trait BackendGraph: Send + Sync {
    /// Queues all operations on a stream of its device.
    ///
    /// # Safety
    /// The stream belongs to the device. The previous replay has ended, or is queued on the same
    /// stream. The promises of [`BackendDevice::graph`] hold for each operation.
    unsafe fn replay(&self, stream: &dyn BackendStream) -> Result<()>;

    /// Replaces the launch at index `operation` by another one, possibly of another program.
    /// Replays that are already queued do not change. `false` if that is impossible: the framework
    /// then makes a new graph.
    ///
    /// # Safety
    /// As for [`BackendDevice::graph`], for this launch.
    unsafe fn set_launch(&self, _operation: usize, _launch: &Launch<'_>) -> bool {
        false
    }
}

/// The arguments of a launch.
pub enum Args<'a> {
    /// For host backends: in the order of the parameters.
    Host {
        /// The arguments.
        args: &'a [DirectArg],
        /// True if provable sites must be checked and the last strides of views must be read.
        checked: bool,
    },
    /// For JIT and custom backends: in the order of [`Source::slots`].
    Device(&'a [Arg]),
}

/// The value of a slot.
#[derive(Clone)]
pub enum Arg {
    /// A part of memory, at least one element long even for an empty vector.
    Buffer(Slice),
    /// The bytes of a scalar in native byte order: 4 or 8.
    Scalar(ScalarBytes),
    /// A shared array of at least one element. Shared arrays are placed one after the other, each
    /// at a multiple of [`sarek_ir::SHARED_ALIGNMENT`].
    Shared {
        /// Its size in bytes.
        bytes: u64,
    },
}
