//! Compiles WGSL to compute pipelines.
//!
//! An artifact is the WGSL text itself, checked. The driver's code depends on the block size, which the pipeline passes
//! by override constants.

use std::borrow::Cow;
use std::sync::{Arc, Mutex};

use sarek_ir::analysis::termination;
use sarek_ir::facts::Effect;
use sarek_ir::write::{Dialect, ImmediateWgsl, Slot, SlotKind, Source, Variant, Wgsl};
use sarek_ir::{Kernel, SharedId, StmtId};
use sarek_runtime::backend::{self, Arg, Artifact, Origin, Parts};
use sarek_runtime::{Error, Result};
use wgpu::{
    AdapterInfo, BindGroup, BindGroupDescriptor, BindGroupEntry, BindGroupLayout,
    BindGroupLayoutDescriptor, BindGroupLayoutEntry, BindingResource, BindingType,
    BufferBindingType, BufferDescriptor, BufferUsages, ComputePass, ComputePipeline,
    ComputePipelineDescriptor, PipelineCompilationOptions, PipelineLayoutDescriptor, ShaderModule,
    ShaderModuleDescriptor, ShaderRuntimeChecks, ShaderSource, ShaderStages,
};

use super::device::Shared;
use super::foreign;
use super::memory::{self, Bound};
use crate::jit::linked::Linked;
use crate::jit::{self, Binary, files, lock};

/// Renders kernels as WGSL.
pub(super) struct Renderer {
    /// True if the device ends loops by itself.
    pub ends_loops: bool,
    /// The size of the device's immediates in bytes; 0 if it has none.
    pub immediates: u32,
}

// SAFETY: it is the framework's own writer.
unsafe impl backend::Renderer for Renderer {
    fn target(&self) -> &'static str {
        Wgsl.name()
    }

    fn render(&self, kernel: &Kernel, variant: &Variant) -> Result<Source> {
        let dialect = ImmediateWgsl {
            counts: self.ends_loops,
            most: self.immediates,
        };
        jit::render_with(&dialect, kernel, variant)
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
        let text = with_parts(kernel, source, parts)?;
        compiled(&self.shared, kernel, source, || {
            module(&self.shared, &text, None)
        })?;
        let entries = foreign::entries(&text);
        Ok(Artifact::new(text.as_bytes()).with_entries(entries))
    }
}

/// Appends the parts that environments request, so that the text's lines keep their numbers. WGSL has no preprocessor,
/// so headers are plain text and definitions are constants.
fn with_parts<'a>(kernel: &str, source: &'a Source, parts: &Parts) -> Result<Cow<'a, str>> {
    let text = &*source.text;
    if parts.is_empty() && source.files.is_empty() {
        return Ok(text.into());
    }
    let (mut folders, mut flags) = (parts.include_dirs(), parts.flags());
    if folders.next().is_some() || flags.next().is_some() {
        return Err(Error::Unsupported {
            backend: "wgpu".into(),
            what: "include folders and flags, which an environment asks for".into(),
        });
    }
    let reason = "WGSL has no linker; add its functions as text, by `Parts::header`";
    parts.refuse_libraries(kernel, Wgsl.name(), reason)?;
    let included = jit::linked::headers(source, parts)?;
    let units = Linked::all(kernel, Wgsl.name(), source, parts)?;
    let units = units.iter().map(|unit| {
        let problem = match (unit.language == Wgsl.name(), unit.options.is_empty()) {
            (true, true) => return unit.as_text(kernel, Wgsl.name()),
            (true, false) => "WGSL has no options".to_owned(),
            (false, _) => format!("WGSL is linked with no `{}`", unit.language),
        };
        Err(unit.error(kernel, Wgsl.name(), problem))
    });
    // Declarations of WGSL have no order.
    let units: Vec<&str> = units.collect::<Result<_>>()?;
    let definitions = parts.definitions();
    let definitions = definitions.map(|(name, value)| format!("const {name} = {value};\n"));
    let headers = parts.headers().map(|header| format!("{header}\n"));
    let units = units.iter().map(|unit| format!("{unit}\n"));
    let behind: String = definitions.chain(headers).chain(units).collect();
    let text = format!("{text}\n{behind}");
    Ok(files::expanded(kernel, &text, &included, files::Lines::Kept).into())
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

/// The module of a text. `trusted` are the properties of a text that this crate rendered.
fn module(shared: &Shared, text: &str, trusted: Option<Trusted>) -> ShaderModule {
    let described = ShaderModuleDescriptor {
        label: None,
        source: ShaderSource::Wgsl(text.into()),
    };
    let Some(trusted) = trusted else {
        return shared.device.create_shader_module(described);
    };
    let checks = ShaderRuntimeChecks {
        bounds_checks: false,
        force_loop_bounding: !trusted.ends,
        ..ShaderRuntimeChecks::checked()
    };
    // SAFETY: two properties are not checked. Accesses are in bounds, because the framework proved or checks each one of
    // a rendered kernel; and loops end, if `ends` says so.
    unsafe {
        shared
            .device
            .create_shader_module_trusted(described, checks)
    }
}

/// The properties of a text that was rendered from a kernel without texts of the user's own.
#[derive(Clone, Copy)]
struct Trusted {
    /// True if all loops surely end, so that naga need not count iterations.
    ends: bool,
}

impl Trusted {
    fn of(program: &backend::Program<'_>) -> Option<Trusted> {
        let kernel = match program {
            backend::Program::Binary {
                origin: Origin::Rendered(kernel),
                parts,
                source,
                ..
            } if parts.is_empty() && source.files.is_empty() && kernel.preludes.is_empty() => {
                kernel
            }
            backend::Program::Binary { .. }
            | backend::Program::Direct(_)
            | backend::Program::Ir(_) => return None,
        };
        let mut ends = true;
        for id in (0..kernel.stmts.len() as u32).map(StmtId) {
            match kernel.stmt(id).facts().effect {
                Effect::Native(_) => return None,
                // Helpers may try until no other thread interferes.
                Effect::Atomic(..) | Effect::Call(_) => ends = false,
                Effect::None
                | Effect::Store(_)
                | Effect::Place(_)
                | Effect::Print(_)
                | Effect::Fence
                | Effect::Barrier
                | Effect::Subgroup(..) => ends &= termination::ends(kernel, id),
            }
        }
        Some(Trusted { ends })
    }
}

/// A kernel ready to launch.
pub(super) struct Program {
    pipeline: ComputePipeline,
    pub slots: Vec<Slot>,
    /// The binding numbers of the buffers, in the order of their slots, then that of the uniform block.
    numbers: Vec<u32>,
    layout: BindGroupLayout,
    scalars: Scalars,
    /// The uniform block of scalars that are no immediates. One serves all launches, since they run in order.
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

    /// True if a launch writes the uniform block, so that no other launch may share its submission.
    pub fn writes_uniform(&self) -> bool {
        self.uniform.is_some()
    }

    /// Records a launch. A uniform block is written before the next submission.
    pub fn dispatch(
        &self,
        shared: &Shared,
        pass: &mut ComputePass<'_>,
        (args, group, grid): (&[Arg], &BindGroup, [u32; 3]),
    ) {
        let scalars = self.scalars.pack(args);
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, group, &[]);
        match &self.uniform {
            Some(uniform) => shared.queue.write_buffer(uniform, 0, &scalars),
            None if scalars.is_empty() => {}
            None => pass.set_immediates(0, &scalars),
        }
        let [x, y, z] = grid;
        pass.dispatch_workgroups(x, y, z);
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
    binary.artifact.check_entry(Wgsl.name(), binary.entry)?;
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
    let trusted = Trusted::of(program);
    // The size of the uniform block.
    let block = match ImmediateWgsl::is_used(text) {
        true => 0,
        false => scalars.size as u32,
    };
    let (layout, pipeline) = compiled(shared, binary.kernel, binary.source, || {
        let module = module(shared, text, trusted);
        let layout = bind_group_layout(shared, &binary.source.slots, block > 0, &numbers);
        let pipelines = shared
            .device
            .create_pipeline_layout(&PipelineLayoutDescriptor {
                label: None,
                bind_group_layouts: &[Some(&layout)],
                immediate_size: scalars.size as u32 - block,
            });
        let pipeline = shared
            .device
            .create_compute_pipeline(&ComputePipelineDescriptor {
                label: Some(binary.kernel),
                layout: Some(&pipelines),
                module: &module,
                entry_point: Some(binary.entry),
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
    let uniform = match block {
        0 => None,
        size => Some(shared.checked("creating a uniform buffer", || {
            shared.device.create_buffer(&BufferDescriptor {
                label: Some("sarek scalars"),
                size: size.into(),
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

/// The layout for buffers in the order of their slots, then the uniform block, if there is one, with these binding numbers.
fn bind_group_layout(
    shared: &Shared,
    slots: &[Slot],
    has_block: bool,
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
    let uniform = has_block.then_some(BufferBindingType::Uniform);
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
mod tests {
    use crate::require;

    use super::super::{device::Device, find};
    use super::*;
    use sarek_ir::{Axis, ParamId, Scalar};
    use sarek_runtime::backend::ScalarBytes;

    #[test]
    fn a_device_lost_to_its_compiler_names_the_kernel() {
        let found = match find() {
            Ok(found) => found,
            Err(why) => return require::skip("wgpu", &why),
        };
        let device = Device::open(&found.instance, &found.adapters[0]).expect("the device opens");
        let shared = device.shared();
        let source = Source::default();
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
