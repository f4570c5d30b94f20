//! Updates of scalar arguments in a recorded graph.

use std::sync::PoisonError;

use sarek_ir::Value;

use super::{Driver, Graph, Operation};
use crate::launch::Recorded;
use crate::{Result, ScalarArg};

impl Graph {
    /// Sets the scalar `name` in each launch whose kernel has that parameter. `name` is `parameter`
    /// or `kernel.parameter`. Later replays pass the new value; replays that are already queued
    /// keep the old one.
    ///
    /// If the checks, proofs or text of a launch depend on the value, the launch is prepared again,
    /// as if it were recorded with it.
    ///
    /// # Errors
    /// [`Error::Graph`](crate::Error::Graph) if no launch has such a scalar, if the type differs,
    /// or if a kernel is `unsafe` to call; use [`Graph::raw_set_scalar`] for such kernels. Also the
    /// errors of launching with the value, such as
    /// [`Error::Precondition`](crate::Error::Precondition). After an error nothing is changed.
    ///
    /// ```no_run
    /// # use sarek_runtime::{Device, Ready, Vector};
    /// # fn step<'a>(_: f32, _: &'a Vector<f32>, _: &'a mut Vector<f32>) -> Ready<'a> { todo!() }
    /// # fn main() -> sarek_runtime::Result<()> {
    /// # let device = Device::best()?;
    /// # let (field, mut next) = (Vector::filled(1 << 20, 1.0f32), Vector::zeros(1 << 20));
    /// let mut recording = device.record_graph();
    /// recording.launch(step(0.1, &field, &mut next))?;
    /// let mut graph = recording.finish();
    /// for k in 0..100 {
    ///     graph.set_scalar("rate", 0.1 / k as f32)?;
    ///     graph.replay((&field, &mut next))?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_scalar<T: ScalarArg>(&mut self, name: &str, value: T) -> Result<()> {
        let chosen = self.scalars_named(name)?;
        self.refuse_vouched(&chosen)?;
        self.change(chosen, value.value())
    }

    /// The same as [`Graph::set_scalar`] for a single launch. Launches count from 0 in recording
    /// order, including empty ones.
    pub fn set_scalar_of<T: ScalarArg>(
        &mut self,
        number: usize,
        name: &str,
        value: T,
    ) -> Result<()> {
        let chosen = vec![self.scalar_of(number, name)?];
        self.refuse_vouched(&chosen)?;
        self.change(chosen, value.value())
    }

    /// The same as [`Graph::set_scalar`], including kernels that are `unsafe` to call.
    ///
    /// # Safety
    /// The new value meets the safety contract of those kernels: of each `unsafe fn` kernel, and of
    /// the text of each [`ForeignKernel`](crate::foreign::ForeignKernel).
    pub unsafe fn raw_set_scalar<T: ScalarArg>(&mut self, name: &str, value: T) -> Result<()> {
        let chosen = self.scalars_named(name)?;
        self.change(chosen, value.value())
    }

    /// The same as [`Graph::raw_set_scalar`] for a single launch, counted as by
    /// [`Graph::set_scalar_of`].
    ///
    /// # Safety
    /// As for [`Graph::raw_set_scalar`].
    pub unsafe fn raw_set_scalar_of<T: ScalarArg>(
        &mut self,
        number: usize,
        name: &str,
        value: T,
    ) -> Result<()> {
        let chosen = vec![self.scalar_of(number, name)?];
        self.change(chosen, value.value())
    }

    /// The operations with a scalar of this name, each with the number of the parameter.
    fn scalars_named(&self, name: &str) -> Result<Vec<(usize, usize)>> {
        let all = self.operations.iter().enumerate();
        let chosen = all.filter_map(|(at, operation)| {
            let param = launch(operation)?.scalar_named(name)?;
            Some((at, param))
        });
        let chosen: Vec<_> = chosen.collect();
        match chosen.is_empty() {
            true => {
                let all = self.operations.iter().filter_map(launch);
                Err(self.unknown_scalar("no launch in it", name, all))
            }
            false => Ok(chosen),
        }
    }

    /// The operation of a launch, and the number of the parameter.
    fn scalar_of(&self, number: usize, name: &str) -> Result<(usize, usize)> {
        let count = self.launches.len();
        let Some(place) = self.launches.get(number) else {
            return Err(self.problem(format!("it has no launch number {number}, but {count}")));
        };
        let found = place.and_then(|at| Some((at, launch(&self.operations[at])?)));
        let Some((at, recorded)) = found else {
            let problem = format!("its launch number {number} is empty, and takes no arguments");
            return Err(self.problem(problem));
        };
        recorded
            .scalar_named(name)
            .map(|param| (at, param))
            .ok_or_else(|| {
                let who = format!("its launch number {number}");
                self.unknown_scalar(&who, name, [recorded].into_iter())
            })
    }

    /// Returns an error if the arguments of one of these launches were vouched for by an `unsafe`
    /// call: safe code must not change them.
    fn refuse_vouched(&self, chosen: &[(usize, usize)]) -> Result<()> {
        let mut launches = chosen
            .iter()
            .filter_map(|(at, _)| launch(&self.operations[*at]));
        match launches.find(|launch| launch.is_vouched()) {
            None => Ok(()),
            Some(vouched) => Err(self.problem(format!(
                "`{}` was called in an `unsafe` block, so its scalars are set with `raw_set_scalar`",
                vouched.name()
            ))),
        }
    }

    fn unknown_scalar<'a>(
        &self,
        who: &str,
        name: &str,
        launches: impl Iterator<Item = &'a Recorded>,
    ) -> crate::Error {
        let mut names: Vec<String> = launches.flat_map(Recorded::scalar_names).collect();
        names.sort();
        names.dedup();
        let known = match names.as_slice() {
            [] => "there are none".to_owned(),
            names => format!("there are {}", names.join(", ")),
        };
        self.problem(format!("{who} has a scalar `{name}`; {known}"))
    }

    /// Sets a parameter in some operations, which are launches.
    fn change(&mut self, chosen: Vec<(usize, usize)>, value: Value) -> Result<()> {
        let number = |id| {
            let found = self.vectors.iter().position(|known| known.id == id);
            found.expect("the vectors of a launch were recorded with it")
        };
        let stream = self.device.default_stream();
        let mut changed = Vec::with_capacity(chosen.len());
        for (at, param) in chosen {
            if let Some(recorded) = launch(&self.operations[at]) {
                changed.push((at, recorded.with_scalar(stream, param, value, number)?));
            }
        }
        for (at, recorded) in changed {
            let before = std::mem::replace(
                &mut self.operations[at],
                Operation::Launch(Box::new(recorded)),
            );
            self.tell_driver(at, &before);
        }
        Ok(())
    }

    /// Updates a launch in the driver's graph, or marks that graph outdated, so that the next
    /// replay makes it again.
    fn tell_driver(&mut self, at: usize, before: &Operation) {
        let all = self.operations.iter().filter_map(launch);
        let records = all.filter(|launch| launch.faults().is_some()).count();
        let driver = self.driver.get_mut();
        let driver = driver.unwrap_or_else(PoisonError::into_inner);
        let (
            Driver::Made {
                graph,
                bindings,
                current,
                ..
            },
            Some(now),
            Some(before),
        ) = (driver, launch(&self.operations[at]), launch(before))
        else {
            return;
        };
        if !*current {
            return;
        }
        let args = now.fixed(bindings);
        // The driver's graph first clears the fault records, with one operation each.
        *current = now.faults().is_some() == before.faults().is_some()
            // SAFETY: the new scalar was checked like that of a launch, and the vectors are those
            // of the graph.
            && unsafe { graph.set_launch(records + at, &now.as_launch(&args)) };
    }
}

fn launch(operation: &Operation) -> Option<&Recorded> {
    match operation {
        Operation::Launch(launch) => Some(launch),
        Operation::Copy { .. } | Operation::Fill { .. } => None,
    }
}
