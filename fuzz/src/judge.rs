//! One case on every device, compared with the first.

use std::fmt;

use sarek::ir::link::link;
use sarek::ir::write::{self, Dialect, IndexWidth, Variant};
use sarek::ir::{Access, Kernel, ParamKind, Scalar, SiteId, Stmt};
use sarek::{Device, Error, Fault, FaultKind};
use sarek_runtime::{FreeBlock, KernelDef, Launch as Call};

use crate::case::{Case, Launch, Shape};
use crate::data::{self, Argument};
use crate::generate::says::SAID;
use crate::items::Items;
use crate::replay;

/// What became of a case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// All that could run it agree.
    Agreed {
        /// Who was compared with the oracle.
        devices: Vec<String>,
        /// Did the kernel fault, everywhere?
        fault: bool,
    },
    /// Somebody does not, or failed.
    Differs {
        /// Who.
        device: String,
        /// How.
        how: String,
    },
    /// It is no kernel.
    Rejected(String),
}

/// What a device made of a launch.
enum Outcome {
    /// The bits of each written slice.
    Done(Vec<Vec<u64>>),
    Fault(Fault),
    NotEligible,
    Failed(String),
}

/// The devices of this machine on which IR alone runs, the oracle first: the interpreter.
pub fn devices() -> Vec<Device> {
    let mut devices = Device::all();
    devices.retain(|device| !["native", "reference"].contains(&device.backend()));
    devices.sort_by_key(|device| device.backend() != "interpreter");
    devices
}

/// Lowers the case and compares the devices; CUDA C is compiled if there is NVRTC and `nvrtc` is set.
pub fn judge(case: &Case, devices: &[Device], nvrtc: bool) -> Verdict {
    let def = match lower(case) {
        Ok(def) => def,
        Err(why) => return Verdict::Rejected(why),
    };
    if nvrtc && let Err(how) = compile_cuda(def.ir) {
        let device = "nvrtc".into();
        return Verdict::Differs { device, how };
    }
    let mut verdict = compare(def, &case.launch, devices);
    if let (Verdict::Agreed { devices, .. }, true) = (&mut verdict, nvrtc) {
        devices.push("nvrtc".into());
    }
    verdict
}

/// A case's kernel as a definition without a compiled body, linked, and kept for ever, as that of a program is.
///
/// # Errors
/// The frontend's, or what the kernel names and the case does not have.
pub fn lower(case: &Case) -> Result<&'static KernelDef, String> {
    let item = case.function.parse();
    let item = item.map_err(|e| format!("no tokens: {e}"))?;
    let expansion = sarek_frontend::expand::kernel(proc_macro2::TokenStream::new(), item);
    let Some(kernel) = expansion.kernel else {
        return Err(expansion.errors.join("\n"));
    };
    let links = Items::read(&case.items)?.links(&kernel)?;
    let kernel = link(&kernel, &links);
    Ok(Box::leak(Box::new(KernelDef {
        ir: Box::leak(Box::new(kernel)),
        ..KernelDef::BROKEN
    })))
}

/// Has NVRTC compile the default variant, and one with every check and wide indices.
fn compile_cuda(kernel: &Kernel) -> Result<(), String> {
    let dialect = write::dialect("cuda").expect("a built-in dialect");
    for variant in [
        write::default_variant(kernel, dialect),
        checked(kernel, dialect),
    ] {
        let source = write::render(kernel, dialect, &variant).map_err(|e| e.to_string())?;
        sarek_backends::cuda::nvrtc::compile(&kernel.name, &source.text, "compute_75")
            .map_err(|e| e.to_string())?;
    }
    Ok(())
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

/// A known failure that is not ours: PoCL 3.1 gives wrong results for some kernels with a barrier in a branch, such as
/// `if varying { return; } if uniform { barrier(); while v < 3 { v += 1; } } out[i] = 1;` in blocks of 64, and for some
/// with a barrier behind a branch that jumps: `if varying { for … { if c { break; } } } else { out[i] = 1; } barrier();`.
///
/// Another one is llvmpipe's, which leaves out threads of the last eight of a block that are fewer, if a barrier stands in a loop:
/// `for _ in 0..(3.pow(83 << r0[0]) & 3) { barrier(); } out[i] = 0;` in blocks of 15 or 255.
fn is_mistaken(device: &Device, kernel: &Kernel, launch: &Launch) -> bool {
    let name = &device.info().name;
    if name.contains("llvmpipe") {
        let ragged = match launch.shape {
            Shape::Grid(_, block) => !block.iter().product::<usize>().is_multiple_of(8),
            Shape::Over(_) => false,
        };
        let mut stmts = kernel.stmts.iter().copied();
        return ragged
            && stmts.any(|stmt| {
                matches!(stmt, Stmt::Loop { .. } | Stmt::For { .. })
                    && holds(kernel, stmt, &|stmt| stmt == Stmt::Barrier)
            });
    }
    let is_pocl = name.starts_with("pthread") || name.starts_with("cpu");
    let is_barrier = |stmt| stmt == Stmt::Barrier;
    let is_jump = |stmt| {
        matches!(
            stmt,
            Stmt::Break { .. } | Stmt::Continue { .. } | Stmt::Return
        )
    };
    let mut branches = kernel.stmts.iter().copied();
    device.backend() == "opencl"
        && is_pocl
        && kernel.stmts.contains(&Stmt::Barrier)
        && branches.any(|stmt| {
            matches!(stmt, Stmt::If { .. })
                && (holds(kernel, stmt, &is_barrier) || holds(kernel, stmt, &is_jump))
        })
}

/// Is a statement, or one inside of it, such a one?
fn holds(kernel: &Kernel, stmt: Stmt, is: &impl Fn(Stmt) -> bool) -> bool {
    let inner = kernel.parts(stmt).1.into_iter();
    let mut stmts = inner.flat_map(|b| kernel.block(b).collect::<Vec<_>>());
    is(stmt) || stmts.any(|id| holds(kernel, kernel.stmt(id), is))
}

/// Runs the launch on each device and compares with the first that can run it.
pub fn compare(def: &'static KernelDef, launch: &Launch, devices: &[Device]) -> Verdict {
    let mut compared = vec![];
    let kernel = link(def.ir, &(def.links)());
    let mut due: Option<Outcome> = None;
    for device in devices
        .iter()
        .filter(|device| !is_mistaken(device, &kernel, launch))
    {
        let got = run(def, launch, device);
        let differs = |how| Verdict::Differs {
            device: device.backend().to_owned(),
            how,
        };
        match (&due, got) {
            (_, Outcome::NotEligible) => continue,
            (_, Outcome::Failed(how)) => return differs(how),
            (None, got) => {
                due = Some(got);
                continue;
            }
            (Some(due), got) => {
                if let Some(how) = difference(&kernel, launch, due, &got) {
                    return differs(how);
                }
            }
        }
        compared.push(device.backend().to_owned());
    }
    Verdict::Agreed {
        devices: compared,
        fault: matches!(due, Some(Outcome::Fault(_))),
    }
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
            Outcome::Failed(why) => f.write_str(why),
        }
    }
}

fn run(def: &'static KernelDef, launch: &Launch, device: &Device) -> Outcome {
    match outputs(def, launch, device) {
        Ok(outputs) => Outcome::Done(outputs),
        // The user's function panics where others fault; nobody else panics but where the kernel says so.
        Err(Error::Fault(fault)) => match &fault.kind {
            FaultKind::Panic(text) if device.backend() != "reference" && !text.contains(SAID) => {
                Outcome::Failed(fault.to_string())
            }
            _ => Outcome::Fault(*fault),
        },
        Err(Error::NotEligible { .. }) => Outcome::NotEligible,
        Err(error) => Outcome::Failed(error.to_string()),
    }
}

fn outputs(
    def: &'static KernelDef,
    launch: &Launch,
    device: &Device,
) -> sarek::Result<Vec<Vec<u64>>> {
    let params = &def.ir.params;
    let mut arguments = data::arguments(params, launch.seed, &launch.lens);
    let args: Vec<_> = params
        .iter()
        .zip(&mut arguments)
        .map(|(param, argument)| match argument {
            Argument::Scalar(value) => scalar_arg(*value),
            Argument::Vector(vector) => vector.arg(access(param.kind)),
        })
        .collect();
    // SAFETY: the runtime compares number and types of arguments with the parameters. Whoever wrote the kernel
    // answers for its being free of races; the compiled body is rustc's, or never called.
    let call: Call<'_, FreeBlock> = unsafe { Call::of(def, args) };
    let ready = match launch.shape {
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

fn scalar_arg<'a>(value: sarek::ir::Value) -> sarek_runtime::Arg<'a> {
    use sarek::ir::Value;
    match value {
        Value::Bool(v) => v.into(),
        Value::I8(v) => v.into(),
        Value::U8(v) => v.into(),
        Value::I16(v) => v.into(),
        Value::U16(v) => v.into(),
        Value::I32(v) => v.into(),
        Value::U32(v) => v.into(),
        Value::I64(v) => v.into(),
        Value::U64(v) => v.into(),
        Value::Usize(v) => (v as usize).into(),
        Value::F16(v) => sarek::f16::from_bits(v).into(),
        Value::F32(v) => f32::from_bits(v).into(),
        Value::F64(v) => f64::from_bits(v).into(),
    }
}
