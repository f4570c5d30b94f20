//! The providers of `save` and `restore`: arrays in files.
//!
//! An array is a file `KERNEL.N.PARAMETER.before` or `.after`, for the N-th launch of the kernel
//! that a provider sees. It is a text of several lines and an empty line, and then the bytes of the
//! elements:
//!
//! ```text
//! sarek array 1
//! kernel: saxpy
//! parameter: x
//! element: f32
//! elements: 1024
//! bytes: 4096
//! ```

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use super::{Array, DataProblem, DataProvider, Device, Error, Result, lock};

/// The folder of providers that were made without one.
static FOLDER: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Sets the folder in which `save` and `restore` keep arrays, unless they got providers with folders
/// of their own. It must exist when a launch needs it. The launches of each kernel are counted anew.
pub fn set_data_folder(path: impl Into<PathBuf>) {
    *lock(&FOLDER) = Some(path.into());
    for counts in [saves(), restores()] {
        lock(counts).clear();
    }
}

/// The number of launches of each kernel.
type Counts = Mutex<HashMap<String, u64>>;

fn saves() -> &'static Counts {
    static SAVES: OnceLock<Counts> = OnceLock::new();
    SAVES.get_or_init(Mutex::default)
}

fn restores() -> &'static Counts {
    static RESTORES: OnceLock<Counts> = OnceLock::new();
    RESTORES.get_or_init(Mutex::default)
}

/// Writes all arrays of a launch before it, and those that it may have written after it.
#[derive(Default, Debug)]
pub struct Save(Option<Own>);

/// Replaces the arrays of a launch by those that a launch of this kernel had [`Save`]d before it.
#[derive(Default, Debug)]
pub struct Restore(Option<Own>);

/// A folder, and the launches of each kernel so far.
#[derive(Debug)]
struct Own {
    folder: PathBuf,
    counts: Counts,
}

impl Own {
    fn new(folder: PathBuf) -> Own {
        let counts = Counts::default();
        Own { folder, counts }
    }
}

impl Save {
    /// Saves to a folder.
    pub fn to(folder: impl Into<PathBuf>) -> Save {
        Save(Some(Own::new(folder.into())))
    }
}

impl Restore {
    /// Restores from a folder.
    pub fn from(folder: impl Into<PathBuf>) -> Restore {
        Restore(Some(Own::new(folder.into())))
    }
}

/// The folder of a provider; `None` if there is none.
fn folder(own: Option<&Own>) -> Option<PathBuf> {
    match own {
        Some(own) => Some(own.folder.clone()),
        None => lock(&FOLDER).clone(),
    }
}

/// The number of this launch of a kernel.
fn count(counts: &Counts, kernel: &str) -> u64 {
    let mut counts = lock(counts);
    let count = counts.entry(kernel.to_owned()).or_default();
    *count += 1;
    *count - 1
}

fn error(kernel: &str, array: &Array, action: &'static str, problem: DataProblem) -> Error {
    Error::Data {
        action,
        kernel: kernel.to_owned(),
        parameter: array.parameter.clone(),
        problem: Box::new(problem),
    }
}

fn io(path: &Path, error: &std::io::Error) -> DataProblem {
    DataProblem::Io {
        path: path.to_owned(),
        kind: error.kind(),
        message: error.to_string(),
    }
}

/// The file of an array. Names of kernels and parameters are those of Rust, or of foreign text;
/// other characters become `_`.
fn file(folder: &Path, kernel: &str, number: u64, array: &Array, when: &str) -> PathBuf {
    let plain = |text: &str| -> String {
        let is_plain = |c: char| c.is_alphanumeric() || c == '_';
        text.chars()
            .map(|c| if is_plain(c) { c } else { '_' })
            .collect()
    };
    let (kernel, parameter) = (plain(kernel), plain(&array.parameter));
    folder.join(format!("{kernel}.{number}.{parameter}.{when}"))
}

impl Save {
    fn write(&self, kernel: &str, number: u64, arrays: &[Array], when: &str) -> Result<()> {
        for array in arrays {
            let refuse = |problem| error(kernel, array, "save", problem);
            let Some(folder) = folder(self.0.as_ref()) else {
                return Err(refuse(DataProblem::NoFolder));
            };
            let path = file(&folder, kernel, number, array, when);
            let written = std::fs::File::create(&path).and_then(|mut file| {
                file.write_all(head(kernel, array).as_bytes())?;
                file.write_all(&array.bytes)?;
                file.flush()
            });
            written.map_err(|problem| refuse(io(&path, &problem)))?;
        }
        Ok(())
    }
}

const FIRST: &str = "sarek array 1";

fn head(kernel: &str, array: &Array) -> String {
    let Array {
        parameter, element, ..
    } = array;
    let (elements, bytes) = (array.len(), array.bytes.len());
    format!(
        "{FIRST}\nkernel: {kernel}\nparameter: {parameter}\nelement: {element}\nelements: {elements}\nbytes: {bytes}\n\n"
    )
}

impl DataProvider for Save {
    fn before(&self, kernel: &str, _: &Device, arrays: &mut [Array]) -> Result<u64> {
        let counts = self.0.as_ref().map_or(saves(), |own| &own.counts);
        let number = count(counts, kernel);
        self.write(kernel, number, arrays, "before")?;
        Ok(number)
    }

    fn after(&self, kernel: &str, _: &Device, number: u64, arrays: &[Array]) -> Result<()> {
        self.write(kernel, number, arrays, "after")
    }
}

impl DataProvider for Restore {
    fn before(&self, kernel: &str, _: &Device, arrays: &mut [Array]) -> Result<u64> {
        let counts = self.0.as_ref().map_or(restores(), |own| &own.counts);
        let number = count(counts, kernel);
        for array in arrays {
            let restored = folder(self.0.as_ref())
                .ok_or(DataProblem::NoFolder)
                .and_then(|folder| read(&file(&folder, kernel, number, array, "before"), array));
            restored.map_err(|problem| error(kernel, array, "restore", problem))?;
        }
        Ok(number)
    }

    fn after(&self, _: &str, _: &Device, _: u64, _: &[Array]) -> Result<()> {
        Ok(())
    }
}

/// Replaces an array by a saved one.
fn read(path: &Path, array: &mut Array) -> Result<(), DataProblem> {
    let saved = std::fs::read(path).map_err(|problem| io(path, &problem))?;
    let damaged = |problem: &str| DataProblem::Damaged {
        path: path.to_owned(),
        problem: problem.to_owned(),
    };
    let end = saved.windows(2).position(|two| two == b"\n\n");
    let (head, bytes) = match end {
        Some(end) => (&saved[..end], &saved[end + 2..]),
        None => return Err(damaged("it has no head")),
    };
    let head = std::str::from_utf8(head).map_err(|_| damaged("its head is no text"))?;
    let Some(head) = head.strip_prefix(FIRST) else {
        return Err(damaged("its head is of another form"));
    };
    let value = |name: &str| {
        let mut lines = head.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    };
    let Some(element) = value("element") else {
        return Err(damaged("its head names no type"));
    };
    if element != array.element {
        return Err(DataProblem::Element {
            want: array.element.to_owned(),
            have: element.to_owned(),
        });
    }
    let Some(told) = value("bytes").and_then(|text| text.parse::<u64>().ok()) else {
        return Err(damaged("its head has no number of bytes"));
    };
    if told != bytes.len() as u64 {
        return Err(damaged(&format!("it has {} of {told} bytes", bytes.len())));
    }
    let replaced = array.replace(bytes);
    replaced.map_err(|want| DataProblem::Size {
        want: want as u64,
        have: told,
    })
}
