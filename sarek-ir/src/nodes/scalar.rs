use std::fmt;

/// A scalar type of the kernel language.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Scalar {
    /// `bool`, one byte in buffers.
    Bool,
    /// `i8`
    I8,
    /// `u8`
    U8,
    /// `i16`
    I16,
    /// `u16`
    U16,
    /// `i32`
    I32,
    /// `u32`
    U32,
    /// `i64`
    I64,
    /// `u64`
    U64,
    /// `usize`; never stored in a buffer.
    Usize,
    /// `half::f16`
    F16,
    /// `half::bf16`
    Bf16,
    /// `f32`
    F32,
    /// `f64`
    F64,
}

impl Scalar {
    /// Every scalar type.
    pub const ALL: [Scalar; 14] = [
        Scalar::Bool,
        Scalar::I8,
        Scalar::U8,
        Scalar::I16,
        Scalar::U16,
        Scalar::I32,
        Scalar::U32,
        Scalar::I64,
        Scalar::U64,
        Scalar::Usize,
        Scalar::F16,
        Scalar::Bf16,
        Scalar::F32,
        Scalar::F64,
    ];

    /// The Rust name of the type.
    pub const fn name(self) -> &'static str {
        match self {
            Scalar::Bool => "bool",
            Scalar::I8 => "i8",
            Scalar::U8 => "u8",
            Scalar::I16 => "i16",
            Scalar::U16 => "u16",
            Scalar::I32 => "i32",
            Scalar::U32 => "u32",
            Scalar::I64 => "i64",
            Scalar::U64 => "u64",
            Scalar::Usize => "usize",
            Scalar::F16 => "f16",
            Scalar::Bf16 => "bf16",
            Scalar::F32 => "f32",
            Scalar::F64 => "f64",
        }
    }

    /// The type of this Rust name.
    pub fn from_name(name: &str) -> Option<Scalar> {
        Scalar::ALL.into_iter().find(|s| s.name() == name)
    }

    /// Size in bytes, in Rust's layout on a 64-bit host.
    pub const fn size(self) -> usize {
        match self {
            Scalar::Bool | Scalar::I8 | Scalar::U8 => 1,
            Scalar::I16 | Scalar::U16 | Scalar::F16 | Scalar::Bf16 => 2,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
            Scalar::I64 | Scalar::U64 | Scalar::Usize | Scalar::F64 => 8,
        }
    }

    /// Width in bits; `usize` counts as 64.
    pub const fn bits(self) -> u32 {
        match self {
            Scalar::Bool => 1,
            _ => self.size() as u32 * 8,
        }
    }

    /// True for `bool`.
    pub const fn is_bool(self) -> bool {
        matches!(self, Scalar::Bool)
    }

    /// True for an integer type, `usize` included.
    pub const fn is_int(self) -> bool {
        matches!(
            self,
            Scalar::I8
                | Scalar::U8
                | Scalar::I16
                | Scalar::U16
                | Scalar::I32
                | Scalar::U32
                | Scalar::I64
                | Scalar::U64
                | Scalar::Usize
        )
    }

    /// True for a signed integer type.
    pub const fn is_signed(self) -> bool {
        matches!(self, Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64)
    }

    /// True for a floating-point type.
    pub const fn is_float(self) -> bool {
        matches!(self, Scalar::F16 | Scalar::Bf16 | Scalar::F32 | Scalar::F64)
    }

    /// True for a 16-bit float: a type of the `half` crate, on which arithmetic is done as `f32`.
    pub const fn is_half(self) -> bool {
        matches!(self, Scalar::F16 | Scalar::Bf16)
    }

    /// The 32-bit type in which targets do arithmetic on an 8- or 16-bit number: an integer of the same signedness, or
    /// `f32`. `None` for the other types.
    pub const fn widened(self) -> Option<Scalar> {
        match self {
            Scalar::I8 | Scalar::I16 => Some(Scalar::I32),
            Scalar::U8 | Scalar::U16 => Some(Scalar::U32),
            Scalar::F16 | Scalar::Bf16 => Some(Scalar::F32),
            Scalar::Bool
            | Scalar::I32
            | Scalar::U32
            | Scalar::I64
            | Scalar::U64
            | Scalar::Usize
            | Scalar::F32
            | Scalar::F64 => None,
        }
    }

    /// The unsigned integer type of the same width; `None` for `bool` and floats.
    pub const fn unsigned(self) -> Option<Scalar> {
        match self {
            Scalar::I8 | Scalar::U8 => Some(Scalar::U8),
            Scalar::I16 | Scalar::U16 => Some(Scalar::U16),
            Scalar::I32 | Scalar::U32 => Some(Scalar::U32),
            Scalar::I64 | Scalar::U64 => Some(Scalar::U64),
            Scalar::Usize => Some(Scalar::Usize),
            Scalar::Bool | Scalar::F16 | Scalar::Bf16 | Scalar::F32 | Scalar::F64 => None,
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
