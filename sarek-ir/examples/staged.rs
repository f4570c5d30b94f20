//! Prints the text of an optimized kernel, to judge it by eye or by a target's tools:
//! `cargo run -p sarek-ir --example staged -- product cuda 2048 2048 2048`.
//!
//! The arguments are a kernel (`product`, `middle`, `bodies`, `rows`, `transpose`), a dialect, and sizes: rows, columns and turns.

#[path = "../tests/common/staged.rs"]
mod staged;

use sarek_ir::write::{IndexWidth, default_variant, dialect, render};
use staged::{Sizes, bodies, plan, product, rows, transpose, turned};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let word = |at: usize, other: &str| args.get(at).cloned().unwrap_or_else(|| other.to_owned());
    let size = |at: usize| word(at, "2048").parse::<u64>().expect("a size is a number");
    let [high, wide, turns] = [2, 3, 4].map(size);
    let (kernel, tile, factors, chunk, extent) = match &*word(0, "product") {
        "product" => (product(), [128, 128, 1], [8, 8], 8, [wide, high, 1]),
        "middle" => (product(), [128, 64, 1], [8, 4], 16, [wide, high, 1]),
        "bodies" => (bodies(), [256, 1, 1], [1, 1], 256, [high, 1, 1]),
        "rows" => (rows(), [32, 1, 1], [1, 1], 64, [high, 1, 1]),
        "transpose" => (transpose(), [64, 64, 1], [1, 4], 1, [wide, high, 1]),
        other => panic!("no kernel is called {other}"),
    };
    let sizes = Sizes {
        tile,
        factors,
        chunk,
        extent,
        turns,
    };
    let plan = match &*kernel.name {
        "transpose" => turned(tile[0], extent),
        _ => plan(&kernel, sizes),
    };
    eprintln!("{plan}; {:?} threads", plan.threads(extent));
    let kernel = plan.apply(&kernel).expect("the plan fits");
    let dialect = dialect(&word(1, "cuda")).expect("a dialect is cuda, opencl or wgsl");
    let mut variant = default_variant(&kernel, dialect);
    variant.index = IndexWidth::Bits32;
    let source = render(&kernel, dialect, &variant).expect("every dialect can write it");
    println!("{}", source.text);
}
