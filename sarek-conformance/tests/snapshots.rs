//! Snapshot tests: the IR and the generated texts of kernels, kept in `tests/snapshots` for review.
//!
//! `SAREK_BLESS=1` rewrites the files. A real compiler compiles every text: NVRTC the CUDA C, a
//! driver the OpenCL C, naga the WGSL. A compiler that this machine lacks is left out with a line
//! on stderr, unless `SAREK_REQUIRE` names it (`nvrtc`, `opencl`; naga is always there).

#[path = "snapshots/compile.rs"]
mod compile;
#[path = "snapshots/coverage.rs"]
mod coverage;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use rayon::prelude::*;
use sarek::__private::KernelDef;
use sarek_ir::encode::{pack, unpack};
use sarek_ir::write::{DIALECTS, default_variant, render};
use sarek_ir::{Kernel, link::link};

/// The kernels of the conformance suite, found once for all tests of this file.
static KERNELS: LazyLock<Vec<&KernelDef>> = LazyLock::new(sarek_conformance::kernels);

/// For each snapshot, its name, and the file and name of the kernel that it shows.
const KEPT: &[(&str, &str, &str)] = &[
    ("vector_add", "vector_add", "vector_add"),
    ("vector_add_f64", "vector_add", "vector_add_f64"),
    ("saxpy", "saxpy", "saxpy"),
    ("triad", "stream", "triad"),
    ("mandelbrot", "mandelbrot", "mandelbrot"),
    ("matmul", "matmul", "matmul"),
    ("transpose", "transpose", "transpose"),
    ("stencil", "stencil", "jacobi"),
    ("black_scholes", "black_scholes", "black_scholes"),
    ("nbody", "nbody", "accelerations"),
    ("murmur3", "bits", "murmur3_kernel"),
    ("splitmix64", "bits", "splitmix64_kernel"),
    ("gcd", "bits", "gcd_kernel"),
    ("bools", "bools", "threshold"),
    ("constants", "constants", "i32_kernel"),
    ("constant_arrays", "constants", "arrays_kernel"),
    ("constant_tables", "constants_tables", "small_types_kernel"),
    ("constant_floats", "constants_tables", "floats_kernel"),
    ("constant_records", "constants_tables", "records_kernel"),
    ("constant_borrowed", "constants_tables", "lent_kernel"),
    ("shifts", "operators/shift", "shift_i32"),
    ("wide_shift_counts", "operators/shift", "counts_kernel"),
    ("logic", "operators/logic", "logic"),
    ("small_buffers", "operators/divide", "divide_i8"),
    ("small_operators", "small", "operators_u16"),
    ("small_methods", "small", "methods_i8"),
    ("small_chains", "small", "chains_kernel"),
    ("small_floats", "small", "floats_kernel"),
    ("small_arguments", "small", "arguments_kernel"),
    ("half_operators", "half", "operators_kernel"),
    ("half_values", "half", "values_kernel"),
    ("bfloat_operators", "bfloat/operators", "operators_kernel"),
    ("bfloat_values", "bfloat/operators", "values_kernel"),
    ("bfloat_shared", "bfloat/memory", "shared_kernel"),
    ("bfloat_vectors", "bfloat/memory", "vectors_kernel"),
    ("bfloat_bytes", "bfloat/memory", "bytes_kernel"),
    ("bfloat_narrowed", "bfloat/numbers", "narrowed_f64_kernel"),
    ("packed_arithmetic", "packed", "arithmetic_kernel"),
    ("packed_structs", "packed", "structs_kernel"),
    ("packed_offsets", "packed", "offsets_kernel"),
    ("cast_chains", "casts/chains", "float_kernel"),
    ("ranges", "control/ranges", "ends_kernel"),
    ("labels", "control/labels", "mixed_kernel"),
    ("unroll", "control/unroll", "loops_kernel"),
    ("unroll_barriers", "control/unroll", "barriers_kernel"),
    ("short_circuit", "control/short_circuit", "guards_kernel"),
    ("returns", "control/returns", "nested_kernel"),
    ("indirect", "faults/index", "indirect_kernel"),
    ("division_faults", "faults/division", "divide_i32"),
    ("fixed_block", "launch/ids", "fixed_kernel"),
    ("native_text", "native_text", "buffers_kernel"),
    ("shared_structs", "block/records", "structs_kernel"),
    ("shared_rows", "block/rows", "planes_kernel"),
    ("array_patterns", "types/array_patterns", "own_kernel"),
    ("checked", "methods/checked", "small_kernel"),
    ("integers", "methods/integers", "of_u32_kernel"),
    ("powers", "methods/powers", "powers_u32"),
    ("mixed_signs", "methods/mixed_signs", "mixed_i32"),
    ("view_add", "views/elements", "add_kernel"),
    ("view_structs", "views/elements", "structs_kernel"),
    ("view_matmul", "views/tiles", "matmul_kernel"),
    ("view_arguments", "views/arguments", "written_kernel"),
    ("view_collective", "views/arguments", "together_kernel"),
    ("native_values", "native_text", "values_kernel"),
    ("items", "items", "scale"),
    ("borrowed_rows", "functions/borrowed_rows", "shared_kernel"),
    (
        "borrowed_values",
        "functions/borrowed_values",
        "values_kernel",
    ),
    ("prints", "prints", "fault_kernel"),
    ("printed_structs", "prints_values", "structs_kernel"),
    ("printed_enums", "prints_values", "enums_kernel"),
    ("printed_arrays", "prints_values", "arrays_kernel"),
    ("panics", "faults/panics", "barrier_kernel"),
    ("strict", "strict", "arithmetic_f32"),
];

/// The files of a snapshot: the IR, and the text of each dialect that has one for the kernel.
fn texts(kernel: &Kernel) -> Vec<(&'static str, String)> {
    let mut texts = vec![("ir", format!("{kernel}\n"))];
    for dialect in DIALECTS {
        let extension = match dialect.name() {
            "cuda" => "cu",
            "opencl" => "cl",
            "wgsl" => "wgsl",
            other => panic!("no snapshots of {other}"),
        };
        let variant = default_variant(kernel, dialect);
        match render(kernel, dialect, &variant) {
            Ok(source) => texts.push((extension, source.text)),
            Err(lacking) => eprintln!("no {extension} of {}: {lacking}", kernel.name),
        }
    }
    texts
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots")
}

#[test]
fn texts_are_as_kept_and_compile() {
    let bless = std::env::var_os("SAREK_BLESS").is_some();
    let mut different = vec![];
    for (name, file, kernel) in KEPT {
        let path = format!("sarek-conformance/src/cases/{file}.rs");
        let found = |ir: &Kernel| ir.file.replace('\\', "/").ends_with(&path) && ir.name == *kernel;
        let def = KERNELS.iter().find(|def| found(def.ir));
        let def = def.unwrap_or_else(|| panic!("no case calls `{kernel}` of {file}"));
        let closed = link(def.ir, &(def.links)());
        for (extension, text) in texts(&closed) {
            compile::check(extension, name, &text);
            let path = folder().join(format!("{name}.{extension}"));
            if bless {
                std::fs::write(&path, &text).expect("the snapshot is written");
            }
            if std::fs::read_to_string(&path).unwrap_or_default() != text {
                different.push(format!("{}:\n{text}", path.display()));
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// NVRTC compiles each kernel of the suite, as rendered for a launch without known facts. None of the machines that test
/// every change can run CUDA, so this test stands in for running the kernels.
#[test]
fn every_text_for_cuda_compiles() {
    let cuda = DIALECTS
        .into_iter()
        .find(|dialect| dialect.name() == "cuda");
    let cuda = cuda.expect("a dialect");
    let compiled = KERNELS.par_iter().filter(|def| {
        let closed = link(def.ir, &(def.links)());
        let name = format!("{}: {}", def.ir.file, def.ir.name);
        match render(&closed, cuda, &default_variant(&closed, cuda)) {
            // The text of this kernel is wrong on purpose.
            Ok(_) if def.ir.name == "rejected_kernel" => false,
            Ok(source) => {
                compile::check("cu", &name, &source.text);
                true
            }
            Err(lacking) => panic!("{name}: {lacking}"),
        }
    });
    let compiled = compiled.count();
    assert!(compiled > 500, "{compiled} kernels");
}

/// No snapshot is left over from a kernel or a name that is gone.
#[test]
fn every_file_belongs_to_a_kernel() {
    for entry in std::fs::read_dir(folder()).expect("the folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().and_then(|s| s.to_str()).unwrap_or("");
        let rust = path.extension().is_some_and(|e| e == "rs");
        let known = KEPT.iter().any(|(kept, _, _)| *kept == name);
        assert!(rust || known, "{} belongs to no kernel", path.display());
    }
}

/// The packed form of a kernel, which expansions contain, loses nothing.
#[test]
fn kernels_come_back_from_their_bytes() {
    for def in KERNELS.iter() {
        let bytes = pack(def.ir).leak();
        assert_eq!(unpack(bytes).as_ref(), Some(&**def.ir), "{}", def.ir.name);
    }
}

/// The sources that a closed kernel carries equal those that the runtime would render.
#[test]
fn carried_sources_are_what_the_runtime_renders() {
    let (mut closed, mut open) = (0, 0);
    for def in KERNELS.iter() {
        let name = format!("{}: {}", def.ir.file, def.ir.name);
        if !def.ir.is_closed() {
            assert!(def.sources.is_empty(), "{name}: has open links and texts");
            open += 1;
            continue;
        }
        let rendered: Vec<_> = DIALECTS
            .into_iter()
            .filter_map(|dialect| {
                let variant = default_variant(def.ir, dialect);
                let source = render(def.ir, dialect, &variant).ok()?;
                Some((dialect.name(), source.text))
            })
            .collect();
        let carried: Vec<_> = def
            .sources
            .iter()
            .map(|&(target, text)| (target, text.to_owned()))
            .collect();
        assert_eq!(carried, rendered, "{name}");
        closed += 1;
    }
    assert!(closed > 200 && open > 0, "{closed} closed, {open} open");
}

/// Local arrays fit every device, except in the kernels that test large arrays.
#[test]
fn local_arrays_fit_every_device() {
    use sarek_ir::analysis::private::Private;
    let large = |def: &&&KernelDef| {
        let kernel = link(def.ir, &(def.links)());
        let about = kernel.file.ends_with("cases/local_arrays.rs");
        !about && Private::of(&kernel, 4).bytes > 4 << 10
    };
    let found: Vec<String> = KERNELS
        .iter()
        .filter(large)
        .map(|def| format!("{} of {}", def.ir.name, def.ir.file))
        .collect();
    assert_eq!(found, Vec::<String>::new());
}
