//! Profiles in a file format that chrome://tracing and ui.perfetto.dev show.

use std::fmt::Write;
use std::path::Path;

use super::profile::{Clock, Profile, Work};
use crate::{Error, Result};

impl Profile {
    /// Returns the profile in Chrome's trace event format: JSON, with a complete event for each
    /// piece of work. Device times are shown as one thread, host times as another.
    pub fn trace(&self) -> String {
        traces(std::slice::from_ref(self))
    }

    fn event(&self, text: &mut String, process: usize, work: &Work) {
        let micros = |time: std::time::Duration| 1e6 * time.as_secs_f64();
        let thread = match work.clock {
            Clock::Device => 1,
            Clock::Host => 2,
        };
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "{{\"name\":{},\"cat\":\"{}\",\"ph\":\"X\",\"pid\":{process},\"tid\":{thread},\"ts\":{:.3},\"dur\":{:.3},\
             \"args\":{{\"bytes read\":{},\"bytes written\":{},\"threads\":{},\"GB/s\":{:.3}",
            quoted(&work.name),
            work.kind.name(),
            micros(work.start),
            micros(work.time),
            work.read,
            work.written,
            work.threads,
            work.bytes_per_second() / 1e9,
        );
        if let Some(share) = self.share(work) {
            let _ = write!(text, ",\"share of bandwidth\":{share:.4}");
        }
        text.push_str("}}");
    }

    /// Writes [`Profile::trace`] to a file.
    pub fn write_trace(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        std::fs::write(path, self.trace()).map_err(|error| Error::Device {
            device: path.display().to_string(),
            message: format!("the trace cannot be written: {error}"),
        })
    }
}

/// The traces of several devices in one file, each as a process. `otherData` has the bandwidths and total times.
pub(super) fn traces(profiles: &[Profile]) -> String {
    let devices: Vec<String> = profiles
        .iter()
        .map(|profile| {
            let bandwidth = profile.bandwidth.unwrap_or(0.0);
            format!(
                "{{\"device\":{},\"name\":{},\"bytes per second\":{bandwidth:.0},\"total ms\":{:.3}}}",
                quoted(&profile.device.to_string()),
                quoted(profile.device.name()),
                1e3 * profile.total.as_secs_f64()
            )
        })
        .collect();
    let mut events = vec![];
    for (process, profile) in (1..).zip(profiles) {
        for (number, thread) in [(1, "device"), (2, "host")] {
            events.push(format!(
                "{{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":{process},\"tid\":{number},\"args\":{{\"name\":\"{thread}\"}}}}"
            ));
        }
        let device = quoted(&profile.device.to_string());
        events.push(format!(
            "{{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":{process},\"args\":{{\"name\":{device}}}}}"
        ));
        for work in &profile.work {
            let mut event = String::new();
            profile.event(&mut event, process, work);
            events.push(event);
        }
    }
    format!(
        "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"devices\":[{}]}},\"traceEvents\":[\n{}\n]}}\n",
        devices.join(","),
        events.join(",\n")
    )
}

/// A JSON string literal.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if u32::from(c) < 0x20 => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
