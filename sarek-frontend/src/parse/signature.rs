use proc_macro2::{Span, TokenStream};
use sarek_ir::{Access, Scalar};
use syn::spanned::Spanned;
use syn::{FnArg, Ident, ItemFn, Pat, ReturnType, Type};

use super::element_type::{ElementType, scalar_type};
use super::{CallableType, Own, merged, own_generics};
use crate::diagnostics::{Errors, Mistake, codes};
use crate::tokens::range::{Ranged, SourceRange};

/// The signature of a kernel or function.
pub struct Signature {
    /// The function's name.
    pub name: Ident,
    /// True for an `unsafe fn`.
    pub is_unsafe: bool,
    /// True if the function has no return type. A kernel's return type was reported as an error.
    pub returns_nothing: bool,
    /// The arguments in order.
    pub arguments: Vec<Argument>,
    /// The patterns of arguments that are invalid and were reported.
    pub unread: Vec<Pat>,
    /// True for a `#[device]` function.
    pub is_function: bool,
    /// The maximum depth of a function's nested calls of itself.
    pub inline: Option<u32>,
    /// For an intrinsic: the name under which its texts are registered.
    pub intrinsic: Option<String>,
    /// For a method, whose items belong to its type: its name.
    pub method: Option<String>,
    /// True if the function means the same outside of its impl.
    pub is_plain: bool,
    /// The result type, if it is not `()`.
    pub result_type: Option<Type>,
    /// The type and const parameters, without callable ones.
    pub generics: syn::Generics,
    /// For a method: the parameters that do not belong to its type.
    pub own: Own,
    /// The type that carries the items of a trait's method. Other methods' items belong to `Self`.
    pub carrier: Option<TokenStream>,
}

/// An argument.
pub struct Argument {
    /// Its name.
    pub name: Ident,
    /// `mut name: T`: the kernel assigns its own copy.
    pub mutable: bool,
    /// The kind of argument. For an item, it is that of the vector.
    pub kind: ArgumentKind,
    /// `#[item]`: the passing mode of an element.
    pub item: Option<Item>,
}

/// The passing mode of an element in a kernel over items.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Item {
    /// `T`
    Value,
    /// `&T`
    Shared,
    /// `&mut T`
    Mutable,
}

/// The kind of an argument.
#[derive(Clone)]
pub enum ArgumentKind {
    /// A scalar.
    Scalar(Scalar),
    /// Another type, by value.
    Value(Box<Type>),
    /// `&T` or `&mut T`, in a `#[device]` function.
    #[allow(missing_docs)]
    Reference { of: Box<Type>, mutable: bool },
    /// `&[T]`, `&mut [T]` or `&[Atomic<T>]`
    #[allow(missing_docs)]
    Slice { elem: ElementType, access: Access },
    /// A callable parameter of a `#[device]` function.
    Callable(Box<CallableType>),
    /// `View2<T>`, `ViewMut2<T>` or one of three dimensions.
    View {
        /// The element type.
        elem: ElementType,
        /// [`Access::Read`] or [`Access::Write`].
        access: Access,
        /// The number of dimensions.
        rank: u32,
    },
}

impl ArgumentKind {
    /// The number of IR parameters for this argument.
    pub fn params(&self) -> u32 {
        match self {
            ArgumentKind::View { rank, .. } => sarek_ir::Kernel::view_params(*rank),
            ArgumentKind::Callable(_) => 0,
            ArgumentKind::Scalar(_)
            | ArgumentKind::Value(_)
            | ArgumentKind::Reference { .. }
            | ArgumentKind::Slice { .. } => 1,
        }
    }
}

impl Signature {
    /// The arguments in the order of compiled bodies: callable ones come last.
    pub fn given(&self) -> Vec<&Argument> {
        let is_called = |a: &&Argument| matches!(a.kind, ArgumentKind::Callable(_));
        let (called, values): (Vec<_>, Vec<_>) = self.arguments.iter().partition(is_called);
        values.into_iter().chain(called).collect()
    }

    /// True if the kernel runs once for each element of its `#[item]`s.
    pub fn is_over_items(&self) -> bool {
        self.arguments.iter().any(|a| a.item.is_some())
    }

    /// Reads the signature of a kernel. Returns `None` for a method, which is reported.
    pub fn read(item: &ItemFn, errors: &mut Errors) -> Option<Signature> {
        let sig = &item.sig;
        let none_of = |present: Option<proc_macro2::Span>, what: &str, errors: &mut Errors| {
            if let Some(span) = present {
                errors.at(
                    codes::QUALIFIER,
                    span,
                    format!("a kernel cannot be {what}"),
                    "drop this keyword",
                );
            }
        };
        none_of(sig.constness.map(|t| t.span()), "`const`", errors);
        none_of(
            sig.asyncness.map(|t| t.span()),
            "`async`: every launch is asynchronous already",
            errors,
        );
        none_of(sig.abi.as_ref().map(|t| t.span()), "`extern`", errors);
        none_of(sig.variadic.as_ref().map(|t| t.span()), "variadic", errors);
        if let Some(lifetime) = sig.generics.lifetimes().next() {
            errors.at(
                codes::ARGUMENT_TYPE,
                lifetime.span(),
                "a kernel cannot name lifetimes",
                "write `&[T]`",
            );
        }
        let mut returns_nothing = true;
        if let ReturnType::Type(_, ty) = &sig.output {
            returns_nothing = matches!(&**ty, Type::Tuple(t) if t.elems.is_empty());
            if !returns_nothing {
                errors.at(
                    codes::RETURN_VALUE,
                    ty.range(),
                    "a kernel returns nothing",
                    "write its results to a `&mut [T]`",
                );
            }
        }
        let (mut arguments, mut unread) = (vec![], vec![]);
        for input in &sig.inputs {
            match (argument(input, errors), input) {
                (Some(argument), _) => arguments.push(argument),
                (None, FnArg::Typed(typed)) => unread.push((*typed.pat).clone()),
                (None, FnArg::Receiver(_)) => return None,
            }
        }
        Some(Signature {
            name: sig.ident.clone(),
            is_unsafe: matches!(sig.safety, syn::Safety::Unsafe(_)),
            returns_nothing,
            arguments,
            unread,
            is_function: false,
            inline: None,
            intrinsic: None,
            method: None,
            is_plain: true,
            result_type: None,
            generics: sig.generics.clone(),
            own: Own::default(),
            carrier: None,
        })
    }
}

fn argument(argument: &FnArg, errors: &mut Errors) -> Option<Argument> {
    let typed = match argument {
        FnArg::Receiver(receiver) => {
            errors.at(
                codes::PARAMETER_NAME,
                receiver.range(),
                "a kernel must be a free function without `self`",
                "write it outside of the `impl` block, and take the value as an argument",
            );
            return None;
        }
        FnArg::Typed(typed) => typed,
    };
    let is_item = typed.attrs.iter().any(is_item);
    if let Some(attr) = typed.attrs.iter().find(|attr| !self::is_item(attr)) {
        errors.at(
            codes::ATTRIBUTE,
            attr.range(),
            "attributes on a kernel's arguments are not supported, except for `#[item]`",
            "remove it",
        );
    }
    let name = match &*typed.pat {
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => pat,
        other => {
            errors.at(
                codes::PARAMETER_NAME,
                other.range(),
                "an argument of a kernel must be a plain name",
                "use a plain name, and destructure it in the body",
            );
            return None;
        }
    };
    let (kind, item) = match is_item {
        true => {
            let (kind, item) = item_kind(&typed.ty, errors)?;
            (kind, Some(item))
        }
        false => (argument_kind(&typed.ty, errors)?, None),
    };
    if name.mutability.is_some()
        && matches!(kind, ArgumentKind::Slice { .. })
        && !matches!(item, Some(Item::Value))
    {
        errors.at(
            codes::PARAMETER_NAME,
            name.span(),
            "a reference cannot be rebound",
            "drop the `mut` before its name",
        );
    }
    Some(Argument {
        name: name.ident.clone(),
        mutable: name.mutability.is_some(),
        kind,
        item,
    })
}

/// `#[item]`
fn is_item(attr: &syn::Attribute) -> bool {
    matches!(&attr.meta, syn::Meta::Path(path) if path.is_ident("item"))
}

/// Removes `#[item]` from the arguments of a signature that was read.
pub fn strip_items(sig: &mut syn::Signature) {
    for input in &mut sig.inputs {
        if let FnArg::Typed(typed) = input {
            typed.attrs.retain(|attr| !is_item(attr));
        }
    }
}

/// The vector kind for an item of this type, and the passing mode of an element.
fn item_kind(ty: &Type, errors: &mut Errors) -> Option<(ArgumentKind, Item)> {
    let (elem, item) = match ty {
        Type::Paren(inner) => return item_kind(&inner.elem, errors),
        Type::Group(inner) => return item_kind(&inner.elem, errors),
        Type::Reference(reference) => match reference.mutability {
            Some(_) => (&*reference.elem, Item::Mutable),
            None => (&*reference.elem, Item::Shared),
        },
        other => (other, Item::Value),
    };
    if let Type::Slice(slice) = elem {
        errors.at(
            codes::ITEM_KERNEL,
            slice.range(),
            "an item is one element of a vector",
            "write `T`, `&T` or `&mut T`, or drop `#[item]` to take the whole slice",
        );
        return None;
    }
    let element = ElementType::read(elem, errors)?;
    if let ElementType::Scalar(Scalar::Usize) = element {
        no_usize(elem.range(), errors);
        return None;
    }
    let access = match item {
        Item::Value | Item::Shared => Access::Read,
        Item::Mutable => Access::Write,
    };
    let elem = element;
    Some((ArgumentKind::Slice { elem, access }, item))
}

/// Reports that `usize` cannot be an element.
fn no_usize(span: SourceRange, errors: &mut Errors) {
    let what = "`usize` cannot be the element of a slice";
    errors.at(codes::USIZE_IN_BUFFER, span, what, "use `u32` or `u64`");
}

pub(super) fn argument_kind(ty: &Type, errors: &mut Errors) -> Option<ArgumentKind> {
    if let Some(view) = view_kind(ty, true, errors) {
        return view;
    }
    let reference = match ty {
        Type::Reference(reference) => reference,
        Type::Path(_) | Type::Tuple(_) | Type::Array(_) => {
            return Some(match ElementType::read(ty, errors)? {
                ElementType::Scalar(scalar) => ArgumentKind::Scalar(scalar),
                ElementType::Other(ty) => ArgumentKind::Value(ty),
            });
        }
        Type::Paren(inner) => return argument_kind(&inner.elem, errors),
        Type::Group(inner) => return argument_kind(&inner.elem, errors),
        _ => {
            errors.at(
                codes::ARGUMENT_TYPE,
                ty.range(),
                "a kernel cannot take an argument of this type",
                "take a scalar, a `&[T]`, a `&mut [T]`, a `&[Atomic<T>]` or a view",
            );
            return None;
        }
    };
    let slice = match &*reference.elem {
        Type::Slice(slice) => slice,
        other => {
            errors.at(
                codes::ARGUMENT_TYPE,
                other.range(),
                "a kernel borrows slices only",
                "write `&[T]` or `&mut [T]`; scalars are passed by value",
            );
            return None;
        }
    };
    if let Type::Reference(inner) = &*slice.elem {
        let mistake = Mistake::new(
            codes::ARGUMENT_TYPE,
            "the elements of a slice cannot be references",
            "take a view such as `View2<f32>`, or one slice and compute the index in it",
        );
        errors.report(
            inner.range(),
            &mistake.because(
                "a launch copies bytes to the device, where an address of the host means nothing",
            ),
        );
        return None;
    }
    let (elem, access) = match (atomic_type(&slice.elem, errors), reference.mutability) {
        (Some(elem), None) => (ElementType::Scalar(elem?), Access::Atomic),
        (Some(_), Some(mutability)) => {
            errors.at(
                codes::ATOMIC_TYPE,
                mutability.span(),
                "atomics are changed through `&[Atomic<T>]`",
                "drop the `mut`",
            );
            return None;
        }
        (None, Some(_)) => (ElementType::read(&slice.elem, errors)?, Access::Write),
        (None, None) => (ElementType::read(&slice.elem, errors)?, Access::Read),
    };
    in_buffer(&elem, slice.elem.range(), errors)?;
    Some(ArgumentKind::Slice { elem, access })
}

fn in_buffer(elem: &ElementType, span: SourceRange, errors: &mut Errors) -> Option<()> {
    if let ElementType::Scalar(Scalar::Usize) = elem {
        no_usize(span, errors);
        return None;
    }
    Some(())
}

/// The view types, with their access and number of dimensions.
const VIEWS: [(&str, Access, u32); 4] = [
    ("View2", Access::Read, 2),
    ("View3", Access::Read, 3),
    ("ViewMut2", Access::Write, 2),
    ("ViewMut3", Access::Write, 3),
];

/// Reads a view type. A view allows stores only if it is `mutable`. Returns `None` for other types,
/// and `Some(None)` for an invalid view, which is reported.
pub(super) fn view_kind(
    ty: &Type,
    mutable: bool,
    errors: &mut Errors,
) -> Option<Option<ArgumentKind>> {
    let path = match ty {
        Type::Path(path) if path.qself.is_none() => &path.path,
        _ => return None,
    };
    let last = path.segments.last()?;
    let (name, access, rank) = VIEWS.into_iter().find(|(name, ..)| last.ident == name)?;
    let access = if mutable { access } else { Access::Read };
    let types: Vec<&Type> = match &last.arguments {
        syn::PathArguments::AngleBracketed(list) => list.args.iter().filter_map(as_type).collect(),
        syn::PathArguments::None | syn::PathArguments::Parenthesized(_) => vec![],
    };
    let [elem] = types[..] else {
        errors.at(
            codes::ARGUMENT_TYPE,
            ty.range(),
            "this view has no element type",
            format!("write `{name}<f32>`"),
        );
        return Some(None);
    };
    let read = ElementType::read(elem, errors);
    let read = read.filter(|read| in_buffer(read, elem.range(), errors).is_some());
    Some(read.map(|elem| ArgumentKind::View { elem, access, rank }))
}

/// The `T` of an `Atomic<T>`. Returns `None` for other types, and `Some(None)` for an invalid one,
/// which is reported.
pub fn atomic_type(ty: &Type, errors: &mut Errors) -> Option<Option<Scalar>> {
    let path = match ty {
        Type::Path(path) if path.qself.is_none() => &path.path,
        Type::Paren(inner) => return atomic_type(&inner.elem, errors),
        Type::Group(inner) => return atomic_type(&inner.elem, errors),
        _ => return None,
    };
    let last = path.segments.last().filter(|s| s.ident == "Atomic")?;
    let argument = match &last.arguments {
        syn::PathArguments::AngleBracketed(list) if list.args.len() == 1 => list.args.first(),
        _ => None,
    };
    let Some(syn::GenericArgument::Type(argument)) = argument else {
        errors.at(
            codes::ATOMIC_TYPE,
            ty.range(),
            "`Atomic` takes one type",
            "write `Atomic<u32>`",
        );
        return Some(None);
    };
    let elem = scalar_type(argument, errors);
    if let Some(elem) = elem
        && (elem.size() < 4 || elem == Scalar::Usize)
    {
        errors.at(
            codes::ATOMIC_TYPE,
            argument.range(),
            format!("`Atomic<{}>` does not exist", elem.name()),
            "use `Atomic<u32>`",
        );
        return Some(None);
    }
    Some(elem)
}

fn as_type(argument: &syn::GenericArgument) -> Option<&Type> {
    match argument {
        syn::GenericArgument::Type(ty) => Some(ty),
        _ => None,
    }
}

/// Sets the receiver's type to `Self` with the span of the block's type. Errors of that type are
/// then reported there, once for all methods.
fn receiver_of(signature: &mut Signature, written: &syn::Signature, of: Span) {
    if written.receiver().is_none() {
        return;
    }
    let kind = signature.arguments.first_mut().map(|own| &mut own.kind);
    if let Some(ArgumentKind::Value(ty) | ArgumentKind::Reference { of: ty, .. }) = kind {
        let own = Ident::new("Self", of);
        **ty = syn::parse_quote!(#own);
    }
}

/// Reads the signature of a method. `generics` are those of its type, which stands at `of`.
pub fn read_method(
    written: &syn::Signature,
    generics: &syn::Generics,
    of: Span,
    errors: &mut Errors,
) -> Option<Signature> {
    let mut signature = Signature::read_function(written, errors)?;
    receiver_of(&mut signature, written, of);
    let own = own_generics(&written.generics);
    signature.own = Own::of(&own);
    signature.generics = merged(generics, &own);
    Some(signature)
}
