//! Renders, compiles and launches a kernel given as data, in whole blocks.

use std::sync::Arc;

use sarek_ir::analysis::range::{ArgFact, LaunchFacts};
use sarek_ir::write::{FAULT_WORDS, IndexWidth, Slot, SlotKind, Variant};
use sarek_ir::{Axis, Kernel, Memory, Scalar, SiteId, Value};
use sarek_runtime::backend::{Arg, Args, Codegen, Launch, Origin, Parts, Program, Slice, States};
use sarek_runtime::host::IndexSpace;
use sarek_runtime::tag::ScheduleKind;

use crate::rig::{Rig, buffer, scalar};

/// An argument of a kernel.
pub enum Given {
    Scalar(Value),
    /// Memory with its number of elements.
    Slice(Slice, u64),
}

/// A launch in whole blocks.
pub struct Call<'a> {
    pub kernel: &'a Kernel,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub given: Vec<Given>,
    /// True to check all sites, false to check none.
    pub checked: bool,
    pub index: IndexWidth,
}

impl Call<'_> {
    /// Runs it, and returns the fault record.
    pub fn run(&self, rig: &Rig) -> Vec<u32> {
        let Codegen::Jit(renderer, _) = rig.device.codegen() else {
            panic!("{} compiles source", rig.backend);
        };
        let all = 0..self.kernel.sites.len() as u32;
        let variant = Variant {
            dims: (0..3)
                .rfind(|&i| self.grid[i] * self.block[i] > 1)
                .map_or(1, |i| i as u8 + 1),
            folded: false,
            strided: false,
            index: self.index,
            checked: all.filter(|_| self.checked).map(SiteId).collect(),
            dense: true,
        };
        let source = renderer.render(self.kernel, &variant).expect("it renders");
        let (space, shared) = (self.space(), self.shared());
        let artifact = rig.compile(&source).unwrap_or_else(|e| panic!("{e}"));
        let program = Program::Binary {
            artifact: &artifact,
            entry: &source.entry,
            source: &source,
            kernel: &self.kernel.name,
            block: self.block,
            shared: &shared,
            parts: &Parts::new(),
            origin: Origin::Rendered(&Arc::new(self.kernel.clone())),
        };
        // SAFETY: the device compiled the text that its renderer made of the kernel.
        let program = unsafe { rig.device.load(&program) };
        let program = program.unwrap_or_else(|e| panic!("{e}\n{}", source.text));
        let faults = rig.upload(&[0u32; FAULT_WORDS]);
        let args: Vec<Arg> = source
            .slots
            .iter()
            .map(|slot| self.arg(slot, &shared, &faults))
            .collect();
        let launch = Launch {
            program: &*program,
            kernel: &self.kernel.name,
            space,
            grid: self.grid,
            schedule: &ScheduleKind::blocks(),
            environments: &States::default(),
            args: Args::Device(&args),
        };
        // SAFETY: the arguments are those of the kernel's slots, in memory of this test.
        let launched = unsafe { rig.stream.launch(&launch) };
        assert!(launched.expect("it launches").is_none());
        rig.download(&faults)
    }

    fn space(&self) -> IndexSpace {
        IndexSpace {
            grid: self.grid.map(u64::from),
            block: self.block,
            extent: std::array::from_fn(|i| u64::from(self.grid[i]) * u64::from(self.block[i])),
        }
    }

    fn shared(&self) -> Vec<u64> {
        let space = self.space();
        let args: Vec<ArgFact> = (self.given.iter())
            .map(|given| match given {
                Given::Scalar(value) => ArgFact::Scalar(*value),
                Given::Slice(_, len) => ArgFact::Len(*len),
            })
            .collect();
        let facts = LaunchFacts {
            grid: space.grid,
            block: space.block,
            extent: space.extent,
            args: &args,
        };
        self.kernel.shared_lens(&facts).expect("nothing is divided")
    }

    fn arg(&self, slot: &Slot, shared: &[u64], faults: &Slice) -> Arg {
        let index = |value: u64| match slot.ty {
            Scalar::U64 => scalar(value),
            _ => scalar(u32::try_from(value).expect("a small index")),
        };
        let along = |numbers: [u64; 3], axis: Axis| index(numbers[axis.index()]);
        match slot.kind {
            SlotKind::Buffer { param, .. } => match &self.given[param.index()] {
                Given::Slice(slice, _) => buffer(slice),
                Given::Scalar(value) => panic!("{value:?} is no slice"),
            },
            SlotKind::Len(Memory::Slice(param)) => match &self.given[param.index()] {
                Given::Slice(_, len) => index(*len),
                Given::Scalar(value) => panic!("{value:?} has no length"),
            },
            SlotKind::Len(Memory::Shared(id)) => index(shared[id.index()]),
            SlotKind::Len(Memory::Local(_) | Memory::Table(_)) => {
                panic!("a local array is no argument")
            }
            SlotKind::Scalar(param) => match self.given[param.index()] {
                Given::Scalar(Value::Usize(value)) => index(value),
                Given::Scalar(value) => panic!("no test passes {value:?}"),
                Given::Slice(..) => panic!("a slice is no value"),
            },
            SlotKind::Extent(axis) => along(self.space().extent, axis),
            SlotKind::Grid(axis) => along(self.space().grid, axis),
            SlotKind::Output(_) => panic!("nothing is printed"),
            SlotKind::Faults => buffer(faults),
            SlotKind::Shared(id) => Arg::Shared {
                bytes: shared[id.index()].max(1) * slot.ty.size() as u64,
            },
        }
    }
}
