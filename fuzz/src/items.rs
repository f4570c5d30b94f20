//! Resolves the types and functions that precede a kernel, without rustc: computes their layouts and IR, to link the kernel with.

use std::collections::HashMap;

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use sarek_ir::analysis::contract::{Facts, Refusal};
use sarek_ir::analysis::race::ConstantBound;
use sarek_ir::link::{Function, Links};
use sarek_ir::{
    EnumInfo, FieldInfo, Kernel, LinkId, Scalar, StructInfo, TypeInfo, Value, VariantInfo,
};

/// The types and functions of a case. They are leaked, since linking needs `'static` items as in a compiled program.
#[derive(Default)]
pub struct Items {
    types: HashMap<String, TypeInfo>,
    functions: HashMap<String, &'static Kernel>,
    /// The values of `const` items, which are of type `usize`.
    constants: HashMap<String, u64>,
}

impl Items {
    /// Reads the items. Each may use only those before it.
    ///
    /// # Errors
    /// An item cannot be parsed, or is not one that a kernel can use.
    pub fn read(text: &str) -> Result<Items, String> {
        let file: syn::File = syn::parse_str(text).map_err(|e| e.to_string())?;
        let mut items = Items::default();
        for item in file.items {
            match item {
                syn::Item::Struct(item) => {
                    let (fields, end, align) = items.fields(&item.fields, 0)?;
                    let name = leaked(&item.ident);
                    let info = TypeInfo::Struct(Box::leak(Box::new(StructInfo {
                        name,
                        fields,
                        size: end.next_multiple_of(align),
                        align,
                    })));
                    items.types.insert(name.into(), info);
                }
                syn::Item::Enum(item) => items.read_enum(&item)?,
                syn::Item::Const(item) => {
                    let value: syn::LitInt = syn::parse2(item.expr.to_token_stream())
                        .map_err(|_| format!("no number: `{}`", item.ident))?;
                    let value = value.base10_parse().map_err(|e| e.to_string())?;
                    items.constants.insert(item.ident.to_string(), value);
                }
                syn::Item::Fn(mut item) => {
                    item.attrs.clear();
                    let name = item.sig.ident.to_string();
                    items.function(name, item.to_token_stream())?;
                }
                syn::Item::Impl(block) => {
                    let ty = block.self_ty.to_token_stream();
                    for item in block.items {
                        let syn::ImplItem::Fn(method) = item else {
                            return Err("no method".into());
                        };
                        let name = format!("{ty}::{}", method.sig.ident);
                        items.function(name, as_function(&ty, method)?)?;
                    }
                }
                other => return Err(format!("no item of a kernel: {}", other.to_token_stream())),
            }
        }
        Ok(items)
    }

    fn function(&mut self, name: String, tokens: TokenStream) -> Result<(), String> {
        let expansion = sarek_frontend::expand::device(TokenStream::new(), tokens);
        let mut ir = expansion.kernel.ok_or(expansion.errors.join("\n"))?;
        // Random kernels wrap, as those of a release build do.
        ir.overflows = Default::default();
        self.functions.insert(name, Box::leak(Box::new(ir)));
        Ok(())
    }

    /// The facts about the functions that a kernel or function calls, or the refusal of one of them.
    ///
    /// # Errors
    /// A function is not among the items.
    pub fn facts(&self, kernel: &Kernel) -> Result<Result<Vec<Facts>, Refusal>, String> {
        let mut found = vec![];
        for name in kernel.functions.iter() {
            let ir = self.functions.get(&**name);
            let ir = ir.ok_or(format!("open link: `{name}`"))?;
            match self.facts(ir)?.and_then(|callees| Facts::of(ir, &callees)) {
                Ok(facts) => found.push(facts),
                Err(refusal) => return Ok(Err(refusal)),
            }
        }
        Ok(Ok(found))
    }

    /// The value of a named constant: one of the items, or an associated constant of `f16` or `bf16`.
    fn constant(&self, path: &str) -> Result<Vec<Value>, String> {
        match (self.number(path), path) {
            (Some(value), _) => Ok(vec![Value::Usize(value)]),
            (None, "f16::ONE") => Ok(vec![Value::f16(1.0)]),
            (None, "f16::ZERO") => Ok(vec![Value::f16(0.0)]),
            (None, "bf16::ONE") => Ok(vec![Value::bf16(1.0)]),
            (None, "bf16::ZERO") => Ok(vec![Value::bf16(0.0)]),
            (None, _) => Err(format!("open link: `{path}`")),
        }
    }

    /// The value of an expression of `const` items and literals.
    fn number(&self, text: &str) -> Option<u64> {
        self.value_of(&syn::parse_str(text).ok()?)
    }

    fn value_of(&self, expr: &syn::Expr) -> Option<u64> {
        match expr {
            syn::Expr::Paren(inner) => self.value_of(&inner.expr),
            syn::Expr::Path(path) => self
                .constants
                .get(&path.path.get_ident()?.to_string())
                .copied(),
            syn::Expr::Lit(lit) => match &lit.lit {
                syn::Lit::Int(number) => number.base10_parse().ok(),
                _ => None,
            },
            syn::Expr::Binary(binary) => {
                let (a, b) = (self.value_of(&binary.left)?, self.value_of(&binary.right)?);
                match binary.op {
                    syn::BinOp::Add(_) => a.checked_add(b),
                    syn::BinOp::Sub(_) => a.checked_sub(b),
                    syn::BinOp::Mul(_) => a.checked_mul(b),
                    syn::BinOp::Div(_) => a.checked_div(b),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// True if the constants of a kernel have the bounds that its proof assumes, which rustc checks in a program.
    pub fn satisfy(&self, kernel: &Kernel, bounds: &[ConstantBound]) -> bool {
        bounds.iter().all(|bound| {
            let value = |link: LinkId| self.number(&kernel.links[link.index()].path);
            let mut factors = bound.times.into_iter().flatten();
            let limit =
                factors.try_fold(bound.number, |product, of| product.checked_mul(value(of)?));
            let (Some(value), Some(limit)) = (value(bound.link), limit) else {
                return false;
            };
            match bound.is_least {
                true => value >= limit,
                false => value <= limit,
            }
        })
    }

    /// Lays an enum out as `#[repr(C, u32)]` and `#[repr(u32)]` do: the tag, then the fields of all variants from the same offset on.
    fn read_enum(&mut self, item: &syn::ItemEnum) -> Result<(), String> {
        let alignments: Result<Vec<u64>, String> = item
            .variants
            .iter()
            .map(|variant| Ok(self.fields(&variant.fields, 0)?.2))
            .collect();
        let align = alignments?.into_iter().fold(4, u64::max);
        let (mut variants, mut size) = (vec![], align);
        for (tag, variant) in (0..).zip(&item.variants) {
            let (fields, end, _) = self.fields(&variant.fields, align)?;
            size = size.max(end);
            variants.push(VariantInfo {
                name: leaked(&variant.ident),
                tag: Value::U32(tag),
                fields,
            });
        }
        let name = leaked(&item.ident);
        let info = TypeInfo::Enum(Box::leak(Box::new(EnumInfo {
            name,
            variants: variants.leak(),
            size: size.next_multiple_of(align),
        })));
        self.types.insert(name.into(), info);
        Ok(())
    }

    /// Lays fields out from an offset on. Returns them, the offset of their end, and their alignment.
    fn fields(
        &self,
        fields: &syn::Fields,
        from: u64,
    ) -> Result<(&'static [FieldInfo], u64, u64), String> {
        let (mut found, mut end, mut most) = (vec![], from, 1);
        for (i, field) in fields.iter().enumerate() {
            let ty = self.type_of(&field.ty.to_token_stream().to_string())?;
            let align = align(&ty);
            let offset = end.next_multiple_of(align);
            end = offset + ty.size();
            most = most.max(align);
            let name = match &field.ident {
                Some(name) => leaked(name),
                None => leaked(&i),
            };
            found.push(FieldInfo { name, ty, offset });
        }
        Ok((found.leak(), end, most))
    }

    /// Resolves a type's name, or `Option` of one. For a struct expression, the text includes its fields, which are dropped.
    fn type_of(&self, text: &str) -> Result<TypeInfo, String> {
        let text = text.replace(' ', "");
        let text = text.split(['{', '(']).next().unwrap_or_default();
        if let Some((path, inner)) = text.strip_suffix('>').and_then(|t| t.split_once('<')) {
            if path.rsplit("::").next() != Some("Option") {
                return Err(format!("no generic type `{path}`"));
            }
            let ty = self.type_of(inner)?;
            let field = FieldInfo {
                name: "0",
                ty,
                offset: 0,
            };
            let variant = |name, tag, fields: Vec<FieldInfo>| VariantInfo {
                name,
                tag: Value::U32(tag),
                fields: fields.leak(),
            };
            let variants = vec![variant("None", 0, vec![]), variant("Some", 1, vec![field])];
            return Ok(TypeInfo::Enum(Box::leak(Box::new(EnumInfo {
                name: "Option",
                variants: variants.leak(),
                size: 0,
            }))));
        }
        let name = text.rsplit("::").next().unwrap_or_default();
        let scalar = Scalar::from_name(name).map(TypeInfo::Scalar);
        let known = scalar.or_else(|| packed(name));
        // For a value of an enum, the text is the path of its variant.
        let of_variant = || self.types.get(text.split("::").next()?).copied();
        let known = known.or_else(|| self.types.get(name).copied().or_else(of_variant));
        known.ok_or(format!("open link: the type `{text}`"))
    }

    /// Resolves the types, constants and functions that a kernel or function names.
    ///
    /// # Errors
    /// One of them is not among the items.
    pub fn links(&self, kernel: &Kernel) -> Result<Links, String> {
        if !kernel.prelude_links.is_empty() {
            return Err(format!("open links: {:?}", kernel.prelude_links));
        }
        let constants = kernel.links.iter().map(|link| self.constant(&link.path));
        let types = kernel.type_links.iter().map(|text| self.type_of(text));
        let functions = kernel.functions.iter().map(|name| {
            let ir = *self
                .functions
                .get(&**name)
                .ok_or(format!("open link: `{name}`"))?;
            let links = self.links(ir)?;
            Ok::<_, String>(Function { ir, links })
        });
        Ok(Links {
            types: types.collect::<Result<_, _>>()?,
            constants: constants.collect::<Result<_, _>>()?,
            functions: functions.collect::<Result<_, _>>()?,
            ..Links::default()
        })
    }
}

/// Rewrites a method as a function whose receiver is named `this`. The frontend produces the same IR for both.
fn as_function(ty: &TokenStream, mut method: syn::ImplItemFn) -> Result<TokenStream, String> {
    method.attrs.clear();
    if let Some(syn::FnArg::Receiver(receiver)) = method.sig.inputs.first() {
        let of = match &receiver.kind {
            syn::ReceiverKind::Reference(and, _, mutable) => quote!(#and #mutable #ty),
            syn::ReceiverKind::Value => ty.clone(),
            syn::ReceiverKind::Typed(_, of) => of.to_token_stream(),
            _ => return Err("an unknown receiver".into()),
        };
        let renamed = quote!(this: #of);
        let renamed = syn::parse2(renamed).expect("it is a parameter");
        method.sig.inputs[0] = renamed;
    }
    Ok(without_self(method.to_token_stream()))
}

fn without_self(tokens: TokenStream) -> TokenStream {
    let renamed = tokens.into_iter().map(|token| match token {
        TokenTree::Ident(ident) if ident == "self" => Ident::new("this", ident.span()).into(),
        TokenTree::Group(group) => {
            let mut inner = Group::new(group.delimiter(), without_self(group.stream()));
            inner.set_span(group.span());
            inner.into()
        }
        token @ (TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_)) => token,
    });
    renamed.collect()
}

fn align(ty: &TypeInfo) -> u64 {
    match ty {
        TypeInfo::Scalar(scalar) => scalar.size() as u64,
        TypeInfo::Array(elem, _) => align(elem),
        TypeInfo::Struct(info) => info.align,
        TypeInfo::Enum(info) => {
            let fields = info.variants.iter().flat_map(|v| v.fields);
            fields.map(|f| align(&f.ty)).fold(4, u64::max)
        }
    }
}

fn leaked(text: &impl ToString) -> &'static str {
    text.to_string().leak()
}

/// The type of a vector such as `f32x4`.
fn packed(name: &str) -> Option<TypeInfo> {
    use sarek::prelude::*;

    macro_rules! of_name {
        ($($ty:ident)*) => {
            match name {
                $(stringify!($ty) => Some(<$ty as KernelType>::TYPE),)*
                _ => None,
            }
        };
    }
    of_name! { f32x2 f32x3 f32x4 f64x2 f64x3 f64x4 i32x2 i32x3 i32x4 u32x2 u32x3 u32x4 }
}
