//! Compiles every operation and method on every type with the real compilers. Runs them on an OpenCL device if there is
//! one, and compares with Rust on critical inputs.

mod common;

use common::operation::{NUMBERS, Operation, groups, kernel, result_type};
use common::oracle::{COUNTS, agrees, edges, expected};
use common::{compile, opencl};
use sarek_ir::write::{IndexWidth, OpenCl, Source, Variant, default_variant, dialect, render};
use sarek_ir::{Kernel, Scalar, Value};

/// The kernel as in a debug build; `variant` is set to check every overflow.
fn exact(kernel: &Kernel, variant: &mut Variant) -> Kernel {
    let mut exact = kernel.clone();
    exact.check_overflows();
    variant
        .checked
        .extend(exact.overflows.iter().map(|(_, site)| *site));
    exact
}

fn compiles(target: &str) {
    let dialect = dialect(target).expect("built in");
    for ty in NUMBERS {
        for (name, operations) in groups(ty) {
            let all = kernel(&name, ty, &operations);
            let said = |op: &Operation| {
                let one = kernel("one", ty, &[*op]);
                render(&one, dialect, &default_variant(&one, dialect)).is_ok()
            };
            let (can, cannot): (Vec<_>, Vec<_>) = operations.iter().partition(|op| said(op));
            if target != "wgsl" || ty != Scalar::F64 {
                assert_eq!(cannot, Vec::<Operation>::new(), "{target} says everything");
            }
            let kernel = if cannot.is_empty() {
                all
            } else {
                kernel(&name, ty, &can)
            };
            for index in [IndexWidth::Bits32, IndexWidth::Bits64] {
                let mut variant = default_variant(&kernel, dialect);
                variant.index = index;
                compile(&kernel, target, &variant);
                let exact = exact(&kernel, &mut variant);
                compile(&exact, target, &variant);
            }
        }
    }
}

#[test]
fn cuda_compiles() {
    compiles("cuda");
}

#[test]
fn opencl_compiles() {
    compiles("opencl");
}

#[test]
fn wgsl_compiles() {
    compiles("wgsl");
}

#[test]
fn opencl_computes_what_rust_does() {
    if !opencl::present() {
        return;
    }
    let mut wrong = vec![];
    for ty in NUMBERS {
        for (name, operations) in groups(ty) {
            run(ty, &name, &operations, &mut wrong);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Three operands and a count.
type Row = (Value, Value, Value, i32);

fn run(ty: Scalar, name: &str, operations: &[Operation], wrong: &mut Vec<String>) {
    let kernel = kernel(name, ty, operations);
    let mut variant = default_variant(&kernel, &OpenCl);
    let source = render(&kernel, &OpenCl, &variant).expect("renders");
    // Where a check fails, the result is the same as without the check.
    let exact = render(&exact(&kernel, &mut variant), &OpenCl, &variant).expect("renders");
    for source in [source, exact] {
        run_source(ty, &source, operations, wrong);
    }
}

fn run_source(ty: Scalar, source: &Source, operations: &[Operation], wrong: &mut Vec<String>) {
    let edges = edges(ty);
    let mut inputs = vec![];
    for (i, a) in edges.iter().enumerate() {
        for (j, b) in edges.iter().enumerate() {
            let c = edges[(i * 7 + j * 3) % edges.len()];
            inputs.push((*a, *b, c, COUNTS[(i + j) % COUNTS.len()]));
        }
    }
    let result = result_type(operations[0], ty);
    let column = |f: &dyn Fn(&Row) -> Value| {
        inputs
            .iter()
            .flat_map(|row| bytes(f(row)))
            .collect::<Vec<u8>>()
    };
    let mut buffers = vec![
        column(&|r| r.0),
        column(&|r| r.1),
        column(&|r| r.2),
        column(&|r| Value::I32(r.3)),
        vec![0; inputs.len() * operations.len() * result.size()],
        vec![0; 4 * sarek_ir::write::FAULT_WORDS],
    ];
    opencl::run(source, inputs.len() as u64, &mut buffers, &[]);
    let mut results = buffers[4].chunks(result.size());
    for &(a, b, c, count) in &inputs {
        for &op in operations {
            let got = value(result, results.next().expect("a result for each"));
            let expected = expected(op, a, b, c, count);
            if !agrees(expected, got) {
                wrong.push(format!(
                    "{op:?} on {a}, {b}, {c}, {count}: {expected:?}, not {}",
                    show(got),
                    a = show(a),
                    b = show(b),
                    c = show(c),
                ));
            }
        }
    }
}

fn show(v: Value) -> String {
    match v {
        Value::F16(v) => half::f16::from_bits(v).to_string(),
        Value::Bf16(v) => half::bf16::from_bits(v).to_string(),
        Value::F32(v) => format!("{:?}", f32::from_bits(v)),
        Value::F64(v) => format!("{:?}", f64::from_bits(v)),
        other => format!("{other:?}"),
    }
}

fn bytes(v: Value) -> Vec<u8> {
    match v {
        Value::I8(v) => v.to_ne_bytes().to_vec(),
        Value::U8(v) => v.to_ne_bytes().to_vec(),
        Value::I16(v) => v.to_ne_bytes().to_vec(),
        Value::U16(v) | Value::F16(v) | Value::Bf16(v) => v.to_ne_bytes().to_vec(),
        Value::I32(v) => v.to_ne_bytes().to_vec(),
        Value::U32(v) | Value::F32(v) => v.to_ne_bytes().to_vec(),
        Value::I64(v) => v.to_ne_bytes().to_vec(),
        Value::U64(v) | Value::F64(v) | Value::Usize(v) => v.to_ne_bytes().to_vec(),
        Value::Bool(v) => vec![v.into()],
    }
}

fn value(ty: Scalar, bytes: &[u8]) -> Value {
    let word = |b: &[u8]| u32::from_ne_bytes(b.try_into().expect("4 bytes"));
    let long = |b: &[u8]| u64::from_ne_bytes(b.try_into().expect("8 bytes"));
    let half = |b: &[u8]| u16::from_ne_bytes(b.try_into().expect("2 bytes"));
    match ty {
        Scalar::I8 => Value::I8(bytes[0] as i8),
        Scalar::U8 => Value::U8(bytes[0]),
        Scalar::I16 => Value::I16(half(bytes) as i16),
        Scalar::U16 => Value::U16(half(bytes)),
        Scalar::F16 => Value::F16(half(bytes)),
        Scalar::Bf16 => Value::Bf16(half(bytes)),
        Scalar::I32 => Value::I32(word(bytes) as i32),
        Scalar::U32 => Value::U32(word(bytes)),
        Scalar::F32 => Value::F32(word(bytes)),
        Scalar::I64 => Value::I64(long(bytes) as i64),
        Scalar::U64 => Value::U64(long(bytes)),
        Scalar::F64 => Value::F64(long(bytes)),
        Scalar::Bool | Scalar::Usize => panic!("not stored"),
    }
}
