//! What a backend implements. The built-in ones use nothing else.
//!
//! A [`Backend`] lists and opens devices. A [`BackendDevice`] says what it is ([`DeviceInfo`]) and
//! how kernels become programs for it ([`Codegen`]), loads programs, allocates memory and has
//! [`BackendStream`]s, which run copies and launches in FIFO order. Everything is object-safe.
//!
//! The framework links, proves, renders, caches, keeps vectors coherent and turns faults into
//! errors; a backend never sees a vector. Sizes and bounds are checked by the framework before a call.
//!
//! # Safety
//!
//! The framework trusts a backend with memory, and a backend trusts the framework. So both sides promise:
//!
//! - The traits of what a backend makes (devices, streams, memory, events, graphs, renderers, compilers) are `unsafe` to
//!   implement. Their sections "Safety" list what the framework takes for granted.
//! - Functions that load, run or touch memory are `unsafe` to call. Whoever calls them in the framework's place keeps what
//!   their sections "Safety" list.
//!
//! [`Backend`] itself is a safe trait: it passes on devices that others have made.

mod info;

use std::any::Any;
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sarek_ir::write::{Source, Variant};

pub use crate::foreign::{Parameter, Passed};
pub use crate::host::{Direct, DirectArg, IndexSpace, RawFault};
pub use crate::output::{Printing, print};
pub use crate::plugin::claims::Claims;
pub use crate::plugin::environment::Parts;
use crate::plugin::tag::{Language, ScheduleKind, StorageKind, Tag};
pub use crate::sync::fork::is_forked;
use crate::{Error, Result};
pub use info::{DeviceInfo, Features};

/// A family of devices behind one driver.
pub trait Backend: Send + Sync {
    /// The name by which users select it: `cuda`, `opencl`, …
    fn name(&self) -> &'static str;

    /// The number of devices, or why there are none.
    fn count(&self) -> Result<usize, String>;

    /// Opens a device. Called once for each ordinal below [`Backend::count`]; the result is kept.
    fn open(&self, ordinal: usize) -> Result<Arc<dyn BackendDevice>>;

    /// Higher is preferred. A device may lower its own, see [`DeviceInfo::priority`].
    fn priority(&self) -> i32 {
        0
    }

    /// What it is in charge of, see [`crate::plugin::claims`]. Asked once, when it is registered.
    fn claims(&self, _claims: &mut Claims) {}
}

/// A device.
///
/// # Safety
/// An implementation keeps to the following, whatever order its safe functions are called in.
///
/// - [`BackendDevice::info`] is true. Where [`DeviceInfo::host_memory`] is set, a launch works on the arguments of [`Args::Host`];
///   otherwise on memory of its own.
/// - A program that was loaded does what its body, its kernel or its source says: it uses the memory of its arguments
///   and no other, and writes no argument that is read only.
/// - Memory that is allocated has at least as many bytes as were asked for, is disjoint from all other memory, and stays until it is dropped and the
///   work that uses it has ended.
/// - Its streams, and the streams' events, are implementations of [`BackendStream`] and [`BackendEvent`] for this device.
pub unsafe trait BackendDevice: Any + Send + Sync {
    /// What it is and what it can do; constant.
    fn info(&self) -> &DeviceInfo;

    /// How kernels become programs for it.
    fn codegen(&self) -> Codegen<'_>;

    /// Makes a program launchable. The result is what [`Launch::program`] holds.
    ///
    /// # Safety
    /// The program can be trusted with the arguments that it will be launched with:
    ///
    /// - A [`Direct`] body belongs to a kernel, see [`crate::Kernel`].
    /// - A [`Program::Ir`] is closed and valid.
    /// - An artifact is what this device's [`Compiler`] made of the source with these parts, and the source is what its
    ///   [`Renderer`] made of the kernel, or text whose author vouches for it.
    unsafe fn load(&self, program: &Program<'_>) -> Result<Arc<dyn Any + Send + Sync>>;

    /// Allocates device memory, of any content, never of 0 bytes. Dropping it frees it, after the work that uses it.
    fn alloc(&self, bytes: usize) -> Result<Arc<dyn Mem>>;

    /// Allocates memory of another storage than [`StorageKind::device`], which the backend has claimed.
    fn alloc_in(&self, bytes: usize, storage: &Tag<StorageKind>) -> Result<Arc<dyn Mem>> {
        Err(Error::Unsupported {
            backend: self.info().name.clone(),
            what: format!("{bytes} bytes of the storage `{storage}`"),
        })
    }

    /// Makes memory of the host its own where it works there without a copy, for [`StorageKind::zero_copy`]; `None` has the
    /// framework ask [`BackendDevice::alloc_in`]. It begins at a multiple of 16. Copies are queued as ever, from that very place
    /// and to it: they move nothing, but what one side wrote is seen by the other behind them.
    ///
    /// # Safety
    /// The memory is there until the result is dropped. While anything is queued that writes it, the host does not use it; while
    /// anything is queued that reads it, the host does not write it.
    unsafe fn import_host(&self, _at: NonNull<u8>, _bytes: usize) -> Result<Option<Arc<dyn Mem>>> {
        Ok(None)
    }

    /// Gives back memory that it keeps for later allocations and that no work uses. The framework waits for all streams first.
    fn trim(&self) -> Result<()> {
        Ok(())
    }

    /// The default stream.
    fn stream(&self) -> Arc<dyn BackendStream>;

    /// Another stream; the default one where the device has only one.
    fn new_stream(&self) -> Result<Arc<dyn BackendStream>> {
        Ok(self.stream())
    }

    /// Does a loaded program fix the lengths of shared arrays that a launch gives? Then it is loaded once for
    /// each of them.
    fn fixes_shared(&self) -> bool {
        false
    }

    /// Makes of these operations, in this order, one thing that is launched as a whole. `None` where the driver knows no
    /// such thing: then the framework queues them one by one, as often as they are replayed.
    ///
    /// # Safety
    /// What holds for [`BackendStream::launch`], [`BackendStream::copy`] and [`BackendStream::zero`] holds for each operation
    /// whenever the result is replayed. What the operations use lives as long as the result.
    unsafe fn graph(&self, _operations: &[GraphOp<'_>]) -> Result<Option<Box<dyn BackendGraph>>> {
        Ok(None)
    }

    /// Used and total memory as the driver sees it, in bytes.
    fn used_memory(&self) -> Option<(u64, u64)> {
        None
    }

    /// Facts for people.
    fn debug_info(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }
}

/// How kernels become programs.
pub enum Codegen<'a> {
    /// The compiled Rust body is called.
    Direct,
    /// The linked IR is walked.
    Interpret,
    /// Source is rendered and compiled.
    Jit(&'a dyn Renderer, &'a dyn Compiler),
}

/// Kernel to source text.
///
/// # Safety
/// The text does what the kernel does, its checks included, and takes the arguments that [`Source::slots`] says. The framework
/// loads and launches it with no further look.
pub unsafe trait Renderer: Send + Sync {
    /// The target's name: what `native!` and `Kernel::source` call it.
    fn target(&self) -> &'static str;

    /// The dialect's text of a closed kernel, or what the dialect lacks.
    fn render(&self, kernel: &sarek_ir::Kernel, variant: &Variant) -> Result<Source>;

    /// Does the language have the C preprocessor, so that what is compiled may say by `#line` where its lines come from? Otherwise
    /// the framework alone knows, and tells it with errors.
    fn has_line_markers(&self) -> bool {
        false
    }
}

/// Source text to a binary.
///
/// # Safety
/// An artifact does what the text says. Equal fingerprints stand for compilers whose artifacts can be exchanged.
/// [`Compiler::is_harmless_flag`] and [`Compiler::is_harmless_library`] are true of nothing that could make a correct text
/// touch other memory than it says.
pub unsafe trait Compiler: Send + Sync {
    /// Identifies compiler, options and architecture in cache keys.
    fn fingerprint(&self) -> String;

    /// Are artifacts worth keeping on disk? Not if they are the text itself.
    fn keeps_artifacts(&self) -> bool {
        true
    }

    /// May safe code ask for this option? Whatever this is false for takes [`Parts::raw_flag`], which is `unsafe`.
    ///
    /// True of options that keep the meaning of a text, or change its floats or its version of the language: levels of
    /// optimisation, warnings, fast math.
    fn is_harmless_flag(&self, _flag: &str) -> bool {
        false
    }

    /// May safe code ask for this library? Whatever this is false for takes [`Parts::raw_library`], which is `unsafe`.
    fn is_harmless_library(&self, _library: &str) -> bool {
        false
    }

    /// Compiles one source, with what its environments ask for.
    ///
    /// # Safety
    /// The parts were checked by the framework, or somebody vouches for them: an option may have a compiler load code.
    unsafe fn compile(&self, kernel: &str, source: &Source, parts: &Parts) -> Result<Artifact>;

    /// The languages beside the renderer's target in which it takes foreign text.
    fn languages(&self) -> Vec<Tag<Language>> {
        Vec::new()
    }

    /// As [`Compiler::compile`], of the user's own text in the renderer's target or one of [`Compiler::languages`].
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

    /// Compiles several; gaps stay gaps.
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

/// A compiled kernel: bytes that only its backend understands (cubin, PTX, an OpenCL binary, WGSL).
#[derive(Clone, Debug)]
pub struct Artifact {
    /// The bytes.
    pub bytes: Arc<[u8]>,
    /// What the compiler said.
    pub log: String,
}

/// What [`BackendDevice::load`] is given; which one follows from the device's [`Codegen`].
pub enum Program<'a> {
    /// For [`Codegen::Direct`].
    Direct(Direct),
    /// For [`Codegen::Interpret`]: a closed kernel with all of its checks.
    Ir(Arc<sarek_ir::Kernel>),
    /// For [`Codegen::Jit`].
    Binary {
        /// The compiled source.
        artifact: &'a Artifact,
        /// The source it was compiled from: the entry and its slots.
        source: &'a Source,
        /// The kernel's name, for messages.
        kernel: &'a str,
        /// The block size that the program is for (WGSL fixes it in the pipeline).
        block: [u32; 3],
        /// The lengths of the kernel's shared arrays; those that a launch gives are the program's where
        /// [`BackendDevice::fixes_shared`], and else of no account.
        shared: &'a [u64],
        /// What its environments ask for; the artifact was compiled with it.
        parts: &'a Parts,
        /// Where the text comes from.
        origin: Origin<'a>,
    },
}

/// Where a program's text comes from.
#[derive(Clone, Copy)]
pub enum Origin<'a> {
    /// It is a rendering of this kernel, which is closed.
    Rendered(&'a Arc<sarek_ir::Kernel>),
    /// It is the user's own, and takes these parameters: see [`crate::foreign`] for how. A backend that can tell what an
    /// entry point takes compares, and returns [`Error::Signature`].
    Foreign(&'a [Parameter]),
}

/// Device memory.
///
/// # Safety
/// [`Mem::len`] never exceeds the memory's size.
pub unsafe trait Mem: Any + Send + Sync {
    /// Its size in bytes.
    fn len(&self) -> usize;

    /// Is it empty? Never, by contract.
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

/// A queue of work, run in order.
///
/// # Safety
/// Work runs in the order in which it was queued, and uses the memory that it was given and no other. A copy that succeeds
/// has copied all bytes, and one that fails uses memory of the host no more when it returns. [`BackendStream::sync`] returns when all earlier work has ended; where it returns an error instead, no work that
/// is left uses memory of the host. What was recorded passes no earlier than the work before it.
pub unsafe trait BackendStream: Any + Send + Sync {
    /// Copies to the device; `src` may be reused on return.
    ///
    /// # Safety
    /// The slice lies within its memory, which is the device's, and is as long as `src`. Nobody relies on its content, and
    /// no work of another stream uses it until this is done.
    unsafe fn copy_in(&self, dst: &Slice, src: &[u8]) -> Result<()>;

    /// Copies from the device, after all earlier work; complete on return.
    ///
    /// # Safety
    /// The slice lies within its memory, which is the device's, is as long as `dst` and was written before. No work of another stream
    /// writes it until this is done.
    unsafe fn copy_out(&self, src: &Slice, dst: &mut [u8]) -> Result<()>;

    /// Queues a launch. A backend that runs it before it returns reports its first fault; others record faults in the
    /// buffer of [`sarek_ir::write::SlotKind::Faults`] and return `None`.
    ///
    /// # Safety
    /// The program was loaded by this device, for blocks of this size, and the arguments are those that it takes.
    ///
    /// - Slices lie within memory of this device, and pointers are those of memory of their length that the host lends for the
    ///   call. No other work and nobody on the host uses what the program writes, or writes what it reads, until it has ended.
    /// - Checks that the program leaves out were proved for these arguments and this index space. So were the kernel's
    ///   preconditions.
    unsafe fn launch(&self, launch: &Launch<'_>) -> Result<Option<RawFault>>;

    /// Waits for all earlier work.
    fn sync(&self) -> Result<()>;

    /// Marks the work queued so far; complete at once by default, after waiting.
    fn record(&self) -> Result<Arc<dyn BackendEvent>> {
        self.sync()?;
        Ok(Arc::new(Done(Instant::now())))
    }

    /// As [`BackendStream::record`], of an event that keeps the time, if the device can.
    fn record_time(&self) -> Result<Arc<dyn BackendEvent>> {
        self.record()
    }

    /// Makes later work of this stream wait for an event of the same backend, perhaps of another device. Of any other event it
    /// waits for [`BackendEvent::sync`].
    fn wait(&self, event: &Arc<dyn BackendEvent>) -> Result<()> {
        event.sync()
    }

    /// Has all work finished?
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

    /// Copies within the device, or from another device of the backend, in order. `false` means that the framework
    /// has to go through the host.
    ///
    /// # Safety
    /// Both slices lie within their memory and are equally long; `src` was written before. What holds of `dst` for
    /// [`BackendStream::copy_in`] and of `src` for [`BackendStream::copy_out`] holds here. Parts of one memory may overlap: they are
    /// moved as by `memmove`, or it is `false`.
    unsafe fn copy(&self, _dst: &Slice, _src: &Slice) -> Result<bool> {
        Ok(false)
    }
}

/// A point in a stream.
///
/// # Safety
/// It is done, and a wait for it returns, no earlier than the work before it has ended: memory is reused then.
pub unsafe trait BackendEvent: Any + Send + Sync {
    /// Has the stream passed it?
    fn is_done(&self) -> Result<bool>;

    /// Waits until it has.
    fn sync(&self) -> Result<()>;

    /// The time on the device since an earlier event of the same device, both of which have passed; `None` if they
    /// keep none, an error or `None` for any other event.
    fn elapsed(&self, _since: &dyn BackendEvent) -> Result<Option<Duration>> {
        Ok(None)
    }
}

/// The event of a stream that has done its work when a call returns.
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

/// One launch.
pub struct Launch<'a> {
    /// What [`BackendDevice::load`] returned.
    pub program: &'a (dyn Any + Send + Sync),
    /// The kernel's name, for messages.
    pub kernel: &'a str,
    /// The logical index space; never empty.
    pub space: IndexSpace,
    /// The physical grid: within the device's limits, `space.grid` unless folded, or fewer blocks that take turns.
    pub grid: [u32; 3],
    /// How its threads are to be run; one of the framework's, or one that the backend has claimed.
    pub schedule: &'a Tag<ScheduleKind>,
    /// The arguments.
    pub args: Args<'a>,
}

/// An operation of a graph, on device memory.
pub enum GraphOp<'a> {
    /// As [`BackendStream::launch`], of a program for device memory.
    Launch(&'a Launch<'a>),
    /// As [`BackendStream::copy`], within the device.
    Copy {
        /// Where to.
        to: &'a Slice,
        /// Where from.
        from: &'a Slice,
    },
    /// As [`BackendStream::zero`].
    Zero(&'a Slice),
}

/// Operations that a device launches as a whole; see [`BackendDevice::graph`].
///
/// # Safety
/// A replay does what queueing the operations one by one on that stream does.
pub unsafe trait BackendGraph: Send + Sync {
    /// Queues all of it on a stream of its device.
    ///
    /// # Safety
    /// The stream is the device's. The replay before has ended, or is queued on the same stream. What was promised of each
    /// operation in [`BackendDevice::graph`] holds.
    unsafe fn replay(&self, stream: &dyn BackendStream) -> Result<()>;

    /// Puts a launch, perhaps of another program, in the place of the operation of this number, which is one; replays that were
    /// queued before stay as they are. `false` where that cannot be done: then the framework has a graph made anew.
    ///
    /// # Safety
    /// As for [`BackendDevice::graph`], of this launch.
    unsafe fn set_launch(&self, _operation: usize, _launch: &Launch<'_>) -> bool {
        false
    }
}

/// The arguments of a launch.
pub enum Args<'a> {
    /// For host backends: in the order of parameters.
    Host {
        /// The arguments.
        args: &'a [DirectArg],
        /// Must provable sites be checked, and the last strides of views be asked for?
        checked: bool,
    },
    /// For JIT backends: in the order of [`Source::slots`].
    Device(&'a [Arg]),
}

/// The value of a slot.
#[derive(Clone)]
pub enum Arg {
    /// Memory; at least one element long, also for an empty vector.
    Buffer(Slice),
    /// The bytes of a scalar in native endianness: 4 or 8.
    Scalar(ScalarBytes),
    /// A shared array, of at least one element. They lie one after the other, each at a multiple of
    /// [`sarek_ir::SHARED_ALIGNMENT`].
    Shared {
        /// Its size in bytes.
        bytes: u64,
    },
}

/// The bytes of a scalar argument.
#[derive(Clone, Copy, Debug)]
pub struct ScalarBytes {
    bytes: [u8; 8],
    len: u8,
}

impl ScalarBytes {
    /// A 4-byte scalar.
    pub fn four(bytes: [u8; 4]) -> ScalarBytes {
        let mut all = [0; 8];
        all[..4].copy_from_slice(&bytes);
        ScalarBytes { bytes: all, len: 4 }
    }

    /// An 8-byte scalar.
    pub fn eight(bytes: [u8; 8]) -> ScalarBytes {
        ScalarBytes { bytes, len: 8 }
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len as usize]
    }

    /// As many bytes as there are, 4 or 8.
    pub fn size(&self) -> usize {
        self.len.into()
    }

    /// The bytes, followed by zeros.
    pub fn padded(&self) -> [u8; 8] {
        self.bytes
    }
}
