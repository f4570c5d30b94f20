//! Requests, as predicates of claims see them.

use sarek_ir::{Kernel, Value};

use super::Subject;
use crate::plugin::tag::{ScheduleKind, StorageKind, Tag};

/// A request, as predicates see it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Request<'a> {
    /// The subject, with the tags that are asked for. A claim of a template sees the instance here.
    pub subject: &'a Subject,
    /// The linked kernels: one, or those that are compiled together; none for allocations and
    /// copies.
    pub kernels: &'a [&'a Kernel],
    /// The bytes to allocate or copy, or those of a vector; 0 for kernels and schedules.
    pub bytes: u64,
    /// The launch that asks. `None` for allocations and copies, and where no launch is known, as
    /// when a kernel is explained.
    pub launch: Option<&'a LaunchRequest<'a>>,
}

impl<'a> Request<'a> {
    /// A request about memory or a copy.
    pub(crate) fn memory(subject: &'a Subject, bytes: u64) -> Request<'a> {
        Request {
            subject,
            kernels: &[],
            bytes,
            launch: None,
        }
    }
}

/// A launch that asks for a backend.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LaunchRequest<'a> {
    /// The arguments, in the order of the linked kernel's parameters.
    pub args: &'a [Argument<'a>],
    /// The number of threads along x, y and z: the extent of `over` and `cover`, or the grid times
    /// the block. If the block size is open, that of one thread counts.
    pub threads: [u64; 3],
    /// The block size, if the launch or the kernel fixes it.
    pub block: Option<[u64; 3]>,
    /// The schedule; [`ScheduleKind::blocks`] if the launch sets none.
    pub schedule: &'a Tag<ScheduleKind>,
    /// The names of the environments that the text needs.
    pub environments: &'a [String],
}

/// An argument of a launch that asks.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Argument<'a> {
    /// The name of the parameter.
    pub name: &'a str,
    /// The value of a scalar; `None` for vectors.
    pub value: Option<Value>,
    /// The number of elements of a vector.
    pub len: u64,
    /// The bytes of a vector.
    pub bytes: u64,
    /// The storage of a vector; `None` for scalars.
    pub storage: Option<Tag<StorageKind>>,
    /// True for a vector that the kernel may write.
    pub written: bool,
}
