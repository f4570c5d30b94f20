//! What launches printed and nobody has read.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use sarek_ir::Kernel;

use super::Device;
use crate::Result;
use crate::backend::{BackendStream, Mem, Slice};
use crate::output::{self, HEAD_BYTES, OUTPUT_BYTES};
use crate::sync::lock;

/// After so many launches that print, the stream is waited for and they are printed, to bound what they hold.
const MAX_UNPRINTED: usize = 16;

/// Memory into which the launches of a queue print, in their order.
#[derive(Default)]
pub(super) struct Outputs {
    log: Mutex<Log>,
}

#[derive(Default)]
struct Log {
    free: Vec<Arc<dyn Mem>>,
    unread: VecDeque<(Arc<Kernel>, Arc<dyn Mem>)>,
}

impl Outputs {
    /// Memory for what a launch prints.
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

    /// Remembers that a launch that prints is queued.
    pub(super) fn push(&self, kernel: Arc<Kernel>, mem: Arc<dyn Mem>) {
        lock(&self.log).unread.push_back((kernel, mem));
    }

    /// Is there something that nobody has read?
    pub(super) fn any(&self) -> bool {
        !lock(&self.log).unread.is_empty()
    }

    pub(super) fn are_many(&self) -> bool {
        lock(&self.log).unread.len() >= MAX_UNPRINTED
    }

    /// Prints what all launches queued so far have to say, waiting for them. The lock keeps their order.
    pub(super) fn print(&self, stream: &dyn BackendStream) -> Result<()> {
        let mut log = lock(&self.log);
        while let Some((kernel, mem)) = log.unread.pop_front() {
            let mut head = [0; HEAD_BYTES];
            // SAFETY: the head was cleared before the launch, which was queued on this stream.
            unsafe { stream.copy_out(&part(&mem, 0, HEAD_BYTES), &mut head) }?;
            let mut records = vec![0; output::used(&head)];
            if !records.is_empty() {
                // SAFETY: the launch has written so much, as its head says; that is at most what there is room for.
                unsafe { stream.copy_out(&part(&mem, HEAD_BYTES, records.len()), &mut records) }?;
            }
            for line in output::lines(&kernel, &head, &records) {
                output::emit(&line);
            }
            log.free.push(mem);
        }
        Ok(())
    }
}

fn part(mem: &Arc<dyn Mem>, offset: usize, len: usize) -> Slice {
    let mem = mem.clone();
    Slice { mem, offset, len }
}
