//! Preconditions on the subgroups of a device.

use sarek_ir::{Kernel, Precondition};

use super::prove::words;
use crate::host::IndexSpace;
use crate::plugin::backend::DeviceInfo;

/// The reason why the device does not have the subgroups that a race proof relies on, if so.
pub(super) fn obstacle(info: &DeviceInfo, kernel: &Kernel) -> Option<String> {
    let differ = || match info.features.subgroups {
        true => "its subgroups may differ in size".to_owned(),
        false => "it has no subgroups".to_owned(),
    };
    kernel.preconditions.iter().find_map(|need| {
        let has = match *need {
            Precondition::SubgroupSize(size) if info.subgroup == size => return None,
            Precondition::SubgroupSize(_) if info.subgroup > 0 => {
                format!("its subgroups have {}", info.subgroup)
            }
            Precondition::EqualSubgroups if info.subgroup > 0 => return None,
            Precondition::SubgroupSize(_) | Precondition::EqualSubgroups => differ(),
            Precondition::SubgroupSizeIs(_) => unreachable!("linking gives it a number"),
            Precondition::SingleThread(_)
            | Precondition::ExtentAtMost(..)
            | Precondition::BlockAtMost(..)
            | Precondition::GridAtMost(..)
            | Precondition::BlockMultipleOf(_)
            | Precondition::NoOverflow(_)
            | Precondition::Holds(_)
            | Precondition::Positive(_)
            | Precondition::WholeSubgroups
            | Precondition::BlockOfSubgroups => return None,
        };
        Some(format!("{}, but {has}", words(kernel, *need)))
    })
}

/// The precondition on whole subgroups that a launch violates, in words. `size` is the size of the device's subgroups.
pub(super) fn violated(kernel: &Kernel, space: IndexSpace, size: u32) -> Option<String> {
    let is_whole = space.block[0].checked_rem(size) == Some(0);
    let violates = |need: &&Precondition| match need {
        Precondition::WholeSubgroups => !is_whole && space.grid[0] > 1,
        Precondition::BlockOfSubgroups => !is_whole,
        Precondition::SingleThread(_)
        | Precondition::ExtentAtMost(..)
        | Precondition::BlockAtMost(..)
        | Precondition::GridAtMost(..)
        | Precondition::BlockMultipleOf(_)
        | Precondition::NoOverflow(_)
        | Precondition::Holds(_)
        | Precondition::Positive(_)
        | Precondition::SubgroupSize(_)
        | Precondition::SubgroupSizeIs(_)
        | Precondition::EqualSubgroups => false,
    };
    let need = kernel.preconditions.iter().find(violates)?;
    let asked = words(kernel, *need);
    Some(format!(
        "{asked}, but its blocks have {} threads along x, and subgroups have {size}",
        space.block[0]
    ))
}
