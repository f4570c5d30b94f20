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
mod dims;
mod eligible;
mod explain;
mod plan;
mod prepare;
mod programs;
mod prove;
mod run;
mod source;
mod space;
#[cfg(test)]
mod tests;

use std::marker::PhantomData;
use std::sync::Arc;

pub use arg::Arg;
pub use dims::{Dims, IntoDims};
pub(crate) use programs::Programs;

use crate::backend::Codegen;
use crate::device::{Event, Stream, registry};
use crate::tag::{ScheduleKind, Tag};
use crate::{Device, Error, Kernel, KernelDef, Result};
pub(crate) use explain::kernel as explain_kernel;
#[cfg(feature = "reference")]
pub use prepare::called;
pub(crate) use prepare::{Prepared, prepared};
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
    wholes: Vec<(usize, usize, Box<[u8]>)>,
    /// Has a view another last stride than 1? The unchecked body does not know it.
    strided: bool,
    /// The names of what its text needs around it.
    environments: Arc<[String]>,
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

    /// As [`Launch::new`], of a definition made at run time.
    ///
    /// # Safety
    /// As for [`Launch::new`]; the definition's compiled body does what its IR says.
    #[doc(hidden)]
    pub unsafe fn of(def: &'static KernelDef, args: impl Into<Vec<Arg<'a>>>) -> Launch<'a, B> {
        let Flattened {
            args,
            wholes,
            strided,
        } = arg::flattened(args.into());
        Launch {
            call: Call {
                kernel: prepared(def),
                args,
                wholes,
                strided,
                environments: Arc::default(),
                schedule: None,
            },
            block: PhantomData,
        }
    }

    /// Takes along an environment that the kernel's text needs, such as the header of a function that a
    /// `native!` block calls. See [`crate::environment`].
    pub fn environment(mut self, name: &str) -> Self {
        let known = self.call.environments.iter().cloned();
        self.call.environments = known.chain([name.to_owned()]).collect();
        self
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
        self.queue(&device.stream()).map(|_| ())
    }

    /// Queues the launch on a stream. The event is behind it.
    pub fn enqueue(mut self, stream: &Stream) -> Result<Event> {
        let outcome = self.queue(stream)?;
        let event = stream.event(outcome.or_else(|| stream.queue().tail()))?;
        self.call.mark_written(&event);
        Ok(event)
    }

    /// What the launch requires, which devices could run it, and which one [`Ready::run`] takes.
    pub fn explain(&self) -> String {
        explain::launch(registry::global(), self)
    }

    fn run_among(&mut self, registry: &registry::Registry) -> Result<()> {
        self.check()?;
        if self.shape.is_empty() {
            return Ok(());
        }
        let device = eligible::best(registry, self)?;
        self.queue(&device.stream()).map(|_| ())
    }

    /// What can be told without a device.
    fn check(&self) -> Result<()> {
        let kernel = &self.call.kernel;
        arg::check(kernel.name(), kernel.params(), &self.call.args)?;
        self.call.check_items(self.items)?;
        self.shape
            .check(kernel.block())
            .map_err(|problem| self.call.malformed(problem))?;
        match self.shape {
            Shape::Over(_) if kernel.needs.barriers => Err(self
                .call
                .malformed(format!("{WHOLE_BLOCKS}, not with `.over(…)`"))),
            Shape::Over(_) | Shape::Cover(_) | Shape::Grid { .. } => Ok(()),
        }
    }
}

/// What a kernel with barriers asks of a launch.
const WHOLE_BLOCKS: &str = "its barriers wait for all threads of a block, so that it is launched with \
     `.grid(g).block(b)` or, rounded up to whole blocks, `.cover(n)`";

/// Does the device's code work on the vectors' host copies?
fn host_memory(device: &Device) -> bool {
    match device.raw().codegen() {
        Codegen::Direct | Codegen::Interpret => true,
        Codegen::Jit(..) => false,
    }
}

impl Call<'_> {
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
        let name = |&i: &usize| self.kernel.def.ir.params[i].name.to_string();
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
