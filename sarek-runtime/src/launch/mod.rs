//! Kernel launches: building one from a call, and running it.
//!
//! A call of a kernel returns a [`Launch`], which has arguments and no index space.
//! [`Launch::over`] and similar methods add one and return a [`Ready`]. Nothing runs before
//! [`Ready::run`].
//!
//! A run takes these steps, one module each:
//!
//! 1. The shape becomes an index space ([`space`]).
//! 2. An eligible device is chosen ([`eligible`]), of the backend whose claims decide
//!    ([`dispatch`]).
//! 3. The kernel is linked, and its preconditions and checks are proved for this launch
//!    ([`prepare`], [`plan`], [`prove`]).
//! 4. A program is rendered, compiled and loaded, or taken from a cache ([`programs`]).
//! 5. Vectors are brought to the device, and the launch is queued ([`run`]).

mod arg;
mod batch;
mod compile;
mod dims;
mod dispatch;
mod eligible;
mod explain;
mod instrumented;
mod kernel;
mod linked;
mod memo;
mod nested_call;
mod optimize;
mod pick;
mod plan;
mod prepare;
mod programs;
mod prove;
mod recorded;
mod relaunch;
mod run;
mod source;
mod space;
mod subgroups;
#[cfg(test)]
mod tests;
mod unshaped;

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

pub use arg::Arg;
pub use batch::{Code, Specialized};
pub use dims::{Dims, IntoDims};
pub use kernel::Kernel;
pub(crate) use linked::{CodeVector, Lent};
pub use nested_call::CalledKernel;
pub(crate) use recorded::{Bindings, Recorded, SideResults, VectorArg};
pub use unshaped::Shaped;

use crate::device::{Event, Stream, registry};
use crate::plugin::backend::{Parts, Pipeline};
use crate::plugin::tag::{DataInstrumentationKind, InstrumentationKind, ScheduleKind, Tag};
use crate::sync::fork;
use crate::{Device, Error, KernelDef, Result, environment, settings};
pub(crate) use explain::kernel as explain_kernel;
#[cfg(feature = "reference")]
pub use prepare::called;
pub(crate) use prepare::{Prepared, foreign, prepared};
pub(crate) use source::{rendered, source};

use arg::Flattened;
use instrumented::Instruments;
use space::Shape;

/// Marks a [`Launch`] that chooses its block size.
#[derive(Debug)]
pub enum FreeBlock {}

/// Marks a [`Launch`] whose kernel fixes the block size: `#[kernel(block = …)]`.
#[derive(Debug)]
pub enum FixedBlock {}

/// A call of a kernel with its arguments, which has no index space yet.
#[must_use = "nothing runs until an index space is given, as with `.over(n)`, and then `.run()?`"]
pub struct Launch<'a, B = FreeBlock> {
    call: Call<'a>,
    block: PhantomData<fn() -> B>,
}

/// A kernel with its arguments.
struct Call<'a> {
    kernel: Arc<Prepared>,
    /// The arguments of the linked kernel: a value of several parts is split into scalars.
    args: Vec<Arg<'a>>,
    /// The split values: the index of the first scalar, their number, and the bytes of the value.
    compounds: Vec<(usize, usize, Arc<[u8]>)>,
    /// The ranges of scalars that are parts of split values or of views.
    parts: Vec<Range<usize>>,
    /// True if the caller vouched for the arguments by an `unsafe` call.
    vouched: bool,
    /// See [`KernelDef::optimize`].
    optimize: bool,
    /// True if the launch is recorded, so that replays may bind other vectors.
    rebound: bool,
    /// True if the last stride of a view is not 1. The unchecked body does not support that.
    strided: bool,
    /// The names of the environments that its text needs, if the launch adds some to the kernel's.
    environments: Option<Arc<[String]>>,
    /// The schedule of its threads, if the launch sets one.
    schedule: Option<Tag<ScheduleKind>>,
    /// The instrumentation, if there is any.
    instruments: Option<Box<Instruments>>,
}

impl<'a, B> Launch<'a, B> {
    /// For the expansion of `#[kernel]`: a call of `K`, which fixes a `block` exactly if `B` is
    /// [`FixedBlock`].
    ///
    /// # Safety
    /// The arguments match the kernel's parameters in number and type. If the kernel was declared
    /// `unsafe fn`, its safety contract holds.
    #[doc(hidden)]
    pub unsafe fn new<K: Kernel>(args: impl Into<Vec<Arg<'a>>>) -> Launch<'a, B> {
        // SAFETY: the caller's promise; `Kernel` promises that the parts of its definition belong
        // together.
        unsafe { Launch::of(const { &K::DEF }, args) }
    }

    /// The same as [`Launch::new`], for a kernel that was declared `unsafe fn`.
    ///
    /// # Safety
    /// As for [`Launch::new`].
    #[doc(hidden)]
    pub unsafe fn vouched<K: Kernel>(args: impl Into<Vec<Arg<'a>>>) -> Launch<'a, B> {
        // SAFETY: the caller's promise.
        let mut launch = unsafe { Launch::new::<K>(args) };
        launch.call.vouched = true;
        launch
    }

    /// The same as [`Launch::new`], for a definition made at run time.
    ///
    /// # Safety
    /// As for [`Launch::new`]; the definition's compiled body does what its IR says.
    #[doc(hidden)]
    pub unsafe fn of(def: &'static KernelDef, args: impl Into<Vec<Arg<'a>>>) -> Launch<'a, B> {
        Launch::prepared(prepared(def), args.into())
    }

    /// A launch of a prepared kernel. Its arguments are known to match, or are checked when it
    /// runs.
    pub(crate) fn prepared(kernel: Arc<Prepared>, args: Vec<Arg<'a>>) -> Launch<'a, B> {
        let Flattened {
            args,
            compounds,
            parts,
            strided,
        } = arg::flattened(args);
        Launch {
            call: Call {
                environments: None,
                vouched: kernel.foreign().is_some(),
                optimize: kernel.def().is_some_and(|def| def.optimize),
                rebound: false,
                kernel,
                args,
                compounds,
                parts,
                strided,
                schedule: None,
                instruments: None,
            },
            block: PhantomData,
        }
    }

    /// Adds an environment that the kernel's text needs, such as the header of a function that a
    /// `native!` block calls. See [`crate::environment`].
    pub fn environment(mut self, name: &str) -> Self {
        let known = self.call.environments().iter().cloned();
        self.call.environments = Some(known.chain([name.to_owned()]).collect());
        self
    }

    /// Compiles the kernel's text with further definitions, options, headers or files.
    ///
    /// The launch checks parts that were made by safe code when it runs. [`Error::Unchecked`] names
    /// a part that is not known to be harmless.
    pub fn options(self, parts: Parts) -> Self {
        let name = environment::of_parts(parts);
        self.environment(&name)
    }

    /// Sets the schedule, which decides how threads are run; the default runs blocks, and each
    /// thread once. Only devices of the backend that has claimed the schedule are eligible.
    pub fn schedule(mut self, schedule: &Tag<ScheduleKind>) -> Self {
        self.call.schedule = Some(schedule.clone());
        self
    }

    /// Calls the provider of a tag around the launch, see [`crate::instrument`]. A launch may carry
    /// several tags; providers are called in their order.
    ///
    /// A launch without threads calls no provider. The launch returns [`Error::Tag`] if the tag has
    /// no provider.
    pub fn instrument(mut self, tag: &Tag<InstrumentationKind>) -> Self {
        let instruments = self.call.instruments.get_or_insert_default();
        instruments.work.push(tag.clone());
        self
    }

    /// Calls the provider of a tag with the arrays of the launch, see [`crate::instrument`]:
    /// [`DataInstrumentationKind::save`] writes them to files, and
    /// [`DataInstrumentationKind::restore`] makes the launch work on these. The launch waits for its
    /// arrays, before and after.
    pub fn instrument_data(mut self, tag: &Tag<DataInstrumentationKind>) -> Self {
        let instruments = self.call.instruments.get_or_insert_default();
        instruments.data.push(tag.clone());
        self
    }

    /// For the expansion of `#[kernel]`: one thread for each element of the vectors that are passed
    /// for the parameters `items`.
    #[doc(hidden)]
    pub fn over_items(self, items: &'static [usize]) -> Ready<'a> {
        let len = items.first().map_or(0, |&i| self.call.len_of(i));
        let mut ready = self.over(len as usize);
        ready.items = items;
        ready
    }

    /// Runs exactly `extent` threads: `n`, `(w, h)` or `(w, h, d)`. The block size is chosen
    /// automatically, unless the kernel fixes it.
    pub fn over(self, extent: impl IntoDims) -> Ready<'a> {
        self.shaped(Shape::Over(extent.into_dims()))
    }

    /// Runs the whole blocks that cover `extent`. All their threads run, including those outside
    /// `extent`.
    pub fn cover(self, extent: impl IntoDims) -> Ready<'a> {
        self.shaped(Shape::Cover(extent.into_dims()))
    }

    fn shaped(self, shape: Shape) -> Ready<'a> {
        Ready {
            call: self.call,
            shape,
            items: &[],
            dispatched: false,
        }
    }
}

impl<'a> Launch<'a, FreeBlock> {
    /// Runs `grid` blocks. Their size is that of [`Grid::block`], or the device picks it.
    pub fn grid(self, grid: impl IntoDims) -> Grid<'a> {
        Grid {
            call: self.call,
            grid: grid.into_dims(),
        }
    }
}

impl<'a> Launch<'a, FixedBlock> {
    /// Runs `grid` blocks of the size that the kernel fixes.
    pub fn grid(self, grid: impl IntoDims) -> Ready<'a> {
        let fixed = self.call.kernel.block().unwrap_or([1; 3]);
        let block = Dims(fixed.map(|b| b as usize));
        self.shaped(Shape::Grid {
            grid: grid.into_dims(),
            block,
        })
    }
}

/// A launch with a number of blocks, whose size is open.
///
/// [`Grid::block`] sets it. Without it the device picks the block size, which the kernel sees as its
/// [`crate::host::ids::block_dim_x`]. That suits kernels whose threads work on several elements each.
#[must_use = "nothing runs until `.run()?`, or `.block(…)` and then `.run()?`"]
pub struct Grid<'a> {
    call: Call<'a>,
    grid: Dims,
}

impl<'a> Grid<'a> {
    /// Sets the block size in threads, and makes the launch ready.
    pub fn block(self, block: impl IntoDims) -> Ready<'a> {
        let (grid, block) = (self.grid, block.into_dims());
        self.shaped(Shape::Grid { grid, block })
    }

    /// Makes the launch ready; the device picks the block size.
    pub fn ready(self) -> Ready<'a> {
        let grid = self.grid;
        self.shaped(Shape::Blocks(grid))
    }

    /// The same as [`Ready::run`], with a block size that the device picks.
    pub fn run(self) -> Result<()> {
        self.ready().run()
    }

    /// The same as [`Ready::run_on`], with a block size that the device picks.
    pub fn run_on(self, device: &Device) -> Result<()> {
        self.ready().run_on(device)
    }

    /// The same as [`Ready::enqueue`], with a block size that the device picks.
    pub fn enqueue(self, stream: &Stream) -> Result<Event> {
        self.ready().enqueue(stream)
    }

    fn shaped(self, shape: Shape) -> Ready<'a> {
        Ready {
            call: self.call,
            shape,
            items: &[],
            dispatched: false,
        }
    }
}

// These stubs turn a launch that is run too early into a helpful compile error.
impl<B> Launch<'_, B> {
    #[doc(hidden)]
    pub fn run(self) -> Result<()>
    where
        Self: Shaped,
    {
        unreachable!("it has no index space")
    }

    #[doc(hidden)]
    pub fn run_on(self, _: &Device) -> Result<()>
    where
        Self: Shaped,
    {
        unreachable!("it has no index space")
    }

    #[doc(hidden)]
    pub fn enqueue(self, _: &Stream) -> Result<Event>
    where
        Self: Shaped,
    {
        unreachable!("it has no index space")
    }
}

/// A launch with arguments and an index space, ready to run.
#[must_use = "nothing runs until `.run()?`, `.run_on(&device)?` or `.enqueue(&stream)?`"]
pub struct Ready<'a> {
    call: Call<'a>,
    shape: Shape,
    /// The parameters of which each thread gets its own element.
    items: &'static [usize],
    /// True if the claims were asked when the device was chosen.
    dispatched: bool,
}

impl Ready<'_> {
    /// Queues the launch on the default stream of the best device that can run it.
    ///
    /// # Errors
    /// Errors that are known before the launch is queued. A later fault is returned by the next
    /// read of a vector that the launch writes, or by `sync`.
    pub fn run(mut self) -> Result<()> {
        self.run_among(registry::global())
    }

    /// Queues the launch on a device's default stream. Errors are as for [`Ready::run`].
    pub fn run_on(mut self, device: &Device) -> Result<()> {
        self.queue(device.default_stream()).map(|_| ())
    }

    /// Queues the launch on a stream, and returns an event behind it. Errors are as for
    /// [`Ready::run`].
    pub fn enqueue(mut self, stream: &Stream) -> Result<Event> {
        let outcome = self.queue(stream.by_ref())?;
        let event = stream.event(outcome.or_else(|| stream.queue().last_outcome()))?;
        self.call.mark_written(&event);
        Ok(event)
    }

    /// Describes the launch's requirements, the devices that could run it, and the one that
    /// [`Ready::run`] would choose.
    pub fn explain(&self) -> String {
        explain::launch(registry::global(), self)
    }

    /// True if the kernel is strict, so that its floats are the same to the bit on every device.
    #[doc(hidden)]
    pub fn is_strict(&self) -> bool {
        self.call.kernel.needs.strict
    }

    fn run_among(&mut self, registry: &registry::Registry) -> Result<()> {
        fork::check()?;
        let known = eligible::known_best(registry, self);
        self.check_unless(known.is_some())?;
        let device = match known {
            Some(device) => device,
            None if self.shape.is_empty() => return Ok(()),
            None => eligible::best(registry, self)?,
        };
        self.dispatched = true;
        self.queue(device.default_stream()).map(|_| ())
    }

    /// True if a memo of this launch stays valid. With intrinsics it does not, because their texts
    /// may change.
    fn is_memoizable(&self) -> bool {
        self.call.kernel.needs.intrinsics.is_empty()
    }

    /// Checks the launch, unless a similar one is known. For Rust kernels the types guarantee
    /// matching arguments; those of other kernels are checked each time.
    fn check_unless(&self, known: bool) -> Result<()> {
        match known && self.call.kernel.foreign().is_none() {
            true => Ok(()),
            false => self.check(),
        }
    }

    /// Makes the checks that need no device.
    fn check(&self) -> Result<()> {
        settings::check()?;
        let kernel = &self.call.kernel;
        arg::check(kernel.name(), kernel.params(), &self.call.args)?;
        if let Some(what) = kernel.sizeless(&self.call.args) {
            let problem = format!(
                "{what} has elements of size 0, which devices do not support: use a type of at least one byte"
            );
            return Err(self.call.malformed(problem));
        }
        self.call.check_items(self.items)?;
        if kernel.needs.strict && !self.call.environments().is_empty() {
            return Err(self.call.malformed(compile::STRICT.into()));
        }
        self.shape
            .check(kernel.block())
            .map_err(|problem| self.call.malformed(problem))?;
        if let Some(definition) = kernel.foreign() {
            arg::check_elements(definition, &self.call.args)?;
        }
        let problem = match (self.shape, kernel.block()) {
            (Shape::Over(_), _) if kernel.foreign().is_some() => {
                format!("its text runs in whole blocks: launch it {IN_BLOCKS}")
            }
            (Shape::Over(_), _) if kernel.needs.barriers => {
                format!("{WHOLE_BLOCKS}, not with `.over(…)`")
            }
            // For Rust kernels the type of the launch ensures this.
            (Shape::Grid { block, .. }, Some(fixed)) if block.0 != fixed.map(|n| n as usize) => {
                let fixed = Dims(fixed.map(|n| n as usize));
                format!("its text is written for blocks of {fixed}, not of {block}")
            }
            (Shape::Over(_) | Shape::Cover(_) | Shape::Grid { .. } | Shape::Blocks(_), _) => {
                return Ok(());
            }
        };
        Err(self.call.malformed(problem))
    }
}

/// The requirement of a kernel with barriers.
const WHOLE_BLOCKS: &str = "its barriers wait for all threads of a block, so that it is launched with \
     `.grid(g).block(b)` or, rounded up to whole blocks, `.cover(n)`";

/// The methods that launch whole blocks.
const IN_BLOCKS: &str = "with `.grid(g).block(b)` or, rounded up to whole blocks, `.cover(n)`";

/// True if the device's code works on the vectors' host copies.
pub(crate) fn host_memory(device: &Device) -> bool {
    match device.pipeline() {
        Pipeline::Direct | Pipeline::Interpret => true,
        Pipeline::Jit(..) => false,
    }
}

impl Call<'_> {
    /// The names of the environments that its text needs.
    fn environments(&self) -> &Arc<[String]> {
        self.environments
            .as_ref()
            .unwrap_or(&self.kernel.environments)
    }

    /// The number of elements of a parameter's vector.
    fn len_of(&self, param: usize) -> u64 {
        // Each earlier value of several parts takes several arguments.
        let mut at = param;
        for (start, count, _) in &self.compounds {
            if *start < at {
                at = at + count - 1;
            }
        }
        self.args[at].len()
    }

    /// Returns an error unless all item vectors have the same length.
    fn check_items(&self, items: &[usize]) -> Result<()> {
        let written = self.kernel.def().map_or(&*self.kernel.kernel, |def| def.ir);
        let name = |&i: &usize| written.params[i].name.to_string();
        let lengths: Vec<(String, u64)> =
            items.iter().map(|i| (name(i), self.len_of(*i))).collect();
        match lengths.iter().all(|(_, len)| *len == lengths[0].1) {
            true => Ok(()),
            false => Err(Error::Items {
                kernel: self.kernel.name().to_owned(),
                lengths,
            }),
        }
    }

    fn malformed(&self, problem: String) -> Error {
        Error::Launch {
            kernel: self.kernel.name().to_owned(),
            problem,
        }
    }
}
