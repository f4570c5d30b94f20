//! Fault descriptions: turns a recorded fault into an error with names and places.

use std::sync::Arc;

use sarek_ir::write::Iterations;
use sarek_ir::{Kernel, Length, Loc, Memory, SiteId, SiteKind};

use crate::host::RawFault;
use crate::{Error, Fault, FaultKind};

/// The data that turns a launch's faults into errors.
#[derive(Clone)]
pub(crate) struct Sites {
    /// The kernel.
    pub(crate) kernel: Arc<Kernel>,
    /// The length of each parameter's argument; 0 for scalars.
    pub(crate) lens: Arc<[u64]>,
    /// The length of each shared array.
    pub(crate) shared: Arc<[u64]>,
}

impl Sites {
    /// The fault in a record of [`sarek_ir::write::FAULT_WORDS`] words; `None` if no thread has
    /// claimed it.
    pub(crate) fn decode(&self, record: &[u8]) -> Option<Error> {
        let word = |i: usize| {
            let bytes = record[4 * i..].first_chunk().copied();
            u32::from_ne_bytes(bytes.unwrap_or_default())
        };
        let pair = |i: usize| u64::from(word(i)) | u64::from(word(i + 1)) << 32;
        if word(0) == 0 {
            return None;
        }
        Some(self.describe(&RawFault {
            site: SiteId(word(1)),
            detail: pair(2),
            thread: [pair(4), pair(6), pair(8)],
        }))
    }

    /// The number of elements that a memory has in this launch.
    fn len(&self, memory: Memory) -> u64 {
        match memory {
            Memory::Slice(param) => self.lens[param.index()],
            Memory::Shared(shared) => self.shared[shared.index()],
            Memory::Table(table) => self.kernel.tables[table.index()].values().len() as u64,
            Memory::Local(local) => match self.kernel.array(local) {
                Some((_, Length::Fixed(len))) => len,
                Some((_, Length::Link(_) | Length::Launch(_))) | None => {
                    unreachable!("a local array of a closed kernel has a fixed length")
                }
            },
        }
    }

    /// The error for a fault.
    pub(crate) fn describe(&self, raw: &RawFault) -> Error {
        let kernel = &self.kernel;
        let loop_at = Iterations::place(raw.detail);
        if raw.site == Iterations::SITE && usize::from(loop_at.file.0) <= kernel.files.len() {
            return fault(kernel, loop_at, raw.thread, FaultKind::TooManyIterations);
        }
        let Some(site) = kernel.sites.get(raw.site.index()) else {
            // Only a faulty backend or `native!` text leads here.
            return Error::Device {
                device: format!("the device that ran `{}`", kernel.name),
                message: format!("the fault record is corrupt: it names site {}", raw.site.0),
            };
        };
        let kind = match &site.kind {
            SiteKind::Index(memory) => FaultKind::Index {
                argument: kernel.memory_name(*memory).to_string(),
                index: raw.detail,
                len: self.len(*memory),
            },
            SiteKind::Dimension(memory, dimension) => FaultKind::Dimension {
                argument: kernel.memory_name(*memory).to_string(),
                dimension: *dimension,
                index: raw.detail,
            },
            SiteKind::Divisor if raw.detail == 0 => FaultKind::DivisionByZero,
            SiteKind::Divisor => FaultKind::DivisionOverflow,
            SiteKind::Overflow(arithmetic) => FaultKind::Overflow {
                operation: arithmetic.symbol().into(),
            },
            SiteKind::Assert(message) => FaultKind::Assert(message.to_string()),
            SiteKind::Panic(message) => FaultKind::Panic(message.to_string()),
        };
        fault(kernel, site.loc, raw.thread, kind)
    }
}

fn fault(kernel: &Kernel, at: Loc, thread: [u64; 3], kind: FaultKind) -> Error {
    Error::Fault(Box::new(Fault {
        kernel: kernel.name.to_string(),
        file: kernel.file_of(at).to_owned(),
        line: at.line,
        column: at.column.into(),
        thread,
        kind,
    }))
}
