//! The command-line program: measures, and writes tables. See the library.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use sarek::Device;
use sarek_ulp::run::{self, Effort};
use sarek_ulp::table::{self, Line, Lines};

const USAGE: &str = "\
sarek-ulp [--every N] [--pairs N] [--wide N] [--backend a,b] [--function a,b] [--to FILE] [--write]
sarek-ulp --merge FILE

Prints the greatest error of each function on each device, one line each, tab-separated:
type, function, backend, device, arguments, ulps, where.

  --every N     every Nth of all f32 (4099); 1 for all
  --pairs N     random arguments of functions of several f32 (1000000)
  --wide N      random arguments of functions of f64 (20000)
  --to FILE     writes the lines there too, each as it is found
  --write       takes the figures over into ulp/measured.tsv and book/src/ulp.md
  --merge FILE  the same with figures that were printed elsewhere";

struct Options {
    effort: Effort,
    backends: Vec<String>,
    to: Option<String>,
    write: bool,
    merge: Option<String>,
}

fn options(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        effort: Effort {
            every: 4099,
            pairs: 1_000_000,
            wide: 20_000,
            only: vec![],
        },
        backends: vec![],
        to: None,
        write: false,
        merge: None,
    };
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} takes a value"));
        let number = |text: String| match text.parse::<u32>() {
            Ok(n) if n > 0 => Ok(n),
            _ => Err(format!("`{text}` is no positive number")),
        };
        let list = |text: String| text.split(',').map(str::to_owned).collect();
        match arg.as_str() {
            "--every" => options.effort.every = number(value()?)?,
            "--pairs" => options.effort.pairs = number(value()?)? as usize,
            "--wide" => options.effort.wide = number(value()?)? as usize,
            "--backend" => options.backends = list(value()?),
            "--function" => options.effort.only = list(value()?),
            "--to" => options.to = Some(value()?),
            "--merge" => options.merge = Some(value()?),
            "--write" => options.write = true,
            _ => return Err(USAGE.into()),
        }
    }
    Ok(options)
}

fn main() -> ExitCode {
    let done = options(std::env::args().skip(1)).and_then(|options| match &options.merge {
        Some(file) => read(Path::new(file)).and_then(|text| take_over(Lines::parse(&text))),
        None => measure(&options),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn measure(options: &Options) -> Result<(), String> {
    let mut lines = Lines::default();
    let mut broken = vec![];
    let create = |path: &String| File::create(path).map_err(|error| format!("{path}: {error}"));
    let mut kept = options.to.as_ref().map(create).transpose()?;
    let mut unkept = None;
    for device in Device::all() {
        if !options.backends.is_empty() && !options.backends.iter().any(|b| b == device.backend()) {
            continue;
        }
        let found = run::device(&device, &options.effort, |found| {
            let mut line = Lines::default();
            line.merge_one(Line::new(&device, found));
            print!("{}", line.text());
            if let Some(file) = &mut kept {
                unkept = file
                    .write_all(line.text().as_bytes())
                    .err()
                    .or(unkept.take());
            }
            if let Some(at) = found.worst.broken {
                broken.push(format!(
                    "{device}: {} {:?} at {at:?}",
                    found.function.name, found.format
                ));
            }
        });
        for found in found.map_err(|error| error.to_string())? {
            lines.merge_one(Line::new(&device, &found));
        }
    }
    if let (Some(error), Some(path)) = (unkept, &options.to) {
        return Err(format!("{path}: {error}"));
    }
    if options.write {
        take_over(lines)?;
    }
    match broken.is_empty() {
        true => Ok(()),
        false => Err(format!("beyond what is promised:\n{}", broken.join("\n"))),
    }
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn take_over(new: Lines) -> Result<(), String> {
    let mut all = Lines::parse(&read(&table::file()).unwrap_or_default());
    all.merge(new);
    let page = all.page(&read(&table::page())?);
    for (path, text) in [(table::file(), all.text()), (table::page(), page)] {
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}
