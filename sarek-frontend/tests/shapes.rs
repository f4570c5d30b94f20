//! `tests/blocks/shaped.rs` runs kernels in all shapes that exist.

use std::collections::BTreeMap;

use proc_macro2::{TokenStream, TokenTree};
use sarek_frontend::expand;
use sarek_frontend::parse::Shapes;

const FILE: &str = include_str!("../../tests/blocks/shaped.rs");

/// A kernel of the file.
struct Kernel {
    name: String,
    option: &'static str,
    /// Names and shape lists, as in `no_trim "-trim"`.
    shapes: Vec<(String, String)>,
    arguments: TokenTree,
    body: TokenTree,
}

/// The content of `shaped! { … }`.
fn kernels() -> Vec<Kernel> {
    let mut file = FILE.parse::<TokenStream>().expect("tokens").into_iter();
    let list = loop {
        let [Some(a), Some(b)] = [file.next(), file.clone().next()] else {
            panic!("there are no kernels");
        };
        if let (TokenTree::Ident(name), TokenTree::Punct(_)) = (a, b)
            && name == "shaped"
        {
            break file.nth(1).expect("a list");
        }
    };
    let mut tokens = inside(list).into_iter();
    let mut found = vec![];
    while let Some(name) = tokens.next() {
        let mut next = || {
            let next = tokens.next();
            next.expect("a kernel has four parts behind its name")
        };
        let option = match next().to_string().as_str() {
            "fixed" => "block = (16, 8),",
            _ => "",
        };
        let shapes = inside(next());
        let shapes: Vec<TokenTree> = shapes.into_iter().collect();
        let shapes = shapes.chunks(2).map(|pair| {
            let list = pair[1].to_string();
            (pair[0].to_string(), list.trim_matches('"').to_owned())
        });
        found.push(Kernel {
            name: name.to_string(),
            option,
            shapes: shapes.collect(),
            arguments: next(),
            body: next(),
        });
    }
    found
}

fn inside(group: TokenTree) -> TokenStream {
    match group {
        TokenTree::Group(group) => group.stream(),
        other => panic!("`{other}` is no group"),
    }
}

impl Kernel {
    /// The code of a kernel with the shapes of a list.
    fn expanded(&self, list: &str) -> String {
        let Kernel {
            option,
            arguments,
            body,
            ..
        } = self;
        let attribute = format!("{option} __shapes = \"{list}\"").parse();
        let item = format!("unsafe fn kernel {arguments} {body}").parse();
        let expansion = expand::kernel(attribute.expect("tokens"), item.expect("tokens"));
        assert_eq!(expansion.errors, [""; 0], "{}", self.name);
        expansion.tokens.to_string()
    }
}

/// The list with one shape alone. Some shapes need strips, too.
fn alone(shape: &str) -> String {
    match shape {
        "masked" | "strides" | "stacks" => format!("strips, {shape}"),
        _ => shape.to_owned(),
    }
}

#[test]
fn every_shape_is_run_alone_and_left_out_alone() {
    let kernels = kernels();
    let (mut on, mut off) = (BTreeMap::new(), BTreeMap::new());
    for kernel in &kernels {
        let [plain, all] = ["", "-"].map(|list| kernel.expanded(list));
        let mut codes: Vec<(&str, String)> = vec![];
        for (name, list) in &kernel.shapes {
            let code = kernel.expanded(list);
            if let Some((same, _)) = codes.iter().find(|(_, known)| *known == code) {
                panic!("`{name}` of `{}` is what `{same}` is", kernel.name);
            }
            codes.push((name, code));
        }
        let is_run = |code: &str| codes.iter().any(|(_, known)| known == code);
        for code in [&plain, &all, &kernel.expanded("debug")] {
            assert!(is_run(code), "{}", kernel.name);
        }
        for shape in Shapes::NAMES {
            let [with, without] = [alone(shape), format!("-{shape}")];
            for list in [&with, &without] {
                let code = kernel.expanded(list);
                assert!(is_run(&code), "`{}` is not run with `{list}`", kernel.name);
            }
            let base = match with.strip_suffix(shape) {
                Some(base) => kernel.expanded(base),
                None => unreachable!("the list ends by the shape"),
            };
            *on.entry(shape).or_insert(0) += u32::from(kernel.expanded(&with) != base);
            *off.entry(shape).or_insert(0) += u32::from(kernel.expanded(&without) != all);
        }
    }
    for shape in Shapes::NAMES {
        assert!(on[shape] > 0, "no kernel changes by `{shape}` alone");
        assert!(off[shape] > 0, "no kernel changes without `{shape}`");
    }
}

/// Expansions do not depend on the order of a hash map, so builds are reproducible.
#[test]
fn expansions_are_the_same_each_time() {
    for kernel in kernels() {
        let code = kernel.expanded("-");
        for _ in 0..5 {
            assert!(kernel.expanded("-") == code, "{}", kernel.name);
        }
    }
}

/// The kernels that `tests/debug_builds.rs` measures.
const MEASURED: &str = include_str!("../../tests/debug_builds.rs");

/// In a debug build, a lane calls only the function that reports a fault. Ranges and closures are
/// calls, too.
#[test]
fn lanes_of_debug_builds_call_nothing() {
    let file: syn::File = syn::parse_str(MEASURED).expect("it is Rust");
    let is_kernel = |f: &syn::ItemFn| f.attrs.iter().any(|a| a.path().is_ident("kernel"));
    let mut kernels = 0;
    for item in file.items {
        let syn::Item::Fn(mut item) = item else {
            continue;
        };
        if !is_kernel(&item) {
            continue;
        }
        kernels += 1;
        item.attrs.clear();
        let attribute = "__shapes = \"debug\"".parse().expect("tokens");
        let expansion = expand::kernel(attribute, quote::quote!(#item));
        assert_eq!(expansion.errors, [""; 0], "{}", item.sig.ident);
        let text: String = expansion.tokens.to_string().split_whitespace().collect();
        let (_, lane) = text.split_once("'thread:{").expect("a loop over lanes");
        let (lane, _) = lane.split_once("__y+=1;").expect("the end of a row");
        // Lengths are read without a call.
        let known = [
            "return__host::Block::fault(",
            "__host::RawSliceMut::len(",
            "<[_]>::len(",
        ];
        let calls = known
            .iter()
            .fold(lane.to_owned(), |text, call| text.replace(call, ""));
        for call in ["__host::", "get_unchecked", "<[_]>::", "..", "|"] {
            assert!(!calls.contains(call), "`{call}` in {lane}");
        }
    }
    assert_eq!(kernels, 4);
}
