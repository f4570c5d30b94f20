//! The arguments of a launch, as the interpreter asks for them.

use sarek::Result;
use sarek::backend::{Arg, print};
use sarek::environment::Held;
use sarek::intrinsic::{ThreadState, call_host};
use sarek::ir::interp::{Host, Ids};
use sarek::ir::operators;
use sarek::ir::write::SlotKind;
use sarek::ir::{ParamId, ParamKind, Scalar, Value};

use super::device::{Loaded, Memory, foreign};
use super::unit::{MULTIPLY_ADD, Unit};

/// The argument of a parameter.
enum Bound<'a> {
    Scalar(Value),
    /// The memory, the offset of the first element in bytes, the elements and their type.
    Slice(&'a Memory, usize, u64, Scalar),
}

/// The arguments, by parameter.
pub(super) struct Arguments<'a> {
    bound: Vec<Bound<'a>>,
    unit: Option<Held<Unit>>,
}

impl<'a> Arguments<'a> {
    pub(super) fn new(
        loaded: &Loaded,
        args: &'a [Arg],
        unit: Option<Held<Unit>>,
    ) -> Result<Arguments<'a>> {
        let slot = |kind: SlotKind| {
            let at = loaded.slots.iter().position(|slot| slot.kind == kind)?;
            args.get(at)
        };
        let bind = |(i, kind): (u32, ParamKind)| {
            let id = ParamId(i);
            match kind {
                ParamKind::Scalar(ty) => match slot(SlotKind::Scalar(id)) {
                    Some(Arg::Scalar(scalar)) => {
                        Some(Bound::Scalar(argument(ty, scalar.as_bytes())))
                    }
                    // A scalar that the text does not use is no argument.
                    _ => Some(Bound::Scalar(Value::from_word(ty, 0))),
                },
                ParamKind::Slice { elem, .. } => {
                    let buffer = [true, false]
                        .into_iter()
                        .find_map(|mutable| slot(SlotKind::Buffer { param: id, mutable }));
                    let Some(Arg::Buffer(slice)) = buffer else {
                        return None;
                    };
                    let ty = elem.scalar();
                    let len = match slot(SlotKind::Len(id.into())) {
                        Some(Arg::Scalar(len)) => value(Scalar::Usize, len.as_bytes()).word(),
                        // If the text takes no length, the length is that of the memory.
                        _ => (slice.len / ty.size()) as u64,
                    };
                    let memory = Memory::of(slice).ok()?;
                    Some(Bound::Slice(memory, slice.offset, len, ty))
                }
                ParamKind::Value(_) | ParamKind::Reference(_) => None,
            }
        };
        let kinds = loaded.kernel.params.iter().map(|param| param.kind);
        let bound: Option<Vec<_>> = (0..).zip(kinds).map(bind).collect();
        let bound = bound.ok_or_else(|| foreign("arguments"))?;
        Ok(Arguments { bound, unit })
    }
}

impl Host for Arguments<'_> {
    fn print(&mut self, text: &str) {
        print(format_args!("{text}"));
    }

    fn intrinsic(&mut self, name: &str, thread: &Ids, args: &[Value]) -> Option<Value> {
        match (name, args, &self.unit) {
            (MULTIPLY_ADD, [a, b, c], Some(unit)) => {
                let [a, b, c] = [a, b, c].map(|x| f32::from_bits(x.word() as u32));
                let result = unit.multiply_add(a, b, c).to_bits();
                Some(Value::from_word(Scalar::F32, result.into()))
            }
            _ => call_host(name, &ThreadState::new(*thread), args),
        }
    }

    fn scalar(&self, param: ParamId) -> Value {
        match self.bound[param.index()] {
            Bound::Scalar(value) => value,
            Bound::Slice(..) => unreachable!("a validated kernel takes no slice for a value"),
        }
    }

    fn len(&self, slice: ParamId) -> u64 {
        match self.bound[slice.index()] {
            Bound::Slice(_, _, len, _) => len,
            Bound::Scalar(_) => unreachable!("a validated kernel takes lengths of slices only"),
        }
    }

    fn load(&mut self, slice: ParamId, index: u64) -> Value {
        let Bound::Slice(memory, offset, _, ty) = self.bound[slice.index()] else {
            unreachable!("a validated kernel indexes slices only");
        };
        value(
            ty,
            &memory.lock()[offset + index as usize * ty.size()..][..ty.size()],
        )
    }

    fn store(&mut self, slice: ParamId, index: u64, value: Value) {
        let Bound::Slice(memory, offset, _, ty) = self.bound[slice.index()] else {
            unreachable!("a validated kernel indexes slices only");
        };
        let bytes = &value.word().to_le_bytes()[..ty.size()];
        memory.lock()[offset + index as usize * ty.size()..][..ty.size()].copy_from_slice(bytes);
    }
}

/// A scalar argument. A 16-bit float is passed as an `f32`, in which kernels compute it.
fn argument(ty: Scalar, bytes: &[u8]) -> Value {
    match ty.is_half() {
        true => operators::cast(value(Scalar::F32, bytes), ty),
        false => value(ty, bytes),
    }
}

/// A value from its bytes. A small number that is an argument has more bytes than its type.
fn value(ty: Scalar, bytes: &[u8]) -> Value {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    Value::from_word(ty, u64::from_le_bytes(word))
}
