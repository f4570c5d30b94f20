//! "Did you mean" suggestions for misspelt names.

/// The candidate nearest to a name, if they differ in at most a third of their letters.
pub(in crate::lower) fn nearest<'n>(
    name: &str,
    among: impl Iterator<Item = &'n str>,
) -> Option<&'n str> {
    let each = among.map(|other| (distance(name, other), other));
    let (least, other) = each.min()?;
    let letters = name.chars().count().max(other.chars().count());
    (0 < least && least * 3 <= letters).then_some(other)
}

/// True if rustc may suggest `other` for `name`. It does for names of the same words, and for names
/// that differ in at most a third of their letters.
pub(in crate::lower) fn may_be_meant(name: &str, other: &str) -> bool {
    let words = |name: &str| {
        let mut words: Vec<String> = name.to_lowercase().split('_').map(str::to_string).collect();
        words.sort();
        words
    };
    let letters = name.chars().count().max(3);
    distance(name, other) * 3 <= letters || words(name) == words(other)
}

/// The edit distance (Damerau–Levenshtein): the number of letters to insert, delete, change or swap
/// with a neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let changed = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = changed.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn letters_are_counted() {
        assert_eq!(distance("inptu", "input"), 1);
        assert_eq!(distance("global_idx", "global_idx_x"), 2);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("x", "x"), 0);
    }

    #[test]
    fn only_near_names_are_meant() {
        let names = ["thread_idx_x", "global_idx_x"];
        let nearest = |name| nearest(name, names.into_iter());
        assert_eq!(nearest("thread_id_x"), Some("thread_idx_x"));
        assert_eq!(nearest("smoothstep"), None);
        assert_eq!(nearest("global_idx_x"), None, "it is known");
        assert_eq!(super::nearest("y", ["x"].into_iter()), None);
    }
}
