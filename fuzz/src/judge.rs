//! One case on every device, compared with the first.

use std::fmt;

use sarek::{Device, Error, Fault, FaultKind};
use sarek_backends::cuda::nvrtc;
use sarek_ir::link::link;
use sarek_ir::write::{self, Dialect, IndexWidth, Variant};
use sarek_ir::{Access, Kernel, ParamKind, Scalar, SiteId};
use sarek_runtime::{Arg, FreeBlock, KernelDef, Launch as Call};

use crate::case::{Case, Launch, Shape};
use crate::data::{self, Argument};
use crate::generate::says::SAID;
use crate::items::Items;
use crate::known::is_mistaken;
use crate::replay;
use crate::verdict::{Event, Finding, Kind, Verdict};

/// What a device made of a launch.
enum Outcome {
    /// The bits of each written slice.
    Done(Vec<Vec<u64>>),
    Fault(Fault),
    NotEligible,
    /// It refuses the text, or goes wrong in a way that no device should.
    Wrong(String),
    /// It fails by itself.
    Failed(String),
}

/// Who judges, the oracle first.
pub struct Court {
    devices: Vec<Device>,
    /// CUDA C is compiled, too.
    nvrtc: bool,
}

/// On these a subgroup has 32 threads, and a block any number.
const HOST: [&str; 3] = ["reference", "native", "interpreter"];

impl Court {
    /// The devices of this machine on which IR alone runs; the oracle is the interpreter. Only those `among` names, and
    /// `nvrtc`, or all if there are none.
    pub fn of_ir(among: &[&str]) -> Court {
        let mut devices = Device::all();
        devices.retain(|device| !["native", "reference"].contains(&device.backend()));
        Court::new(devices, "interpreter", among)
    }

    /// All devices of this machine, for what rustc compiled; the oracle is the user's own function.
    ///
    /// # Panics
    /// There is no reference.
    pub fn of_compiled(among: &[&str]) -> Court {
        let mut devices = Device::all();
        devices.push(sarek::testing::reference().expect("it needs nothing"));
        Court::new(devices, "reference", among)
    }

    fn new(mut devices: Vec<Device>, oracle: &str, among: &[&str]) -> Court {
        let wanted = |name: &str| among.is_empty() || among.contains(&name);
        devices.retain(|device| device.backend() == oracle || wanted(device.backend()));
        devices.sort_by_key(|device| {
            let place = HOST.iter().position(|name| *name == device.backend());
            (device.backend() != oracle, place.unwrap_or(HOST.len()))
        });
        let nvrtc = wanted("nvrtc") && nvrtc::version().is_ok();
        Court { devices, nvrtc }
    }

    /// The names of the devices, and `nvrtc`.
    pub fn names(&self) -> Vec<&str> {
        let devices = self.devices.iter().map(Device::backend);
        devices.chain(self.nvrtc.then_some("nvrtc")).collect()
    }

    /// Lowers the case and compares all but the devices of some names, and tells what it finds.
    pub fn judge(&self, case: &Case, without: &[&str], tell: &mut dyn FnMut(Event)) {
        match lower(case) {
            Ok(def) => self.compare(def, &case.launch, without, tell),
            Err(how) => {
                let rejected = Verdict::rejected("frontend", how);
                rejected
                    .findings
                    .into_iter()
                    .map(Event::Found)
                    .for_each(&mut *tell);
                tell(Event::End(false));
            }
        }
    }

    /// What became of a launch of a kernel.
    pub fn verdict(&self, def: &'static KernelDef, launch: &Launch) -> Verdict {
        let mut verdict = Verdict::default();
        self.compare(def, launch, &[], &mut |event| verdict.add(event));
        verdict
    }

    /// Has NVRTC compile the kernel, runs the launch on each device but those of some names, and compares with the first
    /// that can run it.
    pub fn compare(
        &self,
        def: &'static KernelDef,
        launch: &Launch,
        without: &[&str],
        tell: &mut dyn FnMut(Event),
    ) {
        let kernel = link(def.ir, &(def.links)());
        if self.nvrtc && !without.contains(&"nvrtc") {
            tell(Event::At("nvrtc".into()));
            tell(match compile_cuda(&kernel, launch.seed) {
                Ok(()) => Event::Agreed("nvrtc".into()),
                Err(how) => found(Kind::Differs, "nvrtc", how),
            });
        }
        let fits = |device: &&Device| {
            (!launch.host || HOST.contains(&device.backend()))
                && !without.contains(&device.backend())
                && !is_mistaken(device, &kernel, launch)
        };
        let devices = self.devices.iter().filter(fits);
        let asked = devices.map(|device| {
            let outcome = || run(def, &kernel, launch, device);
            (device.backend(), outcome)
        });
        confer(
            asked,
            |due, got| difference(&kernel, launch, due, got),
            tell,
        );
    }
}

/// Has each device run, and compares with the first that can. Who fails does not keep the others from it.
fn confer<'d, F: FnOnce() -> Outcome>(
    devices: impl Iterator<Item = (&'d str, F)>,
    difference: impl Fn(&Outcome, &Outcome) -> Option<String>,
    tell: &mut dyn FnMut(Event),
) {
    let mut due = None;
    for (name, outcome) in devices {
        tell(Event::At(name.into()));
        match (&due, outcome()) {
            (_, Outcome::NotEligible) => {}
            (_, Outcome::Wrong(how)) => tell(found(Kind::Differs, name, how)),
            (_, Outcome::Failed(how)) => tell(found(Kind::Failed, name, how)),
            (None, got) => due = Some(got),
            (Some(due), got) => tell(match difference(due, &got) {
                None => Event::Agreed(name.into()),
                Some(how) => found(Kind::Differs, name, how),
            }),
        }
    }
    tell(Event::End(matches!(due, Some(Outcome::Fault(_)))));
}

fn found(kind: Kind, device: &str, how: String) -> Event {
    Event::Found(Finding {
        kind,
        device: device.into(),
        how,
    })
}

/// A case's kernel as a definition without a compiled body, linked, and kept for ever, as that of a program is.
///
/// # Errors
/// The frontend's, or what the kernel names and the case does not have.
pub fn lower(case: &Case) -> Result<&'static KernelDef, String> {
    let item = case.function.parse();
    let item = item.map_err(|e| format!("no tokens: {e}"))?;
    let expansion = sarek_frontend::expand::kernel(proc_macro2::TokenStream::new(), item);
    let Some(mut kernel) = expansion.kernel else {
        return Err(expansion.errors.join("\n"));
    };
    // Random kernels wrap, as those of a release build do.
    kernel.overflows = Default::default();
    let links = Items::read(&case.items)?.links(&kernel)?;
    let kernel = link(&kernel, &links);
    Ok(Box::leak(Box::new(KernelDef {
        ir: Box::leak(Box::new(kernel.into())),
        ..KernelDef::BROKEN
    })))
}

/// Has NVRTC compile a variant with every check and wide indices, quickly or, one time in four, the default one as for a launch.
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

/// Options by which NVRTC optimises little, if it has them.
fn quickly() -> Vec<String> {
    let has_it = nvrtc::version().is_ok_and(|version| version >= (12, 9));
    let option = has_it.then(|| "--Ofast-compile=max".to_owned());
    option.into_iter().collect()
}

/// The variant with every check and wide indices.
fn checked(kernel: &Kernel, dialect: &dyn Dialect) -> Variant {
    let mut variant = write::default_variant(kernel, dialect);
    variant.folded = true;
    variant.index = IndexWidth::Bits64;
    variant.checked = (0..kernel.sites.len() as u32).map(SiteId).collect();
    variant
}

/// A case in a target's language, with every check.
///
/// # Errors
/// What the frontend says, or that there is no such target.
pub fn text(case: &Case, target: &str) -> Result<String, String> {
    let kernel = lower(case)?.ir;
    let dialect = write::dialect(target).ok_or(format!("no target `{target}`"))?;
    let source = write::render(kernel, dialect, &checked(kernel, dialect));
    source.map(|s| s.text).map_err(|e| e.to_string())
}

/// Why two outcomes are not the same.
fn difference(kernel: &Kernel, launch: &Launch, due: &Outcome, got: &Outcome) -> Option<String> {
    match (due, got) {
        (Outcome::Done(due), Outcome::Done(got)) => {
            let params = kernel.params.iter();
            let written = params.filter_map(|param| Some((param, written(param.kind)?)));
            for ((param, ty), (due, got)) in written.zip(due.iter().zip(got)) {
                let near = param.name.starts_with("near");
                for (i, (&due, &got)) in due.iter().zip(got).enumerate() {
                    if !data::same(ty, near, got, due) {
                        let (got, due) = (data::show(ty, got), data::show(ty, due));
                        return Some(format!("{}[{i}] is {got}, not {due}", param.name));
                    }
                }
            }
            None
        }
        (Outcome::Fault(_), Outcome::Fault(fault)) => {
            let blamed = replay::faults(kernel, launch, fault.thread);
            (!blamed).then(|| format!("blames a thread that does not fault: {fault}"))
        }
        (due, got) => Some(format!("{got}, where the oracle {due}")),
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
        // The user's function panics where others fault; nobody else panics but where the kernel says so.
        Err(Error::Fault(fault)) => match &fault.kind {
            FaultKind::Panic(text) if device.backend() != "reference" && !text.contains(SAID) => {
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
                // Each parameter of a generated kernel is one of the linked kernel.
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
    // SAFETY: the runtime compares number and types of arguments with the parameters. Whoever wrote the kernel
    // answers for its being free of races; the compiled body is rustc's, or never called.
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

/// A scalar as an argument; as a `whole` value where only the instance of a generic kernel tells that it is a scalar.
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

    /// Who compares the bits alone.
    fn verdict(outcomes: Vec<(&str, Outcome)>) -> Verdict {
        let mut verdict = Verdict::default();
        let differ = |due: &Outcome, got: &Outcome| match (due, got) {
            (Outcome::Done(due), Outcome::Done(got)) if due == got => None,
            _ => Some("differ".to_owned()),
        };
        let asked = outcomes
            .into_iter()
            .map(|(name, outcome)| (name, || outcome));
        confer(asked, differ, &mut |event| verdict.add(event));
        verdict
    }

    #[test]
    fn a_device_that_fails_leaves_the_judgement_to_the_others() {
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
        let due = [
            (Kind::Failed, "opencl"),
            (Kind::Differs, "wgpu"),
            (Kind::Differs, "metal"),
        ];
        assert_eq!(findings, due);
    }

    #[test]
    fn where_the_oracle_fails_the_next_device_is_it() {
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
