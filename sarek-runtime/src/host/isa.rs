//! Multiversioning: a body is compiled for several instruction sets, and the best one is selected
//! at run time.
//!
//! To limit the number of copies, only the unchecked body is compiled for each set. The checked one
//! runs only if a launch could not be proved, and is compiled for the baseline alone. Builds
//! without optimisation have the baseline only.

use std::ops::Range;
use std::sync::OnceLock;

use crate::settings;

use super::host_functions::Hosts;
use super::{Block, DirectArg, DirectKernel, IndexSpace, RawFault, Scratch};

/// An instruction set for which bodies are compiled.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Isa {
    /// The instruction set for which the crate is compiled.
    Baseline,
    /// AVX2, FMA, and the bit manipulation sets of the same processors.
    Avx2,
    /// AVX-512 F, VL, DQ, BW.
    Avx512,
}

impl Isa {
    /// The name by which `SAREK_NATIVE_ISA` selects it.
    pub const fn name(self) -> &'static str {
        settings::ISA_NAMES[self as usize]
    }

    /// The set with this name.
    fn named(name: &str) -> Option<Isa> {
        let sets = [Isa::Baseline, Isa::Avx2, Isa::Avx512];
        sets.into_iter().find(|set| set.name() == name.trim())
    }

    /// The best set that this processor has.
    fn detect() -> Isa {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("lzcnt")
                && is_x86_feature_detected!("popcnt");
            let avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512bw");
            if avx2 && avx512 {
                return Isa::Avx512;
            }
            if avx2 {
                return Isa::Avx2;
            }
        }
        Isa::Baseline
    }
}

/// The set in use: the processor's best, or a lower one that `SAREK_NATIVE_ISA` names.
pub fn isa() -> Isa {
    static CHOSEN: OnceLock<Isa> = OnceLock::new();
    *CHOSEN.get_or_init(|| {
        let best = Isa::detect();
        let asked = settings::value("SAREK_NATIVE_ISA");
        let named = asked.and_then(|name| Isa::named(&name)).unwrap_or(best);
        if named > best {
            let (named, best) = (named.name(), best.name());
            settings::say(&format!(
                "SAREK_NATIVE_ISA is `{named}`, which this processor lacks; `{best}` is used"
            ));
        }
        named.min(best)
    })
}

/// Implements [`super::RunBlocks`] for a kernel.
///
/// # Safety
/// As for [`super::RunBlocks`].
pub(crate) unsafe fn run<K: DirectKernel>(
    args: &[DirectArg],
    space: &IndexSpace,
    blocks: Range<u64>,
    checked: bool,
) -> Result<(), RawFault> {
    if checked {
        // SAFETY: the caller's promise.
        return unsafe { baseline::<K, true>(args, space, blocks) };
    }
    #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
    match isa() {
        Isa::Baseline => {}
        // SAFETY: `isa` found the features; the rest is the caller's promise.
        Isa::Avx2 => return unsafe { avx2::<K, false>(args, space, blocks) },
        // SAFETY: as above.
        Isa::Avx512 => return unsafe { avx512::<K, false>(args, space, blocks) },
    }
    // SAFETY: the caller's promise.
    unsafe { baseline::<K, false>(args, space, blocks) }
}

/// Implements [`super::RunBlocks`] for a kernel that is compiled only for the set with this number.
/// It runs with checks, which are harmless where all was proved. If `PROVED` is set, proved
/// launches run without them.
///
/// # Safety
/// As for [`super::RunBlocks`]; the processor has the set.
#[cfg(feature = "reference")]
pub(crate) unsafe fn run_one<K: DirectKernel, const ISA: u8, const PROVED: bool>(
    args: &[DirectArg],
    space: &IndexSpace,
    blocks: Range<u64>,
    checked: bool,
) -> Result<(), RawFault> {
    if PROVED && !checked {
        // SAFETY: the caller's promise.
        return unsafe { for_set::<K, ISA, false>(args, space, blocks) };
    }
    // SAFETY: the caller's promise.
    unsafe { for_set::<K, ISA, true>(args, space, blocks) }
}

/// # Safety
/// As for [`super::RunBlocks`]; the processor has the set.
#[cfg(feature = "reference")]
#[inline(always)]
unsafe fn for_set<K: DirectKernel, const ISA: u8, const CHECK: bool>(
    args: &[DirectArg],
    space: &IndexSpace,
    blocks: Range<u64>,
) -> Result<(), RawFault> {
    #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
    {
        if const { ISA == Isa::Avx2 as u8 } {
            // SAFETY: the caller's promise.
            return unsafe { avx2::<K, CHECK>(args, space, blocks) };
        }
        if const { ISA == Isa::Avx512 as u8 } {
            // SAFETY: the caller's promise.
            return unsafe { avx512::<K, CHECK>(args, space, blocks) };
        }
    }
    // SAFETY: the caller's promise.
    unsafe { baseline::<K, CHECK>(args, space, blocks) }
}

/// # Safety
/// As for [`super::RunBlocks`].
#[inline(always)]
unsafe fn each<K: DirectKernel, const CHECK: bool>(
    args: &[DirectArg],
    space: &IndexSpace,
    blocks: Range<u64>,
) -> Result<(), RawFault> {
    let mut scratch = Scratch::lease();
    let mut block = Block::new(space, blocks.start);
    // Launches of kernels whose intrinsics have host functions are checked ones.
    let hosts = if CHECK { Hosts::now() } else { None };
    // SAFETY: `hosts` lives until all blocks have run.
    unsafe { block.set_hosts(hosts.as_ref()) };
    for _ in blocks {
        // SAFETY: the caller's promise.
        unsafe { K::block::<CHECK>(args, &block, &scratch) }?;
        scratch.reset();
        block.advance();
    }
    Ok(())
}

/// # Safety
/// As for [`super::RunBlocks`].
unsafe fn baseline<K: DirectKernel, const CHECK: bool>(
    args: &[DirectArg],
    space: &IndexSpace,
    blocks: Range<u64>,
) -> Result<(), RawFault> {
    // SAFETY: the caller's promise.
    unsafe { each::<K, CHECK>(args, space, blocks) }
}

/// # Safety
/// As for [`super::RunBlocks`]; the processor has the features.
#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn avx2<K: DirectKernel, const CHECK: bool>(
    args: &[DirectArg],
    space: &IndexSpace,
    blocks: Range<u64>,
) -> Result<(), RawFault> {
    // SAFETY: the caller's promise.
    unsafe { each::<K, CHECK>(args, space, blocks) }
}

/// # Safety
/// As for [`super::RunBlocks`]; the processor has the features.
#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn avx512<K: DirectKernel, const CHECK: bool>(
    args: &[DirectArg],
    space: &IndexSpace,
    blocks: Range<u64>,
) -> Result<(), RawFault> {
    // SAFETY: the caller's promise.
    unsafe { each::<K, CHECK>(args, space, blocks) }
}
