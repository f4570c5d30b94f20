//! Scalars as backends get them.

/// The bytes of a scalar argument.
#[derive(Clone, Copy, Debug)]
pub struct ScalarBytes {
    bytes: [u8; 8],
    len: u8,
}

impl ScalarBytes {
    /// A 4-byte scalar.
    pub fn four(bytes: [u8; 4]) -> ScalarBytes {
        let mut all = [0; 8];
        all[..4].copy_from_slice(&bytes);
        ScalarBytes { bytes: all, len: 4 }
    }

    /// An 8-byte scalar.
    pub fn eight(bytes: [u8; 8]) -> ScalarBytes {
        ScalarBytes { bytes, len: 8 }
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len as usize]
    }

    /// The number of bytes, 4 or 8.
    pub fn size(&self) -> usize {
        self.len.into()
    }

    /// The bytes, padded with zeros.
    pub fn padded(&self) -> [u8; 8] {
        self.bytes
    }
}
