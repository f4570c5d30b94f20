//! Parses the item and its attribute; the body is left to lowering.

mod attribute;
pub mod body_items;
pub mod body_recovery;
mod callable;
pub mod depth;
mod element_type;
mod format;
mod function;
mod generics;
mod native;
mod operators;
pub mod parameters;
pub mod reserved;
mod shapes;
mod signature;
mod simd;
pub mod superstep;

pub use attribute::{Attribute, DEVICE_OPTIONS, KERNEL_OPTIONS, Named, Within, crate_path};
pub use callable::{CallableKind, CallableType, Callables};
pub use element_type::{ElementType, named_scalar, scalar_type};
pub use format::{Said, StdCall, StdMacro};
pub use generics::{
    Own, Parameters, has_nameless, is_nameless, is_nameless_field, merged, own_generics,
    parameter_name,
};
pub use native::{NativeArm, NativeCall, Template, is_native, name_span};
pub use operators::OperatorTrait;
pub use shapes::Shapes;
pub use signature::{
    Argument, ArgumentKind, Item, Signature, atomic_type, read_method, strip_items,
};
pub use simd::{LETTERS, SimdType, simd_type};
