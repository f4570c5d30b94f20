use super::*;
use crate::Intrinsic;

/// Values at the edges of each type.
fn edges(ty: Scalar) -> Vec<Value> {
    match ty {
        Scalar::Bool => vec![Value::Bool(false), Value::Bool(true)],
        Scalar::F16 => [0.0, -0.0, 1.5, -2.5, 65504.0, f32::INFINITY, f32::NAN]
            .map(Value::f16)
            .to_vec(),
        Scalar::Bf16 => [0.0, -0.0, 1.5, -2.5, 3e38, f32::INFINITY, f32::NAN]
            .map(Value::bf16)
            .to_vec(),
        Scalar::F32 => [0.0, -0.0, 1.5, -2.5, f32::MAX, f32::INFINITY, f32::NAN]
            .map(Value::f32)
            .to_vec(),
        Scalar::F64 => [0.0, -0.0, 1.5, -2.5, f64::MAX, f64::NEG_INFINITY, f64::NAN]
            .map(Value::f64)
            .to_vec(),
        Scalar::I8
        | Scalar::U8
        | Scalar::I16
        | Scalar::U16
        | Scalar::I32
        | Scalar::U32
        | Scalar::I64
        | Scalar::U64
        | Scalar::Usize => {
            let wide = [
                0,
                1,
                -1,
                7,
                31,
                33,
                i128::from(i32::MIN),
                i128::from(i64::MIN),
            ];
            let max = [i128::from(i32::MAX), i128::from(i64::MAX)];
            wide.into_iter()
                .chain(max)
                .filter_map(|v| Value::int(ty, v))
                .collect()
        }
    }
}

/// Every intrinsic, on every type and edge value, returns a value of the type in its signature.
#[test]
fn intrinsics_keep_their_signatures() {
    for &intrinsic in Intrinsic::ALL {
        for on in Scalar::ALL
            .into_iter()
            .filter(|&t| intrinsic.class().contains(t))
        {
            if !intrinsic.stands_on(on) {
                continue;
            }
            let mut tuples: Vec<Vec<Value>> = edges(on).into_iter().map(|v| vec![v]).collect();
            for arg in intrinsic.args() {
                let of = arg.of(on);
                let extend = |t: &Vec<Value>| {
                    let t = t.clone();
                    edges(of)
                        .into_iter()
                        .map(move |v| [t.clone(), vec![v]].concat())
                };
                tuples = tuples.iter().flat_map(extend).collect();
            }
            for args in tuples {
                let result = call(intrinsic, &args);
                assert_eq!(
                    result.scalar(),
                    intrinsic.result_type(on),
                    "{intrinsic:?} {args:?}"
                );
            }
        }
    }
}

#[test]
fn integers_wrap() {
    let max = Value::I32(i32::MAX);
    assert_eq!(
        binary(BinaryOp::Add, max, Value::I32(1)),
        Value::I32(i32::MIN)
    );
    assert_eq!(
        binary(BinaryOp::Sub, Value::Usize(0), Value::Usize(1)),
        Value::Usize(u64::MAX)
    );
    assert_eq!(
        unary(UnaryOp::Neg, Value::I64(i64::MIN)),
        Value::I64(i64::MIN)
    );
    assert_eq!(
        call(Intrinsic::Abs, &[Value::I32(i32::MIN)]),
        Value::I32(i32::MIN)
    );
    assert_eq!(
        call(Intrinsic::Pow, &[Value::U32(3), Value::U32(40)]),
        Value::U32(3u32.wrapping_pow(40))
    );
}

#[test]
fn shifts_mask_their_count() {
    let one = Value::U32(1);
    assert_eq!(binary(BinaryOp::Shl, one, Value::I64(-31)), Value::U32(2));
    assert_eq!(binary(BinaryOp::Shl, one, Value::U64(1 << 40)), one);
    assert_eq!(
        binary(BinaryOp::Shr, Value::I32(-8), Value::U32(33)),
        Value::I32(-4)
    );
    assert_eq!(
        binary(BinaryOp::Shr, Value::Usize(1 << 40), Value::I32(40)),
        Value::Usize(1)
    );
}

#[test]
fn division_faults_where_rust_panics() {
    let min = Value::I32(i32::MIN);
    for op in [
        DivideOp::Div,
        DivideOp::Rem,
        DivideOp::DivEuclid,
        DivideOp::RemEuclid,
    ] {
        assert_eq!(divide(op, min, Value::I32(-1)), None);
        assert_eq!(divide(op, Value::U64(1), Value::U64(0)), None);
    }
    let (a, b) = (Value::I32(-7), Value::I32(2));
    assert_eq!(divide(DivideOp::Div, a, b), Some(Value::I32(-3)));
    assert_eq!(divide(DivideOp::Rem, a, b), Some(Value::I32(-1)));
    assert_eq!(divide(DivideOp::DivEuclid, a, b), Some(Value::I32(-4)));
    assert_eq!(divide(DivideOp::RemEuclid, a, b), Some(Value::I32(1)));
}

#[test]
fn casts_saturate_from_floats_and_truncate_between_integers() {
    assert_eq!(cast(Value::f32(-1.0), Scalar::Usize), Value::Usize(0));
    assert_eq!(cast(Value::f64(1e30), Scalar::I32), Value::I32(i32::MAX));
    assert_eq!(cast(Value::f32(f32::NAN), Scalar::I64), Value::I64(0));
    assert_eq!(cast(Value::I64(-1), Scalar::U32), Value::U32(u32::MAX));
    assert_eq!(cast(Value::I32(-1), Scalar::Usize), Value::Usize(u64::MAX));
    assert_eq!(cast(Value::Bool(true), Scalar::I64), Value::I64(1));
    assert_eq!(
        cast(Value::U32(u32::MAX), Scalar::F32),
        Value::f32(u32::MAX as f32)
    );
}

#[test]
fn floats_and_nan() {
    let nan = Value::f32(f32::NAN);
    assert_eq!(binary(BinaryOp::Ne, nan, nan), Value::Bool(true));
    assert_eq!(binary(BinaryOp::Ge, nan, nan), Value::Bool(false));
    assert_eq!(
        call(Intrinsic::Min, &[nan, Value::f32(1.0)]),
        Value::f32(1.0)
    );
    let (lo, hi) = (Value::f32(2.0), Value::f32(1.0));
    assert_eq!(
        call(Intrinsic::Clamp, &[Value::f32(1.5), lo, hi]),
        lo,
        "no panic"
    );
    assert_eq!(
        binary(BinaryOp::Lt, Value::Bool(false), Value::Bool(true)),
        Value::Bool(true)
    );
}
