//! How a range of a buffer becomes zero: by which commands.
//!
//! `clEnqueueFillBuffer` alone would do, but NVIDIA's driver (580) hangs, or loses the device, where a command reaches beyond
//! 2³¹ patterns of its buffer. Patterns are as long as they can be, and what they do not cover is written.

/// The bytes of the pattern of a fill.
pub(super) const PATTERN: usize = 16;

/// The most bytes that are written by one command.
const WRITTEN: usize = 64 << 10;

/// Where fills end.
const FILLED: usize = (i32::MAX as usize) * PATTERN;

/// What is written, and of what begins the pattern.
pub(super) static ZEROS: [u8; WRITTEN] = [0; WRITTEN];

/// What one command does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Piece {
    pub offset: usize,
    pub len: usize,
    /// By a fill, or by writing zeros?
    pub filled: bool,
}

/// The pieces of a range, in their order.
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
