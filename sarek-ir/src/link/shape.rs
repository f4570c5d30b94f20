//! Resolved types.

use std::borrow::Cow;
use std::rc::Rc;

use super::Links;
use crate::nodes::HELD;
use crate::{
    FieldInfo, Kernel, Length, NameId, ParamKind, Scalar, Type, TypeDef, TypeId, TypeInfo, Value,
    VariantInfo,
};

/// A resolved type.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Shape {
    Scalar(Scalar),
    Array(Rc<Shape>, u64),
    /// The fields, and the alignment in bytes.
    Struct(Rc<[Field]>, u64),
    Enum(Rc<[Variant]>),
}

#[derive(Clone, PartialEq, Debug)]
pub(super) struct Field {
    pub name: Cow<'static, str>,
    pub shape: Shape,
    /// The offset in bytes from the beginning of the struct or enum.
    pub offset: u64,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) struct Variant {
    pub name: &'static str,
    pub tag: Value,
    pub fields: Rc<[Field]>,
}

/// A scalar inside a type.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Leaf {
    /// The names on the path to it, for the names of locals.
    pub name: String,
    pub scalar: Scalar,
    /// The lengths of the enclosing arrays, outermost first, with the strides of their elements in bytes.
    pub dims: Vec<(u64, u64)>,
    /// The offset of the first one in bytes.
    pub offset: u64,
}

impl Leaf {
    /// The number of its instances in the enclosing arrays.
    pub fn count(&self) -> u64 {
        self.dims.iter().map(|(n, _)| n).product()
    }
}

/// A scalar of a value in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LeafAt {
    /// The offset in bytes from the beginning of the value.
    pub offset: u64,
    /// Its type.
    pub scalar: Scalar,
}

/// The scalars of a type, in the order of the parameters that a compound parameter becomes.
pub fn leaves(info: &TypeInfo) -> Vec<LeafAt> {
    each_leaf(info).concat()
}

/// The same, grouped by leaf: instances in arrays are together.
pub fn each_leaf(info: &TypeInfo) -> Vec<Vec<LeafAt>> {
    let each = |leaf: &Leaf| {
        let mut offsets = vec![leaf.offset];
        for &(n, stride) in &leaf.dims {
            let each = |o: &u64| (0..n).map(|i| o + i * stride).collect::<Vec<_>>();
            offsets = offsets.iter().flat_map(each).collect();
        }
        let scalar = leaf.scalar;
        let places = offsets.into_iter();
        places.map(|offset| LeafAt { offset, scalar }).collect()
    };
    Shape::of(info).leaves().iter().map(each).collect()
}

impl Variant {
    /// True for the variant of this name.
    fn is(&self, name: &str) -> bool {
        match name {
            HELD => self.name == "Some" || self.name == "Ok",
            name => self.name == name,
        }
    }
}

impl Shape {
    pub fn of(info: &TypeInfo) -> Shape {
        let fields = |fields: &[FieldInfo]| -> Rc<[Field]> {
            let field = |f: &FieldInfo| Field {
                name: f.name.into(),
                shape: Shape::of(&f.ty),
                offset: f.offset,
            };
            fields.iter().map(field).collect()
        };
        match info {
            TypeInfo::Scalar(scalar) => Shape::Scalar(*scalar),
            TypeInfo::Array(elem, n) => Shape::Array(Rc::new(Shape::of(elem)), *n),
            TypeInfo::Struct(info) => {
                let fields = fields(info.fields);
                let align = alignment(&fields).max(info.align);
                Shape::Struct(fields, align)
            }
            TypeInfo::Enum(info) => {
                let variant = |v: &VariantInfo| Variant {
                    name: v.name,
                    tag: v.tag,
                    fields: fields(v.fields),
                };
                Shape::Enum(info.variants.iter().map(variant).collect())
            }
        }
    }

    /// The scalar type.
    pub fn scalar(&self) -> Scalar {
        match self {
            Shape::Scalar(scalar) => *scalar,
            other => unreachable!("rustc checked that {other:?} is a scalar"),
        }
    }

    /// The leaves, depth first; an enum's tag precedes the fields of its variants.
    pub fn leaves(&self) -> Vec<Leaf> {
        let mut leaves = vec![];
        self.collect("", 0, &mut vec![], &mut leaves);
        leaves
    }

    fn collect(&self, name: &str, offset: u64, dims: &mut Vec<(u64, u64)>, out: &mut Vec<Leaf>) {
        match self {
            Shape::Scalar(scalar) => out.push(Leaf {
                name: name.to_owned(),
                scalar: *scalar,
                dims: dims.clone(),
                offset,
            }),
            Shape::Array(elem, n) => {
                dims.push((*n, elem.size()));
                elem.collect(name, offset, dims, out);
                dims.pop();
            }
            Shape::Struct(fields, _) => collect_fields(fields, name, offset, dims, out),
            Shape::Enum(variants) => {
                let tag = Shape::Scalar(tag_of(variants));
                tag.collect(&join(name, "tag"), offset, dims, out);
                for variant in variants.iter() {
                    let name = join(name, &variant.name.to_lowercase());
                    collect_fields(&variant.fields, &name, offset, dims, out);
                }
            }
        }
    }

    /// The stride in bytes in an array. Only types that are stored in memory have one.
    pub fn size(&self) -> u64 {
        match self {
            Shape::Scalar(scalar) => scalar.size() as u64,
            Shape::Array(elem, n) => elem.size() * n,
            Shape::Struct(fields, align) => extent(fields.iter()).next_multiple_of(*align),
            Shape::Enum(variants) => {
                let payload = extent(variants.iter().flat_map(|v| v.fields.iter()));
                let tag = tag_of(variants).size() as u64;
                payload.max(tag).next_multiple_of(self.align())
            }
        }
    }

    /// The alignment in bytes.
    pub fn align(&self) -> u64 {
        match self {
            Shape::Scalar(scalar) => scalar.size() as u64,
            Shape::Array(elem, _) => elem.align(),
            Shape::Struct(_, align) => *align,
            Shape::Enum(variants) => {
                let fields = variants.iter().flat_map(|v| v.fields.iter());
                let tag = tag_of(variants).size() as u64;
                fields.map(|f| f.shape.align()).fold(tag, u64::max)
            }
        }
    }

    /// A struct's field, and the position of its first leaf.
    pub fn field(&self, name: &str) -> (&Field, usize) {
        match self {
            Shape::Struct(fields, _) => find(fields, name),
            other => unreachable!("rustc found `{name}` in {other:?}"),
        }
    }

    /// A field of a variant, and the position of its first leaf.
    pub fn payload(&self, variant: &str, name: &str) -> (&Field, usize) {
        let Shape::Enum(variants) = self else {
            unreachable!("rustc found `{variant}` in {self:?}");
        };
        let mut before = 1;
        for v in variants.iter() {
            if v.is(variant) {
                let (field, at) = find(&v.fields, name);
                return (field, before + at);
            }
            before += count(&v.fields);
        }
        unreachable!("rustc found `{variant}`")
    }

    /// The type of an enum's tags.
    pub fn tag(&self) -> Scalar {
        match self {
            Shape::Enum(variants) => tag_of(variants),
            other => unreachable!("rustc found variants of {other:?}"),
        }
    }

    pub fn variant(&self, name: &str) -> &Variant {
        match self {
            Shape::Enum(variants) => match variants.iter().find(|v| v.is(name)) {
                Some(variant) => variant,
                None => unreachable!("rustc found `{name}`"),
            },
            other => unreachable!("rustc found `{name}` in {other:?}"),
        }
    }

    pub fn elem(&self) -> &Shape {
        match self {
            Shape::Array(elem, _) => elem,
            other => unreachable!("rustc indexed {other:?}"),
        }
    }

    /// The number of elements of type `elem` in an array of arrays.
    pub fn rows_of(&self, elem: &Shape) -> u64 {
        match self {
            Shape::Array(rows, len) if self != elem => len * rows.rows_of(elem),
            _ => 1,
        }
    }

    /// True if the type contains an enum.
    pub fn has_variants(&self) -> bool {
        match self {
            Shape::Scalar(_) => false,
            Shape::Array(elem, _) => elem.has_variants(),
            Shape::Struct(fields, _) => fields.iter().any(|f| f.shape.has_variants()),
            Shape::Enum(_) => true,
        }
    }

    /// The number of leaves.
    pub fn leaf_count(&self) -> usize {
        match self {
            Shape::Scalar(_) => 1,
            Shape::Array(elem, _) => elem.leaf_count(),
            Shape::Struct(fields, _) => count(fields),
            Shape::Enum(variants) => 1 + variants.iter().map(|v| count(&v.fields)).sum::<usize>(),
        }
    }
}

fn collect_fields(
    fields: &[Field],
    name: &str,
    offset: u64,
    dims: &mut Vec<(u64, u64)>,
    out: &mut Vec<Leaf>,
) {
    for field in fields {
        let name = join(name, &field.name);
        let offset = offset + field.offset;
        field.shape.collect(&name, offset, dims, out);
    }
}

/// The type of an enum's tags.
fn tag_of(variants: &[Variant]) -> Scalar {
    match variants {
        [first, ..] => first.tag.scalar(),
        [] => unreachable!("rustc knows no value of an enum without variants"),
    }
}

/// The largest alignment of fields.
fn alignment(fields: &[Field]) -> u64 {
    fields.iter().map(|f| f.shape.align()).max().unwrap_or(1)
}

fn extent<'f>(fields: impl Iterator<Item = &'f Field> + Clone) -> u64 {
    let align = fields.clone().map(|f| f.shape.align()).max().unwrap_or(1);
    let end = fields.map(|f| f.offset + f.shape.size()).max().unwrap_or(0);
    end.next_multiple_of(align)
}

fn join(name: &str, part: &str) -> String {
    match name.is_empty() {
        true => part.to_owned(),
        false => format!("{name}_{part}"),
    }
}

fn count(fields: &[Field]) -> usize {
    fields.iter().map(|f| f.shape.leaf_count()).sum()
}

fn find<'f>(fields: &'f [Field], name: &str) -> (&'f Field, usize) {
    match fields.iter().position(|f| f.name == name) {
        Some(at) => (&fields[at], count(&fields[..at])),
        None => unreachable!("rustc found `{name}`"),
    }
}

/// Resolves every type of a kernel or function.
pub(super) fn resolve_all(ir: &Kernel, links: &Links) -> Vec<Shape> {
    let all = 0..ir.types.len() as u32;
    all.map(|i| resolve(ir, links, Type::Compound(TypeId(i))))
        .collect()
}

/// Resolves a type of a kernel or function.
pub(super) fn resolve(ir: &Kernel, links: &Links, ty: Type) -> Shape {
    let id = match ty {
        Type::Scalar(scalar) => return Shape::Scalar(scalar),
        Type::Compound(id) => id,
    };
    let name = |id: NameId| ir.name(id);
    match &ir.types[id.index()] {
        TypeDef::Array { elem, len } => {
            let elem = resolve(ir, links, *elem);
            Shape::Array(Rc::new(elem), length(*len, links))
        }
        TypeDef::Tuple(types) => tuple(types.iter().map(|ty| resolve(ir, links, *ty))),
        TypeDef::Link(link) => Shape::of(&links.types[link.index()]),
        TypeDef::Field { of, name: field } => {
            resolve(ir, links, *of).field(name(*field)).0.shape.clone()
        }
        TypeDef::Element { of } => resolve(ir, links, *of).elem().clone(),
        TypeDef::Payload {
            of,
            variant,
            name: field,
        } => {
            let of = resolve(ir, links, *of);
            of.payload(name(*variant), name(*field)).0.shape.clone()
        }
        TypeDef::Result(function) => {
            let function = &links.functions[function.index()];
            match function.ir.result {
                Some(local) => {
                    let ty = function.ir.locals[local.index()].ty;
                    resolve(function.ir, &function.links, ty)
                }
                None => tuple(std::iter::empty()),
            }
        }
        TypeDef::Parameter { of, index } => {
            let function = &links.functions[of.index()];
            let ty = match function.ir.params[*index as usize].kind {
                ParamKind::Scalar(scalar) => Type::Scalar(scalar),
                ParamKind::Value(id) => Type::Compound(id),
                ParamKind::Reference(ty) | ParamKind::Slice { elem: ty, .. } => ty,
            };
            resolve(function.ir, &function.links, ty)
        }
        TypeDef::Callable {
            of,
            callable,
            takes,
        } => {
            let function = &links.functions[of.index()];
            let callable = &function.ir.callables[callable.index()];
            let ty = match takes {
                Some(at) => callable.params.get(*at as usize).copied(),
                None => callable.result,
            };
            match ty {
                Some(ty) => resolve(function.ir, &function.links, ty),
                None => tuple(std::iter::empty()),
            }
        }
    }
}

/// A length that does not depend on the launch.
pub(super) fn length(len: Length, links: &Links) -> u64 {
    match len {
        Length::Fixed(n) => n,
        Length::Link(link) => match links.constants[link.index()].as_slice() {
            [Value::Usize(n)] => *n,
            other => unreachable!("rustc made sure of a usize, not {other:?}"),
        },
        Length::Launch(_) => unreachable!("only shared arrays take their length from the launch"),
    }
}

/// Tuples have no layout of their own. Where a layout is needed, they have that of a `#[repr(C)]` struct.
fn tuple(shapes: impl Iterator<Item = Shape>) -> Shape {
    let mut offset: u64 = 0;
    let field = |(i, shape): (usize, Shape)| {
        offset = offset.next_multiple_of(shape.align());
        let at = offset;
        offset += shape.size();
        Field {
            name: i.to_string().into(),
            shape,
            offset: at,
        }
    };
    let fields: Rc<[Field]> = shapes.enumerate().map(field).collect();
    let align = alignment(&fields);
    Shape::Struct(fields, align)
}
