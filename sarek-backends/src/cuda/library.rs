//! NVIDIA's compiler libraries, which are found and loaded when they are first needed.

use std::path::{Path, PathBuf};

use libloading::Library;

/// A library to find.
pub(super) struct Wanted {
    /// The environment variable with the path of the library, or of a folder that contains it. If it is set, nothing
    /// else is tried.
    pub variable: &'static str,
    /// The beginning of its file names.
    pub stem: &'static str,
    /// Its file names.
    pub names: fn() -> Vec<String>,
    /// The message if it is found nowhere.
    pub absent: &'static str,
}

impl Wanted {
    /// Loads the library: from the setting, or by its names, or from a toolkit or one of the `further` folders.
    pub fn find(&self, setting: Option<PathBuf>, further: &[PathBuf]) -> Result<Library, String> {
        if let Some(setting) = setting {
            let files = match setting.is_dir() {
                true => self.files_in(&setting),
                false => vec![setting.clone()],
            };
            return first(&files).map_err(|why| {
                let why = why.unwrap_or_else(|| format!("the folder has no {}", self.stem));
                format!("{} is `{}`: {why}", self.variable, setting.display())
            });
        }
        let mut files: Vec<PathBuf> = (self.names)().into_iter().map(PathBuf::from).collect();
        let folders = toolkits();
        let folders = further.iter().chain(&folders);
        files.extend(folders.flat_map(|folder| self.files_in(folder)));
        first(&files).map_err(|_| self.absent.to_owned())
    }

    /// The library's files in a folder, or in the subfolders where a toolkit keeps them.
    pub fn files_in(&self, folder: &Path) -> Vec<PathBuf> {
        let parts = [
            "",
            "lib64",
            "lib",
            "targets/x86_64-linux/lib",
            "targets/sbsa-linux/lib",
            "bin",
        ];
        let files = parts.iter().flat_map(|part| {
            (self.names)()
                .into_iter()
                .map(move |name| folder.join(part).join(name))
        });
        files.filter(|file| file.is_file()).collect()
    }
}

/// Looks up a function of the library.
///
/// # Safety
/// `F` is the type of the function of this name.
pub(super) unsafe fn symbol<F: Copy>(library: &Library, name: &str) -> Option<F> {
    // SAFETY: the caller's.
    let function = unsafe { library.get::<F>(name) };
    function.ok().map(|function| *function)
}

/// The first file that loads. Otherwise the error of the last one, if there was any.
fn first(files: &[PathBuf]) -> Result<Library, Option<String>> {
    let mut why = None;
    for file in files {
        // SAFETY: the file has the name of a system library, or the user named it.
        match unsafe { Library::new(file) } {
            Ok(library) => return Ok(library),
            Err(error) => why = Some(error.to_string()),
        }
    }
    Err(why)
}

/// The folders of CUDA toolkits.
pub(super) fn toolkits() -> Vec<PathBuf> {
    let named = ["CUDA_PATH", "CUDA_HOME"]
        .into_iter()
        .filter_map(std::env::var_os);
    let mut installed: Vec<PathBuf> = std::fs::read_dir("/usr/local")
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            path.file_name()
                .is_some_and(|n| n.to_string_lossy().starts_with("cuda"))
        })
        .collect();
    installed.sort();
    named
        .map(PathBuf::from)
        .chain(installed.into_iter().rev())
        .chain([PathBuf::from("/opt/cuda")])
        .collect()
}
