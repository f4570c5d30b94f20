//! The environment variable `SAREK_SANITIZE`.
//!
//! `SAREK_SANITIZE=1` runs kernels in the interpreter. It stops with
//! [`Error::Sanitizer`](crate::Error::Sanitizer) if two threads race, or if an uninitialised
//! element of a shared array is read. The value is a comma-separated list: `overflow` also detects
//! integer overflow, and `seed=7` runs threads and blocks in a random order that depends only on
//! the seed. If it is unset, blank or `0`, nothing is checked.

use sarek_ir::interp::Sanitize;

/// Parses the value; the error is an unknown word.
pub(super) fn parse(text: &str) -> Result<Option<Sanitize>, &str> {
    let words = text.split(',').map(str::trim);
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    if words.iter().all(|word| *word == "0") {
        return Ok(None);
    }
    let mut settings = Sanitize::default();
    for word in words {
        match (word, word.strip_prefix("seed=")) {
            ("1", _) => {}
            ("overflow", _) => settings.overflow = true,
            (_, Some(seed)) => settings.seed = seed.parse().map_err(|_| word)?,
            _ => return Err(word),
        }
    }
    Ok(Some(settings))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_is_a_list() {
        let plain = Sanitize::default();
        for off in ["", " ", "0", "0,"] {
            assert_eq!(parse(off), Ok(None), "{off:?}");
        }
        assert_eq!(parse("1"), Ok(Some(plain)));
        let all = Sanitize {
            overflow: true,
            seed: 7,
            unwritten: false,
        };
        assert_eq!(parse("1, overflow,seed=7"), Ok(Some(all)));
        let other = Sanitize { seed: 3, ..plain };
        assert_eq!(parse("seed=3"), Ok(Some(other)));
        for wrong in [
            "overfow",
            "seed=seven",
            "seed",
            "on",
            "1,2",
            "1,0",
            "Overflow",
            "seed=-1",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
