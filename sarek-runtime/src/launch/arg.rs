use std::ops::Range;
use std::sync::Arc;

use sarek_ir::{Access, Param, ParamKind, Type, TypeInfo, Value};

use crate::kernel::foreign::Definition;
use crate::plugin::backend::Passed;
use crate::types::bytes;
use crate::types::leaves::leaves;
use crate::vector::ErasedVector;
use crate::{AtomicElement, Element, Error, Result, ScalarArg, Vector, VectorView, VectorViewMut};

/// An argument of a launch: a scalar, a vector to read, or a vector to read and write.
///
/// Convert with `Arg::from` from a scalar, a `&Vector` or a `&mut Vector`.
pub struct Arg<'a>(pub(super) ArgKind<'a>);

pub(super) enum ArgKind<'a> {
    Scalar(Value),
    /// A value of several parts.
    Value(Compound),
    Read(&'a dyn ErasedVector),
    Write(&'a mut dyn ErasedVector),
    View(View<'a>),
}

/// A slice that is passed as a view.
pub(super) struct View<'a> {
    /// The slice.
    slice: Box<Arg<'a>>,
    /// The shape, offset and strides, in the order of the parameters that follow the slice.
    scalars: Vec<u64>,
}

/// A value of several parts.
pub(super) struct Compound {
    /// Its bytes; uninitialised ones are 0. Compiled bodies get a pointer to them; an `Arc` keeps
    /// it valid when this moves.
    pub(super) bytes: Arc<[u8]>,
    /// Its scalars, one for each parameter of the linked kernel.
    pub(super) leaves: Vec<Value>,
    /// `true` for a scalar, of a type that a generic kernel takes.
    is_scalar: bool,
}

impl<T: ScalarArg> From<T> for Arg<'_> {
    fn from(value: T) -> Self {
        Arg(ArgKind::Scalar(value.value()))
    }
}

impl<'a, T: Element> From<&'a Vector<T>> for Arg<'a> {
    fn from(vector: &'a Vector<T>) -> Self {
        Arg(ArgKind::Read(vector))
    }
}

impl<'a, T: Element> From<&'a mut Vector<T>> for Arg<'a> {
    fn from(vector: &'a mut Vector<T>) -> Self {
        Arg(ArgKind::Write(vector))
    }
}

impl<'a, T: Element, const N: usize> From<VectorView<'a, T, N>> for Arg<'a> {
    fn from(view: VectorView<'a, T, N>) -> Self {
        Arg(ArgKind::View(View {
            slice: Box::new(Arg::from(view.vector)),
            scalars: view.layout.scalars(),
        }))
    }
}

impl<'a, T: Element, const N: usize> From<VectorViewMut<'a, T, N>> for Arg<'a> {
    fn from(view: VectorViewMut<'a, T, N>) -> Self {
        Arg(ArgKind::View(View {
            scalars: view.layout.scalars(),
            slice: Box::new(Arg::from(view.vector)),
        }))
    }
}

impl<'a> Arg<'a> {
    /// Passes a value that is not a scalar, such as a struct or a tuple.
    pub fn value<T: Element>(value: T) -> Arg<'a> {
        let bytes = bytes::of(std::slice::from_ref(&value)).into();
        let leaves = leaves(&value);
        let is_scalar = matches!(T::TYPE, TypeInfo::Scalar(_));
        Arg(ArgKind::Value(Compound {
            bytes,
            leaves,
            is_scalar,
        }))
    }

    /// Passes a view.
    pub fn view(view: impl Into<Arg<'a>>) -> Arg<'a> {
        view.into()
    }

    /// Passes a vector for a `&[Atomic<T>]` parameter.
    pub fn atomics<T: AtomicElement>(vector: &'a mut Vector<T>) -> Arg<'a> {
        Arg::from(vector)
    }
}

impl Arg<'_> {
    /// The vector, if this is one.
    pub(crate) fn vector(&self) -> Option<&dyn ErasedVector> {
        match &self.0 {
            ArgKind::Scalar(_) | ArgKind::Value(_) | ArgKind::View(_) => None,
            ArgKind::Read(vector) => Some(*vector),
            ArgKind::Write(vector) => Some(&**vector),
        }
    }

    /// The vector, if the kernel writes it.
    pub(crate) fn written(&mut self) -> Option<&mut (dyn ErasedVector + '_)> {
        match &mut self.0 {
            ArgKind::Scalar(_) | ArgKind::Value(_) | ArgKind::View(_) | ArgKind::Read(_) => None,
            ArgKind::Write(vector) => Some(&mut **vector),
        }
    }

    /// The value, if this is a scalar.
    pub(super) fn scalar(&self) -> Option<Value> {
        match &self.0 {
            ArgKind::Scalar(value) => Some(*value),
            ArgKind::Value(_) | ArgKind::View(_) | ArgKind::Read(_) | ArgKind::Write(_) => None,
        }
    }

    /// The bytes of the vector; 0 for a scalar.
    pub(super) fn bytes(&self) -> u64 {
        let bytes = |v: &dyn ErasedVector| (v.len() as u64).saturating_mul(v.size() as u64);
        self.vector().map_or(0, bytes)
    }

    /// The elements of the vector; 0 for a scalar.
    pub(super) fn len(&self) -> u64 {
        self.vector().map_or(0, |v| v.len() as u64)
    }

    /// The length of the vector in scalars, as devices see it; 0 for a scalar.
    pub(super) fn units(&self) -> u64 {
        self.vector()
            .map_or(0, |v| (v.len() as u64).saturating_mul(v.unit().1))
    }

    fn kind(&self) -> ParamKind {
        let slice = |vector: &dyn ErasedVector, access| ParamKind::Slice {
            elem: vector.unit().0.into(),
            access,
        };
        match &self.0 {
            ArgKind::Scalar(value) => ParamKind::Scalar(value.scalar()),
            ArgKind::Value(_) | ArgKind::View(_) => {
                unreachable!("a call has its scalars in its place")
            }
            ArgKind::Read(vector) => slice(*vector, Access::Read),
            ArgKind::Write(vector) => slice(&**vector, Access::Write),
        }
    }
}

/// Arguments, split to match the parameters of a linked kernel.
pub(super) struct Flattened<'a> {
    /// Values of several parts are split into scalars, and views into a slice and scalars.
    pub(super) args: Vec<Arg<'a>>,
    /// The split values: the index of the first scalar, their number, and the bytes of the value.
    pub(super) compounds: Vec<(usize, usize, Arc<[u8]>)>,
    /// The ranges of scalars that are parts of a struct, an enum, a tuple, an array or a view. They
    /// have meaning only together, and the linker names them.
    pub(super) parts: Vec<Range<usize>>,
    /// True if the last stride of a view is not 1.
    pub(super) strided: bool,
}

pub(super) fn flattened(args: Vec<Arg<'_>>) -> Flattened<'_> {
    let is_one = |arg: &Arg<'_>| match arg.0 {
        ArgKind::Scalar(_) | ArgKind::Read(_) | ArgKind::Write(_) => true,
        ArgKind::Value(_) | ArgKind::View(_) => false,
    };
    if args.iter().all(is_one) {
        return Flattened {
            args,
            compounds: vec![],
            parts: vec![],
            strided: false,
        };
    }
    let mut flat = Vec::with_capacity(args.len());
    let mut compounds = vec![];
    let mut parts = vec![];
    let mut strided = false;
    for arg in args {
        match arg.0 {
            ArgKind::View(view) => {
                strided |= view.scalars.last() != Some(&1);
                let scalars = view.scalars.into_iter();
                flat.push(*view.slice);
                parts.push(flat.len()..flat.len() + scalars.len());
                flat.extend(scalars.map(|v| Arg(ArgKind::Scalar(Value::Usize(v)))));
            }
            ArgKind::Value(compound) => {
                if !compound.is_scalar {
                    parts.push(flat.len()..flat.len() + compound.leaves.len());
                }
                compounds.push((flat.len(), compound.leaves.len(), compound.bytes));
                let scalars = compound.leaves.into_iter();
                flat.extend(scalars.map(|leaf| Arg(ArgKind::Scalar(leaf))));
            }
            ArgKind::Scalar(_) | ArgKind::Read(_) | ArgKind::Write(_) => flat.push(arg),
        }
    }
    Flattened {
        args: flat,
        compounds,
        parts,
        strided,
    }
}

/// Checks arguments against parameters. For a call of a `#[kernel]` function rustc has done so;
/// this covers launches that are built by hand.
pub(super) fn check(kernel: &str, params: &[Param], args: &[Arg<'_>]) -> Result<()> {
    let problem = |problem| Error::Launch {
        kernel: kernel.to_owned(),
        problem,
    };
    if params.len() != args.len() {
        let (want, have) = (params.len(), args.len());
        return Err(problem(format!("it takes {want} arguments, not {have}")));
    }
    for (param, arg) in params.iter().zip(args) {
        if param.kind != arg.kind() && !is_atomic(param.kind, arg.kind()) {
            let (want, have) = (words(param.kind), words(arg.kind()));
            return Err(problem(format!(
                "`{}` takes {want}, not {have}",
                param.name
            )));
        }
    }
    Ok(())
}

/// Returns an error unless the vectors' element types are those that a foreign kernel declares.
/// Their scalar types were checked before.
pub(super) fn check_elements(definition: &Definition, args: &[Arg<'_>]) -> Result<()> {
    for (parameter, arg) in definition.parameters.iter().zip(args) {
        if let (Passed::Vector { element, id, .. }, Some(vector)) = (&parameter.kind, arg.vector())
            && vector.element().0 != *id
        {
            let (name, have) = (&parameter.name, vector.element().1);
            return Err(Error::Launch {
                kernel: definition.entry.clone(),
                problem: format!("`{name}` takes elements {element}, not {have}"),
            });
        }
    }
    Ok(())
}

/// True if a parameter of atomics gets a vector that may be written.
fn is_atomic(param: ParamKind, arg: ParamKind) -> bool {
    let (wanted, access) = match param {
        ParamKind::Slice { elem, access } => (elem, access),
        ParamKind::Scalar(_) | ParamKind::Value(_) | ParamKind::Reference(_) => return false,
    };
    access == Access::Atomic
        && arg
            == ParamKind::Slice {
                elem: wanted,
                access: Access::Write,
            }
}

fn words(kind: ParamKind) -> String {
    let vector = |elem: Type| format!("Vector<{elem}>");
    match kind {
        ParamKind::Scalar(scalar) => scalar.to_string(),
        ParamKind::Value(_) | ParamKind::Reference(_) => "a value of several parts".to_string(),
        ParamKind::Slice {
            elem,
            access: Access::Write | Access::Atomic,
        } => format!("&mut {}", vector(elem)),
        ParamKind::Slice {
            elem,
            access: Access::Read,
        } => format!("&{}", vector(elem)),
    }
}
