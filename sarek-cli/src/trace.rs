//! The traces that processes write with `SAREK_PROFILE`, and their sums for each kernel.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::command::Run;
use crate::error::{Error, Result};
use crate::report::Outcome;

/// All work of one name on a device.
#[derive(Clone, Serialize, Deserialize, Debug)]
pub struct Summary {
    pub device: String,
    /// `kernel`, `graph`, `upload` or `download`.
    pub kind: String,
    pub name: String,
    pub calls: usize,
    pub total_ms: f64,
    /// The fastest call in microseconds.
    pub best_us: f64,
    /// The median of the calls in microseconds.
    pub median_us: f64,
    /// The bytes per second of all calls, in 10⁹.
    pub gb_per_s: f64,
    /// Its share of the device's bandwidth, if that is known.
    pub share: Option<f64>,
}

/// The traces of a command's processes, as one.
pub struct Trace {
    /// The content of a file for chrome://tracing or ui.perfetto.dev.
    pub json: Value,
    pub summaries: Vec<Summary>,
}

/// A folder that is removed again.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        // What is left there does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs a command, and returns its outcome and the trace of its processes.
pub fn record(run: &Run, quiet: bool) -> Result<(Outcome, Trace)> {
    let folder = std::env::temp_dir().join(format!("cargo-sarek-profile-{}", std::process::id()));
    let folder = Temporary(folder);
    fs::create_dir_all(&folder.0).map_err(Error::file("created", &folder.0))?;
    let file = folder.0.join("%p.json");
    let outcome = run.run(&[("SAREK_PROFILE", file.into())], quiet)?;
    let entries = fs::read_dir(&folder.0).map_err(Error::file("read", &folder.0))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    let traces = files.iter().map(|file| read(file));
    Ok((outcome, merge(traces.collect::<Result<_>>()?)))
}

fn read(file: &Path) -> Result<Value> {
    let text = fs::read_to_string(file).map_err(Error::file("read", file))?;
    serde_json::from_str(&text).map_err(|error| Error::Answer {
        what: format!("the trace of a process is no JSON: {error}"),
        help: "check that the program and cargo-sarek have the same version of sarek".into(),
    })
}

/// Joins traces. Each device of each process becomes a process of the result.
fn merge(traces: Vec<Value>) -> Trace {
    let (mut devices, mut events, mut summaries) = (vec![], vec![], vec![]);
    for trace in traces {
        let own = trace["otherData"]["devices"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        summaries.extend(summarize(&trace, &own));
        let before = devices.len() as u64;
        for event in trace["traceEvents"].as_array().into_iter().flatten() {
            let mut event = event.clone();
            let process = event["pid"].as_u64().unwrap_or(0);
            event["pid"] = (process + before).into();
            events.push(event);
        }
        devices.extend(own);
    }
    let json = serde_json::json!({
        "displayTimeUnit": "ns",
        "otherData": { "devices": devices },
        "traceEvents": events,
    });
    Trace { json, summaries }
}

/// The sums of a trace, those of the longest time first.
fn summarize(trace: &Value, devices: &[Value]) -> Vec<Summary> {
    type Key = (u64, String, String);
    let mut all: BTreeMap<Key, (Vec<f64>, f64)> = BTreeMap::new();
    for event in trace["traceEvents"].as_array().into_iter().flatten() {
        if event["ph"] != "X" {
            continue;
        }
        let word = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
        let number = |key: &str| event["args"][key].as_f64().unwrap_or(0.0);
        let key = (
            event["pid"].as_u64().unwrap_or(0),
            word("cat"),
            word("name"),
        );
        let (times, bytes) = all.entry(key).or_default();
        times.push(event["dur"].as_f64().unwrap_or(0.0));
        *bytes += number("bytes read") + number("bytes written");
    }
    let summary = |((process, kind, name), (mut times, bytes)): (Key, (Vec<f64>, f64))| {
        times.sort_by(f64::total_cmp);
        let total: f64 = times.iter().sum();
        let device = process
            .checked_sub(1)
            .and_then(|at| devices.get(at as usize));
        let of_device = |key: &str| device.map_or(&Value::Null, |device| &device[key]);
        let speed = bytes / total.max(1e-3) * 1e6;
        let most = of_device("bytes per second")
            .as_f64()
            .filter(|most| *most > 0.0);
        let on_device = kind == "kernel" || kind == "graph";
        Summary {
            device: of_device("device").as_str().unwrap_or_default().to_owned(),
            kind,
            name,
            calls: times.len(),
            total_ms: total / 1e3,
            best_us: times.first().copied().unwrap_or(0.0),
            median_us: times.get(times.len() / 2).copied().unwrap_or(0.0),
            gb_per_s: speed / 1e9,
            share: most.filter(|_| on_device).map(|most| speed / most),
        }
    };
    let mut all: Vec<Summary> = all.into_iter().map(summary).collect();
    all.sort_by(|a, b| b.total_ms.total_cmp(&a.total_ms));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_summed_for_each_device_and_name() {
        let event = |pid: u32, name: &str, dur: f64, bytes: f64| {
            serde_json::json!({ "ph": "X", "pid": pid, "cat": "kernel", "name": name, "dur": dur,
                "args": { "bytes read": bytes, "bytes written": 0 } })
        };
        let trace = |bandwidth: f64| {
            serde_json::json!({
                "otherData": { "devices": [{ "device": "gpu:0", "bytes per second": bandwidth }] },
                "traceEvents": [event(1, "a", 10.0, 1e3), event(1, "a", 30.0, 1e3), event(1, "b", 1.0, 0.0)],
            })
        };
        let trace = merge(vec![trace(1e8), trace(0.0)]);
        assert_eq!(trace.json["traceEvents"].as_array().unwrap().len(), 6);
        assert_eq!(trace.json["traceEvents"][3]["pid"], 2);
        let a = &trace.summaries[0];
        assert_eq!((&*a.name, &*a.device, a.calls), ("a", "gpu:0", 2));
        assert_eq!((a.best_us, a.median_us, a.total_ms), (10.0, 30.0, 0.04));
        // 2000 bytes in 40 µs.
        assert_eq!((a.gb_per_s, a.share), (0.05, Some(0.5)));
        assert_eq!(trace.summaries.last().unwrap().share, None);
    }
}
