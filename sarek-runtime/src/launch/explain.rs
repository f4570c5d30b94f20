//! Text for `explain`: the requirements of kernels and launches, and the devices that meet them.

use std::fmt::Write;

use sarek_ir::{Site, SiteId, SiteKind};

use super::dispatch::Asked;
use super::plan::Plan;
use super::prepare::Prepared;
use super::{Ready, eligible, prove};
use crate::device::Candidate;
use crate::device::registry::Registry;
use crate::{Device, Error};

/// Describes a kernel's requirements, and the devices that meet them.
pub(crate) fn kernel(registry: &Registry, kernel: &Prepared) -> String {
    explain(registry, kernel, None, |device| {
        eligible::kernel_obstacles(device, kernel)
    })
}

/// Describes a launch in the same way.
pub(super) fn launch(registry: &Registry, ready: &Ready<'_>) -> String {
    let kernel = &ready.call.kernel;
    if let Err(error) = ready.check() {
        return format!("{error}\n");
    }
    if ready.shape.is_empty() {
        return format!("`{}`: no thread runs\n", kernel.name());
    }
    let mut out = explain(registry, kernel, Some(ready), |device| {
        eligible::obstacles(device, ready)
    });
    let device = match eligible::best(registry, ready) {
        Ok(device) => device,
        // The lines above give the reason for each device.
        Err(Error::NoDevice(_) | Error::NoBackend { .. } | Error::Ambiguous { .. }) => return out,
        Err(error) => {
            line(&mut out, format_args!("launch: {error}"));
            return out;
        }
    };
    match ready.plan(&device) {
        Err(error) => line(&mut out, format_args!("launch: {error}")),
        Ok(plan) => match ready.violated_precondition(&plan) {
            Some(violated_precondition) => {
                line(&mut out, format_args!("launch: {violated_precondition}"))
            }
            None => {
                line(&mut out, format_args!("launch: {}", shape(kernel, &plan)));
                for access in accesses(kernel) {
                    line(&mut out, format_args!("access: {access}"));
                }
                match &plan.optimized {
                    Some(Ok(how)) => {
                        line(&mut out, format_args!("optimized: {}", how.optimization))
                    }
                    Some(Err(why)) => {
                        line(&mut out, format_args!("not optimized: {}", why.words()))
                    }
                    None => {}
                }
                for site in &plan.proof.checked {
                    line(&mut out, format_args!("checked: {}", check(kernel, *site)));
                }
            }
        },
    }
    out
}

fn explain(
    registry: &Registry,
    kernel: &Prepared,
    ready: Option<&Ready<'_>>,
    obstacles: impl Fn(&Device) -> Vec<String>,
) -> String {
    let mut out = format!("`{}`\n", kernel.name());
    line(&mut out, format_args!("needs: {}", needs(kernel)));
    for precondition in kernel.kernel.preconditions.iter() {
        let words = prove::words(&kernel.kernel, *precondition);
        line(&mut out, format_args!("requires: {words}"));
    }
    if kernel.needs.barriers {
        line(&mut out, format_args!("requires: {}", super::WHOLE_BLOCKS));
    }
    let asked = Asked::of(&|request| registry.owner(request), kernel, ready);
    for claim in asked.lines() {
        line(&mut out, format_args!("claimed: {claim}"));
    }
    let chosen = match eligible::select_device(registry, &asked, &obstacles) {
        Ok(device) => Some(device),
        Err(Error::NoDevice(_)) => None,
        Err(error) => {
            line(&mut out, format_args!("{error}"));
            None
        }
    };
    for candidate in registry.everything() {
        match candidate {
            Candidate::Absent { who, reason } => {
                line(&mut out, format_args!("{who}: no device: {reason}"));
            }
            Candidate::Device(device) => {
                let mut reasons = obstacles(&device);
                reasons.extend(asked.reasons(&device));
                let verdict = match reasons.as_slice() {
                    _ if chosen.as_ref() == Some(&device) => "chosen".to_owned(),
                    [_, ..] => reasons.join("; "),
                    [] if !registry.allows(device.backend()) => {
                        "could run it, but SAREK_BACKEND does not name it".to_owned()
                    }
                    [] => "could run it".to_owned(),
                };
                let priority = device.priority();
                line(
                    &mut out,
                    format_args!("{device}, priority {priority}: {verdict}"),
                );
            }
        }
    }
    out
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "  {text}");
}

fn needs(kernel: &Prepared) -> String {
    let needs = &kernel.needs;
    let mut words: Vec<String> = [
        (needs.f64, "f64"),
        (needs.f64_math, "elementary functions on f64"),
        (needs.i64, "64-bit integers"),
        (needs.storage8, super::eligible::STORAGE8),
        (needs.storage16, super::eligible::STORAGE16),
        (needs.f16, super::eligible::F16),
        (needs.atomics64, "64-bit atomics"),
        (needs.subgroups, "subgroups"),
        (needs.fences, "fences"),
        (needs.strict, super::eligible::STRICT),
    ]
    .into_iter()
    .filter(|(needed, _)| *needed)
    .map(|(_, what)| what.to_owned())
    .collect();
    let targets = needs.native.iter();
    words.extend(targets.map(|texts| format!("a target among {}", texts.join(", "))));
    if words.is_empty() {
        return "32-bit arithmetic only".to_owned();
    }
    words.join(", ")
}

/// Describes the index space, the program and the checks on the chosen device.
fn shape(kernel: &Prepared, plan: &Plan) -> String {
    let sites = kernel.kernel.checks();
    let [x, y, z] = plan.space.block;
    let folded = if plan.is_folded() { ", folded" } else { "" };
    format!(
        "{} threads in {} blocks of ({x}, {y}, {z}){folded}; {} of {sites} checks proved; indices of {} bits",
        plan.asked.threads(),
        plan.space.blocks(),
        sites - plan.proof.checked.len(),
        plan.index().scalar().bits(),
    )
}

/// Describes how threads access each slice, each kind of access once.
fn accesses(kernel: &Prepared) -> Vec<String> {
    let mut found: Vec<String> = vec![];
    if kernel.foreign().is_some() {
        return found;
    }
    for access in &kernel.variants.footprint(&kernel.kernel).accesses {
        let name = &kernel.params()[access.slice.index()].name;
        let text = format!("`{name}`: {access}");
        if !found.contains(&text) {
            found.push(text);
        }
    }
    found
}

/// Describes a check that remains because this launch does not prove it.
fn check(kernel: &Prepared, site: SiteId) -> String {
    let kernel = &kernel.kernel;
    let Site { kind, loc, .. } = &kernel.sites[site.index()];
    let what = match kind {
        SiteKind::Index(memory) => format!("an index of `{}`", kernel.memory_name(*memory)),
        SiteKind::Dimension(memory, dimension) => {
            let name = kernel.memory_name(*memory);
            format!("the index of `{name}` along dimension {dimension}")
        }
        SiteKind::Divisor => "a divisor".to_owned(),
        SiteKind::Overflow(arithmetic) => {
            format!("an overflow of `{}`", arithmetic.symbol())
        }
        SiteKind::Assert(message) => format!("the assertion {message:?}"),
        SiteKind::Panic(message) => format!("the panic {message:?}"),
    };
    format!("{what} at {}", kernel.place_of(*loc))
}
