//! Measures how long kernels take to lower, and to prove free of races, in the macros.
//!
//! `cargo bench --bench proofs [--profile dev] [-- FOLDER…]`
//!
//! The kernels are the safe ones among the sources of the conformance suite, the examples, the tests and the benchmarks, or of the given
//! folders. Kernels that macros make are left out. Cargo compiles macros without optimisation unless a profile says otherwise, so
//! `--profile dev` shows the times in a user's build.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use quote::ToTokens;
use sarek_ir::analysis::race;
use syn::visit::Visit;

type Fallible<T = ()> = Result<T, Box<dyn Error>>;

/// The folders that are searched by default.
const FOLDERS: [&str; 4] = ["sarek-conformance/src", "examples", "tests", "benches"];

/// The number of timings of each kernel. The shortest counts.
const ROUNDS: usize = 3;

fn main() -> Fallible {
    let args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    let mut folders: Vec<String> = args.collect();
    if folders.is_empty() {
        folders = FOLDERS.map(str::to_owned).into();
    }
    let mut found = Found::default();
    for folder in folders {
        found.search(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder))?;
    }
    let mut costs = vec![];
    let mut rejected = 0;
    for kernel in &found.kernels {
        match kernel.time() {
            Some(cost) => costs.push(cost),
            None => rejected += 1,
        }
    }
    let level = if cfg!(debug_assertions) {
        "without"
    } else {
        "with"
    };
    println!("{} kernels, {level} optimisation", costs.len());
    let refused = costs.iter().filter(|cost| cost.is_refused).count();
    println!("{refused} of them are refused, and {rejected} more are no kernels by themselves");
    println!(
        "{:<8}{:>12}{:>12}{:>12}{:>12}",
        "", "median", "p90", "p99", "max"
    );
    print_row("lower", &mut costs, |cost| cost.lower);
    print_row("prove", &mut costs, |cost| cost.prove);
    print_row("both", &mut costs, |cost| cost.lower + cost.prove);
    Ok(())
}

/// Prints the distribution of a time, and the kernels with the five longest.
fn print_row(name: &str, costs: &mut [Cost], time: impl Fn(&Cost) -> Duration) {
    costs.sort_by_key(&time);
    let Some(last) = costs.len().checked_sub(1) else {
        return;
    };
    let millis = |cost: &Cost| 1e3 * time(cost).as_secs_f64();
    print!("{name:<8}");
    for percent in [50, 90, 99, 100] {
        print!("{:>9.2} ms", millis(&costs[last * percent / 100]));
    }
    println!();
    for cost in costs.iter().rev().take(5) {
        println!("{:>9.2} ms  {}", millis(cost), cost.name);
    }
}

/// The time for one kernel.
struct Cost {
    name: String,
    /// Parsing, lowering and all checks but the race proof.
    lower: Duration,
    /// The race proof, or the search for a counterexample.
    prove: Duration,
    /// True if there is no proof.
    is_refused: bool,
}

/// The safe kernels found so far.
#[derive(Default)]
struct Found {
    kernels: Vec<Kernel>,
    /// The file that is read.
    file: String,
}

/// A kernel's source.
struct Kernel {
    /// The file and the kernel's name.
    name: String,
    options: syn::Attribute,
    item: syn::ItemFn,
}

impl Found {
    /// Reads all Rust files of a folder.
    fn search(&mut self, folder: &Path) -> Fallible {
        let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let mut paths: Vec<_> = entries.map(|e| Ok(e?.path())).collect::<Fallible<_>>()?;
        paths.sort();
        for path in paths {
            if path.is_dir() {
                self.search(&path)?;
            } else if path.extension().is_some_and(|e| e == "rs") {
                self.file = path.display().to_string();
                let root = concat!(env!("CARGO_MANIFEST_DIR"), "/");
                self.file = self.file.replacen(root, "", 1);
                self.visit_file(&syn::parse_file(&fs::read_to_string(&path)?)?);
            }
        }
        Ok(())
    }
}

impl<'a> Visit<'a> for Found {
    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        let is_kernel = |a: &syn::Attribute| {
            a.path()
                .segments
                .last()
                .is_some_and(|s| s.ident == "kernel")
        };
        let is_safe = matches!(item.sig.safety, syn::Safety::Default);
        if let Some(at) = item.attrs.iter().position(is_kernel).filter(|_| is_safe) {
            let mut item = item.clone();
            let options = item.attrs.remove(at);
            let name = format!("{}, {}", self.file, item.sig.ident);
            self.kernels.push(Kernel {
                name,
                options,
                item,
            });
        }
        syn::visit::visit_item_fn(self, item);
    }
}

impl Kernel {
    /// Times the kernel; `None` if the frontend rejects it.
    fn time(&self) -> Option<Cost> {
        let mut item = self.item.clone();
        // An unsafe kernel is lowered without a proof.
        item.sig.safety = syn::Safety::Unsafe(Default::default());
        let mut best: Option<Cost> = None;
        for _ in 0..ROUNDS {
            let options = match &self.options.meta {
                syn::Meta::List(list) => list.tokens.clone(),
                syn::Meta::Path(_) | syn::Meta::NameValue(_) => Default::default(),
            };
            let tokens = item.to_token_stream();
            let start = Instant::now();
            let kernel = sarek_frontend::expand::lowered(options, tokens).ok()?;
            let lower = start.elapsed();
            let start = Instant::now();
            let is_refused = race::check_with_constants(&kernel).is_err();
            let prove = start.elapsed();
            let (lower, prove) = match &best {
                Some(cost) => (cost.lower.min(lower), cost.prove.min(prove)),
                None => (lower, prove),
            };
            best = Some(Cost {
                name: self.name.clone(),
                lower,
                prove,
                is_refused,
            });
        }
        best
    }
}
