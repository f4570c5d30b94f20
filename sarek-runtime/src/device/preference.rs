//! The environment variable `SAREK_BACKEND`.
//!
//! It is a comma-separated list of backend names: those that launches may choose, the most
//! preferred first, whatever their priorities. Unset or blank allows all. If `SAREK_SANITIZE` is
//! set, it allows only the interpreter, which is the sanitizer.

use crate::settings;

/// The allowed backends in order of preference; `None` allows all, by their priority.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Preference(Option<Vec<String>>);

impl Preference {
    pub(crate) fn from_env() -> Preference {
        let backends = settings::value("SAREK_BACKEND").unwrap_or_default();
        Preference::of(&backends, settings::sanitize().is_some())
    }

    fn of(backends: &str, sanitizes: bool) -> Preference {
        match Preference::parse(backends) {
            Preference(None) if sanitizes => Preference::parse("interpreter"),
            chosen => chosen,
        }
    }

    pub(crate) fn parse(text: &str) -> Preference {
        let mut names: Vec<String> = Vec::new();
        for name in text.split(',').map(str::trim).filter(|n| !n.is_empty()) {
            if !names.iter().any(|n| n == name) {
                names.push(name.to_owned());
            }
        }
        Preference((!names.is_empty()).then_some(names))
    }

    /// The names; empty if all are allowed.
    pub(crate) fn names(&self) -> &[String] {
        self.0.as_deref().unwrap_or_default()
    }

    /// The position of the backend, 0 being the most preferred; `None` if it is not allowed.
    pub(crate) fn rank(&self, backend: &str) -> Option<usize> {
        match &self.0 {
            None => Some(0),
            Some(names) => names.iter().position(|n| n == backend),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_variable_allows_all() {
        for blank in ["", "  ", ",", " , "] {
            assert_eq!(Preference::parse(blank).rank("any"), Some(0), "{blank:?}");
        }
    }

    #[test]
    fn the_sanitizer_is_the_interpreter() {
        assert_eq!(Preference::of("", true).names(), ["interpreter"]);
        assert_eq!(Preference::of("native", true).names(), ["native"]);
        assert_eq!(Preference::of("", false), Preference::default());
    }

    #[test]
    fn a_list_is_an_order_and_a_restriction() {
        let preference = Preference::parse(" cuda, native,cuda ");
        assert_eq!(preference.names(), ["cuda", "native"]);
        assert_eq!(preference.rank("cuda"), Some(0));
        assert_eq!(preference.rank("native"), Some(1));
        assert_eq!(preference.rank("opencl"), None);
    }
}
