//! The types of elements and values that signatures and bodies name.

use sarek_ir::Scalar;
use syn::Type;

use crate::diagnostics::{Errors, Mistake, codes};
use crate::tokens::range::Ranged;

/// An element type: a scalar, or a type that is opaque to the macro.
#[derive(Clone)]
pub enum ElementType {
    /// A scalar.
    Scalar(Scalar),
    /// A named type, a tuple or an array.
    Other(Box<Type>),
}

impl ElementType {
    /// Reads an element type. Returns `None` for a type that kernels do not have, which is
    /// reported.
    pub fn read(ty: &Type, errors: &mut Errors) -> Option<ElementType> {
        match ty {
            Type::Paren(inner) => ElementType::read(&inner.elem, errors),
            Type::Group(inner) => ElementType::read(&inner.elem, errors),
            Type::Tuple(_) | Type::Array(_) => Some(ElementType::Other(Box::new(ty.clone()))),
            Type::Path(path) if path.qself.is_none() && on_heap(&path.path) => {
                let what = format!(
                    "type `{}` is not supported in a kernel",
                    plain_text(&path.path)
                );
                let instead = "take `&[T]` or `&mut [T]`, for which a launch passes a `Vector`; in a body, use an array such as `[0.0; 16]`";
                let mistake = Mistake::new(codes::TYPE, what, instead);
                errors.report(
                    ty.range(),
                    &mistake
                        .because("kernels allocate no memory: its size is fixed before the launch"),
                );
                None
            }
            Type::Path(path) if path.qself.is_none() && is_foreign(&path.path) => {
                Some(ElementType::Other(Box::new(ty.clone())))
            }
            other => scalar_type(other, errors).map(ElementType::Scalar),
        }
    }
}

/// True for the prelude's `Vec<T>` and `Box<T>`, and for containers that the path finds in the standard library.
fn on_heap(path: &syn::Path) -> bool {
    const CONTAINERS: [&str; 11] = [
        "Vec",
        "Box",
        "String",
        "Rc",
        "Arc",
        "VecDeque",
        "HashMap",
        "HashSet",
        "BTreeMap",
        "BTreeSet",
        "BinaryHeap",
    ];
    let (Some(first), Some(last)) = (path.segments.first(), path.segments.last()) else {
        return false;
    };
    match path.segments.len() {
        1 => ["Vec", "Box"].iter().any(|name| last.ident == name) && !last.arguments.is_empty(),
        _ => {
            let of_std = ["std", "alloc"].iter().any(|name| first.ident == name);
            of_std && CONTAINERS.iter().any(|name| last.ident == name)
        }
    }
}

/// True for the name of a type that is neither a scalar nor a primitive that kernels lack.
fn is_foreign(path: &syn::Path) -> bool {
    const NEVER: [&str; 7] = ["isize", "i128", "u128", "char", "str", "String", "f128"];
    path.get_ident().is_none_or(|name| {
        let name = name.to_string();
        !NEVER.contains(&name.as_str())
    }) && named_scalar(path).is_none()
}

/// The scalar that a path names: `f32`, `half::f16`.
pub fn named_scalar(path: &syn::Path) -> Option<Scalar> {
    let text = plain_text(path);
    let of_a_crate = ["half", "sarek", "sarek::half", "sarek::prelude"];
    match text.rsplit_once("::") {
        None => Scalar::from_name(&text),
        Some((module, name)) => Scalar::from_name(name)
            .filter(|scalar| scalar.is_half() && of_a_crate.contains(&module)),
    }
}

pub(super) fn plain_text(path: &syn::Path) -> String {
    let segments = path.segments.iter().map(|s| s.ident.to_string());
    segments.collect::<Vec<_>>().join("::")
}

/// The scalar that a type names; reports any other type.
pub fn scalar_type(ty: &Type, errors: &mut Errors) -> Option<Scalar> {
    let path = match ty {
        Type::Path(path) if path.qself.is_none() => &path.path,
        Type::Paren(inner) => return scalar_type(&inner.elem, errors),
        Type::Group(inner) => return scalar_type(&inner.elem, errors),
        _ => {
            let mistake = Mistake::new(
                codes::TYPE,
                "only scalar types are supported here",
                "use a scalar type, such as `f32`",
            );
            errors.report(
                ty.range(),
                &mistake.because(
                    "kernels have one number or truth value here, and no references to others",
                ),
            );
            return None;
        }
    };
    if let Some(scalar) = named_scalar(path) {
        return Some(scalar);
    }
    let name = plain_text(path);
    let (why, instead) = match name.as_str() {
        "isize" => ("its size differs between devices", "use `i32` or `i64`"),
        "i128" | "u128" => ("no device has 128-bit integers", "use `u64`"),
        "f128" => ("no device has 128-bit numbers", "use `f64`"),
        "char" | "str" | "String" => (
            "no device has text",
            "use numbers, such as the bytes of the text",
        ),
        _ => (
            "only numbers and truth values have one form on all devices",
            "use one of `bool i8 u8 i16 u16 i32 u32 i64 u64 usize f16 bf16 f32 f64`",
        ),
    };
    let what = format!("type `{name}` is not supported in a kernel");
    errors.report(
        ty.range(),
        &Mistake::new(codes::TYPE, what, instead).because(why),
    );
    None
}
