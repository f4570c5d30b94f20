//! Eligibility: the devices that can run a kernel or a launch, and the choice of the best one.

use sarek_ir::Kernel;
use sarek_ir::analysis::private::Private;
use sarek_ir::analysis::requirements::small_in_natives;
use sarek_ir::write::IndexWidth;

use super::dispatch::Asked;
use super::memo::Memo;
use super::prepare::Prepared;
use super::programs::Programs;
use super::space::{Shape, check_block};
use super::{Call, Ready, host_memory, subgroups};
use crate::device::Candidate;
use crate::device::registry::Registry;
use crate::host::IndexSpace;
use crate::plugin::backend::Pipeline;
use crate::plugin::claims::Schedule;
use crate::plugin::tag::{StorageKind, Tag};
use crate::{Device, Error, Result, intrinsic};

/// The device that was chosen for an earlier similar launch.
pub(super) fn known_best(registry: &Registry, ready: &Ready<'_>) -> Option<Device> {
    // Predicates are asked for each launch.
    if !ready.is_memoizable() || registry.claims().has_predicates() {
        return None;
    }
    let (chosen, device) = chosen(registry).get(ready)?;
    (chosen == registry.generation()).then_some(device)
}

/// The best device that can run the launch, which is checked and not empty.
pub(super) fn best(registry: &Registry, ready: &Ready<'_>) -> Result<Device> {
    // A change to the registry during the choice makes it void.
    let generation = registry.generation();
    let device = select_for(registry, ready)?;
    if ready.is_memoizable() {
        chosen(registry).put(ready, &(generation, device.clone()));
    }
    Ok(device)
}

/// The devices that launches have chosen, each with the registry's generation.
fn chosen(registry: &Registry) -> &Memo<(u64, Device)> {
    registry.chosen().get()
}

fn select_for(registry: &Registry, ready: &Ready<'_>) -> Result<Device> {
    let call = &ready.call;
    let asked = Asked::of(
        &|request| registry.owner(request),
        &call.kernel,
        Some(ready),
    );
    select_device(registry, &asked, |device| {
        // A device that has run a similar launch is eligible.
        match Programs::of(device).memo().get(ready) {
            Some(_) => vec![],
            None => obstacles(device, ready),
        }
    })
}

/// Chooses the device for launches of a kernel: the first without obstacles, in order of
/// preference, among those of the backend whose claims decide, or among all. Running and
/// explaining a launch both use this.
pub(super) fn select_device(
    registry: &Registry,
    asked: &Asked,
    obstacles: impl Fn(&Device) -> Vec<String>,
) -> Result<Device> {
    // If no backend has claimed a tag, the error names the backends that could.
    asked.owner()?;
    let mut rejected = Vec::new();
    for candidate in registry.allowed()? {
        match candidate {
            Candidate::Device(device) => {
                let mut reasons = asked.reasons(&device);
                if reasons.is_empty() {
                    reasons = obstacles(&device);
                }
                match reasons.as_slice() {
                    [] => return Ok(device),
                    reasons => rejected.push((device.to_string(), reasons.join("; "))),
                }
            }
            Candidate::Absent { who, reason } => rejected.push((who, reason)),
        }
    }
    Err(registry.nothing(rejected))
}

impl Call<'_> {
    /// The vectors in storages other than the devices' own memory: the parameter's number, the
    /// storage, and the bytes.
    pub(super) fn stored(&self) -> impl Iterator<Item = (usize, Tag<StorageKind>, u64)> {
        let args = self.args.iter().enumerate();
        args.filter_map(|(at, arg)| Some((at, arg.vector()?.storage()?, arg.bytes())))
    }
}

/// Returns an error unless the device can run the launch.
pub(super) fn check(device: &Device, ready: &Ready<'_>) -> Result<()> {
    match obstacles(device, ready) {
        reasons if reasons.is_empty() => Ok(()),
        reasons => Err(not_eligible(device, &ready.call.kernel, reasons)),
    }
}

pub(super) fn not_eligible(device: &Device, kernel: &Prepared, reasons: Vec<String>) -> Error {
    Error::NotEligible {
        kernel: kernel.name().to_owned(),
        device: device.to_string(),
        reasons,
    }
}

/// The reasons why the device cannot run this launch; empty if it can. Claims are asked apart
/// ([`super::dispatch`]).
pub(super) fn obstacles(device: &Device, ready: &Ready<'_>) -> Vec<String> {
    let call = &ready.call;
    let info = device.info();
    let mut reasons = kernel_obstacles(device, &call.kernel);
    reasons.extend(turns(device, ready));
    reasons.extend(private_of_block(device, ready));
    for (param, arg) in call.kernel.params().iter().zip(&call.args) {
        let bytes = arg.bytes();
        if bytes > info.max_buffer {
            reasons.push(format!(
                "`{}` has {bytes} bytes, and one buffer holds at most {}",
                param.name, info.max_buffer
            ));
        }
    }
    if reasons.is_empty()
        && !call.kernel.kernel.shared.is_empty()
        && !ready.shape.is_empty()
        && let Ok(plan) = ready.plan(device)
    {
        let bytes = shared_bytes(device, |least| {
            call.kernel.kernel.shared_bytes(&plan.shared, least)
        });
        reasons.extend(bytes.err());
    }
    if reasons.is_empty()
        && call.kernel.needs.subgroups
        && !info.features.shaped_subgroups
        && !ready.shape.is_empty()
        && let Ok(plan) = ready.plan(device)
        && plan.space.block[1..] != [1, 1]
    {
        reasons.push(FLAT_SUBGROUPS.to_owned());
    }
    let rendered = call.kernel.foreign().is_none();
    if reasons.is_empty()
        && rendered
        && !info.features.i64
        && !host_memory(device)
        && !ready.shape.is_empty()
    {
        // If the plan fails, queuing the launch reports it.
        let wide = |plan: super::plan::Plan| plan.index() == IndexWidth::Bits64;
        if ready.plan(device).is_ok_and(wide) {
            reasons.push(
                "it has no 64-bit integers, and this launch's indices may exceed 32 bits"
                    .to_owned(),
            );
        }
    }
    reasons
}

/// The reasons why the device cannot run the launch's schedule, if it asks for one.
fn turns(device: &Device, ready: &Ready<'_>) -> Vec<String> {
    let (call, schedule) = (&ready.call, ready.call.known_schedule());
    if host_memory(device) || schedule == Schedule::Blocks {
        return vec![];
    }
    let (kernel, needs) = (&call.kernel.kernel, &call.kernel.needs);
    let together = needs.barriers || needs.subgroups || !kernel.shared.is_empty();
    let sized = match ready.shape {
        Shape::Grid { block, .. } => block.0 != [1; 3],
        Shape::Over(_) | Shape::Cover(_) | Shape::Blocks(_) => {
            call.kernel.block().is_some_and(|b| b != [1; 3])
        }
    };
    let serial = schedule == Schedule::SingleThread;
    [
        (
            !device.info().features.strided,
            "its texts do not support it",
        ),
        (
            call.kernel.foreign().is_some(),
            "a foreign kernel runs its text as it is written",
        ),
        (together, "the kernel's threads work together in blocks"),
        (
            !kernel.natives.is_empty(),
            "a `native!` text may end the thread",
        ),
        (
            serial && sized,
            "the launch gives a block of several threads",
        ),
    ]
    .into_iter()
    .filter(|(obstacle, _)| *obstacle)
    .map(|(_, reason)| {
        format!(
            "it does not run the schedule `{}`: {reason}",
            call.schedule()
        )
    })
    .collect()
}

/// The reason of a device whose subgroups need blocks of one dimension.
pub(super) const FLAT_SUBGROUPS: &str = "it has no subgroups in blocks of several dimensions";

/// The requirement [`sarek_ir::analysis::requirements::Requirements::storage8`] in words.
pub(super) const STORAGE8: &str = "buffers of 8-bit elements (bool, i8, u8)";

/// The requirement `storage16` in words.
pub(super) const STORAGE16: &str = "buffers of 16-bit elements (i16, u16, bf16)";

/// The requirement of strict kernels in words.
pub(super) const STRICT: &str = "floats that are the same to the bit everywhere";

/// The requirement `f16` in words.
pub(super) const F16: &str = "f16 in buffers and shared arrays";

/// The reasons why the device cannot run this kernel, however it is launched; empty if it can.
pub(super) fn kernel_obstacles(device: &Device, kernel: &Prepared) -> Vec<String> {
    let (info, needs) = (device.info(), &kernel.needs);
    let has = info.features;
    let mut reasons = Vec::new();
    for (needed, offered, what) in [
        (needs.f64, has.f64, "f64"),
        (needs.f64_math, has.f64_math, "elementary functions on f64"),
        (needs.i64, has.i64, "64-bit integers"),
        (needs.storage8, has.storage8, STORAGE8),
        (needs.storage16, has.storage16, STORAGE16),
        (needs.f16, has.f16, F16),
        (needs.atomics64, has.atomics64, "64-bit atomics"),
        (needs.subgroups, has.subgroups, "subgroups"),
        (needs.fences, has.fences, "fences"),
        (needs.strict, has.strict, STRICT),
    ] {
        if needed && !offered {
            reasons.push(format!("it has no {what}"));
        }
    }
    reasons.extend(
        subgroups::obstacle(info, &kernel.kernel).filter(|_| has.subgroups || !needs.subgroups),
    );
    reasons.extend(shared_bytes(device, |least| kernel.kernel.fixed_shared_bytes(least)).err());
    reasons.extend(private_of_thread(device, kernel));
    match device.pipeline() {
        Pipeline::Direct | Pipeline::Interpret if kernel.foreign().is_some() => {
            reasons.extend(kernel.foreign().map(|text| text.no_text(None)));
        }
        Pipeline::Jit(renderer, compiler) if kernel.foreign().is_some() => {
            let text = kernel.foreign();
            let text = text.filter(|text| text.text_for(renderer, compiler).is_none());
            reasons.extend(text.map(|text| text.no_text(Some(renderer.target()))));
        }
        Pipeline::Direct | Pipeline::Interpret if !needs.native.is_empty() => {
            reasons.push("a `native!` has no fallback in Rust".to_owned());
        }
        Pipeline::Jit(renderer, _) if needs.native_missing(renderer.target()) => {
            reasons.push(format!(
                "a `native!` has no text for {:?} and no fallback",
                renderer.target()
            ));
        }
        Pipeline::Jit(renderer, _) if info.words => {
            reasons.extend(native_of_small(&kernel.kernel, renderer.target()));
        }
        Pipeline::Direct | Pipeline::Interpret | Pipeline::Jit(..) => {}
    }
    if let Pipeline::Jit(renderer, _) = device.pipeline() {
        let target = renderer.target();
        let unknown = needs.intrinsics.iter();
        let unknown = unknown.filter(|name| !intrinsic::is_registered(name, target));
        reasons.extend(unknown.map(|name| {
            format!(
                "the intrinsic `{name}` has no text for {target}; give it one with \
                 `intrinsic::register({name:?}, {target:?}, …)`"
            )
        }));
    }
    // The fault record is a buffer too, if some check is not provable in any launch. So is the
    // print buffer.
    let checked = kernel.kernel.sites.iter().any(|site| !site.provable);
    let side_buffers = u32::from(checked) + u32::from(needs.prints);
    let buffers = needs.buffers + if host_memory(device) { 0 } else { side_buffers };
    if buffers > info.max_buffers {
        reasons.push(too_many_buffers(buffers, info.max_buffers));
    }
    reasons.extend(
        kernel
            .block()
            .and_then(|block| check_block(block, info).err()),
    );
    reasons
}

/// The reason why a device whose small elements share words cannot run the kernel's own texts, if so.
fn native_of_small(kernel: &Kernel, target: &str) -> Option<String> {
    let (name, ty) = small_in_natives(kernel, target)?;
    Some(format!(
        "a `native!` names `{name}`, whose elements (`{ty}`) share words of 32 bits there"
    ))
}

/// The local arrays of a thread as laid out on the device, if there are any: the bytes of all, and
/// a description of the largest.
pub(super) fn private_arrays(device: &Device, kernel: &Prepared) -> Option<(u64, String)> {
    kernel.private.largest?;
    let private = Private::of(&kernel.kernel, device.info().least_element());
    let (largest, bytes) = private.largest?;
    let name = &kernel.kernel.locals[largest.index()].name;
    Some((private.bytes, format!("`{name}` alone {bytes}")))
}

/// The reason why a thread has too little memory for its local arrays, if so.
fn private_of_thread(device: &Device, kernel: &Prepared) -> Option<String> {
    let most = device.info().max_private;
    let (bytes, largest) = private_arrays(device, kernel)?;
    (bytes > most).then(|| {
        format!(
            "the local arrays of a thread take {bytes} bytes, {largest}, and a thread has at most {most} there"
        )
    })
}

/// The same for all threads of a block of this launch.
fn private_of_block(device: &Device, ready: &Ready<'_>) -> Option<String> {
    if device.info().max_private_block == u64::MAX || ready.shape.is_empty() {
        return None;
    }
    let plan = ready.plan(device).ok()?;
    private_of_space(device, &ready.call.kernel, plan.space)
}

/// The same for all threads of a block of this index space.
pub(super) fn private_of_space(
    device: &Device,
    kernel: &Prepared,
    space: IndexSpace,
) -> Option<String> {
    let (most, needs) = (device.info().max_private_block, &kernel.needs);
    // Host devices keep the arrays of all threads of a block only where threads wait for each
    // other.
    let alone = host_memory(device) && !needs.barriers && !needs.subgroups;
    if most == u64::MAX || alone {
        return None;
    }
    let (bytes, largest) = private_arrays(device, kernel)?;
    let threads: u64 = space.block.iter().map(|n| u64::from(*n)).product();
    let all = bytes.saturating_mul(threads);
    (all > most).then(|| {
        format!(
            "the local arrays of a thread take {bytes} bytes, {largest}, those of a block of {threads} threads {all}, and a \
             block has at most {most} there"
        )
    })
}

/// Checks that a block has enough shared memory. `bytes` computes the need from the least size of
/// an element.
pub(super) fn shared_bytes(device: &Device, bytes: impl Fn(u64) -> u64) -> Result<(), String> {
    let info = device.info();
    match bytes(info.least_element()) {
        bytes if bytes <= info.max_shared => Ok(()),
        u64::MAX => Err("a block takes more shared memory than 64 bits can count".to_owned()),
        bytes => Err(format!(
            "a block takes {bytes} bytes of shared memory, and has at most {} there",
            info.max_shared
        )),
    }
}

pub(super) fn too_many_buffers(buffers: u32, most: u32) -> String {
    format!("it takes {buffers} buffers, and a kernel there has at most {most}")
}
