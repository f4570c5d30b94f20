//! Launches: what a call of a kernel builds, and what running it does.
//!
//! A call gives a [`Launch`], which has arguments and no index space. [`Launch::over`] and its
//! siblings give a [`Ready`] one, and nothing happens before [`Ready::run`].
//!
//! The steps of a run, one module each: the shape becomes an index space ([`space`]); a device is
//! found ([`eligible`]); the kernel is linked and its preconditions and checks are proved for this
//! launch ([`prepare`], [`plan`], [`prove`]); a program is rendered, compiled and loaded, or found in the cache
//! ([`programs`]); vectors are brought to the device and the launch is queued ([`run`]).

mod arg;
mod batch;
mod compile;
mod dims;
mod eligible;
mod explain;
mod memo;
mod plan;
mod prepare;
mod programs;
mod prove;
mod record;
mod relaunch;
mod run;
mod source;
mod space;
#[cfg(test)]
mod tests;
mod unshaped;

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

pub use arg::Arg;
pub use batch::{Code, Specialized};
pub use dims::{Dims, IntoDims};
pub(crate) use memo::Memo;
pub(crate) use programs::Programs;
pub(crate) use record::{Places, Recorded, Traced, Use};
pub use unshaped::Shaped;

use crate::device::{Event, Stream, registry};
use crate::plugin::backend::{Codegen, Parts};
use crate::plugin::tag::{ScheduleKind, Tag};
use crate::sync::fork;
use crate::{Device, Error, Kernel, KernelDef, Result, environment, settings};
pub(crate) use explain::kernel as explain_kernel;
#[cfg(feature = "reference")]
pub use prepare::called;
pub(crate) use prepare::{Prepared, foreign, prepared};
pub(crate) use source::source;

use arg::Flattened;
use space::Shape;

/// The launch chooses the block size.
#[derive(Debug)]
pub enum FreeBlock {}

/// The kernel fixes the block size: `#[kernel(block = …)]`.
#[derive(Debug)]
pub enum FixedBlock {}

/// A kernel with its arguments, which still lacks an index space.
#[must_use = "nothing runs until an index space is given, as with `.over(n)`, and then `.run()?`"]
pub struct Launch<'a, B = FreeBlock> {
    call: Call<'a>,
    block: PhantomData<fn() -> B>,
}

/// A kernel with its arguments.
struct Call<'a> {
    kernel: Arc<Prepared>,
    /// As the linked kernel takes them: a value of several parts is as many scalars.
    args: Vec<Arg<'a>>,
    /// Where such values stand among the arguments: the first scalar, how many, and their bytes.
    wholes: Vec<(usize, usize, Arc<[u8]>)>,
    /// The scalars among the arguments that are parts of such values or of views.
    parts: Vec<Range<usize>>,
    /// Did an `unsafe` call vouch for the arguments?
    vouched: bool,
    /// Has a view another last stride than 1? The unchecked body does not know it.
    strided: bool,
    /// The names of what its text needs around it, if a launch adds to those of the kernel.
    environments: Option<Arc<[String]>>,
    /// How its threads are run, if that was said.
    schedule: Option<Tag<ScheduleKind>>,
}

impl<'a, B> Launch<'a, B> {
    /// For the expansion of `#[kernel]`: a call of `K`, whose `block` is `Some` exactly if `B` is
    /// [`FixedBlock`].
    ///
    /// # Safety
    /// The arguments fit the kernel's parameters in number and type. If the kernel was declared
    /// `unsafe fn`, what it asks of its callers holds.
    #[doc(hidden)]
    pub unsafe fn new<K: Kernel>(args: impl Into<Vec<Arg<'a>>>) -> Launch<'a, B> {
        // SAFETY: the caller's promise; `Kernel` promises that the definition is one of a piece.
        unsafe { Launch::of(const { &K::DEF }, args) }
    }

    /// As [`Launch::new`], of a kernel that was declared `unsafe fn`.
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

    /// As [`Launch::new`], of a definition made at run time.
    ///
    /// # Safety
    /// As for [`Launch::new`]; the definition's compiled body does what its IR says.
    #[doc(hidden)]
    pub unsafe fn of(def: &'static KernelDef, args: impl Into<Vec<Arg<'a>>>) -> Launch<'a, B> {
        Launch::prepared(prepared(def), args.into())
    }

    /// A launch of a kernel whose arguments were seen to, or are looked at when it runs.
    pub(crate) fn prepared(kernel: Arc<Prepared>, args: Vec<Arg<'a>>) -> Launch<'a, B> {
        let Flattened {
            args,
            wholes,
            parts,
            strided,
        } = arg::flattened(args);
        Launch {
            call: Call {
                environments: None,
                vouched: kernel.foreign().is_some(),
                kernel,
                args,
                wholes,
                parts,
                strided,
                schedule: None,
            },
            block: PhantomData,
        }
    }

    /// Takes along an environment that the kernel's text needs, such as the header of a function that a
    /// `native!` block calls. See [`crate::plugin::environment`].
    pub fn environment(mut self, name: &str) -> Self {
        let known = self.call.environments().iter().cloned();
        self.call.environments = Some(known.chain([name.to_owned()]).collect());
        self
    }

    /// Compiles its text with further definitions, options, headers or files.
    ///
    /// What safe code gave of them is checked when the launch runs: [`Error::Unchecked`] tells which part is not known to be harmless.
    pub fn options(self, parts: Parts) -> Self {
        let name = environment::of_parts(parts);
        self.environment(&name)
    }

    /// Has its threads run in another way than in blocks, each thread once. Only devices of the backend that has
    /// claimed the schedule are eligible.
    pub fn schedule(mut self, schedule: &Tag<ScheduleKind>) -> Self {
        self.call.schedule = Some(schedule.clone());
        self
    }

    /// For the expansion of `#[kernel]`: a thread for each element of the vectors that the parameters `items` are.
    #[doc(hidden)]
    pub fn over_items(self, items: &'static [usize]) -> Ready<'a> {
        let len = items.first().map_or(0, |&i| self.call.len_of(i));
        let mut ready = self.over(len as usize);
        ready.items = items;
        ready
    }

    /// Runs exactly `extent` threads: `n`, `(w, h)` or `(w, h, d)`. The block size is picked, unless
    /// the kernel fixes it.
    pub fn over(self, extent: impl IntoDims) -> Ready<'a> {
        self.shaped(Shape::Over(extent.into_dims()))
    }

    /// Runs whole blocks that cover `extent`, all of whose threads run, also those outside it.
    pub fn cover(self, extent: impl IntoDims) -> Ready<'a> {
        self.shaped(Shape::Cover(extent.into_dims()))
    }

    fn shaped(self, shape: Shape) -> Ready<'a> {
        Ready {
            call: self.call,
            shape,
            items: &[],
        }
    }
}

impl<'a> Launch<'a, FreeBlock> {
    /// Runs `grid` blocks; their size follows with [`Grid::block`].
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

/// A launch of so many blocks, whose size is still to be given.
#[must_use = "nothing runs until the block size is given with `.block(…)`, and then `.run()?`"]
pub struct Grid<'a> {
    call: Call<'a>,
    grid: Dims,
}

impl<'a> Grid<'a> {
    /// Blocks of these many threads.
    pub fn block(self, block: impl IntoDims) -> Ready<'a> {
        Ready {
            call: self.call,
            shape: Shape::Grid {
                grid: self.grid,
                block: block.into_dims(),
            },
            items: &[],
        }
    }
}

// Asked to run too early, launches say so.
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

impl Grid<'_> {
    #[doc(hidden)]
    pub fn run(self) -> Result<()>
    where
        Self: Shaped,
    {
        unreachable!("it has no block size")
    }

    #[doc(hidden)]
    pub fn run_on(self, _: &Device) -> Result<()>
    where
        Self: Shaped,
    {
        unreachable!("it has no block size")
    }

    #[doc(hidden)]
    pub fn enqueue(self, _: &Stream) -> Result<Event>
    where
        Self: Shaped,
    {
        unreachable!("it has no block size")
    }
}

/// A launch with all that it needs.
#[must_use = "nothing runs until `.run()?`, `.run_on(&device)?` or `.enqueue(&stream)?`"]
pub struct Ready<'a> {
    call: Call<'a>,
    shape: Shape,
    /// The parameters of which each thread takes its own element.
    items: &'static [usize],
}

impl Ready<'_> {
    /// Queues the launch on the default stream of the best device that can run it. What goes wrong
    /// there later is returned by the next read of a vector that it writes, or by `sync`.
    pub fn run(mut self) -> Result<()> {
        self.run_among(registry::global())
    }

    /// Queues the launch on a device's default stream.
    pub fn run_on(mut self, device: &Device) -> Result<()> {
        self.queue(device.default_stream()).map(|_| ())
    }

    /// Queues the launch on a stream. The event is behind it.
    pub fn enqueue(mut self, stream: &Stream) -> Result<Event> {
        let outcome = self.queue(stream.by_ref())?;
        let event = stream.event(outcome.or_else(|| stream.queue().tail()))?;
        self.call.mark_written(&event);
        Ok(event)
    }

    /// What the launch requires, which devices could run it, and which one [`Ready::run`] takes.
    pub fn explain(&self) -> String {
        explain::launch(registry::global(), self)
    }

    /// Is the kernel strict, so that its floats are the same to the bit on every device?
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
        self.queue(device.default_stream()).map(|_| ())
    }

    /// Does what is known of launches like this one stay true? The texts of intrinsics may be other ones by now.
    fn lasts(&self) -> bool {
        self.call.kernel.needs.intrinsics.is_empty()
    }

    /// Checks the launch, unless one like it was. That arguments fit is promised for kernels of Rust, and asked of others
    /// each time.
    fn check_unless(&self, known: bool) -> Result<()> {
        match known && self.call.kernel.foreign().is_none() {
            true => Ok(()),
            false => self.check(),
        }
    }

    /// What can be told without a device.
    fn check(&self) -> Result<()> {
        settings::check()?;
        let kernel = &self.call.kernel;
        arg::check(kernel.name(), kernel.params(), &self.call.args)?;
        if let Some(what) = kernel.sizeless(&self.call.args) {
            let problem = format!(
                "{what} has elements of no size, which no device tells apart: use a type of at least one byte"
            );
            return Err(self.call.malformed(problem));
        }
        self.call.check_items(self.items)?;
        if kernel.needs.strict && !self.call.environments().is_empty() {
            let problem = "it is strict, and takes no environment: flags and headers may change what floats are";
            return Err(self.call.malformed(problem.into()));
        }
        self.shape
            .check(kernel.block())
            .map_err(|problem| self.call.malformed(problem))?;
        if let Some(definition) = kernel.foreign() {
            definition.check_elements(&self.call.args)?;
        }
        let problem = match (self.shape, kernel.block()) {
            (Shape::Over(_), _) if kernel.foreign().is_some() => {
                format!("its text runs in whole blocks: launch it {IN_BLOCKS}")
            }
            (Shape::Over(_), _) if kernel.needs.barriers => {
                format!("{WHOLE_BLOCKS}, not with `.over(…)`")
            }
            // Of a kernel of Rust the type of the launch sees to this.
            (Shape::Grid { block, .. }, Some(fixed)) if block.0 != fixed.map(|n| n as usize) => {
                let fixed = Dims(fixed.map(|n| n as usize));
                format!("its text is written for blocks of {fixed}, not of {block}")
            }
            (Shape::Over(_) | Shape::Cover(_) | Shape::Grid { .. }, _) => return Ok(()),
        };
        Err(self.call.malformed(problem))
    }
}

/// What a kernel with barriers asks of a launch.
const WHOLE_BLOCKS: &str = "its barriers wait for all threads of a block, so that it is launched with \
     `.grid(g).block(b)` or, rounded up to whole blocks, `.cover(n)`";

/// How a launch asks for whole blocks.
const IN_BLOCKS: &str = "with `.grid(g).block(b)` or, rounded up to whole blocks, `.cover(n)`";

/// Does the device's code work on the vectors' host copies?
pub(crate) fn host_memory(device: &Device) -> bool {
    match device.raw().codegen() {
        Codegen::Direct | Codegen::Interpret => true,
        Codegen::Jit(..) => false,
    }
}

impl Call<'_> {
    /// The names of what its text needs around it.
    fn environments(&self) -> &Arc<[String]> {
        self.environments
            .as_ref()
            .unwrap_or(&self.kernel.environments)
    }

    /// The number of elements of a parameter's vector.
    fn len_of(&self, param: usize) -> u64 {
        // A value of several parts before it is several arguments.
        let mut at = param;
        for (start, count, _) in &self.wholes {
            if *start < at {
                at = at + count - 1;
            }
        }
        self.args[at].len()
    }

    /// An error unless the items are as many in each vector.
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
