//! Checks that the thread that a device reports for a fault does fault.
//!
//! If several threads fault, a device may report any of them. It may also report any faulting site of that thread, as C leaves
//! the evaluation order of operands open. But it must not report a thread that never faults, nor one outside the launch.

use sarek_ir::interp::{Host, Ids, Machine};
use sarek_ir::{Kernel, ParamId, ParamKind, Scalar, Stmt, Value};

use crate::case::{Launch, Shape};
use crate::data::{self, Argument};

/// True if the thread with these global ids faults.
///
/// If threads communicate through shared memory or subgroups, this only checks that the thread is in the launch. Its result depends on how far
/// other faulting threads got.
pub fn faults(kernel: &Kernel, launch: &Launch, thread: [u64; 3]) -> bool {
    let Some(ids) = ids(launch.shape, thread) else {
        return false;
    };
    if is_cooperative(kernel) {
        return true;
    }
    let mut memory = Memory::new(kernel, launch);
    Machine::new(kernel).run(&ids, [1; 3], &mut memory).is_err()
}

fn is_cooperative(kernel: &Kernel) -> bool {
    let waits = |stmt: &Stmt| stmt.facts().effect.is_cooperative();
    !kernel.shared.is_empty() || kernel.stmts.iter().any(waits)
}

/// The ids of a thread, if it is in the launch. Where the device picks the block, all threads form one block here.
fn ids(shape: Shape, thread: [u64; 3]) -> Option<Ids> {
    let wide = |dims: [usize; 3]| dims.map(|d| d as u64);
    let (grid, block) = shape.blocks();
    let (grid, block) = (wide(grid), wide(block));
    let global_dim = [0, 1, 2].map(|a| grid[a] * block[a]);
    (0..3).all(|a| thread[a] < global_dim[a]).then(|| Ids {
        thread_idx: [0, 1, 2].map(|a| thread[a] % block[a]),
        block_idx: [0, 1, 2].map(|a| thread[a] / block[a]),
        block_dim: block,
        grid_dim: grid,
        global_dim,
    })
}

/// The arguments of a launch, for the interpreter.
pub(crate) struct Memory<'k> {
    kernel: &'k Kernel,
    arguments: Vec<Content>,
}

enum Content {
    Scalar(Value),
    Bits(Vec<u64>),
}

impl<'k> Memory<'k> {
    /// The arguments before the launch.
    pub(crate) fn new(kernel: &'k Kernel, launch: &Launch) -> Memory<'k> {
        let arguments = data::arguments(&kernel.params, launch).into_iter();
        let arguments = arguments.map(|argument| match argument {
            Argument::Scalar(value) => Content::Scalar(value),
            Argument::Vector(vector) => Content::Bits(vector.bits().unwrap_or_default()),
        });
        Memory {
            kernel,
            arguments: arguments.collect(),
        }
    }

    fn bits(&mut self, buffer: ParamId) -> &mut Vec<u64> {
        match &mut self.arguments[buffer.index()] {
            Content::Bits(bits) => bits,
            Content::Scalar(_) => unreachable!("a validated kernel indexes slices only"),
        }
    }
}

impl Host for Memory<'_> {
    fn scalar(&self, param: ParamId) -> Value {
        match &self.arguments[param.index()] {
            Content::Scalar(value) => *value,
            Content::Bits(_) => unreachable!("a validated kernel takes no slice for a value"),
        }
    }

    fn len(&self, buffer: ParamId) -> u64 {
        match &self.arguments[buffer.index()] {
            Content::Bits(bits) => bits.len() as u64,
            Content::Scalar(_) => unreachable!("a validated kernel takes lengths of slices only"),
        }
    }

    fn load(&mut self, buffer: ParamId, index: u64) -> Value {
        let ParamKind::Slice { elem, .. } = self.kernel.params[buffer.index()].kind else {
            unreachable!("a validated kernel indexes slices only");
        };
        value(elem.scalar(), self.bits(buffer)[index as usize])
    }

    fn store(&mut self, buffer: ParamId, index: u64, value: Value) {
        self.bits(buffer)[index as usize] = bits(value);
    }
}

fn value(ty: Scalar, bits: u64) -> Value {
    match ty {
        Scalar::Bool => Value::Bool(bits != 0),
        Scalar::I8 => Value::I8(bits as i8),
        Scalar::U8 => Value::U8(bits as u8),
        Scalar::I16 => Value::I16(bits as i16),
        Scalar::U16 => Value::U16(bits as u16),
        Scalar::I32 => Value::I32(bits as i32),
        Scalar::U32 => Value::U32(bits as u32),
        Scalar::I64 => Value::I64(bits as i64),
        Scalar::U64 => Value::U64(bits),
        Scalar::Usize => Value::Usize(bits),
        Scalar::F16 => Value::F16(bits as u16),
        Scalar::Bf16 => Value::Bf16(bits as u16),
        Scalar::F32 => Value::F32(bits as u32),
        Scalar::F64 => Value::F64(bits),
    }
}

fn bits(value: Value) -> u64 {
    match value {
        Value::Bool(v) => v.into(),
        Value::I8(v) => v as u8 as u64,
        Value::U8(v) => v.into(),
        Value::I16(v) => v as u16 as u64,
        Value::U16(v) | Value::F16(v) | Value::Bf16(v) => v.into(),
        Value::I32(v) => v as u32 as u64,
        Value::U32(v) | Value::F32(v) => v.into(),
        Value::I64(v) => v as u64,
        Value::U64(v) | Value::Usize(v) | Value::F64(v) => v,
    }
}
