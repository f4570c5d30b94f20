//! Launches that carry tags of instrumentation: the calls of providers around them.

use std::sync::Arc;

use super::arg::ArgKind;
use super::memo::Planned;
use super::relaunch::CallHead;
use super::{Arg, Call, Ready};
use crate::device::instrument::{self, Array, DataProblem, Running};
use crate::device::{Pending, StreamRef};
use crate::plugin::tag::{DataInstrumentationKind, InstrumentationKind, Tag};
use crate::vector::ErasedVector;
use crate::{Error, Result};

/// The tags that a launch carries.
#[derive(Default)]
pub(super) struct Instruments {
    pub(super) work: Vec<Tag<InstrumentationKind>>,
    pub(super) data: Vec<Tag<DataInstrumentationKind>>,
}

/// An array that a launch works on instead of that of a vector.
type Substitute = Option<Box<dyn ErasedVector>>;

impl Ready<'_> {
    /// Queues a planned launch between the calls of its providers.
    pub(super) fn queue_instrumented(
        &mut self,
        stream: StreamRef<'_>,
        planned: &Arc<Planned>,
        instruments: &Instruments,
    ) -> Result<Option<Pending>> {
        let device = stream.device();
        let work = instruments.work.iter().map(instrument::provider);
        let work: Vec<_> = work.filter_map(Result::transpose).collect::<Result<_>>()?;
        let data = instruments.data.iter().map(instrument::data_provider);
        let data: Vec<_> = data.filter_map(Result::transpose).collect::<Result<_>>()?;
        let kernel = self.call.kernel.name().to_owned();

        let mut substitutes = vec![];
        let mut numbers = vec![];
        if !data.is_empty() {
            let mut arrays = self.call.arrays(false)?;
            for provider in &data {
                let before = || provider.before(&kernel, device, &mut arrays);
                numbers.push(instrument::inside(before)?);
            }
            substitutes = self.call.restored(&arrays)?;
        }
        let running = match work.is_empty() {
            true => None,
            false => {
                let done = self.call.profiled(&planned.plan);
                let running = Running::begin(work, device, Some(stream.queue()), &done)?;
                Some((running, done))
            }
        };
        let outcome = match substitutes.iter().any(Option::is_some) {
            true => self
                .substituted(&substitutes)
                .queue_planned(stream, planned)?,
            false => self.queue_planned(stream, planned)?,
        };
        if let Some((running, done)) = running {
            let (_, outcome) = running.end(stream.queue(), done, None)?;
            outcome?;
        }
        if !data.is_empty() {
            let arrays = self.call.arrays(true)?;
            for (provider, number) in data.iter().zip(numbers) {
                instrument::inside(|| provider.after(&kernel, device, number, &arrays))?;
            }
        }
        Ok(outcome)
    }

    /// The same launch with substitutes for vectors that it reads.
    fn substituted<'b>(&'b mut self, substitutes: &'b [Substitute]) -> Ready<'b> {
        let head = CallHead::of(self);
        let rebound = self.call.rebound;
        let args = self.call.args.iter_mut().zip(substitutes);
        let args = args.map(|(arg, substitute)| {
            Arg(match (&mut arg.0, substitute) {
                (ArgKind::Scalar(value), _) => ArgKind::Scalar(*value),
                (ArgKind::Read(_), Some(other)) => ArgKind::Read(&**other),
                (ArgKind::Read(vector), None) => ArgKind::Read(*vector),
                (ArgKind::Write(vector), _) => ArgKind::Write(&mut **vector),
                (ArgKind::Value(_) | ArgKind::View(_), _) => {
                    unreachable!("a call has its scalars in its place")
                }
            })
        });
        let mut other = head.ready(args.collect(), rebound);
        other.dispatched = self.dispatched;
        other
    }
}

impl Call<'_> {
    /// The arrays of the vectors, or of those that the launch writes.
    fn arrays(&self, only_written: bool) -> Result<Vec<Array>> {
        let params = self.kernel.params().iter().zip(&self.args);
        let arrays = params.filter_map(|(param, arg)| {
            let written = matches!(arg.0, ArgKind::Write(_));
            let vector = arg.vector().filter(|_| written || !only_written)?;
            Some((&*param.name, written, vector))
        });
        let array = |(parameter, written, vector): (&str, bool, &dyn ErasedVector)| {
            Ok(Array {
                parameter: parameter.to_owned(),
                element: vector.element().1,
                size: vector.size(),
                written,
                bytes: vector.saved()?,
                replaced: false,
            })
        };
        arrays.map(array).collect()
    }

    /// Gives the vectors that the launch writes the replaced arrays. Returns a substitute for each
    /// argument that it reads and whose array is replaced.
    fn restored(&mut self, arrays: &[Array]) -> Result<Vec<Substitute>> {
        let mut arrays = arrays.iter();
        let mut substitutes = vec![];
        // All are checked first: an error changes no vector.
        let mut changes = vec![];
        for (at, arg) in self.args.iter().enumerate() {
            substitutes.push(None);
            let Some(vector) = arg.vector() else {
                continue;
            };
            let array = arrays.next().expect("each vector has its array");
            if !array.replaced {
                continue;
            }
            let refuse = |problem| Error::Data {
                action: "restore",
                kernel: self.kernel.name().to_owned(),
                parameter: array.parameter.clone(),
                problem: Box::new(problem),
            };
            // A provider may have put another array here.
            let (want, have) = (arg.bytes(), array.bytes.len() as u64);
            if want != have {
                return Err(refuse(DataProblem::Size { want, have }));
            }
            let no_value = |(index, problem)| {
                let element = vector.element().1.to_owned();
                refuse(DataProblem::Value {
                    index,
                    element,
                    problem,
                })
            };
            let other = vector.restored(&array.bytes);
            let other = other.map_err(no_value)?;
            match matches!(arg.0, ArgKind::Write(_)) {
                true => changes.push((at, other)),
                false => {
                    let stored = vector.storage();
                    substitutes[at] = Some(match stored {
                        Some(storage) => other.kept_in(&storage)?,
                        None => other,
                    });
                }
            }
        }
        for (at, other) in changes {
            if let Some(vector) = self.args[at].written() {
                vector.take_elements(&*other)?;
            }
        }
        Ok(substitutes)
    }
}
