//! Builds kernels by hand, and calls the real compilers of the three targets.
#![allow(dead_code)] // each test file uses a part

pub mod blocks;
pub mod build;
pub mod naga_check;
pub mod nvrtc;
pub mod opencl;
pub mod operation;
pub mod oracle;
pub mod staged;

/// True if this compiler must be present; otherwise its absence skips a test.
pub fn required(name: &str) -> bool {
    std::env::var("SAREK_REQUIRE").is_ok_and(|list| list.split(',').any(|n| n.trim() == name))
}

/// Reports a reduced test. Fails if the compiler is required.
pub fn skip(name: &str, why: &str) {
    assert!(!required(name), "SAREK_REQUIRE names {name}, but {why}");
    eprintln!("SKIPPED {name}: {why}");
}

/// Compiles the kernel's text in a dialect, if the target's compiler is present.
pub fn compile(kernel: &sarek_ir::Kernel, target: &str, variant: &sarek_ir::write::Variant) {
    let dialect = sarek_ir::write::dialect(target).expect("a built-in dialect");
    let source = sarek_ir::write::render(kernel, dialect, variant)
        .unwrap_or_else(|e| panic!("{}: {e}", kernel.name));
    let marked = source.with_line_markers(&kernel.file, "generated");
    assert_markers(&source, &kernel.file, &marked.text);
    match target {
        "cuda" => nvrtc::compile(&marked.text),
        "opencl" => opencl::compile(&marked.text),
        "wgsl" => naga_check::check(&source.text),
        other => panic!("no compiler for {other}"),
    }
}

/// Asserts that the text with `#line` differs only in the markers, which give each line its true origin.
fn assert_markers(source: &sarek_ir::write::Source, file: &str, marked: &str) {
    let mut lines = (1..).zip(source.text.lines());
    let (mut place, mut number) = ("generated", 1);
    for line in marked.lines() {
        if let Some(marker) = line.strip_prefix("#line ") {
            let (line, name) = marker.split_once(' ').expect("a number and a name");
            number = line.parse().expect("a number");
            place = name.trim_matches('"');
            continue;
        }
        let (at, text) = lines.next().expect("no line is added");
        assert_eq!(line, text);
        let origin = match source.origin(at) {
            Some(("", line)) => (file, line),
            origin => origin.unwrap_or(("generated", at)),
        };
        assert_eq!((place, number), origin, "line {at} of\n{}", source.text);
        number += 1;
    }
    assert_eq!(lines.next(), None, "no line is left out");
}

/// As [`compile`], in the default variant and in one with all checks and 64-bit indices.
pub fn compile_everywhere(kernel: &sarek_ir::Kernel) {
    for dialect in sarek_ir::write::DIALECTS {
        let plain = sarek_ir::write::default_variant(kernel, dialect);
        let mut full = plain.clone();
        full.folded = true;
        full.index = sarek_ir::write::IndexWidth::Bits64;
        full.checked = (0..kernel.sites.len() as u32)
            .map(sarek_ir::SiteId)
            .collect();
        for variant in [plain, full] {
            compile(kernel, dialect.name(), &variant);
        }
    }
}
