//! Writes the generic arguments of constructed values.
//!
//! In `let v: Option<i32> = None;` the type of the variable determines the instance. The compiled
//! body does not repeat that type, since it may have no name. The known generic arguments are
//! therefore written in the path of the constructor.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use sarek_ir::{Compound, CompoundId, Expr};

use super::{GenericArg, Named, Node};
use crate::lower::{Lowerer, Ty, path_text};

impl Lowerer<'_> {
    /// Completes the paths of all constructed values, once types are settled.
    pub(in crate::lower) fn settle_instances(&mut self) {
        for i in 0..self.expr_types.len() {
            if let Expr::Compound(id) = self.kernel.exprs[i]
                && let Some(path) = self.instance(id, self.expr_types[i])
            {
                self.paths.insert(id, path);
            }
        }
    }

    /// The path with generic arguments, if the source wrote none and some are known.
    fn instance(&self, id: CompoundId, ty: Ty) -> Option<TokenStream> {
        let Compound::Construct { variant, .. } = &self.kernel.compounds[id.index()] else {
            return None;
        };
        let Node::Named(named) = self.types.node(ty) else {
            return None;
        };
        let mut path: syn::Path = syn::parse2(self.paths.get(&id)?.clone()).ok()?;
        let after = usize::from(variant.is_some());
        let at = path.segments.len().checked_sub(after + 1)?;
        if !is_prefix(named, &path, at + 1) {
            return None;
        }
        let arguments = &mut path.segments[at].arguments;
        if !arguments.is_empty() {
            return None;
        }
        let known = self.instance_arguments(named)?;
        *arguments = syn::PathArguments::AngleBracketed(syn::parse_quote!(::<#(#known),*>));
        let path = path.into_token_stream();
        Some(match variant {
            Some(_) => path,
            None => self.known_type(path),
        })
    }

    /// The arguments of a type, with `_` for unknown ones. `None` if all are unknown.
    fn instance_arguments(&self, named: &Named) -> Option<Vec<TokenStream>> {
        let known = named.args.iter().map(|arg| match arg {
            GenericArg::Type(ty) => self.type_tokens(*ty),
            GenericArg::Const(tokens) => Some(tokens.clone()),
        });
        let known: Vec<Option<TokenStream>> = known.collect();
        let is_any = known.iter().any(Option::is_some);
        is_any.then(|| {
            known
                .into_iter()
                .map(|k| k.unwrap_or_else(|| quote!(_)))
                .collect()
        })
    }
}

/// True if the first segments of the path name the type. An alias may have other arguments than the
/// type that it stands for.
fn is_prefix(named: &Named, path: &syn::Path, count: usize) -> bool {
    let names: Vec<String> = path
        .segments
        .iter()
        .take(count)
        .map(|s| s.ident.to_string())
        .collect();
    let text = path_text(&named.path);
    text.trim_start_matches("::") == names.join("::")
}
