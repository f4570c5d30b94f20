//! Compiles control flow, faults, ids and arguments for all targets, and runs them on an OpenCL device if there is one.

mod common;

use common::build::{Build, saxpy};
use common::{compile, compile_everywhere, opencl};
use sarek_ir::write::{
    DIALECTS, FAULT_WORDS, IndexWidth, OpenCl, SlotKind, Source, Variant, default_variant, render,
};
use sarek_ir::{
    Axis, BinaryOp, Builtin, DivideOp, Expr, Intrinsic, Kernel, LabelId, Scalar, SiteId, Stmt,
    Value,
};

fn every_check(kernel: &Kernel) -> Variant {
    let mut variant = default_variant(kernel, &OpenCl);
    variant.checked = (0..kernel.sites.len() as u32).map(SiteId).collect();
    variant
}

fn source(kernel: &Kernel, variant: &Variant) -> Source {
    render(kernel, &OpenCl, variant).expect("renders")
}

fn words(bytes: &[u8]) -> Vec<u32> {
    let word = |b: &[u8]| u32::from_ne_bytes(b.try_into().expect("4 bytes"));
    bytes.chunks(4).map(word).collect()
}

fn fault_record() -> Vec<u8> {
    vec![0; 4 * FAULT_WORDS]
}

/// Adds 1, 10, 100 … to `sum` at places that exits of three nested loops may skip.
fn labels() -> Kernel {
    let mut b = Build::new("labels");
    let out = b.slice_mut("out", Scalar::U32);
    let zero = b.lit(Value::U32(0));
    let sum = b.bind("sum", true, zero);
    let add = |b: &mut Build, n| {
        let (s, n) = (b.get(sum), b.lit(Value::U32(n)));
        let s = b.bin(BinaryOp::Add, s, n);
        b.set(sum, s);
    };
    let range = |b: &mut Build, n| (b.lit(Value::U32(0)), b.lit(Value::U32(n)));
    let (start, end) = range(&mut b, 5);
    b.count("i", start, end, |b, outer, i| {
        let (start, end) = range(b, 4);
        b.count("j", start, end, |b, middle, j| {
            let zero = b.lit(Value::U32(0));
            let k = b.bind("k", true, zero);
            b.repeat(None, |b, inner| {
                let (lhs, one) = (b.get(k), b.lit(Value::U32(1)));
                let next = b.bin(BinaryOp::Add, lhs, one);
                b.set(k, next);
                exit(b, [(i, 3), (j, 2)], Stmt::Break { label: outer });
                exit(b, [(i, 1), (k, 2)], Stmt::Continue { label: outer });
                exit(b, [(j, 1), (k, 3)], Stmt::Continue { label: middle });
                exit(b, [(i, 2), (j, 3)], Stmt::Break { label: middle });
                exit(b, [(k, 4), (k, 4)], Stmt::Break { label: inner });
                add(b, 1);
            });
            add(b, 100);
        });
        add(b, 10_000);
    });
    let (at, value) = (b.global_x(), b.get(sum));
    b.store(out, at, value);
    b.finish()
}

fn exit(b: &mut Build, when: [(sarek_ir::LocalId, u32); 2], stmt: Stmt) {
    let [first, second] = when.map(|(local, n)| {
        let (lhs, rhs) = (b.get(local), b.lit(Value::U32(n)));
        b.bin(BinaryOp::Eq, lhs, rhs)
    });
    let both = Expr::And {
        lhs: first,
        rhs: second,
    };
    let cond = b.expr(both, Scalar::Bool);
    b.when(cond, |b| b.stmt(stmt));
}

#[allow(clippy::nonminimal_bool)]
fn labels_in_rust() -> u32 {
    let mut sum = 0;
    'outer: for i in 0..5 {
        'middle: for j in 0..4 {
            let mut k = 0;
            loop {
                k += 1;
                if i == 3 && j == 2 {
                    break 'outer;
                }
                if i == 1 && k == 2 {
                    continue 'outer;
                }
                if j == 1 && k == 3 {
                    continue 'middle;
                }
                if i == 2 && j == 3 {
                    break 'middle;
                }
                if k == 4 {
                    break;
                }
                sum += 1;
            }
            sum += 100;
        }
        sum += 10_000;
    }
    sum
}

#[test]
fn exits_from_nested_loops_go_where_rust_goes() {
    compile_everywhere(&labels());
    if !opencl::present() {
        return;
    }
    let kernel = labels();
    for variant in [default_variant(&kernel, &OpenCl), every_check(&kernel)] {
        let mut buffers = vec![vec![0; 4], fault_record()];
        opencl::run(&source(&kernel, &variant), 1, &mut buffers, &[]);
        assert_eq!(words(&buffers[0]), [labels_in_rust()]);
    }
}

/// `loop { if x[i + 1000] == 1 { break } }`: without a guard, a fault would never end it.
fn endless() -> Kernel {
    let mut b = Build::new("endless");
    let x = b.slice_mut("x", Scalar::I32);
    b.repeat(None, |b, label| {
        let (i, far) = (b.global_x(), b.lit(Value::Usize(1000)));
        let at = b.bin(BinaryOp::Add, i, far);
        let (value, one) = (b.load_site(x, at, false), b.lit(Value::I32(1)));
        let found = b.bin(BinaryOp::Eq, value, one);
        b.when(found, |b| b.stmt(Stmt::Break { label }));
    });
    let (at, two) = (b.global_x(), b.lit(Value::I32(2)));
    b.store(x, at, two);
    b.finish()
}

#[test]
fn a_fault_is_recorded_and_ends_an_endless_loop() {
    compile_everywhere(&endless());
    if !opencl::present() {
        return;
    }
    let kernel = endless();
    let mut buffers = vec![vec![0; 4], fault_record()];
    let variant = default_variant(&kernel, &OpenCl);
    opencl::run(&source(&kernel, &variant), 1, &mut buffers, &[]);
    assert_eq!(words(&buffers[0]), [0]);
    assert_eq!(words(&buffers[1]), [1, 0, 1000, 0, 0, 0, 0, 0, 0, 0]);
}

/// Every kind of check, in thread 2 only; `which` selects the one that fails.
fn checks() -> Kernel {
    let mut b = Build::new("checks");
    let which = b.scalar("which", Scalar::I32);
    let x = b.slice_mut("x", Scalar::I32);
    let init = b.global_x();
    let i = b.bind("i", false, init);
    let (lhs, two) = (b.get(i), b.lit(Value::Usize(2)));
    let third = b.bin(BinaryOp::Eq, lhs, two);
    b.when(third, |b| {
        let is = |b: &mut Build, n| {
            let (which, n) = (b.arg(which), b.lit(Value::I32(n)));
            b.bin(BinaryOp::Eq, which, n)
        };
        let cond = is(b, 0);
        b.when(cond, |b| {
            let (far, value) = (b.lit(Value::Usize(7 << 33)), b.lit(Value::I32(5)));
            b.store_site(x, far, value, false);
        });
        let cond = is(b, 1);
        b.when(cond, |b| {
            let (no, at) = (b.lit(Value::Bool(false)), b.lit(Value::Usize(1)));
            b.assert(no, "no");
            let value = b.lit(Value::I32(9));
            b.store(x, at, value);
        });
        let cond = is(b, 2);
        b.when(cond, |b| {
            let (at, zero) = (b.lit(Value::Usize(0)), b.lit(Value::I32(0)));
            let value = b.load(x, at);
            let value = b.div(DivideOp::Rem, value, zero, false);
            let at = b.lit(Value::Usize(0));
            b.store(x, at, value);
        });
        let cond = is(b, 3);
        b.when(cond, |b| {
            let (min, one) = (b.lit(Value::I32(i32::MIN)), b.lit(Value::I32(-1)));
            let value = b.div(DivideOp::Div, min, one, false);
            let at = b.lit(Value::Usize(0));
            b.store(x, at, value);
        });
    });
    b.finish()
}

#[test]
fn each_check_reports_its_site_detail_and_thread() {
    compile_everywhere(&checks());
    if !opencl::present() {
        return;
    }
    let kernel = checks();
    let text = source(&kernel, &default_variant(&kernel, &OpenCl));
    let min = i32::MIN as u32;
    for (which, fault, x) in [
        (0, [1, 0, 0, 14, 2, 0, 0, 0, 0, 0], [8, 8, 8, 8]),
        (1, [1, 1, 0, 0, 2, 0, 0, 0, 0, 0], [8, 9, 8, 8]),
        (2, [1, 4, 0, 0, 2, 0, 0, 0, 0, 0], [0, 8, 8, 8]),
        (
            3,
            [1, 6, u32::MAX, u32::MAX, 2, 0, 0, 0, 0, 0],
            [min, 8, 8, 8],
        ),
        (4, [0; FAULT_WORDS], [8, 8, 8, 8]),
    ] {
        let start: Vec<u8> = [8u32; 4].iter().flat_map(|v| v.to_ne_bytes()).collect();
        let mut buffers = vec![start, fault_record()];
        let which = i32::to_ne_bytes(which).to_vec();
        opencl::run(&text, 4, &mut buffers, &[which]);
        assert_eq!(words(&buffers[1]), fault);
        assert_eq!(words(&buffers[0]), x);
    }
}

/// `if i < len && x[i] > 0 { y[i] = flag ? x[i] : 1 }`, with a flag and flags.
fn flags() -> Kernel {
    let mut b = Build::new("flags");
    let flag = b.scalar("flag", Scalar::Bool);
    let x = b.slice("x", Scalar::Bool);
    let y = b.slice_mut("y", Scalar::Bool);
    let (i, len) = (b.global_x(), b.len(x));
    let inside = b.bin(BinaryOp::Lt, i, len);
    let at = b.global_x();
    let set = b.load_site(x, at, false);
    let both = Expr::And {
        lhs: inside,
        rhs: set,
    };
    let cond = b.expr(both, Scalar::Bool);
    b.when(cond, |b| {
        let (at, value) = (b.global_x(), b.arg(flag));
        b.store_site(y, at, value, false);
    });
    b.finish()
}

#[test]
fn bools_are_bytes_in_buffers_and_words_as_arguments() {
    let kernel = flags();
    for target in ["cuda", "opencl", "wgsl"] {
        compile(&kernel, target, &every_check(&kernel));
    }
    if !opencl::present() {
        return;
    }
    let mut buffers = vec![vec![1, 0, 1], vec![0; 5], fault_record()];
    let flag = 1u32.to_ne_bytes().to_vec();
    let text = source(&kernel, &default_variant(&kernel, &OpenCl));
    opencl::run(&text, 5, &mut buffers, &[flag]);
    assert_eq!(buffers[1], [1, 0, 1, 0, 0]);
    assert_eq!(
        words(&buffers[2])[0],
        0,
        "`&&` did not evaluate its right side"
    );
}

/// Every builtin, summed; those of subgroups if the target has them.
fn builtins(subgroups: bool) -> Kernel {
    let mut b = Build::new("builtins");
    let out = b.slice_mut("out", Scalar::U64);
    let zero = b.lit(Value::U64(0));
    let sum = b.bind("sum", true, zero);
    for (_, builtin) in Builtin::ALL {
        if builtin.is_of_subgroup() && !subgroups {
            continue;
        }
        let (old, id) = (b.get(sum), b.id(builtin));
        let id = b.cast(id, Scalar::U64);
        let new = b.bin(BinaryOp::Add, old, id);
        b.set(sum, new);
    }
    let (at, value) = (b.id(Builtin::GlobalThreadId), b.get(sum));
    b.store(out, at, value);
    b.finish()
}

#[test]
fn every_builtin_compiles_in_all_dimensions() {
    for dialect in DIALECTS {
        let kernel = builtins(dialect.name() != "opencl");
        assert_eq!(default_variant(&kernel, dialect).dims, 3);
        for dims in 1..=3 {
            for (folded, strided) in [(false, false), (true, false), (true, true)] {
                for index in [IndexWidth::Bits32, IndexWidth::Bits64] {
                    let mut variant = every_check(&kernel);
                    (variant.dims, variant.folded, variant.index) = (dims, folded, index);
                    variant.strided = strided;
                    compile(&kernel, dialect.name(), &variant);
                }
            }
        }
    }
}

/// `out[i] = i + 10 * block`
fn ids() -> Kernel {
    let mut b = Build::new("ids");
    let out = b.slice_mut("out", Scalar::U32);
    let block = b.id(Builtin::BlockIdx(Axis::X));
    let ten = b.lit(Value::Usize(10));
    let tens = b.bin(BinaryOp::Mul, block, ten);
    let i = b.global_x();
    let sum = b.bin(BinaryOp::Add, tens, i);
    let (at, value) = (b.global_x(), b.cast(sum, Scalar::U32));
    b.store(out, at, value);
    b.finish()
}

#[test]
fn a_folded_grid_numbers_its_blocks_as_the_plain_one() {
    if !opencl::present() {
        return;
    }
    let kernel = ids();
    for (folded, strided, index) in [
        (false, false, IndexWidth::Bits64),
        (true, false, IndexWidth::Bits64),
        (true, false, IndexWidth::Bits32),
        (true, true, IndexWidth::Bits64),
        (true, true, IndexWidth::Bits32),
    ] {
        let mut variant = default_variant(&kernel, &OpenCl);
        (variant.folded, variant.strided, variant.index) = (folded, strided, index);
        let mut buffers = vec![vec![0; 4 * 10]];
        opencl::run(&source(&kernel, &variant), 10, &mut buffers, &[]);
        let expected: Vec<u32> = (0..10).map(|i| i + 10 * (i / 4)).collect();
        assert_eq!(words(&buffers[0]), expected);
    }
}

#[test]
fn slots_are_those_of_the_text() {
    let kernel = saxpy();
    let kinds = |target: &str, variant: &Variant| {
        let dialect = sarek_ir::write::dialect(target).expect("built in");
        let source = render(&kernel, dialect, variant).expect("renders");
        assert_eq!(
            source.slots,
            sarek_ir::write::slots(&kernel, dialect, variant)
        );
        source.slots.iter().map(|s| s.kind).collect::<Vec<_>>()
    };
    let param = sarek_ir::ParamId;
    let buffer = |n, mutable| SlotKind::Buffer {
        param: param(n),
        mutable,
    };
    let (x, y) = (buffer(1, false), buffer(2, true));
    let (a, x_len, y_len) = (
        SlotKind::Scalar(param(0)),
        SlotKind::Len(param(1).into()),
        SlotKind::Len(param(2).into()),
    );
    let extent = SlotKind::Extent(Axis::X);
    let plain = default_variant(&kernel, &OpenCl);
    assert_eq!(kinds("cuda", &plain), [a, x, y, y_len, extent]);
    assert_eq!(kinds("wgsl", &plain), [x, y, a, y_len, extent]);
    let full = every_check(&kernel);
    let faults = SlotKind::Faults;
    assert_eq!(
        kinds("opencl", &full),
        [a, x, x_len, y, y_len, extent, faults]
    );
    assert_eq!(
        kinds("wgsl", &full),
        [x, y, faults, a, x_len, y_len, extent]
    );
}

#[test]
fn a_label_that_is_not_nested_needs_no_flag() {
    let mut b = Build::new("plain");
    b.repeat(None, |b, label: LabelId| b.stmt(Stmt::Break { label }));
    let mut kernel = b.finish();
    let before = kernel.clone();
    sarek_ir::passes::lower_labels(&mut kernel);
    assert_eq!(kernel, before);
}

/// Zeros counted and bits shifted out of a `usize`, as eight `u32` a thread.
fn wide() -> Kernel {
    let mut b = Build::new("wide");
    let x = b.slice("x", Scalar::U32);
    let counts = b.slice("counts", Scalar::U32);
    let out = b.slice_mut("out", Scalar::U32);
    let value = |b: &mut Build| {
        let i = b.global_x();
        let x = b.load(x, i);
        b.cast(x, Scalar::Usize)
    };
    let count = |b: &mut Build| {
        let i = b.global_x();
        b.load(counts, i)
    };
    let mut results = vec![];
    for method in [
        Intrinsic::LeadingZeros,
        Intrinsic::TrailingZeros,
        Intrinsic::CountOnes,
    ] {
        let x = value(&mut b);
        results.push(b.call(method, &[x]));
    }
    let (lhs, rhs) = (value(&mut b), count(&mut b));
    results.push(b.bin(BinaryOp::Shr, lhs, rhs));
    let args = [value(&mut b), count(&mut b)];
    results.push(b.call(Intrinsic::WrappingShr, &args));
    for n in [3, 40, 64] {
        let (lhs, rhs) = (value(&mut b), b.lit(Value::I32(n)));
        results.push(b.bin(BinaryOp::Shr, lhs, rhs));
    }
    for (k, result) in results.into_iter().enumerate() {
        let (i, eight) = (b.global_x(), b.lit(Value::Usize(8)));
        let row = b.bin(BinaryOp::Mul, i, eight);
        let k = b.lit(Value::Usize(k as u64));
        let at = b.bin(BinaryOp::Add, row, k);
        let value = b.cast(result, Scalar::U32);
        b.store(out, at, value);
    }
    b.finish()
}

#[test]
fn a_narrowed_usize_still_has_64_bits() {
    let kernel = wide();
    compile_everywhere(&kernel);
    if !opencl::present() {
        return;
    }
    let xs = [0u32, 1, 2, 0x8000_0000, u32::MAX, 12];
    let counts = [0u32, 31, 32, 33, 63, 66];
    let pairs: Vec<(u32, u32)> = xs
        .iter()
        .flat_map(|x| counts.map(|count| (*x, count)))
        .collect();
    let expected: Vec<u32> = pairs
        .iter()
        .flat_map(|&(x, n)| {
            let x = u64::from(x);
            let shr = |n| x.wrapping_shr(n) as u32;
            [
                x.leading_zeros(),
                x.trailing_zeros(),
                x.count_ones(),
                shr(n),
                shr(n),
                shr(3),
                shr(40),
                shr(64),
            ]
        })
        .collect();
    for index in [IndexWidth::Bits32, IndexWidth::Bits64] {
        let mut variant = default_variant(&kernel, &OpenCl);
        variant.index = index;
        let column = |f: &dyn Fn(&(u32, u32)) -> u32| {
            pairs.iter().flat_map(|p| f(p).to_ne_bytes()).collect()
        };
        let out = vec![0; 4 * expected.len()];
        let mut buffers = vec![column(&|p| p.0), column(&|p| p.1), out];
        let text = source(&kernel, &variant);
        opencl::run(&text, pairs.len() as u64, &mut buffers, &[]);
        assert_eq!(words(&buffers[2]), expected, "{index:?}");
    }
}

#[test]
fn a_fixed_block_stands_in_the_text() {
    let mut kernel = saxpy();
    kernel.block = Some([16, 8, 1]);
    for (target, sign) in [
        ("cuda", "__launch_bounds__(128)"),
        ("opencl", "reqd_work_group_size(16, 8, 1)"),
        ("wgsl", "override SRK_BLOCK_Y: u32 = 8u;"),
    ] {
        let dialect = sarek_ir::write::dialect(target).expect("built in");
        let variant = default_variant(&kernel, dialect);
        let text = render(&kernel, dialect, &variant).expect("renders").text;
        assert!(text.contains(sign), "{text}");
    }
    compile_everywhere(&kernel);
}
