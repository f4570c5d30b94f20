//! Descriptions of devices and of this process, as data.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::{Deserialize, Serialize};

use super::registry::{self, Registry};
use super::{Candidate, Device, MemoryUse};
use crate::plugin::backend::DeviceInfo;

/// A device as data: its constant properties, and the memory use when it was asked.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Properties {
    /// The name of its backend.
    pub backend: String,
    /// The ordinal among the devices of its backend.
    pub ordinal: usize,
    /// The priority among all devices; higher is preferred.
    pub priority: i32,
    /// The device's limits and features.
    pub info: DeviceInfo,
    /// Details from the driver, as text for people.
    pub debug: BTreeMap<String, String>,
    /// The used and total memory in bytes as the driver reports it, if it does.
    pub driver_memory: Option<(u64, u64)>,
    /// The memory that vectors hold on the device.
    pub memory_use: MemoryUse,
}

/// The devices of a process, and the reasons for absent ones.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Inventory {
    /// This library's version.
    pub version: String,
    /// The registered backends with their priorities, highest first.
    pub backends: Vec<(String, i32)>,
    /// Details that the backends give of themselves ([`Backend::debug_info`](crate::backend::Backend::debug_info)), by backend.
    #[serde(default)]
    pub debug: BTreeMap<String, BTreeMap<String, String>>,
    /// The devices, best first.
    pub devices: Vec<Properties>,
    /// Backends without devices and devices that did not open, each with the reason.
    pub absent: Vec<(String, String)>,
}

impl Device {
    /// Returns the device's properties as data. Never fails: what the driver does not report is
    /// left out.
    pub fn properties(&self) -> Properties {
        // Bindings may panic where a driver lacks a function; that must not end a program that only
        // asks for a description.
        let ask = AssertUnwindSafe(|| (self.debug_info(), self.used_memory()));
        let (debug, driver_memory) = catch_unwind(ask).unwrap_or_else(|_| {
            let panicked = ("error".to_owned(), "its driver panicked".to_owned());
            (BTreeMap::from([panicked]), None)
        });
        Properties {
            backend: self.backend().to_owned(),
            ordinal: self.ordinal(),
            priority: self.priority(),
            info: self.info().clone(),
            debug,
            driver_memory,
            memory_use: self.memory_use(),
        }
    }
}

/// Returns the devices of this process, and the reasons for absent ones. Opens all devices.
pub fn inventory() -> Inventory {
    of(registry::global())
}

fn of(registry: &Registry) -> Inventory {
    let mut inventory = Inventory {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        backends: registry.named(),
        debug: registry.debug_info(),
        ..Inventory::default()
    };
    for candidate in registry.everything() {
        match candidate {
            Candidate::Device(device) => inventory.devices.push(device.properties()),
            Candidate::Absent { who, reason } => inventory.absent.push((who, reason)),
        }
    }
    inventory
}

/// An S-expression with the version, the backends with their priorities and details, the devices, and
/// the reasons for absent ones.
impl fmt::Display for Inventory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = |f: &mut fmt::Formatter<'_>, all: &BTreeMap<String, String>| {
            let mut all = all.iter();
            all.try_for_each(|(name, value)| write!(f, " ({name:?} {value:?})"))
        };
        write!(f, "(sarek (version {:?})", self.version)?;
        for (name, priority) in &self.backends {
            write!(f, "\n (backend {name:?} (priority {priority})")?;
            if let Some(all) = self.debug.get(name) {
                fields(f, all)?;
            }
            f.write_str(")")?;
        }
        for device in &self.devices {
            let (backend, ordinal) = (&device.backend, device.ordinal);
            write!(
                f,
                "\n (device {backend:?} {ordinal} (name {:?})",
                device.info.name
            )?;
            fields(f, &device.debug)?;
            f.write_str(")")?;
        }
        for (who, reason) in &self.absent {
            write!(f, "\n (absent {who:?} (reason {reason:?}))")?;
        }
        f.write_str(")")
    }
}

impl DeviceInfo {
    /// A contradiction in these limits, which launches and allocations rely on.
    pub(super) fn contradiction(&self) -> Option<String> {
        let zero = [
            ("max_block", self.max_block.contains(&0)),
            ("max_block_threads", self.max_block_threads == 0),
            ("max_grid", self.max_grid.contains(&0)),
            ("max_buffer", self.max_buffer == 0),
            ("max_buffers", self.max_buffers == 0),
            ("warp", self.warp == 0),
        ];
        if let Some((name, _)) = zero.into_iter().find(|(_, is_zero)| *is_zero) {
            return Some(format!("its backend gives `{name}` as 0"));
        }
        if !self.alignment.is_power_of_two() {
            let alignment = self.alignment;
            return Some(format!(
                "its backend gives `alignment` as {alignment}, which is no power of two"
            ));
        }
        if self.warp > self.max_block_threads {
            let (warp, most) = (self.warp, self.max_block_threads);
            return Some(format!(
                "its backend gives `warp` as {warp}, and blocks of at most {most} threads"
            ));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::plugin::backend::{Backend, BackendDevice};
    use crate::testing::gpu::GpuBackend;
    use crate::testing::host::HostBackend;
    use crate::testing::registry;

    #[test]
    fn what_there_is_survives_a_round_trip() {
        let gpu = GpuBackend::with("gpu", 9, |info| info.features.f64 = false);
        let broken = GpuBackend::with("broken", 20, |info| info.max_block = [0, 1, 1]);
        let backends: [Arc<dyn Backend>; 3] = [gpu, broken, HostBackend::new("host", 5)];
        let inventory = of(&registry("", &backends));
        let names: Vec<_> = inventory.devices.iter().map(|d| &*d.backend).collect();
        assert_eq!(names, ["gpu", "host"]);
        assert_eq!(inventory.absent.len(), 1, "{:?}", inventory.absent);
        assert!(inventory.absent[0].1.contains("`max_block` as 0"));
        assert_eq!(inventory.backends[0], ("broken".to_owned(), 20));
        let text = serde_json::to_string(&inventory).unwrap();
        let again: Inventory = serde_json::from_str(&text).unwrap();
        assert_eq!(again, inventory);
        assert!(!again.devices[0].info.features.f64 && again.devices[1].info.features.f64);
    }

    #[test]
    fn backends_tell_of_themselves() {
        struct Talkative(&'static str, fn() -> String);

        impl Backend for Talkative {
            fn name(&self) -> &'static str {
                self.0
            }

            fn count(&self) -> Result<usize, String> {
                Err("no \"driver\"".into())
            }

            fn open(&self, _: usize) -> crate::Result<Arc<dyn BackendDevice>> {
                unreachable!("it has no device")
            }

            fn debug_info(&self) -> BTreeMap<String, String> {
                [("driver".into(), self.1())].into()
            }
        }

        let panics: fn() -> String = || panic!("no library");
        let backends: [Arc<dyn Backend>; 3] = [
            Arc::new(Talkative("new", || "7 \"beta\"".into())),
            Arc::new(Talkative("sick", panics)),
            HostBackend::new("host", 5),
        ];
        let found = of(&registry("", &backends));
        assert_eq!(found.debug["new"]["driver"], "7 \"beta\"");
        assert!(found.debug["sick"]["error"].contains("panicked: no library"));
        assert!(found.debug["host"].is_empty());
        let text = found.to_string();
        for part in [
            r#"(backend "new" (priority 0) ("driver" "7 \"beta\""))"#,
            r#"(device "host" 0 (name "#,
            r#"(absent "new" (reason "no \"driver\""))"#,
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let count = |c| text.matches(c).count();
        assert_eq!(count('('), count(')'), "{text}");
    }

    #[test]
    fn fields_that_a_text_lacks_are_the_defaults() {
        let text = r#"{"name": "old", "warp": 32, "kind": "abacus"}"#;
        let info: DeviceInfo = serde_json::from_str(text).unwrap();
        assert!(
            info.kind.is_undefined()
                && serde_json::to_string(&info)
                    .unwrap()
                    .contains("\"kind\":\"abacus\"")
        );
        assert_eq!((&*info.name, info.warp), ("old", 32));
        assert_eq!(info.max_grid, DeviceInfo::default().max_grid);
    }

    #[test]
    fn limits_that_contradict_themselves_are_no_device() {
        type Change = fn(&mut DeviceInfo);
        let changes: [(Change, &str); 8] = [
            (|i| i.max_block[2] = 0, "`max_block` as 0"),
            (|i| i.max_block_threads = 0, "`max_block_threads` as 0"),
            (|i| i.max_grid[1] = 0, "`max_grid` as 0"),
            (|i| i.max_buffer = 0, "`max_buffer` as 0"),
            (|i| i.max_buffers = 0, "`max_buffers` as 0"),
            (|i| i.warp = 0, "`warp` as 0"),
            (|i| i.alignment = 12, "no power of two"),
            (|i| (i.warp, i.max_block_threads) = (64, 32), "`warp` as 64"),
        ];
        assert_eq!(DeviceInfo::default().contradiction(), None);
        for (change, due) in changes {
            let backend: Arc<dyn Backend> = GpuBackend::with("bad", 1, change);
            let error = registry("", &[backend]).best().unwrap_err().to_string();
            assert!(error.contains(due), "{due}: {error}");
        }
    }
}
