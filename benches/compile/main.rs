//! Measures the compile time of kernels: compares a crate of a hundred medium-sized kernels, or of one long kernel, with an empty one.
//!
//! `cargo bench --bench compile [-- COPIES]`, `cargo bench --bench compile -- long`
//!
//! The hundred kernels are those of `kinds.rs`, `COPIES` times each; the default is 10. The long ones are written by `long.rs`, in several
//! lengths, each twice the one before. All crates depend on sarek, which is compiled before the timing. Then their sources are touched, and
//! only they are compiled again. A row shows the additional time for the kernels: wall-clock time, and CPU time of all processors. Only
//! sarek's native backend is enabled, since the expansion of kernels does not depend on the enabled backends.

#[allow(dead_code)] // compiled here to be checked like all other code; copies of its text are timed
mod kinds;
mod long;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

type Fallible<T = ()> = Result<T, Box<dyn Error>>;

/// The text to copy.
const KINDS: &str = include_str!("kinds.rs");

/// The number of kernels in it.
const KERNELS: usize = 10;

/// The number of timings of each crate. The row shows their median.
const ROUNDS: usize = 3;

fn main() -> Fallible {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compile");
    let mut copies = 10;
    for arg in std::env::args().skip(1).filter(|arg| arg != "--bench") {
        if arg == "long" {
            return long_kernels(&folder);
        }
        copies = arg.parse()?;
    }
    write_workspace(&folder)?;
    write_kernels(&folder, copies)?;
    println!("{} kernels, above an empty crate", copies * KERNELS);
    println!("{:<24} {:>10} {:>14}", "", "clock", "processors");
    for args in [&["check"][..], &["build", "--release"]] {
        let cost = above_empty(&folder, args)?;
        println!(
            "{:<24} {:>8.2} s {:>12.2} s",
            format!("cargo {}", args.join(" ")),
            cost.clock,
            cost.processors
        );
    }
    Ok(())
}

/// Times kernels of one length after the other, in debug builds.
fn long_kernels(folder: &Path) -> Fallible {
    write_workspace(folder)?;
    println!(
        "a debug build of one kernel, above an empty crate; CPU time and the ratio to half as many statements"
    );
    println!(
        "{:<12} {:>10} {:>19} {:>19}",
        "", "statements", "cargo check", "cargo build"
    );
    for shape in long::SHAPES {
        let mut halves = [None, None];
        for statements in long::LENGTHS {
            let source = folder.join("kernels/src/lib.rs");
            write(&source, &long::kernel(shape, statements))?;
            print!("{shape:<12} {statements:>10}");
            for (args, half) in [&["check"], &["build"]].into_iter().zip(&mut halves) {
                let spent = above_empty(folder, args)?.processors;
                let ratio = half
                    .replace(spent)
                    .map(|half| format!("{:.2}", spent / half));
                print!(" {spent:>10.2} s {:>6}", ratio.unwrap_or_default());
            }
            println!();
        }
    }
    Ok(())
}

/// The seconds that the crate of kernels takes more than the empty one.
struct Above {
    clock: f64,
    processors: f64,
}

fn above_empty(folder: &Path, args: &[&str]) -> Fallible<Above> {
    let [empty, kernels] = ["empty", "kernels"].map(|name| Crate { folder, name, args });
    let (empty, kernels) = (empty.time()?, kernels.time()?);
    let seconds = |of: fn(&Cost) -> Duration| of(&kernels).as_secs_f64() - of(&empty).as_secs_f64();
    Ok(Above {
        clock: seconds(|cost| cost.clock),
        processors: seconds(|cost| cost.processors),
    })
}

/// The time of a compilation.
struct Cost {
    clock: Duration,
    processors: Duration,
}

/// A crate, and the arguments of cargo.
struct Crate<'a> {
    folder: &'a Path,
    name: &'a str,
    args: &'a [&'a str],
}

impl Crate<'_> {
    /// The median cost of compiling the crate alone.
    fn time(&self) -> Fallible<Cost> {
        self.compile()?;
        let mut costs = vec![];
        for _ in 0..ROUNDS {
            let source = fs::File::options().append(true).open(self.source())?;
            source.set_modified(SystemTime::now())?;
            costs.push(self.compile()?);
        }
        costs.sort_by_key(|cost| cost.processors);
        Ok(costs.swap_remove(ROUNDS / 2))
    }

    fn source(&self) -> PathBuf {
        self.folder.join(self.name).join("src/lib.rs")
    }

    fn compile(&self) -> Fallible<Cost> {
        let (start, before) = (Instant::now(), children()?);
        let status = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()))
            .current_dir(self.folder)
            .args(self.args)
            .args(["--quiet", "--package", self.name, "--target-dir", "target"])
            .env("CARGO_INCREMENTAL", "0")
            // Those of the build, as in a user's crate.
            .env_remove("SAREK_BODIES")
            .status()?;
        if !status.success() {
            return Err(format!("{} does not compile", self.name).into());
        }
        Ok(Cost {
            clock: start.elapsed(),
            processors: children()? - before,
        })
    }
}

/// The CPU time of all finished child processes and their children. Zero except on Linux.
fn children() -> Fallible<Duration> {
    const TICKS_PER_SECOND: f64 = 100.0;
    let Ok(stat) = fs::read_to_string("/proc/self/stat") else {
        return Ok(Duration::ZERO);
    };
    // After the name in parentheses, the third field follows (proc_pid_stat(5)).
    let (_, fields) = stat.rsplit_once(')').ok_or("fields of a process")?;
    let spent = fields.split_whitespace().skip(13).take(2);
    let ticks = spent.map(str::parse::<f64>).sum::<Result<f64, _>>()?;
    Ok(Duration::from_secs_f64(ticks / TICKS_PER_SECOND))
}

/// Writes the manifests of both crates as a separate workspace, with the dependency versions of this one, and the empty crate.
fn write_workspace(folder: &Path) -> Fallible {
    let sarek = env!("CARGO_MANIFEST_DIR");
    let members = "[workspace]\nmembers = [\"empty\", \"kernels\"]\nresolver = \"3\"\n";
    write(&folder.join("Cargo.toml"), members)?;
    fs::copy(
        Path::new(sarek).join("Cargo.lock"),
        folder.join("Cargo.lock"),
    )?;
    for name in ["empty", "kernels"] {
        let manifest = format!(
            "[package]\nname = \"{name}\"\nedition = \"2024\"\n\n[dependencies.sarek]\npackage = \"sarek-kernel\"\npath = {sarek:?}\n\
             default-features = false\nfeatures = [\"native\"]\n"
        );
        write(&folder.join(name).join("Cargo.toml"), &manifest)?;
    }
    write(&folder.join("empty/src/lib.rs"), "pub use sarek;\n")
}

/// Writes copies of the kernels in `kinds.rs`.
fn write_kernels(folder: &Path, copies: usize) -> Fallible {
    let modules = (0..copies).map(|copy| format!("pub mod copy{copy};\n"));
    write(
        &folder.join("kernels/src/lib.rs"),
        &modules.collect::<String>(),
    )?;
    for copy in 0..copies {
        let text = KINDS.replace("COPY: u32 = 0", &format!("COPY: u32 = {copy}"));
        write(&folder.join(format!("kernels/src/copy{copy}.rs")), &text)?;
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Fallible {
    let folder = path.parent().ok_or("a file lies in a folder")?;
    fs::create_dir_all(folder)?;
    Ok(fs::write(path, text)?)
}
