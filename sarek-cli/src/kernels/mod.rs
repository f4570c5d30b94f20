//! The kernels of a package, for `check`, `emit` and `explain`.

pub mod check;
pub mod collect;
mod compile;
pub mod emit;
pub mod explain;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The languages of texts.
pub const TARGETS: [&str; 3] = ["cuda", "opencl", "wgsl"];

/// A kernel, as the runtime's module `collect` writes it.
#[derive(Clone, Deserialize, Serialize, Debug)]
pub struct Kernel {
    /// The path of its type, with the types and constants of an instance.
    pub path: String,
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub file: String,
    /// The line of its name.
    #[serde(default)]
    pub line: Option<u32>,
    /// The environments that its text needs.
    #[serde(default)]
    pub environments: Vec<String>,
    #[serde(default)]
    pub ir: String,
    #[serde(default)]
    pub explain: Option<String>,
    #[serde(default)]
    pub texts: Vec<Text>,
    /// The reason why it has no text.
    #[serde(default)]
    pub error: Option<String>,
}

/// The text for a target, or the reason why there is none.
#[derive(Clone, Deserialize, Serialize, Debug)]
pub struct Text {
    pub target: String,
    #[serde(default)]
    pub entry: String,
    #[serde(default)]
    pub text: String,
    /// The text with `#line` directives, which name lines of Rust files.
    #[serde(default)]
    pub marked: String,
    #[serde(default)]
    pub refused: Option<String>,
}

/// A generic kernel.
#[derive(Clone, Deserialize, Serialize, Debug, PartialEq, Eq)]
pub struct Generic {
    pub path: String,
    pub file: String,
    pub line: u32,
}

/// The kernels of executables.
#[derive(Deserialize, Serialize, Debug, Default)]
pub struct Found {
    pub kernels: Vec<Kernel>,
    /// Generic kernels, which have instances or not.
    pub generic: Vec<Generic>,
}

impl Kernel {
    /// The text for a target.
    pub fn text(&self, target: &str) -> Option<&Text> {
        self.texts.iter().find(|text| text.target == target)
    }

    /// True if the user's words mean this kernel: its name, the end of its path, or its path. Spaces do not matter.
    fn is_called(&self, asked: &str) -> bool {
        let plain = |text: &str| text.replace("::<", "<").replace(' ', "");
        let (path, asked) = (plain(&self.path), plain(asked));
        let without = path.split('<').next().unwrap_or_default();
        [&*path, without]
            .iter()
            .any(|path| *path == asked || path.ends_with(&format!("::{asked}")))
    }

    /// Takes the line out of the path, where the expansion's module has it: `a::__sarek_k_12_3::k` becomes `a::k`.
    fn tidy(&mut self) {
        let mut line = None;
        let mut tidy = |path: &str| {
            let segments = path.split("::").filter(|segment| {
                let Some(own) = segment.strip_prefix("__sarek_") else {
                    return true;
                };
                let mut numbers = own.rsplit('_').skip(1);
                line = line.or(numbers.next().and_then(|number| number.parse().ok()));
                false
            });
            segments.collect::<Vec<_>>().join("::")
        };
        self.path = match self.path.split_once('<') {
            Some((path, arguments)) => format!("{}<{arguments}", tidy(path)),
            None => tidy(&self.path),
        };
        self.line = line;
    }
}

impl Found {
    /// The kernel that the user named.
    pub fn kernel(&self, asked: &str) -> Result<&Kernel> {
        let exact = self.kernels.iter().find(|kernel| kernel.path == asked);
        if let Some(kernel) = exact {
            return Ok(kernel);
        }
        let called: Vec<_> = self.kernels.iter().filter(|k| k.is_called(asked)).collect();
        let paths = |kernels: &[&Kernel]| {
            let paths: Vec<&str> = kernels.iter().map(|kernel| &*kernel.path).collect();
            paths.join("`, `")
        };
        match called[..] {
            [kernel] => Ok(kernel),
            [] => Err(Error::Argument {
                what: format!("there is no kernel `{asked}`"),
                help: match self.kernels.is_empty() {
                    true => "no kernels were found".into(),
                    false => {
                        let all: Vec<_> = self.kernels.iter().collect();
                        format!("these were found: `{}`", paths(&all))
                    }
                },
            }),
            _ => Err(Error::Argument {
                what: format!("`{asked}` may be one of several kernels"),
                help: format!("give the path of one: `{}`", paths(&called)),
            }),
        }
    }

    /// The generic kernels without an instance.
    pub fn unused(&self) -> Vec<&Generic> {
        let has_instance = |generic: &Generic| {
            let begin = format!("{}<", generic.path);
            let last = generic.path.rsplit("::").next().unwrap_or_default();
            // In a function, the path of the module lacks the function.
            self.kernels.iter().any(|kernel| {
                let path = kernel.path.split('<').next().unwrap_or_default();
                kernel.path.starts_with(&begin)
                    || (path.ends_with(&format!("::{last}"))
                        && kernel.file == generic.file
                        && kernel.line.is_some_and(|line| line >= generic.line))
            })
        };
        let generic = self.generic.iter();
        generic.filter(|generic| !has_instance(generic)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(path: &str) -> Kernel {
        let mut kernel: Kernel =
            serde_json::from_value(serde_json::json!({ "path": path })).unwrap();
        kernel.tidy();
        kernel
    }

    #[test]
    fn paths_lose_the_modules_of_expansions() {
        let k = kernel("a::b::__sarek_scale_by_12_3::scale_by<f32, c::__T>");
        assert_eq!(k.path, "a::b::scale_by<f32, c::__T>");
        assert_eq!(k.line, Some(12));
        assert_eq!(kernel("a::k").line, None);
    }

    #[test]
    fn kernels_are_called_by_name_path_and_instance() {
        let found = Found {
            kernels: vec![
                kernel("a::one::k"),
                kernel("a::two::k"),
                kernel("a::g<f32, 16>"),
            ],
            generic: vec![],
        };
        assert_eq!(found.kernel("one::k").unwrap().path, "a::one::k");
        assert_eq!(found.kernel("g").unwrap().path, "a::g<f32, 16>");
        assert_eq!(found.kernel("g::<f32,16>").unwrap().path, "a::g<f32, 16>");
        assert!(found.kernel("k").unwrap_err().help().contains("a::two::k"));
        assert!(found.kernel("e::k").unwrap_err().help().contains("a::g"));
    }
}
