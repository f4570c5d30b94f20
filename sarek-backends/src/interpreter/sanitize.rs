//! The environment variable `SAREK_SANITIZE`.
//!
//! `SAREK_SANITIZE=1` runs kernels in the interpreter, which then stops with [`Error::Sanitizer`](sarek_runtime::Error::Sanitizer) where two threads race, or
//! where an element of a shared array is read that was not written. It is a list: `overflow` adds integers that leave their types, and
//! `seed=7` runs threads and blocks in another order, the same for each run with that seed. Unset, blank or `0`, nothing is looked for.

use std::sync::LazyLock;

use sarek_ir::eval::Sanitize;

/// What the environment asks for, as it was at the first launch.
pub(super) fn settings() -> Option<Sanitize> {
    static SETTINGS: LazyLock<Option<Sanitize>> =
        LazyLock::new(|| parse(&std::env::var("SAREK_SANITIZE").unwrap_or_default()));
    *SETTINGS
}

/// Reads the variable. Words that it does not know change nothing.
fn parse(text: &str) -> Option<Sanitize> {
    let mut settings = Sanitize::default();
    let words: Vec<&str> = text.split(',').map(str::trim).collect();
    if words.iter().all(|word| word.is_empty() || *word == "0") {
        return None;
    }
    for word in words {
        settings.overflow |= word == "overflow";
        if let Some(seed) = word.strip_prefix("seed=") {
            settings.seed = seed.parse().unwrap_or(0);
        }
    }
    Some(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_is_a_list() {
        let plain = Sanitize::default();
        for off in ["", " ", "0", "0,"] {
            assert_eq!(parse(off), None, "{off:?}");
        }
        assert_eq!(parse("1"), Some(plain));
        let all = Sanitize {
            overflow: true,
            seed: 7,
            unwritten: false,
        };
        assert_eq!(parse("1, overflow,seed=7"), Some(all));
        let other = Sanitize { seed: 3, ..plain };
        assert_eq!(parse("seed=3"), Some(other));
    }
}
