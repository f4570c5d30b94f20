//! Records of benchmarks: tables by `cargo bench … -- --save FILE`, and JSON by `cargo sarek bench --save FILE`.
//!
//! A table is text. Its first lines are facts, `# name: value`. Then comes the line with the names of the columns, and a line for
//! each row, with tabs between the columns. Columns without a value are empty.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::bench;
use crate::error::{Error, Result};

/// The columns of a table.
pub const COLUMNS: [&str; 12] = [
    "kernel",
    "against",
    "size",
    "ours_us",
    "theirs_us",
    "ratio",
    "low",
    "high",
    "rate",
    "unit",
    "bytes",
    "flop",
];

/// The facts that each table has.
const NEEDED: [&str; 4] = ["device", "backend", "date", "command"];

/// The facts that a table may have.
const OPTIONAL: [&str; 5] = ["version", "peers", "bandwidth_gb_s", "peak_gflop_s", "note"];

/// A run of a benchmark on a device.
#[derive(Debug)]
pub struct Record {
    /// The file's name without its ending.
    pub name: String,
    pub facts: BTreeMap<String, String>,
    pub rows: Vec<Row>,
}

/// The figures of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub kernel: String,
    /// The other side; empty if there is none.
    pub against: String,
    pub size: String,
    /// Microseconds of a launch. A row has this time or a ratio.
    pub ours: Option<f64>,
    pub theirs: Option<f64>,
    /// Their time divided by ours.
    pub ratio: Option<f64>,
    /// The quartiles of the ratio.
    pub quartiles: Option<(f64, f64)>,
    /// The rate of our side with its unit, such as 2960 and `GB/s`.
    pub rate: Option<(f64, String)>,
    /// The bytes that a launch must move.
    pub bytes: Option<f64>,
    /// The floating-point operations of a launch.
    pub flop: Option<f64>,
}

impl Record {
    /// Reads a record, of the kind that the ending of the file's name says.
    pub fn read(path: &Path) -> Result<Vec<Record>> {
        let text = fs::read_to_string(path).map_err(Error::file("read", path))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("tsv") => Ok(vec![table(path, &name, &text)?]),
            Some("json") => json(path, &name, &text),
            Some(_) | None => Err(Error::Argument {
                what: format!("`{}` is neither a .tsv nor a .json", path.display()),
                help: "give files or folders of such records".into(),
            }),
        }
    }

    /// A fact; empty if the record has none of this name.
    pub fn fact(&self, name: &str) -> &str {
        self.facts.get(name).map_or("", String::as_str)
    }

    /// A fact that is a number.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.fact(name).parse().ok()
    }
}

/// An error in a line, counted from 1.
fn wrong(path: &Path, line: usize, why: impl Into<String>) -> Error {
    Error::Record {
        path: path.to_owned(),
        line,
        why: why.into(),
    }
}

fn table(path: &Path, name: &str, text: &str) -> Result<Record> {
    let mut record = Record {
        name: name.to_owned(),
        facts: BTreeMap::new(),
        rows: vec![],
    };
    let mut lines = (1..).zip(text.lines());
    let head = loop {
        let Some((line, content)) = lines.next() else {
            let last = text.lines().count().max(1);
            return Err(wrong(path, last, "the line with the columns is missing"));
        };
        let Some(fact) = content.strip_prefix("# ") else {
            break (line, content);
        };
        let (key, value) = fact
            .split_once(": ")
            .ok_or_else(|| wrong(path, line, "a fact is `# name: value`"))?;
        if !NEEDED.contains(&key) && !OPTIONAL.contains(&key) {
            return Err(wrong(path, line, format!("unknown fact `{key}`")));
        }
        if matches!(key, "bandwidth_gb_s" | "peak_gflop_s") {
            positive(value).map_err(|why| wrong(path, line, why))?;
        }
        if record.facts.insert(key.into(), value.into()).is_some() {
            return Err(wrong(path, line, format!("a second `{key}`")));
        }
    };
    if let Some(missing) = NEEDED.iter().find(|key| !record.facts.contains_key(**key)) {
        return Err(wrong(path, head.0, format!("`# {missing}: …` is missing")));
    }
    if !head.1.split('\t').eq(COLUMNS) {
        let columns = COLUMNS.join(", ");
        return Err(wrong(
            path,
            head.0,
            format!("the columns are not {columns}"),
        ));
    }
    for (line, content) in lines {
        record
            .rows
            .push(row(content).map_err(|why| wrong(path, line, why))?);
    }
    if record.rows.is_empty() {
        return Err(wrong(path, head.0, "no rows follow"));
    }
    Ok(record)
}

fn row(line: &str) -> std::result::Result<Row, String> {
    let cells: Vec<&str> = line.split('\t').collect();
    let cells: [&str; COLUMNS.len()] = cells
        .try_into()
        .map_err(|cells: Vec<_>| format!("{} columns, not {}", cells.len(), COLUMNS.len()))?;
    let [
        kernel,
        against,
        size,
        ours,
        theirs,
        ratio,
        low,
        high,
        rate,
        unit,
        bytes,
        flop,
    ] = cells;
    if kernel.is_empty() {
        return Err("the kernel has no name".into());
    }
    let number = |column: &str, cell: &str| match cell {
        "" => Ok(None),
        cell => positive(cell)
            .map(Some)
            .map_err(|why| format!("{column}: {why}")),
    };
    let quartiles = match (number("low", low)?, number("high", high)?) {
        (Some(low), Some(high)) if low <= high => Some((low, high)),
        (None, None) => None,
        _ => return Err("`low` and `high` are no quartiles".into()),
    };
    let rate = match (number("rate", rate)?, unit) {
        (None, "") => None,
        (Some(rate), unit) if !unit.is_empty() => Some((rate, unit.to_owned())),
        _ => return Err("a rate has a unit".into()),
    };
    let (ours, ratio) = (number("ours_us", ours)?, number("ratio", ratio)?);
    if ours.is_none() && ratio.is_none() {
        return Err("`ours_us` and `ratio` are empty".into());
    }
    Ok(Row {
        kernel: kernel.into(),
        against: against.into(),
        size: size.into(),
        ours,
        theirs: number("theirs_us", theirs)?,
        ratio,
        quartiles,
        rate,
        bytes: number("bytes", bytes)?,
        flop: number("flop", flop)?,
    })
}

/// A finite number above zero.
fn positive(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
        Ok(_) | Err(_) => Err(format!("`{text}` is no number above zero")),
    }
}

/// The records of `cargo sarek bench`: one for each device of the run.
fn json(path: &Path, name: &str, text: &str) -> Result<Vec<Record>> {
    let run = bench::Record::parse(text).map_err(|(line, why)| wrong(path, line, why))?;
    let mut records: Vec<Record> = vec![];
    for kernel in &run.kernels {
        if !(kernel.best_us.is_finite() && kernel.best_us > 0.0) {
            return Err(wrong(path, 1, format!("`{}` has no time", kernel.name)));
        }
        let row = Row {
            kernel: kernel.name.clone(),
            against: String::new(),
            size: String::new(),
            ours: Some(kernel.best_us),
            theirs: None,
            ratio: None,
            quartiles: None,
            rate: (kernel.gb_per_s > 0.0).then(|| (kernel.gb_per_s, "GB/s".into())),
            bytes: None,
            flop: None,
        };
        match records
            .iter_mut()
            .find(|r| r.fact("device") == kernel.device)
        {
            Some(record) => record.rows.push(row),
            None => records.push(Record {
                name: name.to_owned(),
                facts: facts(&run, kernel),
                rows: vec![row],
            }),
        }
    }
    Ok(records)
}

/// The facts about the device of a kernel. Its bandwidth follows from the share that the kernel reached.
fn facts(run: &bench::Record, kernel: &crate::trace::Summary) -> BTreeMap<String, String> {
    let mut facts: BTreeMap<String, String> = [
        ("device", kernel.device.clone()),
        ("command", run.command.clone()),
        ("date", run.date.clone().unwrap_or_default()),
        ("version", run.sarek.clone().unwrap_or_default()),
    ]
    .map(|(key, value)| (key.to_owned(), value))
    .into();
    if let Some(share) = kernel
        .share
        .filter(|share| *share > 0.0 && kernel.gb_per_s > 0.0)
    {
        facts.insert(
            "bandwidth_gb_s".into(),
            (kernel.gb_per_s / share).round().to_string(),
        );
    }
    facts
}

impl Row {
    /// The operations for each byte, and 10⁹ operations a second, if all figures are known.
    pub fn intensity(&self) -> Option<(f64, f64)> {
        let (bytes, flop) = (self.bytes?, self.flop?);
        let rate = self.rate.as_ref().filter(|(_, unit)| unit == "Gflop/s");
        let speed = self.ours.map(|ours| flop / ours / 1e3);
        Some((flop / bytes, speed.or(rate.map(|(rate, _)| *rate))?))
    }
}
