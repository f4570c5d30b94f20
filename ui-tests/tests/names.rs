//! Programs in which a name that kernels know means something else. Each use of such a name must be refused, unless rustc does not take the
//! other item.
//!
//! The test generates kernels from the tables (`sarek_frontend::lower::known_names`), with one name on each line. Beside them are functions, macros
//! and trait methods of the same names. The trait methods are `deprecated`, so rustc reports an accepted line that calls one of them.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;

use sarek_frontend::lower::known_names;
use sarek_ir::Scalar;
use sarek_ir::numeric::{self, Method, Returns};

/// A program, line by line, and the numbers of the lines that use a name of the tables.
#[derive(Default)]
struct Program {
    lines: Vec<String>,
    named: BTreeSet<usize>,
}

impl Program {
    fn push(&mut self, text: impl Into<String>) {
        self.lines.push(text.into());
    }

    fn name(&mut self, text: impl Into<String>) {
        self.lines.push(text.into());
        self.named.insert(self.lines.len());
    }

    /// The program with some lines emptied.
    fn without(&self, lines: &BTreeSet<usize>) -> Program {
        let kept = (1..).zip(&self.lines);
        let kept = kept.map(|(at, line)| match lines.contains(&at) {
            true => String::new(),
            false => line.clone(),
        });
        Program {
            lines: kept.collect(),
            named: self.named.difference(lines).copied().collect(),
        }
    }

    /// Runs `cargo check`. Returns the lines whose error has the code of this mistake or names several candidates, and the other errors.
    fn check(&self, name: &str) -> (BTreeSet<usize>, Vec<String>) {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(folder.join("src")).expect("a folder");
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[dependencies]\nsarek = {{ package = \"sarek-kernel\", path = {:?}, \
             default-features = false, features = [\"native\"] }}\n",
            root.canonicalize().expect("the project's folder")
        );
        std::fs::write(folder.join("Cargo.toml"), manifest).expect("a manifest");
        std::fs::write(folder.join("src/main.rs"), self.lines.join("\n")).expect("a program");
        std::fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).expect("a lock file");
        let out = Command::new(env!("CARGO"))
            .args(["check", "--offline", "--quiet", "--message-format=short"])
            .arg("--manifest-path")
            .arg(folder.join("Cargo.toml"))
            .env(
                "CARGO_TARGET_DIR",
                PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("names"),
            )
            .output()
            .expect("cargo runs");
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        let (mut refused, mut others) = (BTreeSet::new(), vec![]);
        for line in text.lines().filter(|line| line.contains("error")) {
            let at = line.strip_prefix("src/main.rs:").and_then(|rest| {
                let (at, _) = rest.split_once(':')?;
                at.parse::<usize>().ok()
            });
            match at {
                Some(at) if line.contains("SRK0316") || line.contains("error[E0034]") => {
                    refused.insert(at);
                }
                Some(_) => others.push(line.to_owned()),
                None if line.contains("could not compile") => {}
                None => others.push(line.to_owned()),
            }
        }
        (refused, others)
    }
}

/// The types whose methods are called.
const TYPES: [Scalar; 6] = [
    Scalar::I32,
    Scalar::U64,
    Scalar::Usize,
    Scalar::F32,
    Scalar::F64,
    Scalar::F16,
];

/// The type of a method's result.
fn yields(row: &Method, on: Scalar) -> String {
    let ty = spelled(row.result.of(on));
    match row.returns {
        Returns::Value => ty.into(),
        Returns::Optional => format!("::core::option::Option<{ty}>"),
        Returns::Overflow => format!("({ty}, bool)"),
        Returns::Pair => format!("({ty}, {ty})"),
    }
}

fn spelled(on: Scalar) -> &'static str {
    match on {
        Scalar::F16 => "::sarek::f16",
        Scalar::Bf16 => "::sarek::bf16",
        other => other.name(),
    }
}

/// Adds a module for each type, with a kernel that calls each method of the type. If `taken` is a receiver, the module also has a
/// trait whose methods have the same names and take this receiver.
fn methods(program: &mut Program, taken: Option<&str>, imports: &str) {
    for on in TYPES {
        let methods = numeric::methods().filter(|row| row.stands_on(on));
        let methods: Vec<&Method> = methods.collect();
        assert!(methods.len() > 20, "{on}");
        let ty = spelled(on);
        program.push(format!("mod m{} {{", program.lines.len()));
        program.push(imports);
        if let Some(receiver) = taken {
            let mut items = String::new();
            for row in &methods {
                let takes = row.arg_types(on).map(|t| format!(", _: {}", spelled(t)));
                let (takes, yields) = (takes.collect::<String>(), yields(row, on));
                let name = row.name;
                write!(
                    items,
                    "#[deprecated] fn {name}({receiver}{takes}) -> {yields} {{ loop {{}} }} "
                )
                .expect("text");
            }
            program.push(format!("trait Mine: ::core::marker::Sized {{ {items} }}"));
            program.push(format!("impl Mine for {ty} {{}}"));
        }
        program.push("#[::sarek::kernel]");
        program.push(format!(
            "fn all(y: &mut [u32], x: {}) {{",
            if on == Scalar::Usize { "u32" } else { ty }
        ));
        if on == Scalar::Usize {
            program.push("let x = ::sarek::global_idx_x();");
        }
        for row in &methods {
            let arguments = row.arg_types(on).map(|t| match t {
                same if same == on => "x".to_owned(),
                Scalar::Bool => "true".to_owned(),
                other => format!("1{}", other.name()),
            });
            let arguments = arguments.collect::<Vec<_>>().join(", ");
            program.name(format!(
                "let a: {} = x.{}({arguments});",
                yields(row, on),
                row.name
            ));
        }
        program.push("y[::sarek::global_idx_x()] = 1;");
        program.push("}");
        program.push("}");
    }
}

const HEAD: &str = "#![allow(unused, private_interfaces, clippy::all)]";
const ALONE: &str = "#![no_implicit_prelude]";
const PRELUDES: &str = "use sarek::prelude::*;";

#[test]
fn methods_of_numbers() {
    let mut right = Program::default();
    right.push(HEAD);
    methods(&mut right, None, PRELUDES);
    right.push("fn main() {}");
    assert_eq!(right.check("names-right"), (BTreeSet::new(), vec![]));
    let mut program = Program::default();
    program.push(HEAD);
    for taken in ["self", "&self"] {
        methods(&mut program, Some(taken), ALONE);
        methods(&mut program, Some(taken), PRELUDES);
    }
    program.push("fn main() {}");
    let (refused, others) = program.check("names-methods");
    assert_eq!(others, [] as [String; 0]);
    assert!(refused.is_subset(&program.named), "{refused:?}");
    let text = |at: &usize| program.lines[at - 1].clone();
    let refused_lines: Vec<String> = refused.iter().map(text).collect();
    for method in ["rsqrt", "min", "max", "clamp"] {
        let is_there = |line: &String| line.contains(&format!(".{method}("));
        assert!(refused_lines.iter().any(is_there), "{refused_lines:#?}");
    }
    // The accepted lines call no method of the trait.
    let mut accepted = program.without(&refused);
    accepted.lines[0] = format!("{HEAD} #![deny(deprecated)]");
    assert_eq!(accepted.check("names-accepted"), (BTreeSet::new(), vec![]));
}

/// Adds a module with a kernel that calls every function that kernels know by name. `declare` makes the declaration of each function from its
/// name, its parameters and its result.
fn functions(program: &mut Program, declare: impl Fn(&str, &[&str], &str) -> String) {
    let (plain, of_subgroups) = known_names::functions();
    program.push(format!("mod m{} {{", program.lines.len()));
    for name in &plain {
        let waits = name.starts_with("barrier") || name.ends_with("fence");
        program.push(declare(name, &[], if waits { "()" } else { "usize" }));
    }
    for (name, takes_lane) in &of_subgroups {
        let (takes, yields) = match *name {
            "subgroup_all" | "subgroup_any" => ("bool", "bool"),
            "subgroup_ballot" => ("bool", "u64"),
            _ => ("T", "T"),
        };
        let lane: &[&str] = if *takes_lane {
            &["T", "usize"]
        } else {
            &[takes]
        };
        program.push(declare(name, lane, yields));
    }
    program.push("#[::sarek::kernel(block = 32)]");
    // Ids of all axes mean several threads along each.
    program.push("unsafe fn all(y: &mut [u32]) {");
    for name in &plain {
        program.name(format!("{name}();"));
    }
    for (name, takes_lane) in &of_subgroups {
        let value = match *name {
            "subgroup_all" | "subgroup_any" | "subgroup_ballot" => "true",
            _ => "1.0f32",
        };
        let lane = if *takes_lane { ", 1" } else { "" };
        program.name(format!("{name}({value}{lane});"));
    }
    program.push("y[::sarek::global_idx_x()] = 1;");
    program.push("}");
    program.push("}");
}

#[test]
fn functions_of_other_meanings() {
    let mut program = Program::default();
    program.push(HEAD);
    let own = |before: &str, name: &str, takes: &[&str], yields: &str| {
        let generic = if takes.contains(&"T") { "<T>" } else { "" };
        let takes: Vec<String> = takes.iter().map(|ty| format!("_: {ty}")).collect();
        format!(
            "{before} fn {name}{generic}({}) -> {yields} {{ loop {{}} }}",
            takes.join(", ")
        )
    };
    functions(&mut program, |name, takes, yields| {
        own("", name, takes, yields)
    });
    functions(&mut program, |name, takes, yields| {
        own("extern \"C-unwind\"", name, takes, yields)
    });
    // Imports each function under the name of another one of the same type.
    functions(&mut program, |name, takes, yields| {
        let other = match (takes, yields) {
            (_, "usize") if takes.is_empty() => ["block_dim_x", "block_dim_y"],
            (_, "()") => ["barrier", "block_fence"],
            (["T", _], _) => ["subgroup_shuffle", "subgroup_broadcast"],
            (["T"], _) => ["subgroup_sum", "subgroup_max"],
            (_, "u64") => return own("", name, takes, yields),
            _ => ["subgroup_all", "subgroup_any"],
        };
        let other = if other[0] == name { other[1] } else { other[0] };
        format!("use ::sarek::{other} as {name};")
    });
    program.push("fn main() {}");
    let (refused, others) = program.check("names-functions");
    assert_eq!(others, [] as [String; 0]);
    assert_eq!(refused, program.named);
}

#[test]
fn macros_of_other_meanings() {
    let calls = |program: &mut Program| {
        program.push("#[::sarek::kernel(block = 32)]");
        program.push("fn all(y: &mut [u32]) {");
        for name in known_names::macros() {
            let arguments = match name {
                "assert" | "debug_assert" => "(true)",
                "matches" => "(1u32, 1)",
                "native" => "{ \"cuda\" => \"\", _ => {} }",
                "superstep" => "{}",
                _ if name.contains("_eq") || name.contains("_ne") => "(1u32, 1u32)",
                _ => "(\"text\")",
            };
            let call = match name {
                "matches" => format!("let a = {name}!{arguments};"),
                "native" => format!("unsafe {{ {name}!{arguments} }};"),
                "panic" | "todo" | "unimplemented" | "unreachable" => {
                    format!("if y.len() == 0 {{ {name}!{arguments}; }}")
                }
                _ => format!("{name}!{arguments};"),
            };
            program.name(call);
        }
        program.push("y[::sarek::global_idx_x()] = 1;");
        program.push("}");
    };
    let own = |program: &mut Program| {
        for name in known_names::macros() {
            program.push(format!(
                "macro_rules! {name} {{ ($($t:tt)*) => {{ {{ false }} }}; }}"
            ));
        }
    };
    let mut right = Program::default();
    right.push(HEAD);
    right.push("use sarek::{native, superstep};");
    calls(&mut right);
    right.push("fn main() {}");
    assert_eq!(right.check("names-macros-right"), (BTreeSet::new(), vec![]));
    let mut program = Program::default();
    program.push(HEAD);
    program.push("mod textual {");
    own(&mut program);
    calls(&mut program);
    program.push("}");
    program.push("mod other {");
    for name in known_names::macros() {
        program.push(format!(
            "macro_rules! own_{name} {{ ($($t:tt)*) => {{ {{ false }} }}; }}"
        ));
        program.push(format!("pub(crate) use own_{name} as {name};"));
    }
    program.push("}");
    program.push("mod imported {");
    for name in known_names::macros() {
        program.push(format!("use crate::other::{name};"));
    }
    calls(&mut program);
    program.push("}");
    program.push("fn main() {}");
    let (refused, others) = program.check("names-macros");
    assert_eq!(others, [] as [String; 0]);
    assert_eq!(refused, program.named);
}

/// Methods of slices, arrays, views, vectors, `Option` and user types, each beside a trait whose method of the same name rustc would take.
#[test]
fn methods_that_come_after_others() {
    let mut program = Program::default();
    program.push(HEAD);
    program.push("#[derive(Clone, Copy, sarek::KernelType)] #[repr(C)] pub struct Cell { v: u32, of: [u32; 3] }");
    program.push("#[sarek::device] impl Cell { pub fn get(&self) -> u32 { self.v } pub fn set(&mut self) { self.v = 1; } }");
    program.push(
        "#[sarek::device] fn maybe(x: u32) -> Option<u32> { if x > 1 { Some(x) } else { None } }",
    );
    let cases = [
        ("&mut [u32]", "len() -> usize", "y.len()"),
        ("&mut [u32]", "is_empty() -> bool", "y.is_empty()"),
        ("[u32; 3]", "len() -> usize", "own.len()"),
        ("[u32; 3]", "is_empty() -> bool", "own.is_empty()"),
        ("[u32; 3]", "len() -> usize", "x[0].of.len()"),
        ("[u32; 3]", "len() -> usize", "tile[0].len()"),
        (
            "&mut sarek::Shared<[u32; 3]>",
            "len() -> usize",
            "tile.len()",
        ),
        ("Option<u32>", "is_some() -> bool", "some.is_some()"),
        ("Option<u32>", "is_none() -> bool", "maybe(1).is_none()"),
        ("Result<u32, u32>", "is_ok() -> bool", "ok.is_ok()"),
        ("Result<u32, u32>", "is_err() -> bool", "ok.is_err()"),
        ("sarek::View2<'_, u32>", "rows() -> usize", "view.rows()"),
        ("sarek::View2<'_, u32>", "cols() -> usize", "view.cols()"),
        ("sarek::f32x3", "zyx() -> sarek::f32x3", "vector.zyx()"),
        (
            "std::ops::Range<u32>",
            "rev() -> std::iter::Rev<std::ops::Range<u32>>",
            "{ for i in (0..3u32).rev() {} }",
        ),
        ("Cell", "get() -> u32", "cell.get()"),
        ("Cell", "get() -> u32", "x[0].get()"),
        ("Cell", "set() -> ()", "cell.set()"),
    ];
    for (ty, method, call) in cases {
        let by_reference = ["Cell", "[u32; 3]"].contains(&ty) && !method.starts_with("get");
        for receiver in ["self", "&self"].iter().take(1 + usize::from(by_reference)) {
            let method = method.replace("()", &format!("({receiver})"));
            let method = method.replacen(&format!("-> ({receiver})"), "-> ()", 1);
            program.push(format!("mod m{} {{", program.lines.len()));
            program.push("use sarek::{kernel, f32x3, View2, shared_array, global_idx_x, thread_idx_x}; use crate::{Cell, maybe};");
            program.push(format!(
                "trait Mine {{ fn {method}; }} impl Mine for {ty} {{ fn {method} {{ loop {{}} }} }}"
            ));
            program.push("#[kernel] fn of(x: &[Cell], y: &mut [u32], view: View2<u32>) {");
            program.push("let tile = shared_array::<[u32; 3], 4>(); let own = [1u32, 2, 3]; let vector = f32x3::new(1.0, 2.0, 3.0);");
            program.push("let mut cell: Cell = x[0]; let some = if cell.v > 1 { Some(cell.v) } else { None };");
            program
                .push("let ok: Result<u32, u32> = if cell.v > 1 { Ok(1u32) } else { Err(2u32) };");
            let is_statement = call.contains("set") || call.contains("for");
            let bound = if is_statement { "" } else { "let a = " };
            program.name(format!("{bound}{call};"));
            program.push("y[global_idx_x()] = 1; } }");
        }
    }
    program.push("fn main() {}");
    let (refused, others) = program.check("names-receivers");
    assert_eq!(others, [] as [String; 0]);
    let missed: Vec<String> = (program.named.difference(&refused))
        .map(|at| format!("{} {}", program.lines[at - 6], program.lines[at - 1]))
        .collect();
    assert!(missed.is_empty(), "{missed:#?}");
}
