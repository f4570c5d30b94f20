use super::*;
use crate::{Expr, Intrinsic, Value};

fn leaked(bytes: Vec<u8>) -> &'static [u8] {
    Box::leak(bytes.into_boxed_slice())
}

#[test]
fn integers_come_back() {
    let edges = [
        0,
        1,
        0x7f,
        0x80,
        0x3fff,
        0x4000,
        u64::from(u32::MAX),
        u64::MAX - 1,
        u64::MAX,
    ];
    for value in edges {
        let mut bytes = vec![];
        value.write(&mut bytes);
        let mut reader = Reader::new(leaked(bytes));
        assert_eq!(u64::read(&mut reader), Some(value));
        assert!(reader.is_empty());
    }
    for value in [i64::MIN, -1, 0, i64::MAX] {
        let mut bytes = vec![];
        value.write(&mut bytes);
        assert_eq!(i64::read(&mut Reader::new(leaked(bytes))), Some(value));
    }
    for value in [i8::MIN, -1, 0, i8::MAX] {
        let mut bytes = vec![];
        Value::I8(value).write(&mut bytes);
        let read = Value::read(&mut Reader::new(leaked(bytes)));
        assert_eq!(read, Some(Value::I8(value)));
    }
}

#[test]
fn what_is_out_of_range_is_refused() {
    let read = |bytes: &[u8]| Reader::new(leaked(bytes.to_vec()));
    assert_eq!(u8::read(&mut read(&[0x80, 2])), None);
    assert_eq!(u64::read(&mut read(&[0xff; 10])), None);
    assert_eq!(u64::read(&mut read(&[0x80])), None);
    assert_eq!(bool::read(&mut read(&[2])), None);
    assert_eq!(Intrinsic::read(&mut read(&[0xff])), None);
    assert_eq!(Expr::read(&mut read(&[0xff])), None);
    assert_eq!(Cow::<str>::read(&mut read(&[1, 0xff])), None);
    assert_eq!(Cow::<str>::read(&mut read(&[2, b'a'])), None);
}

#[test]
fn intrinsics_stand_at_their_positions() {
    for (at, intrinsic) in Intrinsic::ALL.iter().enumerate() {
        assert_eq!(*intrinsic as usize, at);
    }
    assert!(Intrinsic::ALL.len() <= 256);
}

#[test]
fn no_bytes_are_the_kernel_that_does_nothing() {
    assert_eq!(**EncodedKernel::EMPTY, Kernel::EMPTY);
}

#[test]
fn a_beginning_of_a_kernel_is_none() {
    let bytes = leaked(pack(&Kernel::EMPTY));
    assert_eq!(unpack(bytes), Some(Kernel::EMPTY));
    for len in 0..bytes.len() {
        assert_eq!(unpack(&bytes[..len]), None);
    }
    assert_eq!(unpack(leaked([bytes, &[0]].concat())), None);
}
