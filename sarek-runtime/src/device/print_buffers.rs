//! The output of launches that has not been printed yet.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use sarek_ir::Kernel;

use super::Device;
use crate::Result;
use crate::output::{self, Collecting, HEAD_BYTES, OUTPUT_BYTES};
use crate::plugin::backend::{BackendStream, Mem, Slice};
use crate::sync::lock;

/// The number of unread print buffers after which the stream is waited for and they are printed. It
/// bounds their memory.
const MAX_UNPRINTED: usize = 16;

/// The print buffers of a queue's launches, in order.
#[derive(Default)]
pub(super) struct Outputs {
    log: Mutex<Log>,
    /// Held while lines are printed, which keeps their order. The output hook runs meanwhile, so it
    /// must not be acquired within the hook.
    turn: Mutex<()>,
}

#[derive(Default)]
struct Log {
    free: Vec<Arc<dyn Mem>>,
    unread: VecDeque<Unread>,
}

/// The unread output of a launch.
struct Unread {
    kernel: Arc<Kernel>,
    mem: Arc<dyn Mem>,
    /// True if the output hook made the launch; its lines bypass the hook.
    by_hook: bool,
}

impl Outputs {
    /// A print buffer for a launch.
    pub(super) fn memory(
        &self,
        device: &Device,
        stream: &dyn BackendStream,
    ) -> Result<Arc<dyn Mem>> {
        let free = lock(&self.log).free.pop();
        let mem = match free {
            Some(mem) => mem,
            None => device.alloc(OUTPUT_BYTES)?,
        };
        // SAFETY: the head of memory that no other launch has.
        unsafe { stream.zero(&part(&mem, 0, HEAD_BYTES)) }?;
        Ok(mem)
    }

    /// Records that a launch which prints was queued.
    pub(super) fn push(&self, kernel: Arc<Kernel>, mem: Arc<dyn Mem>) {
        let by_hook = output::in_hook();
        lock(&self.log).unread.push_back(Unread {
            kernel,
            mem,
            by_hook,
        });
    }

    /// True if there is unread output.
    pub(super) fn any(&self) -> bool {
        !lock(&self.log).unread.is_empty()
    }

    pub(super) fn are_many(&self) -> bool {
        lock(&self.log).unread.len() >= MAX_UNPRINTED
    }

    /// Waits for all launches queued so far and prints their output; does nothing within the output
    /// hook. If the hook panics, the rest is still printed and an error is returned.
    pub(super) fn print(&self, stream: &dyn BackendStream) -> Result<()> {
        if output::in_hook() {
            return Ok(());
        }
        let _turn = lock(&self.turn);
        let mut printed = Ok(());
        loop {
            let next = lock(&self.log).unread.pop_front();
            let Some(unread) = next else {
                return printed;
            };
            let collecting = Collecting::begin();
            let read = unread.print(stream);
            printed = printed.and(collecting.end(&unread.kernel.name));
            read?;
            lock(&self.log).free.push(unread.mem);
        }
    }
}

impl Unread {
    fn print(&self, stream: &dyn BackendStream) -> Result<()> {
        let mut head = [0; HEAD_BYTES];
        // SAFETY: the head was cleared before the launch, which was queued on this stream.
        unsafe { stream.copy_out(&part(&self.mem, 0, HEAD_BYTES), &mut head) }?;
        let mut records = vec![0; output::used(&head)];
        if !records.is_empty() {
            // SAFETY: the launch has written this many bytes, as its head records; that is at most
            // the buffer's capacity.
            unsafe { stream.copy_out(&part(&self.mem, HEAD_BYTES, records.len()), &mut records) }?;
        }
        // Formatting runs user code, which may panic.
        let lines = output::guarded(|| output::lines(&self.kernel, &head, &records));
        for line in lines.iter().flatten() {
            match self.by_hook {
                true => output::to_stdout(line),
                false => output::emit(line),
            }
        }
        Ok(())
    }
}

fn part(mem: &Arc<dyn Mem>, offset: usize, len: usize) -> Slice {
    let mem = mem.clone();
    Slice { mem, offset, len }
}
