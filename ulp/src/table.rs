//! Reads and writes the file of measured errors, and makes the tables of the documentation.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use sarek::Device;
use sarek::testing::tolerance::{Class, Format};

use crate::functions::FUNCTIONS;
use crate::run::Found;

/// The marker lines around the tables in the page.
pub const MARKS: [&str; 2] = ["<!-- measured: begin -->", "<!-- measured: end -->"];

/// One measured figure.
#[derive(Clone, PartialEq, Debug)]
pub struct Line {
    /// `f32` or `f64`.
    pub ty: String,
    /// The function.
    pub function: String,
    /// The backend.
    pub backend: String,
    /// The device, under its driver's name.
    pub device: String,
    /// The choice of arguments, in words.
    pub how: String,
    /// The largest error in ulps.
    pub ulps: f64,
    /// The arguments of the largest error.
    pub at: String,
}

/// All figures, in the order of the file.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Lines(Vec<Line>);

/// The file in the repository.
pub fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("measured.tsv")
}

/// The page in the repository.
pub fn page() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../book/src/ulp.md")
}

impl Line {
    /// The figure of a device.
    pub fn new(device: &Device, found: &Found) -> Line {
        let at = found.worst.at[..found.function.arity].iter();
        Line {
            ty: name(found.format).into(),
            function: found.function.name.into(),
            backend: device.backend().into(),
            device: device.info().name.clone(),
            how: found.how.clone(),
            ulps: found.worst.ulps,
            at: at.map(|x| format!("{x:e}")).collect::<Vec<_>>().join(" "),
        }
    }

    fn parse(line: &str) -> Option<Line> {
        let parts: Vec<&str> = line.split('\t').collect();
        let [ty, function, backend, device, how, ulps, at] = parts[..] else {
            return None;
        };
        Some(Line {
            ty: ty.into(),
            function: function.into(),
            backend: backend.into(),
            device: device.into(),
            how: how.into(),
            ulps: ulps.parse().ok()?,
            at: at.into(),
        })
    }

    fn is_of(&self, other: &Line) -> bool {
        let key = |line: &Line| {
            let Line {
                ty,
                function,
                backend,
                device,
                ..
            } = line.clone();
            (ty, function, backend, device)
        };
        key(self) == key(other)
    }

    /// The sort key and headings of its column in the tables, one for each device.
    fn column(&self) -> (usize, String, String) {
        const ORDER: [&str; 5] = ["native", "interpreter", "cuda", "opencl", "wgpu"];
        let rank = ORDER.iter().position(|b| *b == self.backend);
        (
            rank.unwrap_or(ORDER.len()),
            self.backend.clone(),
            called(&self.device),
        )
    }
}

/// A short name of a device.
fn called(device: &str) -> String {
    const KNOWN: [(&str, &str); 6] = [
        ("NVIDIA ", ""),
        ("pthread", "PoCL 3.1"),
        ("llvmpipe", "lavapipe"),
        ("IR interpreter", "std"),
        ("threads, ", "x86-64"),
        ("the user's", "std"),
    ];
    let known = KNOWN.iter().find(|(part, _)| device.contains(part));
    match known {
        Some((part, "")) => device.replace(part, ""),
        Some((_, name)) => (*name).into(),
        None => device.into(),
    }
}

fn name(format: Format) -> &'static str {
    match format {
        Format::F16 => "f16",
        Format::Bf16 => "bf16",
        Format::F32 => "f32",
        Format::F64 => "f64",
    }
}

impl Lines {
    /// Parses a file written by [`Lines::text`]; ignores invalid lines.
    pub fn parse(text: &str) -> Lines {
        Lines(text.lines().filter_map(Line::parse).collect())
    }

    /// The file's text, with one line for each figure.
    pub fn text(&self) -> String {
        let line = |l: &Line| {
            let Line {
                ty,
                function,
                backend,
                device,
                how,
                ulps,
                at,
            } = l;
            format!("{ty}\t{function}\t{backend}\t{device}\t{how}\t{ulps:.4}\t{at}\n")
        };
        self.0.iter().map(line).collect()
    }

    /// The figures.
    pub fn iter(&self) -> impl Iterator<Item = &Line> {
        self.0.iter()
    }

    /// Merges one figure.
    pub fn merge_one(&mut self, line: Line) {
        self.merge(Lines(vec![line]));
    }

    /// Merges figures; they replace those of the same function, type and device.
    pub fn merge(&mut self, other: Lines) {
        for line in other.0 {
            match self.0.iter_mut().find(|known| known.is_of(&line)) {
                Some(known) => *known = line,
                None => self.0.push(line),
            }
        }
        let place = |function: &str| FUNCTIONS.iter().position(|f| f.name == function);
        self.0.sort_by_key(|l| {
            (
                l.column(),
                l.device.clone(),
                l.ty.clone(),
                place(&l.function),
            )
        });
    }

    /// The tables, with a column for each device.
    pub fn tables(&self) -> String {
        let mut out = String::new();
        for ty in ["f32", "f64"] {
            let of_type = || self.0.iter().filter(|line| line.ty == ty);
            let columns: BTreeMap<_, Class> = of_type()
                .map(|line| (line.column(), class(&line.backend)))
                .collect();
            let heads = columns
                .keys()
                .map(|(_, backend, device)| format!(" `{backend}`: {device} |"));
            let _ = writeln!(out, "\n| `{ty}` |{}", heads.collect::<String>());
            let _ = writeln!(out, "|---|{}", "---|".repeat(columns.len()));
            for function in FUNCTIONS {
                let cells = columns.iter().map(|(column, class)| {
                    let mut lines = of_type().filter(|l| l.function == function.name);
                    let line = lines.find(|l| l.column() == *column);
                    let promised = function.promise().ulps(*class, format(ty));
                    cell(line, promised)
                });
                let cells: String = cells.collect();
                let _ = writeln!(out, "| `{}` |{cells}", function.name);
            }
        }
        out
    }

    /// Replaces the tables in the page.
    ///
    /// # Panics
    /// If the page has lost its marks.
    pub fn page(&self, page: &str) -> String {
        let [begin, end] = MARKS;
        let (before, rest) = page.split_once(begin).expect("the mark before the tables");
        let (_, after) = rest.split_once(end).expect("the mark behind the tables");
        format!("{before}{begin}\n{}\n{end}{after}", self.tables())
    }
}

/// The class of a backend's devices.
pub fn class(backend: &str) -> Class {
    match backend {
        "native" | "interpreter" => Class::Host,
        "cuda" => Class::Cuda,
        "opencl" => Class::OpenCl,
        _ => Class::Wgsl,
    }
}

/// The format of a type's name.
pub fn format(ty: &str) -> Format {
    match ty {
        "f64" => Format::F64,
        _ => Format::F32,
    }
}

/// A table cell such as `0.87 (1)`: the measured and the promised error.
fn cell(line: Option<&Line>, promised: Option<f64>) -> String {
    let Some(line) = line else {
        return " |".into();
    };
    let promised = match promised {
        Some(ulps) => format!("{ulps}"),
        None => "†".into(),
    };
    let measured = match line.ulps {
        0.0..=0.5 => "0.5".into(),
        ulps if ulps < 10.0 => format!("{ulps:.2}"),
        ulps if ulps < 1e4 => format!("{ulps:.0}"),
        ulps => format!("{ulps:.0e}"),
    };
    format!(" {measured} ({promised}) |")
}
