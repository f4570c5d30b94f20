//! Environment variables: the complete list, their parsing, and the reports about wrong values.
//!
//! They are read once, when the library is first used. A wrong value of a variable that changes the
//! meaning of launches is an error of each launch ([`Wrong::Fails`]). For other variables it is
//! reported on standard error, and the default is used ([`Wrong::Reported`]). An unknown name that
//! begins with `SAREK_` is reported too, because it is most likely misspelt.

mod sanitize;

use std::collections::BTreeSet;
use std::fmt;
use std::io::Write;
use std::sync::{Mutex, Once, OnceLock};

use sarek_ir::interp::Sanitize;

use crate::sync::lock;
use crate::{Error, Result};

/// An environment variable that the library reads.
#[derive(Debug)]
pub struct Variable {
    /// The name.
    pub name: &'static str,
    /// A description of the accepted values.
    pub takes: &'static str,
    /// True if a value is accepted. A blank value counts as unset.
    check: fn(&str) -> bool,
    /// The treatment of wrong values.
    pub wrong: Wrong,
}

/// The treatment of a value that a variable does not accept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wrong {
    /// Each launch returns [`Error::Setting`].
    Fails,
    /// It is reported once on standard error, and the default is used.
    Reported,
}

/// The variables that the library reads.
pub const VARIABLES: [Variable; 10] = [
    Variable {
        name: "SAREK_BACKEND",
        takes: "names of backends, separated by commas",
        // The registry checks the names.
        check: |_| true,
        wrong: Wrong::Fails,
    },
    Variable {
        name: "SAREK_SANITIZE",
        takes: "`1`, `overflow` and `seed=7`, separated by commas, or `0`",
        check: |text| sanitize::parse(text).is_ok(),
        wrong: Wrong::Fails,
    },
    Variable {
        name: "SAREK_OPTIMIZE",
        takes: "`off`, `on`, `all` or `seed:` and a number",
        check: |text| Optimize::parse(text).is_some(),
        wrong: Wrong::Reported,
    },
    Variable {
        name: "SAREK_CACHE",
        takes: "a folder, or `off`",
        check: |_| true,
        wrong: Wrong::Reported,
    },
    Variable {
        name: "SAREK_CACHE_MIB",
        takes: "a number of MiB",
        check: |text| mib(text).is_some(),
        wrong: Wrong::Reported,
    },
    Variable {
        name: "SAREK_NATIVE_ISA",
        takes: "`baseline`, `avx2` or `avx512`",
        check: |text| ISA_NAMES.contains(&text.trim()),
        wrong: Wrong::Reported,
    },
    Variable {
        name: "SAREK_NVJITLINK",
        takes: "the path of nvJitLink's library, or of a folder with it",
        // The backend reports a missing library.
        check: |_| true,
        wrong: Wrong::Reported,
    },
    Variable {
        name: "SAREK_NVRTC",
        takes: "the path of NVRTC's library, or of a folder with it",
        // The backend reports a missing library.
        check: |_| true,
        wrong: Wrong::Reported,
    },
    Variable {
        name: "SAREK_PROFILE",
        takes: "the path of a file, which the process writes when it ends",
        check: |_| true,
        wrong: Wrong::Reported,
    },
    Variable {
        name: "SAREK_TEST_SEED",
        takes: "a number",
        // The kernel tests report a wrong value.
        check: |_| true,
        wrong: Wrong::Reported,
    },
];

/// The values of `SAREK_NATIVE_ISA`, from the smallest instruction set to the largest.
pub(crate) const ISA_NAMES: [&str; 3] = ["baseline", "avx2", "avx512"];

/// The variables that `cargo sarek` sets, and those that only the library's tests and benchmarks read.
const INTERNAL: [&str; 30] = [
    "SAREK_BENCH_FIRST",
    "SAREK_BENCH_PARTS",
    "SAREK_BENCH_PLANNING",
    "SAREK_BLESS",
    "SAREK_BODIES",
    "SAREK_CACHE_CHILD",
    "SAREK_CASES",
    "SAREK_COLLECT",
    "SAREK_COLLECT_EXPLAIN",
    "SAREK_COLLECT_INTO",
    "SAREK_COLLECT_WRAPPED",
    "SAREK_COLLECT_WRAPPER",
    "SAREK_FORK_FIRST",
    "SAREK_FUZZ_ROUNDS",
    "SAREK_INSTANCES",
    "SAREK_LITERALS",
    "SAREK_RELIABILITY_CHILD",
    "SAREK_REQUIRE",
    "SAREK_REQUIRE_NVJITLINK",
    "SAREK_REQUIRE_PAIRS",
    "SAREK_SETTINGS_CHILD",
    "SAREK_STRESS_CHILD",
    "SAREK_STRESS_SECONDS",
    "SAREK_TEST_CHILD",
    "SAREK_TEST_FULL_DISK",
    "SAREK_TEST_ONE_BY_ONE",
    "SAREK_REQUIRE_XVFB",
    "SAREK_TEST_OPTIMIZED",
    "SAREK_TEST_REFUSED",
    "SAREK_TEST_TWO_OF_POCL",
];

/// The value of a variable of [`VARIABLES`], if it is set, not blank, and accepted.
pub(crate) fn value(name: &str) -> Option<String> {
    report();
    let variable = VARIABLES.iter().find(|variable| variable.name == name);
    let variable = variable.unwrap_or_else(|| unreachable!("{name} is in the list"));
    variable.read().ok().flatten()
}

/// The path of the folder or file in a variable of [`VARIABLES`], if it is set and not blank.
pub fn path(name: &str) -> Option<std::ffi::OsString> {
    report();
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// The checks that `SAREK_SANITIZE` requests from the interpreter; `None` if it is not set.
pub fn sanitize() -> Option<Sanitize> {
    static SETTINGS: OnceLock<Option<Sanitize>> = OnceLock::new();
    let read = || sanitize::parse(&value("SAREK_SANITIZE")?).ok().flatten();
    *SETTINGS.get_or_init(read)
}

/// The launches that are optimized, as `SAREK_OPTIMIZE` selects them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Optimize {
    /// None.
    Off,
    /// Those that gain.
    On,
    /// All to which some transformation applies, with plans that depend on a seed: for tests.
    Seed(u64),
}

impl Optimize {
    fn parse(text: &str) -> Option<Optimize> {
        match text.trim() {
            "off" => Some(Optimize::Off),
            "on" => Some(Optimize::On),
            "all" => Some(Optimize::Seed(0)),
            other => other
                .strip_prefix("seed:")?
                .parse()
                .ok()
                .map(Optimize::Seed),
        }
    }
}

/// The value of `SAREK_OPTIMIZE`.
pub(crate) fn optimize() -> Optimize {
    static SETTING: OnceLock<Optimize> = OnceLock::new();
    let read = || Optimize::parse(&value("SAREK_OPTIMIZE")?);
    *SETTING.get_or_init(|| read().unwrap_or(Optimize::On))
}

/// The limit of the disk cache in MiB, if one is set.
pub(crate) fn cache_mib() -> Option<u64> {
    mib(&value("SAREK_CACHE_MIB")?)
}

fn mib(text: &str) -> Option<u64> {
    let mib: u64 = text.trim().parse().ok()?;
    mib.checked_mul(1 << 20).map(|_| mib)
}

/// Returns an error if a variable that changes the meaning of launches has a wrong value.
pub(crate) fn check() -> Result<()> {
    static WRONG: OnceLock<Option<Error>> = OnceLock::new();
    let fails = |variable: &&Variable| variable.wrong == Wrong::Fails;
    let find = || VARIABLES.iter().filter(fails).find_map(|v| v.read().err());
    match WRONG.get_or_init(find) {
        None => Ok(()),
        Some(error) => Err(error.clone()),
    }
}

/// Reports, once per device, that its launches are not checked although the sanitizer is requested.
pub(crate) fn not_sanitized(device: &dyn fmt::Display) {
    static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if sanitize().is_some() && lock(&TOLD).insert(device.to_string()) {
        say(&format!(
            "SAREK_SANITIZE is set, but launches on {device} are not checked: only the interpreter checks launches"
        ));
    }
}

/// Writes a line to standard error.
pub(crate) fn say(line: &str) {
    // If standard error is closed, the message is lost.
    let _ = writeln!(std::io::stderr().lock(), "sarek: {line}");
}

/// Reports once the problems with variables that launches do not report themselves.
pub(crate) fn report() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let is_reported = |variable: &&Variable| variable.wrong == Wrong::Reported;
        for error in VARIABLES
            .iter()
            .filter(is_reported)
            .filter_map(|v| v.read().err())
        {
            say(&format!("{error}; the value is ignored"));
        }
        let unknown = std::env::vars_os().filter_map(|(name, _)| unknown(name.to_str()?));
        unknown.for_each(|line| say(&line));
    });
}

/// The message about an unknown variable.
fn unknown(name: &str) -> Option<String> {
    let known = VARIABLES.iter().any(|variable| variable.name == name) || INTERNAL.contains(&name);
    if known || !name.starts_with("SAREK_") {
        return None;
    }
    let names: Vec<&str> = VARIABLES.iter().map(|variable| variable.name).collect();
    let names = names.join(", ");
    Some(format!(
        "the environment variable {name} has no effect; the library reads {names}"
    ))
}

/// The variables that are paths, which need not be UTF-8.
const PATHS: [&str; 4] = [
    "SAREK_CACHE",
    "SAREK_NVJITLINK",
    "SAREK_NVRTC",
    "SAREK_PROFILE",
];

impl Variable {
    /// The value, if it is set and not blank.
    fn read(&self) -> Result<Option<String>> {
        let Some(value) = std::env::var_os(self.name) else {
            return Ok(None);
        };
        let shown = value.to_string_lossy().into_owned();
        match value.into_string() {
            Ok(text) if text.trim().is_empty() => Ok(None),
            Ok(text) if (self.check)(&text) => Ok(Some(text)),
            Err(_) if PATHS.contains(&self.name) => Ok(None),
            Ok(_) | Err(_) => Err(Error::Setting {
                variable: self.name,
                value: shown,
                takes: self.takes,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_numbers_that_fit() {
        assert_eq!(mib(" 512 "), Some(512));
        for wrong in [
            "lots",
            "-1",
            "1.5",
            "1 GiB",
            "99999999999999999999",
            "17592186044416",
        ] {
            assert_eq!(mib(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_name_that_nobody_reads_is_told() {
        for known in ["SAREK_CACHE", "SAREK_BLESS", "HOME", "SAREKX"] {
            assert_eq!(unknown(known), None);
        }
        let told = unknown("SAREK_SANITISE").expect("nothing reads it");
        assert!(
            told.contains("SAREK_SANITISE") && told.contains("SAREK_SANITIZE"),
            "{told}"
        );
    }

    /// Every variable that the repository reads must be in one of the lists.
    #[test]
    fn the_lists_hold_every_variable_of_this_repository() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut folders = vec![root.clone()];
        let mut found = BTreeSet::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                let name = entry.file_name();
                if path.is_dir() && name != "target" && !name.to_string_lossy().starts_with('.') {
                    folders.push(path);
                } else if path.extension().is_some_and(|e| e == "rs") {
                    let text = std::fs::read_to_string(&path).expect("a source file");
                    found.extend(quoted(&text));
                }
            }
        }
        assert!(found.len() > 10, "{found:?}");
        // Names in tests of this list, and fragments of messages.
        let others = ["SAREK_SANITISE", "SAREK_"];
        let lost: Vec<_> = found
            .iter()
            .filter(|name| unknown(name).is_some() && !others.contains(&&***name))
            .collect();
        assert!(lost.is_empty(), "{lost:?} stand in no list");
        let page = std::fs::read_to_string(root.join("book/src/runtime.md")).expect("the page");
        for variable in &VARIABLES {
            assert!(
                page.contains(&format!("| `{}` |", variable.name)),
                "{}",
                variable.name
            );
        }
    }

    /// The names of variables in string literals.
    fn quoted(text: &str) -> impl Iterator<Item = String> {
        let all = text.split('"').map(str::to_owned);
        all.filter(|word| {
            let plain = |c: char| c.is_ascii_uppercase() || c == '_';
            word.starts_with("SAREK_") && word.chars().all(plain)
        })
    }
}
