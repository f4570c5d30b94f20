//! Encodes numbers, texts and sequences: integers in groups of seven bits, lowest first (LEB128), and sequences after
//! their length.

use std::borrow::Cow;

/// A type that can be encoded as bytes and decoded.
pub trait Wire: Clone + Sized + 'static {
    /// Appends the encoding.
    fn write(&self, to: &mut Vec<u8>);

    /// Decodes a value; `None` if the bytes are invalid.
    fn read(from: &mut Reader) -> Option<Self>;
}

/// The bytes that remain to be decoded.
pub struct Reader(&'static [u8]);

impl Reader {
    pub fn new(bytes: &'static [u8]) -> Reader {
        Reader(bytes)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn take(&mut self, len: usize) -> Option<&'static [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }
}

impl Wire for u64 {
    fn write(&self, to: &mut Vec<u8>) {
        let mut rest = *self;
        while rest >= 0x80 {
            to.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        to.push(rest as u8);
    }

    fn read(from: &mut Reader) -> Option<u64> {
        let mut value = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = from.byte()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return None;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }
}

/// Encodes integers as `u64`, negative ones by the bits of their own width.
macro_rules! integers {
    ($($ty:ident as $bits:ident),*) => {$(
        impl Wire for $ty {
            fn write(&self, to: &mut Vec<u8>) {
                u64::from(*self as $bits).write(to);
            }

            fn read(from: &mut Reader) -> Option<$ty> {
                $bits::try_from(u64::read(from)?).ok().map(|bits| bits as $ty)
            }
        }
    )*};
}

integers!(
    u8 as u8, u16 as u16, u32 as u32, i8 as u8, i16 as u16, i32 as u32, i64 as u64
);

impl Wire for bool {
    fn write(&self, to: &mut Vec<u8>) {
        to.push(u8::from(*self));
    }

    fn read(from: &mut Reader) -> Option<bool> {
        match from.byte()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl Wire for char {
    fn write(&self, to: &mut Vec<u8>) {
        u32::from(*self).write(to);
    }

    fn read(from: &mut Reader) -> Option<char> {
        char::from_u32(u32::read(from)?)
    }
}

impl<T: Wire> Wire for Option<T> {
    fn write(&self, to: &mut Vec<u8>) {
        self.is_some().write(to);
        if let Some(value) = self {
            value.write(to);
        }
    }

    fn read(from: &mut Reader) -> Option<Option<T>> {
        match bool::read(from)? {
            true => T::read(from).map(Some),
            false => Some(None),
        }
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    fn write(&self, to: &mut Vec<u8>) {
        self.0.write(to);
        self.1.write(to);
    }

    fn read(from: &mut Reader) -> Option<(A, B)> {
        Some((A::read(from)?, B::read(from)?))
    }
}

impl Wire for [u32; 3] {
    fn write(&self, to: &mut Vec<u8>) {
        self.iter().for_each(|each| each.write(to));
    }

    fn read(from: &mut Reader) -> Option<[u32; 3]> {
        Some([u32::read(from)?, u32::read(from)?, u32::read(from)?])
    }
}

impl Wire for Cow<'static, str> {
    fn write(&self, to: &mut Vec<u8>) {
        (self.len() as u64).write(to);
        to.extend(self.as_bytes());
    }

    fn read(from: &mut Reader) -> Option<Cow<'static, str>> {
        let len = u64::read(from)?.try_into().ok()?;
        std::str::from_utf8(from.take(len)?).ok().map(Cow::Borrowed)
    }
}

impl<T: Wire> Wire for Cow<'static, [T]> {
    fn write(&self, to: &mut Vec<u8>) {
        (self.len() as u64).write(to);
        self.iter().for_each(|each| each.write(to));
    }

    fn read(from: &mut Reader) -> Option<Cow<'static, [T]>> {
        match u64::read(from)? {
            0 => Some(Cow::Borrowed(&[])),
            len => (0..len).map(|_| T::read(from)).collect(),
        }
    }
}
