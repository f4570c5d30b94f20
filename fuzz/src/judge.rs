//! Runs one case on every device, and compares each with the oracle, which is the first.

use std::fmt;

use sarek::{Device, Error, Fault, FaultKind};
use sarek_backends::cuda::nvrtc;
use sarek_ir::link::link;
use sarek_ir::write::{self, Dialect, IndexWidth, Variant};
use sarek_ir::{Access, Kernel, ParamKind, Scalar, SiteId};
use sarek_runtime::{Arg, FreeBlock, KernelDef, Launch as Call};

use crate::case::{Case, Launch, Shape};
use crate::data::{self, Argument};
use crate::generate::panics::MESSAGE_PREFIX;
use crate::items::Items;
use crate::known::has_known_bug;
use crate::replay;
use crate::sanitizer;
use crate::verdict::{Event, Finding, Kind, Verdict};

/// The outcome of a launch on a device.
enum Outcome {
    /// The bits of each written slice.
    Done(Vec<Vec<u64>>),
    Fault(Fault),
    NotEligible,
    /// The device rejects the text, or fails in a way that no device should.
    Wrong(String),
    /// The device fails by itself: it is lost or out of memory.
    Failed(String),
}

/// The devices to compare, the oracle first.
pub struct Comparison {
    devices: Vec<Device>,
    /// True if NVRTC compiles each kernel too.
    nvrtc: bool,
    /// True if each launch also runs under the sanitizer.
    sanitizer: bool,
}

/// The devices on which a subgroup has 32 threads, and a block may have any size.
const HOST: [&str; 3] = ["reference", "native", "interpreter"];

impl Comparison {
    /// The devices of this machine that run a kernel from its IR alone; the oracle is the interpreter. `among` restricts them, and may
    /// name `nvrtc` and `sanitizer`; if it is empty, all are compared.
    pub fn of_ir(among: &[&str]) -> Comparison {
        let mut devices = Device::all();
        devices.retain(|device| !["native", "reference"].contains(&device.backend()));
        Comparison::new(devices, "interpreter", among)
    }

    /// All devices of this machine, for kernels that rustc compiled; the oracle is the user's own function.
    ///
    /// # Panics
    /// The reference device is missing.
    pub fn of_compiled(among: &[&str]) -> Comparison {
        let mut devices = Device::all();
        devices.push(sarek::testing::reference().expect("it needs nothing"));
        Comparison::new(devices, "reference", among)
    }

    fn new(mut devices: Vec<Device>, oracle: &str, among: &[&str]) -> Comparison {
        let wanted = |name: &str| among.is_empty() || among.contains(&name);
        devices.retain(|device| device.backend() == oracle || wanted(device.backend()));
        devices.sort_by_key(|device| {
            let place = HOST.iter().position(|name| *name == device.backend());
            (device.backend() != oracle, place.unwrap_or(HOST.len()))
        });
        let nvrtc = wanted("nvrtc") && nvrtc::version().is_ok();
        Comparison {
            devices,
            nvrtc,
            sanitizer: wanted("sanitizer"),
        }
    }

    /// The names of the devices, and `nvrtc` and `sanitizer` if present.
    pub fn names(&self) -> Vec<&str> {
        let devices = self.devices.iter().map(Device::backend);
        let nvrtc = self.nvrtc.then_some("nvrtc");
        let sanitizer = self.sanitizer.then_some("sanitizer");
        devices.chain(nvrtc).chain(sanitizer).collect()
    }

    /// Lowers a case, compares all devices but those in `without`, and reports events to `report`.
    pub fn judge(&self, case: &Case, without: &[&str], report: &mut dyn FnMut(Event)) {
        match lower(case) {
            Ok(def) => self.compare(def, &case.launch, without, report),
            Err(message) => {
                let rejected = Verdict::rejected("frontend", message);
                rejected
                    .findings
                    .into_iter()
                    .map(Event::Found)
                    .for_each(&mut *report);
                report(Event::End(false));
            }
        }
    }

    /// Compares all devices for one launch of a kernel.
    pub fn verdict(&self, def: &'static KernelDef, launch: &Launch) -> Verdict {
        let mut verdict = Verdict::default();
        self.compare(def, launch, &[], &mut |event| verdict.add(event));
        verdict
    }

    /// Compiles the kernel with NVRTC, runs the launch under the sanitizer and on each device but those in `without`, and compares with
    /// the first device that can run it.
    pub fn compare(
        &self,
        def: &'static KernelDef,
        launch: &Launch,
        without: &[&str],
        report: &mut dyn FnMut(Event),
    ) {
        let kernel = link(def.ir, &(def.links)());
        if self.nvrtc && !without.contains(&"nvrtc") {
            report(Event::At("nvrtc".into()));
            report(match compile_cuda(&kernel, launch.seed) {
                Ok(()) => Event::Agreed("nvrtc".into()),
                Err(message) => found(Kind::Differs, "nvrtc", message),
            });
        }
        if self.sanitizer && !without.contains(&"sanitizer") {
            report(Event::At("sanitizer".into()));
            report(match sanitizer::first_race(&kernel, launch, launch.seed) {
                Some(message) => found(Kind::Differs, "sanitizer", message),
                None => Event::Agreed("sanitizer".into()),
            });
        }
        let fits = |device: &&Device| {
            (!launch.host || HOST.contains(&device.backend()))
                && !without.contains(&device.backend())
                && !has_known_bug(device, &kernel, launch)
        };
        let devices = self.devices.iter().filter(fits);
        let outcomes = devices.map(|device| {
            let outcome = || run(def, &kernel, launch, device);
            (device.backend(), outcome)
        });
        compare_all(
            outcomes,
            |expected, got| difference(&kernel, launch, expected, got),
            report,
        );
    }
}

/// Runs each device, and compares its outcome with that of the first that succeeds. If a device fails, the others still run.
fn compare_all<'d, F: FnOnce() -> Outcome>(
    devices: impl Iterator<Item = (&'d str, F)>,
    difference: impl Fn(&Outcome, &Outcome) -> Option<String>,
    report: &mut dyn FnMut(Event),
) {
    let mut expected = None;
    for (name, outcome) in devices {
        report(Event::At(name.into()));
        match (&expected, outcome()) {
            (_, Outcome::NotEligible) => {}
            (_, Outcome::Wrong(message)) => report(found(Kind::Differs, name, message)),
            (_, Outcome::Failed(message)) => report(found(Kind::Failed, name, message)),
            (None, got) => expected = Some(got),
            (Some(expected), got) => report(match difference(expected, &got) {
                None => Event::Agreed(name.into()),
                Some(message) => found(Kind::Differs, name, message),
            }),
        }
    }
    report(Event::End(matches!(expected, Some(Outcome::Fault(_)))));
}

fn found(kind: Kind, device: &str, message: String) -> Event {
    Event::Found(Finding {
        kind,
        device: device.into(),
        message,
    })
}

/// Lowers and links a case's kernel to a definition without a native body. The definition is leaked, since it must be `'static` as in
/// a compiled program.
///
/// # Errors
/// The frontend rejects the kernel, or the kernel names an item that the case lacks.
pub fn lower(case: &Case) -> Result<&'static KernelDef, String> {
    let tokens = |text: &str| text.parse().map_err(|e| format!("no tokens: {e}"));
    let (options, item) = (tokens(&case.options)?, tokens(&case.function)?);
    let expansion = sarek_frontend::expand::kernel(options, item);
    let Some(mut kernel) = expansion.kernel else {
        return Err(expansion.errors.join("\n"));
    };
    // Random kernels wrap, as those of a release build do.
    kernel.overflows = Default::default();
    let links = Items::read(&case.items)?.links(&kernel)?;
    let kernel = link(&kernel, &links);
    Ok(Box::leak(Box::new(KernelDef {
        ir: Box::leak(Box::new(kernel.into())),
        // The generator makes no races.
        optimize: true,
        ..KernelDef::BROKEN
    })))
}

/// Compiles the kernel with NVRTC. One time in four it is the default variant with full optimisation, as for a launch; else it is the
/// variant with every check and wide indices, with little optimisation.
fn compile_cuda(kernel: &Kernel, seed: u64) -> Result<(), String> {
    let dialect = write::dialect("cuda").expect("a built-in dialect");
    let (variant, options) = match seed % 4 {
        0 => (write::default_variant(kernel, dialect), vec![]),
        _ => (checked(kernel, dialect), quickly()),
    };
    let source = write::render(kernel, dialect, &variant).map_err(|e| e.to_string())?;
    let (name, text) = (&kernel.name, &source.text);
    let made = nvrtc::compile_with(name, text, "compute_75", &options);
    made.map(drop).map_err(|e| e.to_string())
}

/// The options that make NVRTC compile fast with little optimisation, if its version has them.
fn quickly() -> Vec<String> {
    let has_it = nvrtc::version().is_ok_and(|version| version >= (12, 9));
    let option = has_it.then(|| "--Ofast-compile=max".to_owned());
    option.into_iter().collect()
}

/// The variant with every bounds check and 64-bit indices.
fn checked(kernel: &Kernel, dialect: &dyn Dialect) -> Variant {
    let mut variant = write::default_variant(kernel, dialect);
    variant.folded = true;
    variant.index = IndexWidth::Bits64;
    variant.checked = (0..kernel.sites.len() as u32).map(SiteId).collect();
    variant
}

/// Renders a case in a target's language, with every check.
///
/// # Errors
/// The frontend rejects the case, or the target is unknown.
pub fn text(case: &Case, target: &str) -> Result<String, String> {
    let kernel = lower(case)?.ir;
    let dialect = write::dialect(target).ok_or(format!("no target `{target}`"))?;
    let source = write::render(kernel, dialect, &checked(kernel, dialect));
    source.map(|s| s.text).map_err(|e| e.to_string())
}

/// Describes the difference between two outcomes; `None` if they agree.
fn difference(
    kernel: &Kernel,
    launch: &Launch,
    expected: &Outcome,
    got: &Outcome,
) -> Option<String> {
    match (expected, got) {
        (Outcome::Done(expected), Outcome::Done(got)) => {
            let params = kernel.params.iter();
            let written = params.filter_map(|param| Some((param, written(param.kind)?)));
            for ((param, ty), (expected, got)) in written.zip(expected.iter().zip(got)) {
                let near = param.name.starts_with("near");
                for (i, (&expected, &got)) in expected.iter().zip(got).enumerate() {
                    if !data::same(ty, near, got, expected) {
                        let (got, expected) = (data::show(ty, got), data::show(ty, expected));
                        return Some(format!("{}[{i}] is {got}, not {expected}", param.name));
                    }
                }
            }
            None
        }
        (Outcome::Fault(_), Outcome::Fault(fault)) => {
            let blamed = replay::faults(kernel, launch, fault.thread);
            (!blamed).then(|| format!("blames a thread that does not fault: {fault}"))
        }
        (expected, got) => Some(format!("{got}, but the oracle {expected}")),
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Done(_) => f.write_str("ran to its end"),
            Outcome::Fault(fault) => write!(f, "faulted ({fault})"),
            Outcome::NotEligible => f.write_str("is not eligible"),
            Outcome::Wrong(why) | Outcome::Failed(why) => f.write_str(why),
        }
    }
}

fn run(def: &'static KernelDef, kernel: &Kernel, launch: &Launch, device: &Device) -> Outcome {
    match outputs(def, kernel, launch, device) {
        Ok(outputs) => Outcome::Done(outputs),
        // Where a kernel faults, the user's function panics. Other devices report a panic only for the kernel's own `panic!` and `assert!`.
        Err(Error::Fault(fault)) => match &fault.kind {
            FaultKind::Panic(text)
                if device.backend() != "reference" && !text.contains(MESSAGE_PREFIX) =>
            {
                Outcome::Wrong(fault.to_string())
            }
            _ => Outcome::Fault(*fault),
        },
        Err(Error::NotEligible { .. }) => Outcome::NotEligible,
        Err(error @ (Error::Device { .. } | Error::OutOfMemory { .. })) => {
            Outcome::Failed(error.to_string())
        }
        Err(error) => Outcome::Wrong(error.to_string()),
    }
}

fn outputs(
    def: &'static KernelDef,
    kernel: &Kernel,
    launch: &Launch,
    device: &Device,
) -> sarek::Result<Vec<Vec<u64>>> {
    let params = &kernel.params;
    let mut arguments = data::arguments(params, launch);
    let (mut args, mut views, mut part_of_view) = (vec![], launch.views.iter(), 0);
    for (at, argument) in arguments.iter_mut().enumerate() {
        match argument {
            Argument::Scalar(_) if part_of_view > 0 => part_of_view -= 1,
            Argument::Scalar(value) => {
                // A parameter of a generated kernel stays one parameter when it is linked, so `at` is its position in both.
                let is_whole = matches!(def.ir.params[at].kind, ParamKind::Value(_));
                args.push(scalar_arg(*value, is_whole));
            }
            Argument::Vector(vector) => {
                let access = access(params[at].kind);
                args.push(match data::is_view(params, at) {
                    false => vector.arg(access),
                    true => {
                        let layout = views.next().expect("a layout for each view");
                        part_of_view = layout.scalars().count();
                        vector.view(access, layout)?
                    }
                });
            }
        }
    }
    // SAFETY: the runtime checks the number and types of the arguments. The author of the kernel guarantees that it is
    // free of races. The native body is compiled by rustc, or never called.
    let call: Call<'_, FreeBlock> = unsafe { Call::of(def, args) };
    let ready = match launch.shape {
        Shape::Over(_) if !launch.items.is_empty() => call.over_items(launch.items.clone().leak()),
        Shape::Over([x, y, z]) => call.over((x, y, z)),
        Shape::Grid([x, y, z], [bx, by, bz]) => call.grid((x, y, z)).block((bx, by, bz)),
    };
    ready.run_on(device)?;
    let pairs = params.iter().zip(&arguments);
    let bits = pairs.filter_map(|(param, argument)| match argument {
        Argument::Vector(vector) if written(param.kind).is_some() => Some(vector.bits()),
        Argument::Vector(_) | Argument::Scalar(_) => None,
    });
    bits.collect()
}

fn access(kind: ParamKind) -> Access {
    match kind {
        ParamKind::Slice { access, .. } => access,
        ParamKind::Scalar(_) | ParamKind::Value(_) | ParamKind::Reference(_) => {
            unreachable!("vectors are for slices")
        }
    }
}

/// The type of the elements that the kernel writes.
fn written(kind: ParamKind) -> Option<Scalar> {
    match kind {
        ParamKind::Slice {
            elem,
            access: Access::Write | Access::Atomic,
        } => Some(elem.scalar()),
        ParamKind::Slice {
            access: Access::Read,
            ..
        }
        | ParamKind::Scalar(_)
        | ParamKind::Value(_)
        | ParamKind::Reference(_) => None,
    }
}

/// Passes a scalar as an argument. `is_whole` is for a parameter of generic type, which is a scalar only in this instance.
fn scalar_arg<'a>(value: sarek_ir::Value, is_whole: bool) -> Arg<'a> {
    use sarek_ir::Value;
    macro_rules! arg {
        ($value:expr) => {
            match is_whole {
                true => Arg::value($value),
                false => $value.into(),
            }
        };
    }
    match value {
        Value::Bool(v) => arg!(v),
        Value::I8(v) => arg!(v),
        Value::U8(v) => arg!(v),
        Value::I16(v) => arg!(v),
        Value::U16(v) => arg!(v),
        Value::I32(v) => arg!(v),
        Value::U32(v) => arg!(v),
        Value::I64(v) => arg!(v),
        Value::U64(v) => arg!(v),
        Value::Usize(v) => (v as usize).into(),
        Value::F16(v) => arg!(sarek::f16::from_bits(v)),
        Value::Bf16(v) => arg!(sarek::bf16::from_bits(v)),
        Value::F32(v) => arg!(f32::from_bits(v)),
        Value::F64(v) => arg!(f64::from_bits(v)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares outcomes by their bits alone.
    fn verdict(outcomes: Vec<(&str, Outcome)>) -> Verdict {
        let mut verdict = Verdict::default();
        let differ = |expected: &Outcome, got: &Outcome| match (expected, got) {
            (Outcome::Done(expected), Outcome::Done(got)) if expected == got => None,
            _ => Some("differ".to_owned()),
        };
        let outcomes = outcomes
            .into_iter()
            .map(|(name, outcome)| (name, || outcome));
        compare_all(outcomes, differ, &mut |event| verdict.add(event));
        verdict
    }

    #[test]
    fn a_failing_device_does_not_end_the_comparison() {
        let bits = |n| Outcome::Done(vec![vec![n]]);
        let verdict = verdict(vec![
            ("interpreter", bits(1)),
            ("opencl", Outcome::Failed("it was lost".into())),
            ("wgpu", bits(2)),
            ("vulkan", Outcome::NotEligible),
            ("metal", Outcome::Wrong("it refuses the text".into())),
            ("cuda", bits(1)),
        ]);
        assert_eq!(verdict.agreed, ["cuda"]);
        let findings = verdict.findings.iter();
        let findings: Vec<_> = findings.map(|f| (f.kind, f.device.as_str())).collect();
        let expected = [
            (Kind::Failed, "opencl"),
            (Kind::Differs, "wgpu"),
            (Kind::Differs, "metal"),
        ];
        assert_eq!(findings, expected);
    }

    #[test]
    fn the_next_device_replaces_a_failed_oracle() {
        let bits = |n| Outcome::Done(vec![vec![n]]);
        let verdict = verdict(vec![
            ("interpreter", Outcome::Failed("no memory".into())),
            ("opencl", bits(1)),
            ("wgpu", bits(1)),
        ]);
        assert_eq!(verdict.agreed, ["wgpu"]);
        assert!(verdict.has(Kind::Failed) && !verdict.has(Kind::Differs));
    }
}
