//! Launches that wait for a submission.
//!
//! A submission costs the host ten times as much as recording a launch, so launches that follow each other closely share
//! one, see [`Burst`]. All else that the device is asked submits them first: copies, events, waiting.

use std::sync::Mutex;

use sarek_runtime::Result;
use wgpu::{CommandEncoder, CommandEncoderDescriptor, ComputePass, ComputePassDescriptor};

use super::device::Shared;
use crate::jit::burst::Burst;
use crate::jit::lock;

/// The launches of a device that are not submitted yet.
#[derive(Default)]
pub(super) struct Launches(Mutex<State>);

#[derive(Default)]
struct State {
    recorded: Option<Recorded>,
    burst: Burst,
}

/// Launches in one compute pass. The pass ends before its encoder.
struct Recorded {
    pass: ComputePass<'static>,
    encoder: CommandEncoder,
}

impl Recorded {
    fn new(device: &wgpu::Device) -> Recorded {
        let mut encoder = device.create_command_encoder(&CommandEncoderDescriptor::default());
        let pass = encoder.begin_compute_pass(&ComputePassDescriptor::default());
        Recorded {
            pass: pass.forget_lifetime(),
            encoder,
        }
    }
}

impl State {
    fn submit(&mut self, shared: &Shared) -> Result<()> {
        // A thread that ends leaves them to the next one.
        shared.check_thread()?;
        let Some(recorded) = self.recorded.take() else {
            return Ok(());
        };
        let submitted = shared.checked("launching", || {
            drop(recorded.pass);
            shared.queue.submit([recorded.encoder.finish()]);
        });
        self.burst.go();
        submitted
    }
}

impl Launches {
    /// True if there are any.
    pub fn wait(&self) -> bool {
        lock(&self.0).recorded.is_some()
    }

    /// Submits all of them.
    pub fn submit(&self, shared: &Shared) -> Result<()> {
        lock(&self.0).submit(shared)
    }

    /// Adds a launch. If it is `alone`, no other one shares its submission.
    pub fn push(
        &self,
        shared: &Shared,
        alone: bool,
        record: impl FnOnce(&mut ComputePass<'_>),
    ) -> Result<()> {
        let mut state = lock(&self.0);
        if alone {
            state.submit(shared)?;
        }
        shared.check_thread()?;
        shared.alive()?;
        let recorded = state
            .recorded
            .get_or_insert_with(|| Recorded::new(&shared.device));
        record(&mut recorded.pass);
        match state.burst.push() || alone {
            true => state.submit(shared),
            false => Ok(()),
        }
    }
}
