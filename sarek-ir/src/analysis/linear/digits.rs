//! Mixed-radix numbers: sums in which each part stays below the factor of the next one, so that the sum determines
//! its parts.

use super::Coefficient;

/// True if `low * (most + 1) <= high`. Then `v` in `0..=most`, with the factor `low`, is a digit below a digit with the
/// factor `high`: two values of the higher digit never give the same sum. For example, `v` in `0..=15` is a digit
/// below one with the factor 16.
pub fn is_digit<C: Coefficient>(low: &C, most: &C, high: &C) -> bool {
    let rest = || {
        let count = most.checked_plus(&C::constant(1))?;
        let end = low.checked_times(&count)?;
        high.checked_plus(&end.checked_negation()?)
    };
    rest().is_some_and(|rest| rest.is_natural())
}

/// Checks that all ranges lie in `base..base + stride` for some `base`. A range is a pair of its least and its largest
/// value. The bases that are tried are the least values.
///
/// # Errors
/// The position of a range that does not fit, if no base fits.
pub fn within_stride<C: Coefficient>(ranges: &[(C, C)], stride: &C) -> Result<(), usize> {
    let at_most = |a: &C, b: &C| {
        let rest = a.checked_negation().and_then(|a| b.checked_plus(&a));
        rest.is_some_and(|rest| rest.is_natural())
    };
    let last = stride.checked_plus(&C::constant(-1));
    let mut outside = 0;
    for (base, _) in ranges {
        let last = last.as_ref().and_then(|last| last.checked_plus(base));
        let inside = |(least, most): &(C, C)| {
            at_most(base, least) && last.as_ref().is_some_and(|last| at_most(most, last))
        };
        match ranges.iter().position(|range| !inside(range)) {
            None => return Ok(()),
            Some(at) => outside = at,
        }
    }
    Err(outside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_leave_room_for_the_next_one() {
        assert!(is_digit(&1, &15, &16));
        assert!(!is_digit(&1, &16, &16));
        assert!(is_digit(&4, &3, &16));
        assert!(!is_digit(&i128::MAX, &15, &16));
    }

    #[test]
    fn ranges_share_a_base() {
        assert_eq!(within_stride(&[(1, 3), (0, 2)], &4), Ok(()));
        assert_eq!(within_stride(&[(1, 3), (0, 2)], &3), Err(0));
        assert_eq!(within_stride(&[(0, 2), (0, 3)], &3), Err(1));
        assert_eq!(within_stride(&[(0, 0)], &i128::MIN), Err(0));
    }
}
