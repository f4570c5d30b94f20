//! `plot`: a page with tables and plots of benchmark records.

mod chart;
mod page;
mod record;

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::{Error, Result};
use crate::report::{Outcome, Output};
use record::Record;

/// Arguments of `plot`.
#[derive(clap::Args)]
pub struct Args {
    /// Records of benchmarks (.tsv, .json), or folders of them
    #[arg(required = true)]
    records: Vec<PathBuf>,
    /// The folder of the page; it gets an `index.html`
    #[arg(long, value_name = "FOLDER")]
    to: PathBuf,
}

#[derive(Serialize)]
struct Report {
    page: PathBuf,
    records: usize,
    rows: usize,
}

/// Writes the page.
pub fn run(args: &Args, output: Output) -> Result<Outcome> {
    let mut records = vec![];
    for path in &args.records {
        for file in files(path)? {
            records.extend(Record::read(&file)?);
        }
    }
    let html = page::html(&records)?;
    fs::create_dir_all(&args.to).map_err(Error::file("created", &args.to))?;
    let page = args.to.join("index.html");
    fs::write(&page, html).map_err(Error::file("written", &page))?;
    let report = Report {
        page,
        records: records.len(),
        rows: records.iter().map(|record| record.rows.len()).sum(),
    };
    let text = format!(
        "{}: {} rows of {} records",
        report.page.display(),
        report.rows,
        report.records
    );
    output.print(&report, &text)?;
    Ok(Outcome::Good)
}

/// The file, or the records of the folder by name. Other files of a folder, such as a README, are left out.
fn files(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = fs::read_dir(path).map_err(Error::file("read", path))?;
    let mut files = vec![];
    for entry in entries {
        let file = entry.map_err(Error::file("read", path))?.path();
        let ending = file.extension().and_then(|ending| ending.to_str());
        if matches!(ending, Some("tsv" | "json")) {
            files.push(file);
        }
    }
    files.sort();
    match files.is_empty() {
        false => Ok(files),
        true => Err(Error::Argument {
            what: format!("`{}` has no records", path.display()),
            help: "make one by `cargo sarek bench --save FILE.json COMMAND`".into(),
        }),
    }
}

#[cfg(test)]
mod tests;
