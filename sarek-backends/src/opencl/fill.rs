//! Splits the zeroing of a buffer's range into commands.
//!
//! `clEnqueueFillBuffer` alone would suffice. But NVIDIA's driver (580) hangs, or loses the device, if a command
//! reaches beyond 2³¹ patterns of its buffer. So patterns are as long as possible, and the rest of the range is
//! written.

/// The length of a fill's pattern in bytes.
pub(super) const PATTERN: usize = 16;

/// The maximum length of one write in bytes.
const WRITTEN: usize = 64 << 10;

/// The end of the part of a buffer that fills may reach.
const FILLED: usize = (i32::MAX as usize) * PATTERN;

/// The zeros for writes. Their first bytes are the pattern for fills.
pub(super) static ZEROS: [u8; WRITTEN] = [0; WRITTEN];

/// The range of one command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Piece {
    pub offset: usize,
    pub len: usize,
    /// True for a fill, false for a write of zeros.
    pub filled: bool,
}

/// Splits a range into pieces, in order.
pub(super) fn pieces(offset: usize, len: usize) -> impl Iterator<Item = Piece> {
    let end = offset + len;
    let mut at = offset;
    std::iter::from_fn(move || {
        let patterns = end.min(FILLED) / PATTERN * PATTERN;
        let filled = at.is_multiple_of(PATTERN) && at < patterns;
        let stop = match filled {
            true => patterns,
            false if at < patterns => at.next_multiple_of(PATTERN),
            false => end.min(at + WRITTEN),
        };
        let (offset, len) = (at, stop - at);
        at = stop;
        (len > 0).then_some(Piece {
            offset,
            len,
            filled,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{FILLED, Piece, WRITTEN, pieces};

    #[test]
    fn pieces_cover_a_range() {
        let of = |offset, end| -> Vec<(bool, usize)> {
            let pieces: Vec<Piece> = pieces(offset, end - offset).collect();
            let ends = pieces.iter().map(|p| p.offset + p.len);
            assert!(
                pieces
                    .iter()
                    .skip(1)
                    .map(|p| p.offset)
                    .eq(ends.take(pieces.len().max(1) - 1))
            );
            assert_eq!(pieces.first().map_or(offset, |p| p.offset), offset);
            pieces
                .iter()
                .map(|p| (p.filled, p.offset + p.len))
                .collect()
        };
        assert_eq!(of(32, 32), []);
        assert_eq!(of(0, 48), [(true, 48)]);
        assert_eq!(of(0, 7), [(false, 7)]);
        assert_eq!(of(4, 53), [(false, 16), (true, 48), (false, 53)]);
        assert_eq!(of(17, 31), [(false, 31)]);
        let far = FILLED + WRITTEN;
        assert_eq!(
            of(FILLED - 32, far + 1),
            [(true, FILLED), (false, far), (false, far + 1)]
        );
        assert_eq!(of(far + 4, far + 8), [(false, far + 8)]);
    }
}
