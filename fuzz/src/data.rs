//! The arguments of a launch: generates them from a seed, reads results back as bits, and compares them.
//!
//! A parameter's name determines its values. `wild…` holds arbitrary floats, NaN included. Every other float is *tame*: a multiple of 1/8
//! up to [`TAME`] in magnitude, for which `+ - *` are exact. `near…` holds results that may be inexact; all other results must be exact.

use sarek::testing::{Random, Sample};
use sarek::{Element, Vector, bf16, f16};
use sarek_ir::{Access, Param, ParamKind, Scalar, Value};
use sarek_runtime::Arg;

use crate::case::{Launch, Layout};

/// The largest magnitude of a tame float.
pub const TAME: i32 = 128;

/// The number of fractional bits of a tame float: it is a multiple of 1/8.
pub const FRAC: u8 = 3;

/// An argument.
#[allow(clippy::large_enum_variant)] // there are a few for each kernel
pub enum Argument {
    /// For a scalar parameter.
    Scalar(Value),
    /// For a slice parameter.
    Vector(AnyVector),
}

macro_rules! elements {
    ($($variant:ident $ty:ident $to_bits:expr;)*) => {
        /// A vector of some element type.
        #[allow(missing_docs)]
        pub enum AnyVector {
            $($variant(Vector<$ty>),)*
        }

        impl AnyVector {
            fn filled(elem: Scalar, len: usize, tame: bool, random: &mut Random) -> AnyVector {
                match elem {
                    $(Scalar::$variant => AnyVector::$variant(Vector::from_vec(
                        (0..len).map(|_| if tame { <$ty>::tame(random) } else { arbitrary(random) }).collect(),
                    )),)*
                    Scalar::Usize => unreachable!("`usize` does not stand in buffers"),
                }
            }

            /// Passes the vector as an argument of a launch.
            pub fn arg(&mut self, access: Access) -> Arg<'_> {
                match (access, self) {
                    $((Access::Read, AnyVector::$variant(vector)) => (&*vector).into(),)*
                    $((Access::Write, AnyVector::$variant(vector)) => vector.into(),)*
                    (Access::Atomic, AnyVector::I32(vector)) => Arg::atomics(vector),
                    (Access::Atomic, AnyVector::U32(vector)) => Arg::atomics(vector),
                    (Access::Atomic, AnyVector::I64(vector)) => Arg::atomics(vector),
                    (Access::Atomic, AnyVector::U64(vector)) => Arg::atomics(vector),
                    (Access::Atomic, AnyVector::F32(vector)) => Arg::atomics(vector),
                    (Access::Atomic, AnyVector::F64(vector)) => Arg::atomics(vector),
                    (Access::Atomic, _) => unreachable!("no type that `Atomic` holds"),
                }
            }

            /// Passes the vector as a strided view.
            ///
            /// # Errors
            /// The layout reaches beyond the vector, or writes an element twice.
            pub fn view(&mut self, access: Access, layout: &Layout) -> sarek::Result<Arg<'_>> {
                let offset = layout.offset;
                match (&layout.shape[..], &layout.strides[..]) {
                    (&[a, b], &[s, t]) => self.seen(access, [a, b], offset, [s, t]),
                    (&[a, b, c], &[s, t, u]) => self.seen(access, [a, b, c], offset, [s, t, u]),
                    (_, _) => unreachable!("a view has two or three dimensions"),
                }
            }

            fn seen<const N: usize>(
                &mut self,
                access: Access,
                shape: [usize; N],
                offset: usize,
                strides: [usize; N],
            ) -> sarek::Result<Arg<'_>> {
                Ok(match (access, self) {
                    $((Access::Read, AnyVector::$variant(vector)) => vector.strided(shape, offset, strides)?.into(),)*
                    $((_, AnyVector::$variant(vector)) => vector.strided_mut(shape, offset, strides)?.into(),)*
                })
            }

            /// The bits of each element.
            ///
            /// # Errors
            /// The launch that wrote the vector failed.
            pub fn bits(&self) -> sarek::Result<Vec<u64>> {
                match self {
                    $(AnyVector::$variant(vector) => {
                        let bits: fn($ty) -> u64 = $to_bits;
                        Ok(vector.to_vec()?.into_iter().map(bits).collect())
                    })*
                }
            }
        }
    };
}

elements! {
    Bool bool |v| v.into();
    I8 i8 |v| v as u8 as u64;
    U8 u8 |v| v.into();
    I16 i16 |v| v as u16 as u64;
    U16 u16 |v| v.into();
    I32 i32 |v| v as u32 as u64;
    U32 u32 |v| v.into();
    I64 i64 |v| v as u64;
    U64 u64 |v| v;
    F16 f16 |v| v.to_bits().into();
    Bf16 bf16 |v| v.to_bits().into();
    F32 f32 |v| v.to_bits().into();
    F64 f64 |v| v.to_bits();
}

/// A type with values for which arithmetic is exact.
trait Tame: Element + Sample {
    fn tame(random: &mut Random) -> Self {
        arbitrary(random)
    }
}

impl Tame for bool {}
impl Tame for i8 {}
impl Tame for u8 {}
impl Tame for i16 {}
impl Tame for u16 {}
impl Tame for i32 {}
impl Tame for u32 {}
impl Tame for i64 {}
impl Tame for u64 {}

impl Tame for f16 {
    fn tame(random: &mut Random) -> f16 {
        f16::from_f64(eighths(random))
    }
}

impl Tame for bf16 {
    fn tame(random: &mut Random) -> bf16 {
        bf16::from_f64(eighths(random))
    }
}

impl Tame for f32 {
    fn tame(random: &mut Random) -> f32 {
        eighths(random) as f32
    }
}

impl Tame for f64 {
    fn tame(random: &mut Random) -> f64 {
        eighths(random)
    }
}

fn eighths(random: &mut Random) -> f64 {
    let steps = 8 * TAME as u64;
    (random.below(2 * steps + 1) as f64 - steps as f64) / 8.0
}

/// An edge value or any other value.
fn arbitrary<T: Sample>(random: &mut Random) -> T {
    match random.below(3) {
        0 => {
            let edges = T::edges();
            edges[random.below(edges.len() as u64) as usize]
        }
        _ => T::random(random),
    }
}

/// Generates the arguments for the parameters of a linked kernel.
pub fn arguments(params: &[Param], launch: &Launch) -> Vec<Argument> {
    let mut random = Random::new(launch.seed);
    let mut given = launch.scalars.iter();
    let (mut lens, mut views) = (launch.lens.iter().copied(), launch.views.iter());
    let mut layout = vec![].into_iter();
    let argument = |(at, param): (usize, &Param)| {
        let tame = !param.name.starts_with("wild");
        match param.kind {
            ParamKind::Scalar(_) if layout.len() > 0 => {
                let scalar: usize = layout.next().expect("one more");
                Argument::Scalar(Value::Usize(scalar as u64))
            }
            ParamKind::Scalar(ty) => {
                let given = (ty == Scalar::Usize).then(|| given.next()).flatten();
                Argument::Scalar(match given {
                    Some(value) => Value::Usize(*value),
                    None => scalar(ty, &mut random),
                })
            }
            ParamKind::Slice { elem, .. } => {
                let len = lens.next().unwrap_or(1);
                if is_view(params, at) {
                    let view = views.next().expect("a layout for each view");
                    layout = view.scalars().collect::<Vec<_>>().into_iter();
                }
                Argument::Vector(AnyVector::filled(elem.scalar(), len, tame, &mut random))
            }
            ParamKind::Value(_) | ParamKind::Reference(_) => {
                unreachable!("a linked kernel takes scalars and slices")
            }
        }
    };
    params.iter().enumerate().map(argument).collect()
}

/// True if the slice at this position is a view; the scalars of its layout follow it.
pub fn is_view(params: &[Param], at: usize) -> bool {
    let offset = format!("{}_offset", params[at].name);
    params[at..].iter().any(|param| param.name == offset)
}

fn scalar(ty: Scalar, random: &mut Random) -> Value {
    match ty {
        Scalar::Bool => Value::Bool(Tame::tame(random)),
        Scalar::I8 => Value::I8(Tame::tame(random)),
        Scalar::U8 => Value::U8(Tame::tame(random)),
        Scalar::I16 => Value::I16(Tame::tame(random)),
        Scalar::U16 => Value::U16(Tame::tame(random)),
        Scalar::I32 => Value::I32(Tame::tame(random)),
        Scalar::U32 => Value::U32(Tame::tame(random)),
        Scalar::I64 => Value::I64(Tame::tame(random)),
        Scalar::U64 => Value::U64(Tame::tame(random)),
        Scalar::Usize => Value::Usize(random.below(1000)),
        Scalar::F16 => Value::F16(<f16 as Tame>::tame(random).to_bits()),
        Scalar::Bf16 => Value::Bf16(<bf16 as Tame>::tame(random).to_bits()),
        Scalar::F32 => Value::f32(Tame::tame(random)),
        Scalar::F64 => Value::f64(Tame::tame(random)),
    }
}

/// True if two results are equal as far as targets guarantee it. Zeros of either sign are equal, and so are all NaNs. With `near`, floats
/// may differ by 2 %: the conformance suite tests how accurate functions are.
pub fn same(ty: Scalar, near: bool, a: u64, b: u64) -> bool {
    let (x, y) = match ty {
        Scalar::F16 => {
            let wide = |bits| f64::from(f16::from_bits(bits as u16));
            (wide(a), wide(b))
        }
        Scalar::Bf16 => {
            let wide = |bits| f64::from(bf16::from_bits(bits as u16));
            (wide(a), wide(b))
        }
        Scalar::F32 => (
            f64::from(f32::from_bits(a as u32)),
            f64::from(f32::from_bits(b as u32)),
        ),
        Scalar::F64 => (f64::from_bits(a), f64::from_bits(b)),
        Scalar::Bool
        | Scalar::I8
        | Scalar::U8
        | Scalar::I16
        | Scalar::U16
        | Scalar::I32
        | Scalar::U32
        | Scalar::I64
        | Scalar::U64
        | Scalar::Usize => return a == b,
    };
    let slack = if near { 0.02 * (1.0 + y.abs()) } else { 0.0 };
    x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= slack
}

/// Formats a value as Rust does.
pub fn show(ty: Scalar, bits: u64) -> String {
    match ty {
        Scalar::Bool => (bits != 0).to_string(),
        Scalar::I8 => (bits as i8).to_string(),
        Scalar::I16 => (bits as i16).to_string(),
        Scalar::I32 => (bits as i32).to_string(),
        Scalar::I64 => (bits as i64).to_string(),
        Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 | Scalar::Usize => bits.to_string(),
        Scalar::F16 => format!("{:?}", f16::from_bits(bits as u16)),
        Scalar::Bf16 => format!("{:?}", bf16::from_bits(bits as u16)),
        Scalar::F32 => format!("{:?}", f32::from_bits(bits as u32)),
        Scalar::F64 => format!("{:?}", f64::from_bits(bits)),
    }
}
