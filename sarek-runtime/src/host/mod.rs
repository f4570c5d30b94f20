//! Compiled bodies of kernels, as host backends call them.
//!
//! A backend calls [`Direct::run`], which runs a range of blocks. It calls the body that
//! `#[kernel]` generated ([`DirectKernel::block`]). That is compiled for each instruction set of
//! [`isa`] without the checks that the launch proved, and once, for the baseline, with them. A body
//! runs the threads of a block as lanes of the calling thread. Memory that they share, and values
//! that a lane keeps across a barrier, lie in [`Scratch`].

mod arg_convert;
pub mod array;
mod block;
pub mod collective;
mod collective_call;
mod compound;
mod device_fn;
mod error_gate;
pub mod formula;
mod held;
pub(crate) mod host_functions;
pub mod ids;
pub(crate) mod isa;
mod lane_values;
mod lookup_candidates;
pub mod non_atomic;
mod owned;
mod printed;
mod reference;
pub mod scalars;
mod scratch;
mod slice;
pub mod stack;
pub mod subgroup;
pub mod subgroup_strips;
pub mod view;

pub use crate::math::{Divide, Elementary, Half, clamp, narrow, wide};
pub use crate::output::print;
pub use crate::types::leaves::leaves;
pub use crate::types::named::Assumed;
pub use crate::types::number::Float;
pub use crate::types::{Atomic, KernelType, Number};
pub use arg_convert::{
    PassConstant, PassMut, PassMutLanes, PassRef, pass_constant, pass_mut, pass_mut_lanes, pass_ref,
};
pub use block::Block;
pub use collective_call::{
    Call, Flag, FnSignature, Instance, Returned, Unmarked, again, all_agree, as_uninit,
    assume_all_init, facts_of, first, function_of, given_instance, instance, returned,
    returned_by_all, returned_by_lane, same, sites_before,
};
pub use compound::{
    are_equal, array_element, array_len, either, len_of, of_type, overflows, typed_literal,
    typed_value, value, zeroed,
};
pub use device_fn::{DeviceFn, FunctionFacts, ParameterSet};
pub use error_gate::{
    CheckedType, IfTypeChecked, TypeCheckFallback, TypeChecked, Witness, if_type_checked,
    type_checked,
};
pub use half::{bf16, f16};
pub use held::Held;
pub use host_functions::{hosted, hosted_arg, panic_message};
pub use isa::{Isa, isa};
pub use lane_values::{
    LaneStorage, LaneValues, LaneValuesSoa, Strip, fetch_strip, flat, flat_mut, keep_strip,
};
pub use lookup_candidates::{
    ByMutable, ByShared, ByValue, Nothing, candidates_by_mutable, candidates_by_shared,
    candidates_by_value,
};
pub use printed::{Debugs, Displays, NoDebug, NoDisplay, PrintedValue, printed};
pub use reference::{
    PanicPlace, Shared, for_each_block, for_each_thread, launder, note_panics, place_of,
};
pub use sarek_ir::Arithmetic;
pub use scratch::{Mark, Plain, Scratch};
pub use slice::{
    RawSliceMut, Slices, atomics, input, lend, lend_atomics, output, prefetch, prefetch_far, scalar,
};
pub use subgroup::SUBGROUP;
pub use view::{view, view_mut};

use std::ops::Range;

use sarek_ir::{SiteId, Value};

/// The index space of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct IndexSpace {
    /// The number of blocks along each axis.
    pub grid: [u64; 3],
    /// The number of threads of a block along each axis.
    pub block: [u32; 3],
    /// The number of threads of the launch along each axis, at most `grid * block`; threads beyond
    /// it do not run.
    pub extent: [u64; 3],
}

impl IndexSpace {
    /// The total number of blocks.
    pub fn blocks(&self) -> u64 {
        self.grid.iter().product()
    }

    /// The total number of threads that run.
    pub fn threads(&self) -> u64 {
        self.extent.iter().product()
    }
}

/// An argument of a compiled body; arguments are in the order of the kernel's parameters.
#[derive(Clone, Copy, Debug)]
pub enum DirectArg {
    /// The argument of a slice parameter.
    Slice {
        /// A pointer to the first element.
        ptr: *mut u8,
        /// The number of elements.
        len: usize,
        /// True if the kernel may write it.
        mutable: bool,
    },
    /// The argument of a scalar parameter.
    Scalar(Value),
    /// The argument of a parameter with several parts: its bytes.
    Value {
        /// A pointer to the first byte.
        ptr: *const u8,
        /// The number of bytes.
        len: usize,
    },
}

// SAFETY: the launch borrows the memory behind a `DirectArg` for as long as any thread uses it:
// shared for reading or, if `mutable`, exclusively for the launch's own threads.
unsafe impl Send for DirectArg {}
// SAFETY: as above.
unsafe impl Sync for DirectArg {}

/// The fault that a thread reports when it stops at a site.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RawFault {
    /// The site.
    pub site: SiteId,
    /// The index, or the divisor (sign-extended).
    pub detail: u64,
    /// The global ids of the thread along x, y and z.
    pub thread: [u64; 3],
}

/// Runs a range of a launch's blocks, numbered with x fastest, one after the other.
///
/// # Safety
/// The arguments match the kernel's parameters in number and type, and stay borrowed for the call.
/// If `checked` is false, every provable site was proved for this space and these arguments, and
/// the last stride of each view is 1. No other thread runs the same blocks.
///
/// If `checked` is true, intrinsics call their host functions; the framework passes true if a
/// kernel has one.
pub type RunBlocks = unsafe fn(
    args: &[DirectArg],
    space: &IndexSpace,
    blocks: Range<u64>,
    checked: bool,
) -> Result<(), RawFault>;

/// Runs all threads of a launch with the user's own function, see [`crate::Kernel::reference`].
///
/// # Safety
/// As for [`crate::Kernel::reference`].
#[cfg(feature = "reference")]
pub type RunReference = unsafe fn(args: &[DirectArg], space: &IndexSpace);

/// A compiled body and its properties.
#[derive(Clone, Copy, Debug)]
pub struct Direct {
    /// The entry point.
    pub run: RunBlocks,
    /// The oracle of tests. It is only compiled with the feature `reference`.
    #[cfg(feature = "reference")]
    pub reference: RunReference,
    /// The approximate number of operations of a thread, which decides whether a launch is worth
    /// several cores.
    pub cost: u32,
    /// True if a thread does little work, only on elements along x. Blocks are then rows instead of
    /// tiles.
    pub row_wise: bool,
    /// True if threads neither wait for each other nor see how the launch is divided into blocks.
    /// The launch may then run in other blocks than it asks for.
    pub any_block: bool,
    /// True if a block copies what its rows read in common: the more rows, the better.
    pub tall: bool,
    /// The size in bytes of a thread's local arrays; 0 until the kernel is linked.
    pub arrays: u64,
    /// The size in bytes of the constant arrays that a thread reads, counted at each read; 0 until
    /// the kernel is linked.
    pub constants: u64,
}

/// The trait that `#[kernel]` implements, with the generated body.
pub trait DirectKernel {
    /// See [`Direct::cost`].
    const COST: u32;

    /// See [`Direct::row_wise`].
    const ROW_WISE: bool;

    /// See [`Direct::any_block`].
    const ANY_BLOCK: bool;

    /// See [`Direct::tall`].
    const TALL: bool;

    /// Runs the threads of one block. If `CHECK` is set, provable sites are checked. The block's
    /// arrays come from `scratch`, which the caller resets before the next block.
    ///
    /// # Safety
    /// As for [`RunBlocks`].
    unsafe fn block<const CHECK: bool>(
        args: &[DirectArg],
        block: &Block,
        scratch: &Scratch,
    ) -> Result<(), RawFault>;
}

/// True if any flag of a mask is set.
#[inline(always)]
pub fn any(mask: &[bool]) -> bool {
    mask.iter().fold(false, |any, here| any | here)
}

/// True if all flags of a mask are set.
#[inline(always)]
pub fn all(mask: &[bool]) -> bool {
    mask.iter().fold(true, |all, here| all & here)
}

/// The mask of a lane: all ones or all zeros.
#[inline(always)]
pub fn lane_mask(on: bool) -> u32 {
    if on { u32::MAX } else { 0 }
}

/// True for the mask of a lane that is on.
#[inline(always)]
pub fn is_on(mask: u32) -> bool {
    // Vector instructions that select look at the sign, too.
    (mask as i32) < 0
}

/// True if a block runs no lanes.
#[inline(always)]
pub fn none(lanes: [usize; 3]) -> bool {
    lanes[0] == 0 || lanes[1] == 0 || lanes[2] == 0
}

/// True if `numbers` exist for the first and the last lane, and none is larger at the first than at
/// the last.
#[inline(always)]
pub fn rise<const N: usize>(
    lanes: [usize; 3],
    numbers: impl Fn([usize; 3]) -> Option<[usize; N]>,
) -> bool {
    !none(lanes) && rise_between([0; 3], lanes.map(|lanes| lanes - 1), numbers)
}

/// True if `numbers` exist for these two lanes, and none is larger at the first than at the last.
#[inline(always)]
pub fn rise_between<const N: usize>(
    first: [usize; 3],
    last: [usize; 3],
    numbers: impl Fn([usize; 3]) -> Option<[usize; N]>,
) -> bool {
    let both = numbers(first).zip(numbers(last));
    both.is_some_and(|(first, last)| first.iter().zip(&last).all(|(first, last)| first <= last))
}

/// A memory fence: orders this host thread's memory accesses for other threads.
#[inline(always)]
pub fn device_fence() {
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
}
