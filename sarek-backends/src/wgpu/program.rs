//! Compiles WGSL to compute pipelines.
//!
//! An artifact is the WGSL text itself, checked. The driver's code depends on the block size, which the pipeline passes
//! by override constants.

use std::borrow::Cow;
use std::sync::{Arc, Mutex};

use sarek_ir::facts::{Effect, Flow};
use sarek_ir::write::{CountingWgsl, Dialect, Slot, SlotKind, Source, Variant, Wgsl};
use sarek_ir::{Kernel, SharedId};
use sarek_runtime::backend::{self, Arg, Artifact, Origin, Parts};
use sarek_runtime::{Error, Result};
use wgpu::{
    AdapterInfo, BindGroup, BindGroupDescriptor, BindGroupEntry, BindGroupLayout,
    BindGroupLayoutDescriptor, BindGroupLayoutEntry, BindingResource, BindingType,
    BufferBindingType, BufferDescriptor, BufferUsages, ComputePipeline, ComputePipelineDescriptor,
    PipelineCompilationOptions, PipelineLayoutDescriptor, ShaderModule, ShaderModuleDescriptor,
    ShaderRuntimeChecks, ShaderSource, ShaderStages,
};

use super::device::Shared;
use super::foreign;
use super::memory::{self, Bound};
use crate::jit::{self, Binary, files, lock};

/// Renders kernels as WGSL.
pub(super) struct Renderer {
    /// True if the device ends loops by itself.
    pub ends_loops: bool,
}

// SAFETY: it is the framework's own writer.
unsafe impl backend::Renderer for Renderer {
    fn target(&self) -> &'static str {
        Wgsl.name()
    }

    fn render(&self, kernel: &Kernel, variant: &Variant) -> Result<Source> {
        match self.ends_loops {
            true => jit::render_with(&CountingWgsl, kernel, variant),
            false => jit::render_with(&Wgsl, kernel, variant),
        }
    }

    fn ends_loops(&self) -> bool {
        self.ends_loops
    }
}

/// naga, through wgpu.
pub(super) struct Compiler {
    shared: Arc<Shared>,
    fingerprint: String,
}

impl Compiler {
    pub fn new(shared: Arc<Shared>, facts: &AdapterInfo) -> Compiler {
        // The check of the text depends on the device's features only.
        let fingerprint = format!("wgsl {} {}", facts.backend, shared.device.features());
        Compiler {
            shared,
            fingerprint,
        }
    }
}

// SAFETY: the artifact is the text itself; the compiler takes no options.
unsafe impl backend::Compiler for Compiler {
    fn fingerprint(&self) -> String {
        self.fingerprint.clone()
    }

    fn keeps_artifacts(&self) -> bool {
        false
    }

    unsafe fn compile(&self, kernel: &str, source: &Source, parts: &Parts) -> Result<Artifact> {
        let text = with_parts(kernel, &source.text, parts)?;
        compiled(&self.shared, kernel, source, || {
            module(&self.shared, &text, false)
        })?;
        Ok(Artifact {
            bytes: text.as_bytes().into(),
            log: String::new(),
        })
    }
}

/// Appends the parts that environments request, so that the text's lines keep their numbers. WGSL has no preprocessor,
/// so headers are plain text and definitions are constants.
fn with_parts<'a>(kernel: &str, text: &'a str, parts: &Parts) -> Result<Cow<'a, str>> {
    if parts.is_empty() {
        return Ok(text.into());
    }
    let (mut folders, mut flags) = (parts.include_dirs(), parts.flags());
    let taken = folders.next().is_none() && flags.next().is_none();
    if !taken || parts.libraries().next().is_some() {
        return Err(Error::Unsupported {
            backend: "wgpu".into(),
            what: "include folders, flags and libraries, which an environment asks for".into(),
        });
    }
    let definitions = parts.definitions();
    let definitions = definitions.map(|(name, value)| format!("const {name} = {value};\n"));
    let headers = parts.headers().map(|header| format!("{header}\n"));
    let behind: String = definitions.chain(headers).collect();
    let text = format!("{text}\n{behind}");
    Ok(files::expanded(kernel, &text, parts.files(), files::Lines::Kept).into())
}

/// The result of `work`; its errors are reported as errors of the text.
fn compiled<T>(
    shared: &Shared,
    kernel: &str,
    source: &Source,
    work: impl FnOnce() -> T,
) -> Result<T> {
    shared.check_thread()?;
    shared.alive()?;
    match shared.scoped(work) {
        (_, Some(error)) => Err(Error::Compile {
            kernel: kernel.into(),
            places: vec![],
            target: Wgsl.name().into(),
            log: error.to_string(),
            source_text: source.text.clone(),
        }),
        // If a driver's compiler crashes, the device is lost, and the scope has no error.
        (value, None) => match shared.state() {
            Ok(()) => Ok(value),
            Err(why) => {
                let message = format!("{why}; its driver was compiling kernel `{kernel}`");
                Err(shared.error(message))
            }
        },
    }
}

fn module(shared: &Shared, text: &str, loops_end: bool) -> ShaderModule {
    let described = ShaderModuleDescriptor {
        label: None,
        source: ShaderSource::Wgsl(text.into()),
    };
    if !loops_end {
        return shared.device.create_shader_module(described);
    }
    let checks = ShaderRuntimeChecks {
        force_loop_bounding: false,
        ..ShaderRuntimeChecks::checked()
    };
    // SAFETY: the only property that is not checked is that loops end, which `loops_end` says.
    unsafe {
        shared
            .device
            .create_shader_module_trusted(described, checks)
    }
}

/// True if every loop of the text ends, so that naga need not count iterations.
///
/// A `for` counts to a bound that is evaluated before it. A `while`, a loop around an atomic operation, and the loops
/// of the user's own texts have no bound.
fn loops_end(program: &backend::Program<'_>) -> bool {
    let kernel = match program {
        backend::Program::Binary {
            origin: Origin::Rendered(kernel),
            parts,
            ..
        } if parts.is_empty() => kernel,
        backend::Program::Binary { .. } | backend::Program::Direct(_) | backend::Program::Ir(_) => {
            return false;
        }
    };
    let mut stmts = kernel.stmts.iter();
    kernel.preludes.is_empty()
        && stmts.all(|stmt| {
            let facts = stmt.facts();
            let ends = match facts.flow {
                Flow::Loop(_) => facts
                    .declares
                    .is_some_and(|counter| !kernel.locals[counter.index()].mutable),
                Flow::Next
                | Flow::Branch
                | Flow::Break(_)
                | Flow::Continue(_)
                | Flow::Return
                | Flow::Panic => true,
            };
            ends && match facts.effect {
                Effect::Atomic(..) | Effect::Call(_) | Effect::Native(_) => false,
                Effect::None
                | Effect::Store(_)
                | Effect::Place(_)
                | Effect::Print(_)
                | Effect::Fence
                | Effect::Barrier
                | Effect::Subgroup(..) => true,
            }
        })
}

/// A kernel ready to launch.
pub(super) struct Program {
    pub pipeline: ComputePipeline,
    pub slots: Vec<Slot>,
    /// The binding numbers of the buffers, in the order of their slots, then that of the uniform block.
    numbers: Vec<u32>,
    layout: BindGroupLayout,
    scalars: Scalars,
    /// The uniform block. One serves all launches, since they run in order.
    uniform: Option<wgpu::Buffer>,
    groups: Mutex<Vec<(Vec<Bound>, BindGroup)>>,
}

/// The number of bind groups that a sequence of launches with swapped buffers may need.
const KEPT_GROUPS: usize = 4;

impl Program {
    /// The bind group for these arguments.
    pub fn bind(&self, shared: &Arc<Shared>, args: &[Arg]) -> Result<BindGroup> {
        let mut bound = vec![];
        let mut bindings = vec![];
        for arg in args {
            match arg {
                Arg::Buffer(slice) => {
                    let (what, binding) = memory::argument(shared, slice)?;
                    bound.push(what);
                    bindings.push(binding);
                }
                Arg::Scalar(_) | Arg::Shared { .. } => {}
            }
        }
        let mut groups = lock(&self.groups);
        if let Some((_, group)) = groups.iter().find(|(of, _)| *of == bound) {
            return Ok(group.clone());
        }
        bindings.extend(self.uniform.iter().map(|b| b.as_entire_buffer_binding()));
        let bindings = bindings.into_iter().map(BindingResource::Buffer);
        let numbered = self.numbers.iter().copied().zip(bindings);
        let entries: Vec<BindGroupEntry<'_>> = numbered
            .map(|(binding, resource)| BindGroupEntry { binding, resource })
            .collect();
        let group = shared.checked("binding the arguments", || {
            shared.device.create_bind_group(&BindGroupDescriptor {
                label: None,
                layout: &self.layout,
                entries: &entries,
            })
        })?;
        if groups.len() == KEPT_GROUPS {
            groups.remove(0);
        }
        groups.push((bound, group.clone()));
        Ok(group)
    }

    /// Writes the scalars for the next submission.
    pub fn write_scalars(&self, shared: &Shared, args: &[Arg]) {
        if let Some(uniform) = &self.uniform {
            let bytes = self.scalars.pack(args);
            shared.queue.write_buffer(uniform, 0, &bytes);
        }
    }
}

/// The layout of the uniform block: each scalar at its natural alignment, the whole a multiple of 16 bytes.
pub(super) struct Scalars {
    /// The offset of each scalar, in the order of the slots.
    pub offsets: Vec<usize>,
    pub size: usize,
}

impl Scalars {
    fn new(slots: &[Slot]) -> Scalars {
        let mut offsets = vec![];
        let mut end = 0usize;
        for slot in slots.iter().filter(|slot| jit::is_scalar(slot)) {
            let size = jit::scalar_size(slot);
            let offset = end.next_multiple_of(size);
            offsets.push(offset);
            end = offset + size;
        }
        Scalars {
            offsets,
            size: end.next_multiple_of(16),
        }
    }

    fn pack(&self, args: &[Arg]) -> Vec<u8> {
        let mut block = vec![0; self.size];
        let scalars = args.iter().filter_map(|arg| match arg {
            Arg::Scalar(scalar) => Some(scalar.as_bytes()),
            Arg::Buffer(_) | Arg::Shared { .. } => None,
        });
        for (offset, bytes) in self.offsets.iter().zip(scalars) {
            block[*offset..*offset + bytes.len()].copy_from_slice(bytes);
        }
        block
    }
}

/// Loads a program for launches in blocks of its size.
pub(super) fn load(shared: &Arc<Shared>, program: &backend::Program<'_>) -> Result<Program> {
    let binary = Binary::of(&shared.name, program)?;
    let text = std::str::from_utf8(&binary.artifact.bytes)
        .map_err(|_| shared.error("the artifact is not WGSL"))?;
    let lengths = lengths(&binary);
    let lengths = lengths.iter().map(|(name, len)| (name.as_str(), *len));
    let block = Wgsl::BLOCK.into_iter().zip(binary.block.map(f64::from));
    let mut constants: Vec<(&str, f64)> = block.chain(lengths).collect();
    let (scalars, numbers) = match binary.foreign {
        None => {
            let buffers = binary.source.slots.iter().filter(|s| jit::is_buffer(s));
            let numbers = (0..buffers.count() as u32 + 1).collect();
            (Scalars::new(&binary.source.slots), numbers)
        }
        Some(parameters) => {
            let found = foreign::reflect(&binary, text, parameters)?;
            constants.retain(|(name, _)| found.constants.iter().any(|c| c == name));
            (found.scalars, found.numbers)
        }
    };
    let ends = loops_end(program);
    let (layout, pipeline) = compiled(shared, binary.kernel, binary.source, || {
        let module = module(shared, text, ends);
        let layout = bind_group_layout(shared, &binary.source.slots, &scalars, &numbers);
        let pipelines = shared
            .device
            .create_pipeline_layout(&PipelineLayoutDescriptor {
                label: None,
                bind_group_layouts: &[Some(&layout)],
                immediate_size: 0,
            });
        let pipeline = shared
            .device
            .create_compute_pipeline(&ComputePipelineDescriptor {
                label: Some(binary.kernel),
                layout: Some(&pipelines),
                module: &module,
                entry_point: Some(&binary.source.entry),
                compilation_options: PipelineCompilationOptions {
                    constants: &constants,
                    zero_initialize_workgroup_memory: false,
                },
                cache: shared.pipelines.as_ref().map(|kept| &kept.cache),
            });
        (layout, pipeline)
    })?;
    if let Some(kept) = &shared.pipelines {
        kept.save();
    }
    let uniform = match scalars.size {
        0 => None,
        size => Some(shared.checked("creating a uniform buffer", || {
            shared.device.create_buffer(&BufferDescriptor {
                label: Some("sarek scalars"),
                size: size as u64,
                usage: BufferUsages::UNIFORM | BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        })?),
    };
    Ok(Program {
        pipeline,
        slots: binary.source.slots.clone(),
        numbers,
        layout,
        scalars,
        uniform,
        groups: Mutex::default(),
    })
}

/// The override constants with the lengths of shared arrays that the launch determines.
fn lengths(binary: &Binary<'_>) -> Vec<(String, f64)> {
    let slots = binary.source.slots.iter();
    let given = slots.filter_map(|slot| match slot.kind {
        SlotKind::Shared(shared) => Some(shared),
        SlotKind::Buffer { .. }
        | SlotKind::Output(_)
        | SlotKind::Faults
        | SlotKind::Len(_)
        | SlotKind::Scalar(_)
        | SlotKind::Extent(_)
        | SlotKind::Grid(_) => None,
    });
    // An `f64` represents every length that fits in a device's shared memory.
    let length = |shared: SharedId| {
        let len = binary.shared.get(shared.index()).copied();
        (Wgsl::length(shared), len.unwrap_or(0).max(1) as f64)
    };
    given.map(length).collect()
}

/// The layout for buffers in the order of their slots, then the uniform block, with these binding numbers.
fn bind_group_layout(
    shared: &Shared,
    slots: &[Slot],
    scalars: &Scalars,
    numbers: &[u32],
) -> BindGroupLayout {
    let buffers = slots.iter().filter_map(|slot| match slot.kind {
        SlotKind::Buffer { mutable, .. } => Some(BufferBindingType::Storage {
            read_only: !mutable,
        }),
        SlotKind::Output(_) | SlotKind::Faults => {
            Some(BufferBindingType::Storage { read_only: false })
        }
        SlotKind::Len(_)
        | SlotKind::Scalar(_)
        | SlotKind::Extent(_)
        | SlotKind::Grid(_)
        | SlotKind::Shared(_) => None,
    });
    let uniform = (scalars.size > 0).then_some(BufferBindingType::Uniform);
    let entries: Vec<BindGroupLayoutEntry> = (numbers.iter().copied())
        .zip(buffers.chain(uniform))
        .map(|(binding, ty)| BindGroupLayoutEntry {
            binding,
            visibility: ShaderStages::COMPUTE,
            ty: BindingType::Buffer {
                ty,
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        })
        .collect();
    shared
        .device
        .create_bind_group_layout(&BindGroupLayoutDescriptor {
            label: None,
            entries: &entries,
        })
}

#[cfg(test)]
#[path = "../../tests/devices/require.rs"]
mod require;

#[cfg(test)]
mod tests {
    use super::super::{device::Device, find};
    use super::*;
    use sarek_ir::{Axis, ParamId, Scalar};
    use sarek_runtime::backend::ScalarBytes;

    #[test]
    fn a_device_lost_to_its_compiler_names_the_kernel() {
        let adapters = match find() {
            Ok(adapters) => adapters,
            Err(why) => return require::skip("wgpu", &why),
        };
        let device = Device::open(&adapters[0]).expect("the device opens");
        let shared = device.shared();
        let source = Source {
            text: String::new(),
            entry: String::new(),
            slots: vec![],
            tables: vec![],
            sourced: vec![],
        };
        let lose = || {
            shared.device.destroy();
            shared.device.poll(wgpu::PollType::Poll)
        };
        let error = compiled(shared, "saxpy", &source, lose).unwrap_err();
        let Error::Device { message, .. } = &error else {
            panic!("another error: {error}");
        };
        assert!(message.contains("was lost"), "{message}");
        assert!(message.contains("compiling kernel `saxpy`"), "{message}");
        let later = compiled(shared, "other", &source, || ()).unwrap_err();
        assert!(!later.to_string().contains("other"), "{later}");
    }

    #[test]
    fn scalars_are_aligned_and_padded() {
        let slot = |kind, ty| Slot { kind, ty };
        let slots = [
            slot(SlotKind::Scalar(ParamId(0)), Scalar::Bool),
            slot(SlotKind::Faults, Scalar::U32),
            slot(SlotKind::Len(ParamId(1).into()), Scalar::U64),
            slot(SlotKind::Extent(Axis::X), Scalar::U32),
        ];
        let scalars = Scalars::new(&slots);
        assert_eq!((&scalars.offsets[..], scalars.size), (&[0, 8, 16][..], 32));
        let args = [
            Arg::Scalar(ScalarBytes::four([1; 4])),
            Arg::Scalar(ScalarBytes::eight([2; 8])),
            Arg::Scalar(ScalarBytes::four([3; 4])),
        ];
        let mut expected = [0; 32];
        expected[..4].fill(1);
        expected[8..16].fill(2);
        expected[16..20].fill(3);
        assert_eq!(scalars.pack(&args), expected);
        assert_eq!(Scalars::new(&[]).size, 0);
    }
}
