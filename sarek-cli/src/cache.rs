//! `cache`: the compiled programs on disk.

use std::fmt::Write;
use std::time::SystemTime;

use sarek::cache::{self, Stored};
use serde::Serialize;

use crate::error::Result;
use crate::report::{Outcome, Output};

/// The commands of `cache`.
#[derive(clap::Subcommand)]
pub enum Command {
    /// List the entries, most recently used first
    List,
    /// Read all entries, and report damaged ones
    Verify {
        /// Remove damaged entries
        #[arg(long)]
        remove: bool,
    },
    /// Remove all entries
    Clear,
}

#[derive(Serialize)]
struct Entry {
    file: String,
    bytes: u64,
    /// The time since its last use, in seconds.
    unused_s: u64,
    intact: bool,
    /// The compiler, its options and the device.
    compiler: String,
    /// The name of the program.
    name: Option<String>,
}

#[derive(Serialize)]
struct List {
    folder: std::result::Result<String, String>,
    bytes: u64,
    limit: u64,
    entries: Vec<Entry>,
}

/// Runs a command of `cache`.
pub fn run(command: &Command, output: Output) -> Result<Outcome> {
    match command {
        Command::List => list(output),
        Command::Verify { remove } => verify(*remove, output),
        Command::Clear => clear(output),
    }
}

fn entry(stored: &Stored) -> Entry {
    let key = stored.key.as_deref();
    let unused = SystemTime::now().duration_since(stored.used);
    Entry {
        file: stored.file.clone(),
        bytes: stored.bytes,
        unused_s: unused.map_or(0, |time| time.as_secs()),
        intact: key.is_some(),
        name: stored.name.clone(),
        compiler: key
            .and_then(|key| key.lines().next())
            .unwrap_or("damaged")
            .to_owned(),
    }
}

fn list(output: Output) -> Result<Outcome> {
    let status = cache::status();
    let list = List {
        folder: status.folder.map(|folder| folder.display().to_string()),
        bytes: status.bytes,
        limit: status.limit,
        entries: cache::stored().iter().map(entry).collect(),
    };
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = match &list.folder {
        Ok(folder) => writeln!(
            text,
            "{folder}: {} entries, {} of at most {}",
            list.entries.len(),
            size(list.bytes),
            size(list.limit)
        ),
        Err(reason) => writeln!(text, "the cache is off: {reason}"),
    };
    for entry in &list.entries {
        let (bytes, age) = (size(entry.bytes), age(entry.unused_s));
        let name = entry.name.as_deref().unwrap_or("-");
        let _ = writeln!(text, "{bytes:>10}  {age:>6}  {name}  {}", entry.compiler);
    }
    output.print(&list, &text)?;
    Ok(Outcome::Good)
}

fn verify(remove: bool, output: Output) -> Result<Outcome> {
    let all = cache::stored();
    let damaged: Vec<&Stored> = all.iter().filter(|entry| entry.key.is_none()).collect();
    let mut text = format!("{} entries, {} damaged\n", all.len(), damaged.len());
    let mut removed = 0;
    for stored in &damaged {
        let gone = remove && cache::remove(stored);
        removed += usize::from(gone);
        let what = if gone { "removed" } else { "damaged" };
        let _ = writeln!(text, "{what}: {}", stored.file);
    }
    if removed < damaged.len() {
        text.push_str(
            "Sarek ignores damaged entries and writes them anew; `--remove` removes them\n",
        );
    }
    let files: Vec<&String> = damaged.iter().map(|stored| &stored.file).collect();
    let value = serde_json::json!({ "entries": all.len(), "damaged": files, "removed": removed });
    output.print(&value, &text)?;
    Ok(match removed < damaged.len() {
        true => Outcome::Problem,
        false => Outcome::Good,
    })
}

fn clear(output: Output) -> Result<Outcome> {
    let bytes = cache::clear();
    let text = format!("removed {}", size(bytes));
    output.print(&serde_json::json!({ "removed_bytes": bytes }), &text)?;
    Ok(Outcome::Good)
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

fn age(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}
