//! The environment variable `SAREK_BACKEND`.
//!
//! It is a list of backend names, separated by commas: the backends that launches may choose
//! among, the most preferred first, whatever their priorities. Unset or blank allows all; but if `SAREK_SANITIZE` is set, the
//! interpreter alone, which is the sanitizer.

/// The backends allowed, in order of preference; all of them by their priority if `None`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Preference(Option<Vec<String>>);

impl Preference {
    pub(crate) const VARIABLE: &'static str = "SAREK_BACKEND";

    pub(crate) fn from_env() -> Preference {
        let value = |name| std::env::var(name).unwrap_or_default();
        Preference::of(&value(Preference::VARIABLE), &value("SAREK_SANITIZE"))
    }

    fn of(backends: &str, sanitize: &str) -> Preference {
        let sanitizes = !matches!(sanitize.trim(), "" | "0");
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

    /// The names, if any were given.
    pub(crate) fn names(&self) -> &[String] {
        self.0.as_deref().unwrap_or_default()
    }

    /// Where the backend stands, 0 being the most preferred; `None` if it is not allowed.
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
        assert_eq!(Preference::of("", "1").names(), ["interpreter"]);
        assert_eq!(Preference::of("native", "1").names(), ["native"]);
        assert_eq!(Preference::of("", "0"), Preference::default());
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
