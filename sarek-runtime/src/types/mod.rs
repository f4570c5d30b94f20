//! The types of the kernel language, and their descriptions.

mod atomic;
pub(crate) mod bytes;
mod examples;
#[doc(hidden)]
pub mod layout;
pub(crate) mod leaves;
pub(crate) mod named;
pub(crate) mod number;
mod scalar;
pub(crate) mod valid;

pub use atomic::{Atomic, AtomicElement, AtomicInteger};
pub use examples::Examples;
pub use named::{Means, named};
pub use number::{Float, Int, Num};
pub use scalar::{NativeOperand, Number, ScalarArg};

use std::marker::PhantomData;

use half::{bf16, f16};
use sarek_ir::{EnumInfo, FieldInfo, Scalar, StructInfo, TypeInfo, Value, VariantInfo};

use crate::{Arg, Vector, VectorView, VectorViewMut};
use leaves::{assembled, leaves_in_memory, no_leaves, skip};

/// A type that kernels can compute with: scalars, arrays, tuples, `Option`, `Result`, and types
/// that derive it.
///
/// ```ignore
/// #[derive(Clone, Copy, KernelType)]
/// #[repr(C)]
/// struct Point {
///     x: f32,
///     y: f32,
/// }
/// ```
///
/// # Safety
/// `TYPE` describes the type: its fields, in order, by their names, and at rustc's offsets.
#[diagnostic::on_unimplemented(
    message = "SRK0312: kernels do not know the type `{Self}`",
    label = "kernels cannot see into this type",
    note = "why: a macro that sees only the type's name cannot know its fields",
    note = "instead: write `#[derive(Clone, Copy, KernelType)]` and `#[repr(C)]` (for an enum `#[repr(C, u32)]`) before it"
)]
pub unsafe trait KernelType: Copy + Send + Sync + 'static {
    /// The type's description.
    const TYPE: TypeInfo;

    /// Values of the type.
    #[doc(hidden)]
    const __EXAMPLES: Examples<Self> = Examples::NONE;

    // As for `Element`, expansions access these items through the trait.

    #[doc(hidden)]
    fn __type_of(_: impl FnOnce() -> Self) -> TypeInfo {
        Self::TYPE
    }

    /// Returns the value itself. Expansions call it to make rustc check that kernels know the type.
    #[doc(hidden)]
    fn __printed(self) -> Self {
        self
    }

    /// Builds a value from its scalars in depth-first order: each element of an array; the tag of
    /// an enum and the fields of all variants. `None` for an unknown tag. The default
    /// implementation is for types with a layout in memory.
    #[doc(hidden)]
    fn __of_scalars(scalars: &mut dyn Iterator<Item = Value>) -> Option<Self> {
        // SAFETY: the type describes the offsets of its scalars.
        unsafe { assembled(&Self::TYPE, scalars) }
    }

    /// The scalars in the order of linking; the scalars of array elements are grouped. Fields of
    /// inactive variants are zeros. The default implementation is for types with a layout in
    /// memory.
    #[doc(hidden)]
    fn __leaves(&self) -> Vec<Vec<Value>> {
        // SAFETY: the type describes the offsets of its scalars.
        unsafe { leaves_in_memory(self) }
    }

    #[doc(hidden)]
    #[inline(always)]
    fn __shared(memory: &impl SharedMemory, len: usize) -> &mut [Self] {
        memory.shared_slice(len)
    }

    #[doc(hidden)]
    #[inline(always)]
    fn __shared_array<const N: usize>(memory: &impl SharedMemory) -> &mut [Self; N] {
        memory.shared_array()
    }
}

/// The memory of a block, from which compiled bodies take shared arrays.
#[doc(hidden)]
#[allow(clippy::mut_from_ref)] // each array is a different part of the memory
pub trait SharedMemory {
    /// A shared array of `len` elements. Its contents are unspecified valid values.
    fn shared_slice<T: KernelType>(&self, len: usize) -> &mut [T];

    /// The same, with a constant length.
    fn shared_array<T: KernelType, const N: usize>(&self) -> &mut [T; N];
}

/// A type that vectors can hold: `bool`, `i8` to `i64`, `u8` to `u64`, `f16`, `bf16`, `f32`, `f64`,
/// arrays of such types, and types that derive [`KernelType`].
///
/// # Safety
/// Its layout is the one in [`KernelType::TYPE`] on every device, and it owns nothing. Any bytes
/// are a valid value, except those of `bool`s, of enum tags, and of fields of variants.
#[diagnostic::on_unimplemented(
    message = "SRK0311: `{Self}` cannot be stored in a `Vector`",
    label = "not an element type",
    note = "why: host and device read the same bytes; the width of `usize` differs between devices, and Rust does not promise the layout \
            of tuples and of `Option`",
    note = "instead: use bool, i8 to i64, u8 to u64, f16, bf16, f32 and f64, arrays of such, and structs and enums with \
            `#[derive(Clone, Copy, KernelType)]`"
)]
pub unsafe trait Element: KernelType {
    // Expansions access other items through this trait, so that for other types rustc reports the
    // missing `Element` and nothing else.

    #[doc(hidden)]
    const __TYPE: TypeInfo = Self::TYPE;

    #[doc(hidden)]
    fn __value<'a>(value: Self) -> Arg<'a> {
        Arg::value(value)
    }

    #[doc(hidden)]
    fn __read(vector: &Vector<Self>) -> Arg<'_> {
        Arg::from(vector)
    }

    #[doc(hidden)]
    fn __write(vector: &mut Vector<Self>) -> Arg<'_> {
        Arg::from(vector)
    }

    #[doc(hidden)]
    fn __view<const N: usize>(view: VectorView<'_, Self, N>) -> Arg<'_> {
        Arg::from(view)
    }

    #[doc(hidden)]
    fn __view_mut<const N: usize>(view: VectorViewMut<'_, Self, N>) -> Arg<'_> {
        Arg::from(view)
    }
}

/// Types that host and device find at the same places. No type implements it: the derive requires it of types that name no layout.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "SRK1001: the layout of `{T}` is not fixed",
    label = "it cannot be stored in a `Vector` or passed to a kernel",
    note = "why: Rust may reorder the fields of a type, but host and device must find them in the same places",
    note = "instead: write `#[repr(C)]` before it; for an enum `#[repr(u32)]`, and `#[repr(C, u32)]` if it has fields"
)]
pub trait FixedLayout<T> {}

/// Types that have fields. No type implements it: the derive requires it of types without fields.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "SRK1002: `{T}` has no field to store",
    label = "it cannot be stored in a `Vector` or passed to a kernel",
    note = "why: C and WGSL have no empty types",
    note = "instead: give it a field, or make the value in the kernel"
)]
pub trait HasFields<T> {}

// SAFETY: it has no fields.
unsafe impl<T: Send + Sync + 'static> KernelType for PhantomData<T> {
    const TYPE: TypeInfo = TypeInfo::Struct(
        const {
            &StructInfo {
                name: "PhantomData",
                fields: &[],
                size: 0,
                align: 1,
            }
        },
    );
    const __EXAMPLES: Examples<Self> = Examples::one(PhantomData, true);

    fn __of_scalars(_scalars: &mut dyn Iterator<Item = Value>) -> Option<Self> {
        Some(PhantomData)
    }

    fn __leaves(&self) -> Vec<Vec<Value>> {
        vec![]
    }
}

// SAFETY: it has no bytes.
#[diagnostic::do_not_recommend]
unsafe impl<T: Send + Sync + 'static> Element for PhantomData<T> {}

macro_rules! scalars {
    ($($ty:ident $scalar:ident)*) => {$(
        // SAFETY: `Scalar` names this type.
        unsafe impl KernelType for $ty {
            const TYPE: TypeInfo = TypeInfo::Scalar(Scalar::$scalar);
            // SAFETY: zero bytes are a value of a number or `bool`.
            const __EXAMPLES: Examples<Self> = Examples::one(unsafe { std::mem::zeroed() }, true);
        }

        // SAFETY: `Scalar` names this type, and it owns nothing.
        #[diagnostic::do_not_recommend]
        unsafe impl Element for $ty {}
    )*};
}

scalars! {
    bool Bool
    i8 I8
    u8 U8
    i16 I16
    u16 U16
    i32 I32
    u32 U32
    i64 I64
    u64 U64
    f16 F16
    bf16 Bf16
    f32 F32
    f64 F64
}

/// A type of named constants that kernels use. Constants are not stored in vectors, so their parts
/// may be tuples and `usize`.
///
/// # Safety
/// [`Constant::leaves`] returns exactly the scalars that bodies use: proofs rely on it.
///
/// ```
/// assert_eq!(sarek_runtime::Constant::leaves(&(1u32, true)).len(), 2);
/// ```
///
/// ```compile_fail,E0200
/// struct My;
///
/// impl sarek_runtime::Constant for My {
///     fn leaves(&self) -> Vec<sarek_ir::Value> {
///         vec![]
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "SRK0312: a constant in a kernel cannot have the type `{Self}`",
    label = "kernels cannot see into this constant",
    note = "why: devices have no strings and no references into host memory, and a macro that sees only the type's name cannot know its fields",
    note = "instead: use numbers and `bool`, arrays and tuples of such (`[f32; 2]` for `&[f32]`), `Option`, and structs and enums with \
            `#[derive(Clone, Copy, KernelType)]`"
)]
pub unsafe trait Constant {
    /// Returns the scalars of the constant.
    fn leaves(&self) -> Vec<Value>;
}

// SAFETY: the type returns its own scalars.
unsafe impl<T: KernelType> Constant for T {
    fn leaves(&self) -> Vec<Value> {
        self.__leaves().concat()
    }
}

// SAFETY: `Scalar` names this primitive type.
unsafe impl KernelType for usize {
    const TYPE: TypeInfo = TypeInfo::Scalar(Scalar::Usize);
    const __EXAMPLES: Examples<Self> = Examples::one(0, true);

    fn __leaves(&self) -> Vec<Vec<Value>> {
        vec![vec![self.value()]]
    }
}

// SAFETY: an array consists of its elements.
unsafe impl<T: KernelType, const N: usize> KernelType for [T; N] {
    const TYPE: TypeInfo = TypeInfo::Array(const { &T::TYPE }, N as u64);
    const __EXAMPLES: Examples<Self> = match T::__EXAMPLES.first() {
        Some(first) => Examples::one([first; N], T::__EXAMPLES.is_first_whole()),
        None => Examples::NONE,
    };

    fn __of_scalars(scalars: &mut dyn Iterator<Item = Value>) -> Option<Self> {
        let all: Vec<Option<T>> = (0..N).map(|_| T::__of_scalars(scalars)).collect();
        let all: Vec<T> = all.into_iter().collect::<Option<_>>()?;
        all.try_into().ok()
    }

    fn __leaves(&self) -> Vec<Vec<Value>> {
        let mut elements = self.iter().map(T::__leaves);
        let mut all = elements.next().unwrap_or_default();
        for element in elements {
            all.iter_mut()
                .zip(element)
                .for_each(|(all, of)| all.extend(of));
        }
        all
    }
}

// SAFETY: an array stores its elements contiguously.
unsafe impl<T: Element, const N: usize> Element for [T; N] {}

/// A field of a type without a defined layout.
const fn part<T: KernelType>(name: &'static str) -> FieldInfo {
    FieldInfo {
        name,
        ty: T::TYPE,
        offset: 0,
    }
}

const fn variant(name: &'static str, tag: u32, fields: &'static [FieldInfo]) -> VariantInfo {
    VariantInfo {
        name,
        tag: Value::U32(tag),
        fields,
    }
}

// SAFETY: the variants are those of core; the size marks it as having no layout.
unsafe impl<T: KernelType> KernelType for Option<T> {
    const TYPE: TypeInfo = TypeInfo::Enum(
        const {
            &EnumInfo {
                name: "Option",
                variants: &[
                    variant("None", 0, &[]),
                    variant("Some", 1, const { &[part::<T>("0")] }),
                ],
                size: 0,
            }
        },
    );
    const __EXAMPLES: Examples<Self> = match T::__EXAMPLES.first() {
        Some(first) => Examples::one(Some(first), T::__EXAMPLES.is_first_whole()),
        None => Examples::NONE,
    };

    fn __of_scalars(scalars: &mut dyn Iterator<Item = Value>) -> Option<Self> {
        match scalars.next()? {
            Value::U32(0) => {
                skip(&T::TYPE, scalars);
                Some(None)
            }
            Value::U32(1) => T::__of_scalars(scalars).map(Some),
            _ => None,
        }
    }

    fn __leaves(&self) -> Vec<Vec<Value>> {
        let (tag, some) = match self {
            None => (0, no_leaves(&T::TYPE)),
            Some(value) => (1, value.__leaves()),
        };
        [vec![vec![Value::U32(tag)]], some].concat()
    }
}

// SAFETY: as for `Option`.
unsafe impl<T: KernelType, E: KernelType> KernelType for Result<T, E> {
    const TYPE: TypeInfo = TypeInfo::Enum(
        const {
            &EnumInfo {
                name: "Result",
                variants: &[
                    variant("Ok", 0, const { &[part::<T>("0")] }),
                    variant("Err", 1, const { &[part::<E>("0")] }),
                ],
                size: 0,
            }
        },
    );
    const __EXAMPLES: Examples<Self> = match (T::__EXAMPLES.first(), E::__EXAMPLES.first()) {
        (Some(ok), Some(err)) => Examples::each(
            [Ok(ok), Err(err)],
            false,
            T::__EXAMPLES.is_first_whole() && E::__EXAMPLES.is_first_whole(),
        ),
        _ => Examples::NONE,
    };

    fn __of_scalars(scalars: &mut dyn Iterator<Item = Value>) -> Option<Self> {
        match scalars.next()? {
            Value::U32(0) => {
                let ok = T::__of_scalars(scalars);
                skip(&E::TYPE, scalars);
                ok.map(Ok)
            }
            Value::U32(1) => {
                skip(&T::TYPE, scalars);
                E::__of_scalars(scalars).map(Err)
            }
            _ => None,
        }
    }

    fn __leaves(&self) -> Vec<Vec<Value>> {
        let (tag, ok, err) = match self {
            Ok(value) => (0, value.__leaves(), no_leaves(&E::TYPE)),
            Err(error) => (1, no_leaves(&T::TYPE), error.__leaves()),
        };
        [vec![vec![Value::U32(tag)]], ok, err].concat()
    }
}

macro_rules! tuples {
    ($(($($ty:ident $name:literal),*))*) => {$(
        // SAFETY: the fields are those of the tuple; the size marks it as having no layout.
        unsafe impl<$($ty: KernelType),*> KernelType for ($($ty,)*) {
            const TYPE: TypeInfo = TypeInfo::Struct(
                const {
                    &StructInfo {
                        name: "a tuple",
                        fields: const { &[$(part::<$ty>($name)),*] },
                        size: 0,
                        align: 0,
                    }
                },
            );
            #[allow(non_snake_case, unreachable_patterns)]
            const __EXAMPLES: Examples<Self> = match ($($ty::__EXAMPLES.first(),)*) {
                ($(Some($ty),)*) => Examples::one(($($ty,)*), true $(&& $ty::__EXAMPLES.is_first_whole())*),
                _ => Examples::NONE,
            };

            fn __of_scalars(_scalars: &mut dyn Iterator<Item = Value>) -> Option<Self> {
                Some(($($ty::__of_scalars(_scalars)?,)*))
            }

            #[allow(non_snake_case)]
            fn __leaves(&self) -> Vec<Vec<Value>> {
                let ($($ty,)*) = self;
                let parts: &[Vec<Vec<Value>>] = &[$($ty.__leaves()),*];
                parts.concat()
            }
        }
    )*};
}

tuples! {
    ()
    (A "0")
    (A "0", B "1")
    (A "0", B "1", C "2")
    (A "0", B "1", C "2", D "3")
    (A "0", B "1", C "2", D "3", E "4")
    (A "0", B "1", C "2", D "3", E "4", F "5")
    (A "0", B "1", C "2", D "3", E "4", F "5", G "6")
    (A "0", B "1", C "2", D "3", E "4", F "5", G "6", H "7")
}
