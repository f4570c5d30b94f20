//! Expands the alternatives of a pattern.

use crate::lower::compound::is_type_name;

/// The alternatives of a pattern, in the order in which Rust tries them. They are those that `|`
/// separates at the top level, and nested ones that bind names.
pub(in crate::lower) fn alternatives(pat: &syn::Pat) -> Vec<syn::Pat> {
    match pat {
        syn::Pat::Or(or) => or.cases.iter().flat_map(alternatives).collect(),
        syn::Pat::Paren(inner) => alternatives(&inner.pat),
        syn::Pat::Tuple(tuple) => {
            let elems = product(&tuple.elems.iter().collect::<Vec<_>>());
            let with = |elems: Vec<syn::Pat>| {
                let mut tuple = tuple.clone();
                tuple
                    .elems
                    .iter_mut()
                    .zip(elems)
                    .for_each(|(e, new)| *e = new);
                syn::Pat::Tuple(tuple)
            };
            elems.into_iter().map(with).collect()
        }
        syn::Pat::TupleStruct(tuple) => {
            let elems = product(&tuple.elems.iter().collect::<Vec<_>>());
            let with = |elems: Vec<syn::Pat>| {
                let mut tuple = tuple.clone();
                tuple
                    .elems
                    .iter_mut()
                    .zip(elems)
                    .for_each(|(e, new)| *e = new);
                syn::Pat::TupleStruct(tuple)
            };
            elems.into_iter().map(with).collect()
        }
        syn::Pat::Slice(slice) => {
            let elems = product(&slice.elems.iter().collect::<Vec<_>>());
            let with = |elems: Vec<syn::Pat>| {
                let mut slice = slice.clone();
                slice
                    .elems
                    .iter_mut()
                    .zip(elems)
                    .for_each(|(e, new)| *e = new);
                syn::Pat::Slice(slice)
            };
            elems.into_iter().map(with).collect()
        }
        syn::Pat::Struct(pat) => {
            let elems = product(&pat.fields.iter().map(|f| &*f.pat).collect::<Vec<_>>());
            let with = |elems: Vec<syn::Pat>| {
                let mut pat = pat.clone();
                pat.fields
                    .iter_mut()
                    .zip(elems)
                    .for_each(|(f, new)| *f.pat = new);
                syn::Pat::Struct(pat)
            };
            elems.into_iter().map(with).collect()
        }
        syn::Pat::Ident(ident) => {
            let Some((at, inner)) = &ident.subpat else {
                return vec![pat.clone()];
            };
            let with = |inner: syn::Pat| {
                let subpat = Some((*at, Box::new(inner)));
                let ident = ident.clone();
                syn::Pat::Ident(syn::PatIdent { subpat, ..ident })
            };
            inside(inner).into_iter().map(with).collect()
        }
        other => vec![other.clone()],
    }
}

/// The Cartesian product of the parts' alternatives.
fn product(parts: &[&syn::Pat]) -> Vec<Vec<syn::Pat>> {
    let mut all = vec![vec![]];
    for part in parts {
        let cases = inside(part);
        let longer = |head: &Vec<syn::Pat>| -> Vec<Vec<syn::Pat>> {
            let with = |case: &syn::Pat| head.iter().chain([case]).cloned().collect();
            cases.iter().map(with).collect()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// The alternatives of a part. An or-pattern without names is a single test, so it stays whole.
fn inside(pat: &syn::Pat) -> Vec<syn::Pat> {
    match binds(pat) {
        true => alternatives(pat),
        false => vec![pat.clone()],
    }
}

/// True if a pattern binds a name.
pub(in crate::lower) fn binds(pat: &syn::Pat) -> bool {
    struct Names(bool);
    impl syn::visit::Visit<'_> for Names {
        fn visit_pat_ident(&mut self, ident: &syn::PatIdent) {
            let is_name = ident.subpat.is_some() || !is_type_name(&ident.ident);
            self.0 |= is_name;
        }
    }
    let mut names = Names(false);
    syn::visit::Visit::visit_pat(&mut names, pat);
    names.0
}
