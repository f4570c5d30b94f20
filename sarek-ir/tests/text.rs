//! Tests the generated text: names, constants, native blocks, snapshots.

mod common;

use common::build::Build;
use common::operation::NUMBERS;
use common::{compile, compile_everywhere};
use std::borrow::Cow;

use sarek_ir::analysis::requirements::small_in_natives;

use sarek_ir::write::{
    Cuda, DIALECTS, Dialect, Entry, RawId, Text, Unsupported, c, default_variant, dialect, render,
};
use sarek_ir::{
    Axis, BinaryOp, DivideOp, ExprId, Intrinsic, Kernel, Loc, Native, NativeId, NativeText, Piece,
    Scalar, Stmt, UnaryOp, Value,
};

#[test]
fn awkward_names_compile_everywhere() {
    let words = [
        "float",
        "kernel",
        "thread",
        "args",
        "Args",
        "main",
        "x_len",
        "global_idx_x",
        "srk_fault",
        "fn",
        "let",
        "var",
        "class",
        "new",
        "threadIdx",
        "min",
        "u64",
        "_",
        "_X",
        "a__b",
        "größe",
        "get_global_id",
        "blockIdx",
        "SRK_BLOCK_X",
        "local_id",
        "atomicAdd",
        "bitcast",
        "select",
        "srk_faults",
        "global_dim_x",
        "default",
        "half",
        "size_t",
        "sampler",
        "array",
    ];
    let mut b = Build::new("names");
    let x = b.slice_mut("x", Scalar::U32);
    let zero = b.lit(Value::U32(0));
    let sum = b.bind("sum", true, zero);
    for name in words {
        let param = b.scalar(name, Scalar::U32);
        let buffer = b.slice(name, Scalar::U32);
        let value = b.arg(param);
        let first = b.bind(name, false, value);
        let (at, old) = (b.global_x(), b.get(first));
        let other = b.load_site(buffer, at, false);
        let both = b.bin(BinaryOp::Add, old, other);
        let again = b.bind(name, false, both);
        let (old, value) = (b.get(sum), b.get(again));
        let new = b.bin(BinaryOp::Add, old, value);
        b.set(sum, new);
    }
    let (at, value) = (b.global_x(), b.get(sum));
    b.store_site(x, at, value, false);
    compile_everywhere(&b.finish());
}

#[test]
fn awkward_kernel_names_compile_everywhere() {
    for name in [
        "main", "kernel", "fn", "min", "thread", "größe", "_", "Args",
    ] {
        let mut b = Build::new(name);
        let x = b.slice_mut("x", Scalar::U32);
        let (at, value) = (b.global_x(), b.lit(Value::U32(1)));
        b.store(x, at, value);
        let kernel = b.finish();
        for dialect in DIALECTS {
            compile(&kernel, dialect.name(), &default_variant(&kernel, dialect));
        }
    }
}

/// Builds a value.
type Constant = dyn Fn(&mut Build) -> ExprId;

/// `out[k] = value_k`
fn store_all(values: &[&Constant], ty: Scalar) -> Kernel {
    let mut b = Build::new("constants");
    let out = b.slice_mut("out", ty);
    for (k, value) in values.iter().enumerate() {
        let (at, value) = (b.lit(Value::Usize(k as u64)), value(&mut b));
        b.store(out, at, value);
    }
    b.finish()
}

fn unusual(ty: Scalar) -> Vec<Value> {
    match ty {
        Scalar::F16 => [0.0, -0.0, 0.1, 6e-8, 1.5, 65504.0, f32::INFINITY, f32::NAN]
            .map(Value::f16)
            .to_vec(),
        Scalar::Bf16 => [0.0, -0.0, 0.1, 1e-40, 1.5, 3e38, f32::INFINITY, f32::NAN]
            .map(Value::bf16)
            .to_vec(),
        Scalar::F32 => [
            0.0,
            -0.0,
            1.0,
            -1.5,
            1e-45,
            f32::MAX,
            f32::INFINITY,
            f32::NAN,
            1e16,
        ]
        .map(Value::f32)
        .to_vec(),
        Scalar::F64 => [
            0.0,
            -0.0,
            0.1,
            5e-324,
            f64::MIN,
            f64::NEG_INFINITY,
            f64::NAN,
            1e16,
        ]
        .map(Value::f64)
        .to_vec(),
        _ => [0, 1, -1, 1 << 31, (1 << 31) - 1, 1 << 63, (1 << 63) - 1, 40]
            .into_iter()
            .filter_map(|v| Value::int(ty, v))
            .collect(),
    }
}

#[test]
fn constants_of_every_kind_compile_everywhere() {
    for ty in NUMBERS {
        let mut all: Vec<Box<Constant>> = vec![];
        for value in unusual(ty) {
            all.push(Box::new(move |b| b.lit(value)));
        }
        let (a, z) = (unusual(ty)[4], unusual(ty)[0]);
        let mut ops = vec![BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul];
        if ty.is_int() {
            ops.extend([BinaryOp::Shl, BinaryOp::Shr]);
            all.push(Box::new(move |b| {
                let (a, z) = (b.lit(a), b.lit(z));
                b.div(DivideOp::Div, a, z, false)
            }));
        } else {
            ops.extend([BinaryOp::Div, BinaryOp::Rem]);
        }
        for op in ops {
            all.push(Box::new(move |b| {
                let (lhs, rhs) = (b.lit(a), b.lit(a));
                b.bin(op, lhs, rhs)
            }));
        }
        if ty.is_signed() || ty.is_float() {
            all.push(Box::new(move |b| {
                let arg = b.lit(a);
                b.un(UnaryOp::Neg, arg)
            }));
        }
        for from in NUMBERS {
            all.push(Box::new(move |b| {
                let arg = b.lit(unusual(from)[4]);
                b.cast(arg, ty)
            }));
        }
        let all: Vec<&Constant> = all.iter().map(|f| &**f).collect();
        compile_everywhere(&store_all(&all, ty));
    }
}

fn with_native(texts: &[(&str, &str)], fallback: bool) -> Kernel {
    let mut b = Build::new("native");
    let x = b.slice_mut("x", Scalar::U32);
    let one = b.lit(Value::U32(1));
    let v = b.bind("int", true, one);
    let text = |(target, text): &(&str, &str)| NativeText {
        target: target.to_string().into(),
        pieces: vec![
            Piece::Local(v),
            Piece::Text(text.to_string().into()),
            Piece::Param(x),
            Piece::Text("[0];".into()),
        ]
        .into(),
        origin: Default::default(),
    };
    let two = b.lit(Value::U32(2));
    let set = b.kernel.push_stmt(
        Stmt::Assign {
            local: v,
            value: two,
        },
        Loc::default(),
    );
    let block = b.kernel.push_block(&[set]);
    b.kernel.natives.to_mut().push(Native {
        texts: texts.iter().map(text).collect(),
        fallback: fallback.then_some(block),
        result: None,
        intrinsic: None,
    });
    b.stmt(Stmt::Native {
        native: NativeId(0),
    });
    let (at, value) = (b.global_x(), b.get(v));
    b.store(x, at, value);
    b.finish()
}

fn text(kernel: &Kernel, target: &str) -> String {
    let dialect = dialect(target).expect("built in");
    let source = render(kernel, dialect, &default_variant(kernel, dialect));
    source.unwrap_or_else(|e| panic!("{e}")).text
}

#[test]
fn native_text_is_verbatim_with_the_targets_names() {
    let kernel = with_native(&[("cuda", " += "), ("opencl", " -= ")], true);
    assert!(text(&kernel, "cuda").contains("    int_0 += x[0];\n"));
    assert!(text(&kernel, "opencl").contains("    int_0 -= x[0];\n"));
    assert!(text(&kernel, "wgsl").contains("    int = 2u;\n"));
    for dialect in DIALECTS {
        compile(&kernel, dialect.name(), &default_variant(&kernel, dialect));
    }
}

#[test]
fn a_native_block_for_others_only_is_refused() {
    let kernel = with_native(&[("cuda", " += ")], false);
    let wgsl = dialect("wgsl").expect("built in");
    let refused = render(&kernel, wgsl, &default_variant(&kernel, wgsl)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "wgsl has no text in a `native!` of this kernel, nor a fallback"
    );
}

#[test]
fn native_texts_of_wgsl_cannot_name_elements_of_words() {
    for (elem, fits) in [
        (Scalar::U8, false),
        (Scalar::Bf16, false),
        (Scalar::F16, true),
    ] {
        let mut b = Build::new("native");
        let x = b.slice_mut("x", elem);
        let text = NativeText {
            target: "wgsl".into(),
            pieces: vec![Piece::Param(x), Piece::Text("[0] = 1;".into())].into(),
            origin: Default::default(),
        };
        b.kernel.natives.to_mut().push(Native {
            texts: vec![text].into(),
            fallback: None,
            result: None,
            intrinsic: None,
        });
        let native = NativeId(0);
        b.stmt(Stmt::Native { native });
        let kernel = b.finish();
        let wgsl = dialect("wgsl").expect("built in");
        let rendered = render(&kernel, wgsl, &default_variant(&kernel, wgsl));
        match rendered.map_err(|refused| refused.to_string()) {
            Ok(source) => assert!(fits, "{}", source.text),
            Err(refused) => {
                let reason = format!("wgsl has no buffers of `{elem}` that a `native!` can name");
                assert_eq!((refused, fits), (reason, false));
            }
        }
        let named = small_in_natives(&kernel, "wgsl");
        assert_eq!(named, (!fits).then_some(("x", elem)));
        assert_eq!(small_in_natives(&kernel, "cuda"), None);
    }
}

#[test]
fn elementary_functions_of_f64_are_refused_by_wgsl() {
    let sine = |b: &mut Build| {
        let x = b.lit(Value::f64(1.0));
        b.call(Intrinsic::Sin, &[x])
    };
    let kernel = store_all(&[&sine], Scalar::F64);
    let wgsl = dialect("wgsl").expect("built in");
    let refused = render(&kernel, wgsl, &default_variant(&kernel, wgsl)).unwrap_err();
    assert_eq!(refused.to_string(), "wgsl has no `sin` on f64");
}

/// A driver computes a wrong number for a `u64` difference that is written as one operation. No device that runs these
/// tests does, so this test checks the text.
#[test]
fn wgsl_subtracts_u64_by_words() {
    let operands = |b: &mut Build| {
        let x = b.global_x();
        (b.cast(x, Scalar::U64), b.lit(Value::U64(5)))
    };
    let plain = move |b: &mut Build| {
        let (x, y) = operands(b);
        b.bin(BinaryOp::Sub, x, y)
    };
    let wrapping = move |b: &mut Build| {
        let (x, y) = operands(b);
        b.call(Intrinsic::WrappingSub, &[x, y])
    };
    let text = text(&store_all(&[&plain, &wrapping], Scalar::U64), "wgsl");
    assert_eq!(text.matches("] = srk_sub_u64(").count(), 2, "{text}");
}

/// A driver computes a wrong low word when it converts a float at the bound of `u32` to `u64`. No device that runs
/// these tests does, so this test checks the text.
#[test]
fn wgsl_makes_words_of_floats_by_their_bits() {
    let cast = |ty| {
        move |b: &mut Build| {
            let x = b.lit(Value::f32(1.5));
            let wide = b.cast(x, ty);
            b.cast(wide, Scalar::U32)
        }
    };
    let (unsigned, signed) = (cast(Scalar::U64), cast(Scalar::I64));
    let text = text(&store_all(&[&unsigned, &signed], Scalar::U32), "wgsl");
    assert!(text.contains("srk_whole_f32(x)"), "{text}");
    for cast in ["return u64(x)", "return i64(x)"] {
        assert!(!text.contains(cast), "{text}");
    }
}

/// A user's dialect: CUDA with another name, another entry and its own square root.
struct Own;

impl Dialect for Own {
    fn name(&self) -> &'static str {
        "own"
    }

    fn reserved(&self) -> &'static [&'static [&'static str]] {
        Cuda.reserved()
    }

    fn entry(&self, entry: &Entry<'_>) -> Result<String, Unsupported> {
        let head = c::Head {
            before: "kernel",
            pointer: &|ty, _| format!("{ty}*"),
            given: &|name, ty| (format!("shared {ty}* {name}"), String::new()),
        };
        c::signature(self, entry, &head)
    }

    fn shared_prefix(&self, _: bool) -> &'static str {
        "shared"
    }

    fn raw_id(&self, id: RawId, axis: Axis, index: Scalar) -> Text {
        Cuda.raw_id(id, axis, index)
    }

    fn function(&self, intrinsic: Intrinsic, ty: Scalar) -> Option<Cow<'static, str>> {
        match intrinsic {
            Intrinsic::Sqrt => Some("own_sqrt".into()),
            _ => Cuda.function(intrinsic, ty),
        }
    }

    fn snippet(&self, name: &str) -> Option<String> {
        Cuda.snippet(name)
    }
}

#[test]
fn a_dialect_of_ones_own_stands_on_a_built_in_one() {
    let root = |b: &mut Build| {
        let x = b.lit(Value::f32(2.0));
        let root = b.call(Intrinsic::Sqrt, &[x]);
        b.call(Intrinsic::Fract, &[root])
    };
    let kernel = store_all(&[&root], Scalar::F32);
    let source = render(&kernel, &Own, &default_variant(&kernel, &Own)).expect("renders");
    assert!(source.text.contains("kernel constants(\n    f32* out,"));
    assert!(
        source
            .text
            .contains("out[0ull] = srk_fract_f32(own_sqrt(2.0f));")
    );
    assert!(source.text.contains("f32 srk_fract_f32(f32 x)"));
}

#[test]
fn nothing_is_written_after_an_exit() {
    let mut b = Build::new("dead");
    let x = b.slice_mut("x", Scalar::U32);
    b.stmt(Stmt::Return);
    let (at, value) = (b.global_x(), b.lit(Value::U32(1)));
    b.store_site(x, at, value, false);
    compile_everywhere(&b.finish());
}
