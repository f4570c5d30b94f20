//! The machine.

use sarek::backend::{RawFault, Slice};
use sarek::ir::{BinaryOp, ParamKind, Scalar, Value, operators};
use sarek::{Error, Result};
use sarek_ir::{Arithmetic, SiteId};

use super::code::{Code, PROVED};
use super::{NAME, bytes, foreign};

/// An argument as the launch passes it.
pub(super) enum Input<'a> {
    Memory(&'a Slice),
    Scalar(&'a [u8]),
}

/// The argument of a parameter.
enum Bound<'a> {
    Scalar(Value),
    /// The memory, its elements and their type.
    Memory(&'a Slice, u64, Scalar),
}

/// A loaded program.
pub(super) struct Machine {
    program: Vec<Code>,
    params: Vec<ParamKind>,
}

/// The end of a thread that did not reach the end of the program.
enum Stop {
    /// A check failed at this site.
    Fault(u32, u64),
    /// The program or its arguments are broken.
    Broken(Error),
}

/// A failed check. One that the launch has proved cannot fail, unless the program is broken.
fn failed(site: u32, detail: u64) -> Stop {
    match site {
        PROVED => broken(),
        site => Stop::Fault(site, detail),
    }
}

fn broken() -> Stop {
    Stop::Broken(Error::Device {
        device: NAME.into(),
        message: "the program does not fit its stack or its arguments".into(),
    })
}

impl Machine {
    pub(super) fn new(program: Vec<Code>, params: Vec<ParamKind>) -> Machine {
        Machine { program, params }
    }

    /// Runs all threads, one after the other, up to the first fault.
    pub(super) fn run(&self, inputs: &[Input<'_>], extent: [u64; 3]) -> Result<Option<RawFault>> {
        let args = self.bind(inputs).ok_or_else(|| foreign("arguments"))?;
        let [nx, ny, nz] = extent;
        for n in 0..nx * ny * nz {
            let thread = [n % nx, n / nx % ny, n / (nx * ny)];
            match self.thread(&args, thread, extent) {
                Ok(()) => {}
                Err(Stop::Broken(error)) => return Err(error),
                Err(Stop::Fault(site, detail)) => {
                    let site = SiteId(site);
                    return Ok(Some(RawFault {
                        site,
                        detail,
                        thread,
                    }));
                }
            }
        }
        Ok(None)
    }

    /// The arguments, by parameter: a scalar, or a memory and its number of elements.
    fn bind<'a>(&self, inputs: &[Input<'a>]) -> Option<Vec<Bound<'a>>> {
        let mut inputs = inputs.iter();
        let bind = |kind: &ParamKind| match (*kind, inputs.next()?) {
            (ParamKind::Scalar(ty), Input::Scalar(bytes)) if ty.is_half() => {
                let passed = Value::of_bits(Scalar::F32, word(bytes)?);
                Some(Bound::Scalar(operators::cast(passed, ty)))
            }
            (ParamKind::Scalar(ty), Input::Scalar(bytes)) => {
                Some(Bound::Scalar(Value::of_bits(ty, word(bytes)?)))
            }
            (ParamKind::Slice { elem, .. }, Input::Memory(slice)) => match inputs.next()? {
                Input::Scalar(len) => Some(Bound::Memory(slice, word(len)?, elem.scalar())),
                Input::Memory(_) => None,
            },
            _ => None,
        };
        self.params.iter().map(bind).collect()
    }

    fn thread(&self, args: &[Bound<'_>], thread: [u64; 3], extent: [u64; 3]) -> Result<(), Stop> {
        let mut stack: Vec<Value> = vec![];
        let mut locals: Vec<Value> = vec![];
        let mut at = 0;
        while let Some(code) = self.program.get(at) {
            at += 1;
            let mut pop = || stack.pop().ok_or_else(broken);
            let result = match *code {
                Code::Push(value) => value,
                Code::Get(local) => *locals.get(local as usize).ok_or_else(broken)?,
                Code::Set(local) => {
                    let (value, local) = (pop()?, local as usize);
                    if locals.len() <= local {
                        locals.resize(local + 1, Value::Bool(false));
                    }
                    locals[local] = value;
                    continue;
                }
                Code::Param(param) => match args.get(param as usize) {
                    Some(Bound::Scalar(value)) => *value,
                    Some(Bound::Memory(..)) | None => return Err(broken()),
                },
                Code::Len(param) => Value::Usize(memory(args, param)?.1),
                Code::Index(axis) => Value::Usize(thread[usize::from(axis)]),
                Code::Extent(axis) => Value::Usize(extent[usize::from(axis)]),
                Code::Load(param, site) => {
                    let index = pop()?.bits();
                    element(args, param, site, index, |bytes, ty| {
                        Value::of_bits(ty, word(bytes).unwrap_or(0))
                    })?
                }
                Code::Store(param, site) => {
                    let (index, value) = (pop()?.bits(), pop()?.bits().to_le_bytes());
                    element(args, param, site, index, |bytes, _| {
                        bytes.copy_from_slice(&value[..bytes.len()]);
                    })?;
                    continue;
                }
                Code::Unary(op) => operators::unary(op, pop()?),
                Code::Binary(op, site) => {
                    let (rhs, lhs) = (pop()?, pop()?);
                    if site != PROVED && overflows(op, lhs, rhs) {
                        return Err(Stop::Fault(site, 0));
                    }
                    operators::binary(op, lhs, rhs)
                }
                Code::Divide(op, site) => {
                    let (rhs, lhs) = (pop()?, pop()?);
                    let result = operators::divide(op, lhs, rhs);
                    result.ok_or_else(|| failed(site, rhs.bits()))?
                }
                Code::Cast(to) => operators::cast(pop()?, to),
                Code::Jump(to) => {
                    at = to as usize;
                    continue;
                }
                Code::Unless(to) => {
                    if pop()? == Value::Bool(false) {
                        at = to as usize;
                    }
                    continue;
                }
            };
            stack.push(result);
        }
        Ok(())
    }
}

fn memory<'a>(args: &'a [Bound<'_>], param: u32) -> Result<(&'a Slice, u64, Scalar), Stop> {
    match args.get(param as usize) {
        Some(Bound::Memory(slice, len, ty)) => Ok((slice, *len, *ty)),
        Some(Bound::Scalar(_)) | None => Err(broken()),
    }
}

/// Calls `then` with the bytes of an element.
fn element<T>(
    args: &[Bound<'_>],
    param: u32,
    site: u32,
    index: u64,
    then: impl FnOnce(&mut [u8], Scalar) -> T,
) -> Result<T, Stop> {
    let (slice, len, ty) = memory(args, param)?;
    if index >= len {
        return Err(failed(site, index));
    }
    let mut bytes = bytes(slice).map_err(Stop::Broken)?;
    let at = slice.offset + index as usize * ty.size();
    let element = bytes.get_mut(at..at + ty.size()).ok_or_else(broken)?;
    Ok(then(element, ty))
}

/// True if an operation on integers overflows.
fn overflows(op: BinaryOp, lhs: Value, rhs: Value) -> bool {
    let arithmetic = match op {
        BinaryOp::Add => Arithmetic::Add,
        BinaryOp::Sub => Arithmetic::Sub,
        BinaryOp::Mul => Arithmetic::Mul,
        BinaryOp::Shl => Arithmetic::Shl,
        BinaryOp::Shr => Arithmetic::Shr,
        BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::Eq
        | BinaryOp::Ne
        | BinaryOp::Lt
        | BinaryOp::Le
        | BinaryOp::Gt
        | BinaryOp::Ge => return false,
    };
    arithmetic.overflows(&[lhs, rhs])
}

/// Up to 8 bytes as a number.
fn word(bytes: &[u8]) -> Option<u64> {
    let mut word = [0; 8];
    word.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(u64::from_le_bytes(word))
}
