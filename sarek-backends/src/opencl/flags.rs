//! The compiler options that safe code may set.

/// Options that only change floats, messages, speed or the language version.
const HARMLESS: &[&str] = &[
    "-w",
    "-Werror",
    "-g",
    "-O0",
    "-O1",
    "-O2",
    "-O3",
    "-cl-opt-disable",
    "-cl-kernel-arg-info",
    "-cl-single-precision-constant",
    "-cl-denorms-are-zero",
    "-cl-fp32-correctly-rounded-divide-sqrt",
    "-cl-mad-enable",
    "-cl-no-signed-zeros",
    "-cl-unsafe-math-optimizations",
    "-cl-finite-math-only",
    "-cl-fast-relaxed-math",
    "-cl-nv-verbose",
];

/// Options that end in a number.
const NUMBERED: &[&str] = &["-cl-nv-maxrregcount=", "-cl-nv-opt-level="];

/// True for an option of these lists.
pub(super) fn is_harmless(flag: &str) -> bool {
    let version = |flag: &str| {
        let version = flag.strip_prefix("-cl-std=")?.strip_prefix("CL")?;
        let rest = version.strip_prefix("C++").unwrap_or(version);
        let (major, minor) = rest.split_once('.').unwrap_or((rest, "0"));
        Some(is_number(major) && is_number(minor))
    };
    let numbered = |prefix: &&str| flag.strip_prefix(*prefix).is_some_and(is_number);
    HARMLESS.contains(&flag) || NUMBERED.iter().any(numbered) || version(flag).unwrap_or_default()
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::is_harmless;

    #[test]
    fn what_changes_more_than_speed_and_floats_is_not_harmless() {
        for flag in [
            "-cl-fast-relaxed-math",
            "-cl-std=CL3.0",
            "-w",
            "-cl-nv-maxrregcount=32",
        ] {
            assert!(is_harmless(flag), "{flag}");
        }
        for flag in [
            "",
            "-D",
            "-Dif(x)=if(0)",
            "-w -Dif(x)=if(0)",
            "-I/tmp",
            "-include evil.h",
            "-fplugin=evil.so",
            "-cl-std=CL3.0 -DA=1",
            "-cl-std=",
            "-cl-nv-maxrregcount=32 -DA=1",
            "-cl-strict-aliasing",
            "-cl-uniform-work-group-size",
            "-x spir",
        ] {
            assert!(!is_harmless(flag), "{flag}");
        }
    }
}
