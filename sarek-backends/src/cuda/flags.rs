//! The compiler options that safe code may set.

/// Options of NVRTC that only change floats, messages, debug and profiling information, or speed.
const HARMLESS: &[&str] = &[
    "-w",
    "--disable-warnings",
    "-G",
    "--device-debug",
    "-lineinfo",
    "--generate-line-info",
    "-use_fast_math",
    "--use_fast_math",
    "-extra-device-vectorization",
    "--extra-device-vectorization",
    "-Xptxas=-v",
    "--ptxas-options=-v",
    "-dopt=on",
    "--dopt=on",
];

/// Options with a value, each with its permitted values.
const VALUED: &[(&[&str], &[&str])] = &[
    (&["-ftz", "--ftz"], &["true", "false"]),
    (&["-prec-sqrt", "--prec-sqrt"], &["true", "false"]),
    (&["-prec-div", "--prec-div"], &["true", "false"]),
    (&["-fmad", "--fmad"], &["true", "false"]),
    (
        &["-std", "--std"],
        &["c++03", "c++11", "c++14", "c++17", "c++20"],
    ),
    (
        &["-Ofast-compile", "--Ofast-compile"],
        &["0", "min", "mid", "max"],
    ),
];

/// Options that end in a number.
const NUMBERED: &[&str] = &[
    "-maxrregcount=",
    "--maxrregcount=",
    "-Xptxas=-O",
    "--ptxas-options=-O",
];

/// True for an option of these lists.
pub(super) fn is_harmless(flag: &str) -> bool {
    let numbered = |prefix: &&str| flag.strip_prefix(*prefix).is_some_and(is_number);
    let valued = flag.split_once('=').is_some_and(|(name, value)| {
        let mut all = VALUED.iter();
        all.any(|(names, values)| names.contains(&name) && values.contains(&value))
    });
    HARMLESS.contains(&flag) || valued || NUMBERED.iter().any(numbered)
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
            "-lineinfo",
            "--use_fast_math",
            "--maxrregcount=32",
            "--fmad=false",
            "--std=c++17",
        ] {
            assert!(is_harmless(flag), "{flag}");
        }
        for flag in [
            "",
            "-Dif(x)=if(0)",
            "--define-macro=if(x)=if(0)",
            "-I/tmp",
            "--pre-include=evil.h",
            "--restrict",
            "--gpu-architecture=compute_90",
            "--fmad=maybe",
            "--maxrregcount=",
            "--maxrregcount=32 -DA=1",
            "--ptxas-options=-O3,-DA",
        ] {
            assert!(!is_harmless(flag), "{flag}");
        }
    }
}
