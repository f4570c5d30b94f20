//! The command line: runs workers on generated inputs, shrinks the failing ones, prints them and writes them to files.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use sarek_fuzz_frontend::input::Input;
use sarek_fuzz_frontend::seeds::Seeds;
use sarek_fuzz_frontend::shrink::shrink;
use sarek_fuzz_frontend::supervise::{self, Finding, Options};
use sarek_fuzz_frontend::{mutate, worker};

const USAGE: &str = "\
usage: sarek-fuzz-frontend [--seed S] [--count N] [--seconds T] [--jobs J] [--keep FOLDER]
       sarek-fuzz-frontend --print N     print the input of a number
       sarek-fuzz-frontend --judge FILE  run the input of a file; `-` for standard input";

fn main() -> ExitCode {
    match run(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("{why}\n{USAGE}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String]) -> Result<bool, String> {
    let mut options = Options {
        first: 0,
        count: u64::MAX,
        time: Duration::from_secs(60),
        jobs: std::thread::available_parallelism().map_or(1, usize::from),
    };
    let mut keep = None;
    for pair in args.chunks(2) {
        let [key, value] = pair else {
            return Err(format!("`{}` needs a value", pair[0]));
        };
        let number = |text: &str| {
            let number = text.parse::<u64>();
            number.map_err(|_| format!("not a number: `{text}`"))
        };
        match key.as_str() {
            "--seed" => options.first = number(value)?,
            "--count" => {
                options.count = number(value)?;
                options.time = Duration::MAX;
            }
            "--seconds" => options.time = Duration::from_secs(number(value)?),
            "--jobs" => options.jobs = number(value)? as usize,
            "--keep" => keep = Some(PathBuf::from(value)),
            "--print" => {
                print!("{}", mutate::input(&Seeds::read(), number(value)?));
                return Ok(true);
            }
            "--judge" => return judge(value),
            "--worker" => {
                let numbers: Result<Vec<_>, _> = value.split(',').map(number).collect();
                let [first, end, stride] = numbers?[..] else {
                    return Err("a worker takes three numbers".into());
                };
                worker::serve(first..end, stride);
                return Ok(true);
            }
            _ => return Err(format!("unknown option `{key}`")),
        }
    }
    Ok(fuzz(&options, keep.as_deref()))
}

fn judge(path: &str) -> Result<bool, String> {
    let text = match path {
        "-" => {
            let mut text = String::new();
            let read = std::io::stdin().read_to_string(&mut text);
            read.map(|_| text)
        }
        path => std::fs::read_to_string(path),
    };
    let input = Input::parse(&text.map_err(|e| e.to_string())?)?;
    let bug = worker::serve_one(&input);
    println!("{}", bug.as_deref().unwrap_or("no bug"));
    Ok(bug.is_none())
}

fn fuzz(options: &Options, keep: Option<&Path>) -> bool {
    let start = Instant::now();
    let findings = supervise::run(options);
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{} inputs from {} in {seconds:.0} s ({:.0} a second, {} processes); accepted by finished processes: {:?}; {} bugs",
        findings.executed,
        options.first,
        findings.executed as f64 / seconds,
        options.jobs,
        findings.accepted,
        findings.bugs.len()
    );
    let seeds = Seeds::read();
    for (place, finding) in &findings.bugs {
        report(place, finding, &seeds, keep);
    }
    findings.bugs.is_empty()
}

/// Shrinks a finding, prints it, and writes it to a file if asked.
fn report(place: &str, finding: &Finding, seeds: &Seeds, keep: Option<&Path>) {
    let number = finding.numbers[0];
    let input = mutate::input(seeds, number);
    let expected = match place {
        "crash" | "hang" | "slow" => None,
        place => Some(place),
    };
    // A crash or hang needs one process for each candidate, and a hang takes seconds.
    let most = if place == "crash" { 1000 } else { 3000 };
    let most = if ["hang", "slow"].contains(&place) {
        40
    } else {
        most
    };
    let small = shrink(&input, most, |candidate| fails(candidate, expected));
    println!(
        "\n--- {} inputs such as {:?}: {place}: {}\n{small}",
        finding.count, finding.numbers, finding.message
    );
    if let Some(folder) = keep {
        let name: String = place
            .chars()
            .map(|c| if c.is_alphanumeric() { c } else { '_' })
            .collect();
        let path = folder.join(format!("{name}_{number}.txt"));
        if let Err(error) = std::fs::write(&path, small.to_string()) {
            println!("{} cannot be written: {error}", path.display());
        }
    }
}

/// True if the input fails at this place. Without a place, true if a process crashes or hangs on it.
fn fails(input: &Input, place: Option<&str>) -> bool {
    let Some(place) = place else {
        return is_lost(input).unwrap_or(false);
    };
    let bug = worker::serve_one(input);
    bug.is_some_and(|w| w.split('\t').next() == Some(place))
}

/// True if a separate process crashes on the input or exceeds [`worker::SLOW`].
fn is_lost(input: &Input) -> std::io::Result<bool> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(["--judge", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        std::io::Write::write_all(&mut stdin, input.to_string().as_bytes())?;
    }
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code().is_none());
        }
        if start.elapsed() > worker::SLOW {
            child.kill()?;
            child.wait()?;
            return Ok(true);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
