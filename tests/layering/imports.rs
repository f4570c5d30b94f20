//! Finds the imports between the layers of a crate, by parsing its sources.
//!
//! A layer is a top-level folder or module of `src`; the layer `lib` contains the items that `lib.rs` itself defines. An import is a path that
//! begins with `crate` or `super` and leads out of its layer, in a `use` line or in code. A name that `lib.rs` re-exports belongs to the layer
//! that it comes from. Code that is compiled only for tests does not count, and neither do the bodies of `macro_rules!`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, Item, ItemFn, ItemImpl, ItemMod, ItemUse, Macro, Token, UseTree};

/// The layer of the items that `lib.rs` defines.
const ROOT: &str = "lib";

/// A layer, and a layer that it imports.
pub type Import = (String, String);

/// The imports between layers, each with the place of its first path.
pub type Imports = BTreeMap<Import, String>;

/// Finds the imports of the crate in a folder. Reads its `lib.rs`, and follows the declarations of modules.
pub fn imports(folder: &Path) -> Imports {
    let source = folder.join("src");
    let lib = source.join("lib.rs");
    let layers = parse(&lib).items.into_iter().filter_map(|item| match item {
        Item::Mod(item) if !for_tests(&item.attrs) => Some(item.ident.to_string()),
        _ => None,
    });
    let mut reader = Reader {
        layers: layers.collect(),
        source,
        file: lib.clone(),
        module: vec![],
        exports: BTreeMap::new(),
        found: vec![],
    };
    reader.read(lib);
    reader.resolved()
}

/// An import of a name at the crate's root.
struct Found {
    layer: String,
    name: String,
    place: String,
}

struct Reader {
    source: PathBuf,
    layers: BTreeSet<String>,
    /// The file and the module that are being read.
    file: PathBuf,
    module: Vec<String>,
    /// The layer of each name that the root re-exports.
    exports: BTreeMap<String, String>,
    found: Vec<Found>,
}

impl Reader {
    fn read(&mut self, file: PathBuf) {
        let parsed = parse(&file);
        let outer = std::mem::replace(&mut self.file, file);
        self.visit_file(&parsed);
        self.file = outer;
    }

    /// The file of the current module, which its parent declares as `mod name;`.
    fn declared_file(&self) -> PathBuf {
        let folder = self
            .module
            .iter()
            .fold(self.source.clone(), |p, m| p.join(m));
        let beside = folder.with_extension("rs");
        match beside.exists() {
            true => beside,
            false => folder.join("mod.rs"),
        }
    }

    fn layer(&self) -> String {
        let first = self.module.first().map_or(ROOT, String::as_str);
        first.to_owned()
    }

    /// Records a path that leads to the crate's root and from there to a name.
    fn path(&mut self, segments: &[String], line: usize) {
        let above = segments.iter().take_while(|s| *s == "super").count();
        let rest = match segments.first().map(String::as_str) {
            Some("crate") => &segments[1..],
            Some("super") if above == self.module.len() => &segments[above..],
            // In `lib.rs`, a path may begin with a layer. Other modules need `crate` or `super` for it.
            Some(first) if self.module.is_empty() && self.layers.contains(first) => segments,
            _ => return,
        };
        if let Some(name) = rest.first() {
            let file = self
                .file
                .strip_prefix(&self.source)
                .expect("a file of `src`");
            self.found.push(Found {
                layer: self.layer(),
                name: name.clone(),
                place: format!("{}:{line}", file.display()),
            });
        }
    }

    fn resolved(self) -> Imports {
        let mut imports = Imports::new();
        for Found { layer, name, place } in self.found {
            let to = match self.layers.contains(&name) {
                true => &name,
                false => self.exports.get(&name).map_or(ROOT, String::as_str),
            };
            if layer != to {
                imports.entry((layer, to.to_owned())).or_insert(place);
            }
        }
        imports
    }
}

impl<'a> Visit<'a> for Reader {
    fn visit_item_mod(&mut self, item: &'a ItemMod) {
        if for_tests(&item.attrs) {
            return;
        }
        self.module.push(item.ident.to_string());
        match item.content {
            Some(_) => visit::visit_item_mod(self, item),
            None => self.read(self.declared_file()),
        }
        self.module.pop();
    }

    fn visit_item_fn(&mut self, item: &'a ItemFn) {
        if !for_tests(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'a ItemImpl) {
        if !for_tests(&item.attrs) {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'a ItemUse) {
        if for_tests(&item.attrs) {
            return;
        }
        let mut paths = vec![];
        leaves(&item.tree, &mut vec![], &mut paths);
        let line = item.use_token.span.start().line;
        for (path, name) in paths {
            let exported = self.module.is_empty() && self.layers.contains(&path[0]);
            if exported {
                self.exports.insert(name, path[0].clone());
            }
            // A re-export is a part of the crate's interface. It does not mean that the root's own items need the layer.
            if !exported || matches!(item.vis, syn::Visibility::Inherited) {
                self.path(&path, line);
            }
        }
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        if path.leading_colon.is_none() {
            self.path(&segments, path.segments[0].ident.span().start().line);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'a Macro) {
        self.visit_path(&call.path);
        let arguments = call.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
        for argument in arguments.iter().flatten() {
            // The parsed expressions live only in this function, not as long as `'a`.
            Reader::visit_expr(self, argument);
        }
    }
}

/// Collects the paths of a `use` item, each with the name that it brings into scope.
fn leaves(tree: &UseTree, before: &mut Vec<String>, paths: &mut Vec<(Vec<String>, String)>) {
    let mut end = |last: String, name: String| {
        let mut path = before.clone();
        path.push(last);
        paths.push((path, name));
    };
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            leaves(&path.tree, before, paths);
            before.pop();
        }
        UseTree::Name(name) => end(name.ident.to_string(), name.ident.to_string()),
        UseTree::Rename(name) => end(name.ident.to_string(), name.rename.to_string()),
        UseTree::Glob(_) => end("*".into(), "*".into()),
        UseTree::Group(group) => {
            for tree in &group.items {
                leaves(tree, before, paths);
            }
        }
    }
}

/// True for attributes of an item that is compiled only for tests.
fn for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) => {
            let condition = list.tokens.to_string();
            let mut words = condition.split(|c: char| !c.is_alphanumeric());
            list.path.is_ident("cfg") && words.any(|word| word == "test")
        }
        syn::Meta::Path(_) | syn::Meta::NameValue(_) => false,
    })
}

fn parse(file: &Path) -> syn::File {
    let text = fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}
