//! Facts about the machine: processor, graphics processors, device files, registered drivers, settings.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::libraries::{Loaded, loads};

/// The machine.
#[derive(Serialize)]
pub struct System {
    /// The operating system and its version.
    pub name: String,
    pub processor: String,
    /// The graphics processors on the bus, where the system lists them.
    pub gpus: Vec<Gpu>,
}

/// A vendor of graphics processors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub enum Vendor {
    Nvidia,
    Amd,
    Intel,
}

/// A graphics processor on the bus.
#[derive(Serialize)]
pub struct Gpu {
    pub vendor: Vendor,
    /// Its number on the bus, such as `10de:2330`.
    pub id: String,
}

impl std::fmt::Display for Gpu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} {}", self.vendor, self.id)
    }
}

/// A library, file or permission.
#[derive(Serialize)]
pub struct Found {
    pub name: String,
    pub detail: String,
    /// True if it exists, and does not work.
    pub broken: bool,
    #[serde(skip)]
    absent: bool,
    /// The next step for it.
    #[serde(skip)]
    pub step: Option<String>,
}

impl Found {
    pub fn good(name: &str, detail: String) -> Found {
        Found {
            name: name.to_owned(),
            detail,
            broken: false,
            absent: false,
            step: None,
        }
    }

    pub fn absent(name: &str, detail: String) -> Found {
        Found {
            absent: true,
            ..Found::good(name, detail)
        }
    }

    pub fn bad(name: &str, detail: String) -> Found {
        Found {
            broken: true,
            ..Found::good(name, detail)
        }
    }

    pub fn is_absent(&self) -> bool {
        self.absent
    }
}

impl System {
    pub fn read() -> System {
        System {
            name: name(),
            processor: processor(),
            gpus: gpus(Path::new("/sys/bus/pci/devices")),
        }
    }

    /// True if the bus has a graphics processor of this vendor, or if the system lists none.
    pub fn may_have(&self, vendor: Vendor) -> bool {
        self.gpus.is_empty() || self.gpus.iter().any(|gpu| gpu.vendor == vendor)
    }
}

fn name() -> String {
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let pretty = release
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="));
    match pretty {
        Some(pretty) => format!("{} ({os} {arch})", pretty.trim_matches('"')),
        None => format!("{os} {arch}"),
    }
}

fn processor() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == "model name").then(|| value.trim().to_owned())
    });
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let model = model.unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    format!("{model}, {threads} threads")
}

/// The display controllers in Linux's list of PCI devices.
fn gpus(bus: &Path) -> Vec<Gpu> {
    let entries = std::fs::read_dir(bus).into_iter().flatten().flatten();
    let gpu = |path: PathBuf| {
        let number = |file: &str| {
            let text = std::fs::read_to_string(path.join(file)).ok()?;
            u32::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok()
        };
        let (class, vendor, device) = (number("class")?, number("vendor")?, number("device")?);
        // Display controllers, and the accelerators of Intel.
        if class >> 16 != 0x03 && class >> 16 != 0x12 {
            return None;
        }
        let known = match vendor {
            0x10de => Vendor::Nvidia,
            0x1002 => Vendor::Amd,
            0x8086 => Vendor::Intel,
            _ => return None,
        };
        Some(Gpu {
            vendor: known,
            id: format!("{vendor:04x}:{device:04x}"),
        })
    };
    let mut gpus: Vec<Gpu> = entries.filter_map(|entry| gpu(entry.path())).collect();
    gpus.sort_by(|a, b| a.id.cmp(&b.id));
    gpus
}

/// The files that explain a backend's state, on Linux.
pub fn facts(backend: &str) -> Vec<Found> {
    if !cfg!(target_os = "linux") {
        return vec![];
    }
    match backend {
        "cuda" => driver_version()
            .into_iter()
            .chain(device_files("/dev", "nvidia"))
            .collect(),
        "opencl" => opencl_drivers(&vendors_folder()),
        "wgpu" => device_files("/dev/dri", "renderD")
            .into_iter()
            .chain(vulkan_drivers())
            .collect(),
        _ => vec![],
    }
}

fn driver_version() -> Option<Found> {
    let text = std::fs::read_to_string("/proc/driver/nvidia/version").ok()?;
    let line = text.lines().next()?.trim().to_owned();
    Some(Found::good("kernel driver", line))
}

/// Device files whose names begin so, and whether this user may open them.
fn device_files(folder: &str, begin: &str) -> Vec<Found> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(begin) && !path.is_dir()
        })
        .collect();
    files.sort();
    files.iter().map(|path| device_file(path)).collect()
}

fn device_file(path: &Path) -> Found {
    let opened = std::fs::File::options().read(true).write(true).open(path);
    let name = path.display().to_string();
    match opened {
        Ok(_) => Found::good(&name, "accessible".into()),
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => Found {
            step: Some("sudo usermod -aG render,video $USER, then log in again".into()),
            ..Found::bad(&name, "this user may not open it".into())
        },
        // Some files of a driver are for other purposes, and busy.
        Err(error) => Found::good(&name, error.to_string()),
    }
}

fn vendors_folder() -> PathBuf {
    let set = std::env::var_os("OCL_ICD_VENDORS").filter(|value| !value.is_empty());
    set.map_or_else(|| "/etc/OpenCL/vendors".into(), PathBuf::from)
}

/// The OpenCL drivers that are registered, each as a file with the path of its library.
fn opencl_drivers(folder: &Path) -> Vec<Found> {
    let files = files_in(folder, "icd");
    let driver = |file: &PathBuf| {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let library = text.lines().next().unwrap_or_default().trim().to_owned();
        driver(file, &library)
    };
    files.iter().map(driver).collect()
}

/// The Vulkan drivers that are registered, each as a JSON file.
fn vulkan_drivers() -> Vec<Found> {
    let set = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"]
        .into_iter()
        .find_map(|name| std::env::var_os(name).filter(|value| !value.is_empty()));
    let files = match set {
        Some(list) => std::env::split_paths(&list).collect(),
        None => ["/etc/vulkan/icd.d", "/usr/share/vulkan/icd.d"]
            .iter()
            .flat_map(|folder| files_in(Path::new(folder), "json"))
            .collect::<Vec<_>>(),
    };
    let one = |file: &PathBuf| {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        let library = json["ICD"]["library_path"].as_str().unwrap_or_default();
        driver(file, library)
    };
    files.iter().map(one).collect()
}

/// A registered driver: the file, and whether its library loads.
fn driver(file: &Path, library: &str) -> Found {
    let name = format!("driver {}", file.display());
    if library.is_empty() {
        return Found::bad(&name, "the file names no library".into());
    }
    // A path without a folder is searched; others are relative to the file.
    let path = match library.contains('/') {
        true => file.parent().unwrap_or(Path::new("")).join(library),
        false => library.into(),
    };
    match loads(&path.to_string_lossy()) {
        Loaded::Yes => Found::good(&name, library.to_owned()),
        Loaded::Absent => Found::bad(&name, format!("its library {library} does not exist")),
        Loaded::No(why) => Found::bad(&name, why),
    }
}

fn files_in(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .collect();
    files.sort();
    files
}

/// The environment variables of the library that are set, with problems.
pub fn settings() -> Vec<String> {
    let known = |name: &str| sarek::settings::VARIABLES.iter().any(|v| v.name == name);
    let mut set: Vec<String> = std::env::vars_os()
        .filter_map(|(name, value)| {
            let name = name.into_string().ok()?;
            name.starts_with("SAREK_").then(|| match known(&name) {
                true => format!("{name}={}", value.to_string_lossy()),
                false => format!("{name} is set, and the library does not read it"),
            })
        })
        .collect();
    set.sort();
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphics_processors_are_found_on_the_bus() {
        let bus = std::env::temp_dir().join(format!("sarek-cli-bus-{}", std::process::id()));
        for (slot, class, vendor, device) in [
            ("a", "0x030200", "0x10de", "0x2330"),
            ("b", "0x030000", "0x1002", "0x744c"),
            ("c", "0x020000", "0x8086", "0x1533"), // a network card
            ("d", "0x030000", "0x1234", "0x1111"), // a display without a known vendor
        ] {
            let folder = bus.join(slot);
            std::fs::create_dir_all(&folder).unwrap();
            for (file, text) in [("class", class), ("vendor", vendor), ("device", device)] {
                std::fs::write(folder.join(file), format!("{text}\n")).unwrap();
            }
        }
        let found: Vec<String> = gpus(&bus).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["Amd 1002:744c", "Nvidia 10de:2330"]);
        std::fs::remove_dir_all(&bus).unwrap();
        assert!(gpus(&bus).is_empty());
    }
}
