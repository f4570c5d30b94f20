//! The libraries of drivers, and the files in which drivers are registered.

use super::install::Need;
use super::system::Found;

/// A library that a backend loads.
pub struct Library {
    /// Its name for people.
    name: &'static str,
    /// Its file names, which the system's loader searches.
    files: &'static [&'static str],
    /// The need that its absence shows.
    pub need: Need,
}

const CUDA: Library = Library {
    name: "CUDA driver",
    files: if cfg!(windows) {
        &["nvcuda.dll"]
    } else {
        &["libcuda.so.1", "libcuda.so"]
    },
    need: Need::NvidiaDriver,
};

const NVRTC: Library = Library {
    name: "NVRTC",
    files: &[],
    need: Need::Nvrtc,
};

const OPENCL: Library = Library {
    name: "OpenCL loader",
    files: if cfg!(windows) {
        &["OpenCL.dll"]
    } else if cfg!(target_os = "macos") {
        &["/System/Library/Frameworks/OpenCL.framework/OpenCL"]
    } else {
        &["libOpenCL.so.1", "libOpenCL.so"]
    },
    need: Need::OpenClLoader,
};

const VULKAN: Library = Library {
    name: "Vulkan loader",
    files: if cfg!(windows) {
        &["vulkan-1.dll"]
    } else {
        &["libvulkan.so.1", "libvulkan.so"]
    },
    need: Need::VulkanLoader,
};

impl Library {
    /// The libraries of a backend.
    pub fn of(backend: &str) -> &'static [Library] {
        match backend {
            "cuda" => &[CUDA, NVRTC],
            "opencl" => &[OPENCL],
            // Metal is a part of macOS.
            "wgpu" if !cfg!(target_os = "macos") => &[VULKAN],
            _ => &[],
        }
    }

    /// Finds the library, and loads it in a process of its own.
    pub fn find(&self) -> Found {
        if self.files.is_empty() {
            return nvrtc(self.name);
        }
        let mut reason = None;
        for file in self.files {
            match loads(file) {
                Loaded::Yes => return Found::good(self.name, (*file).to_owned()),
                Loaded::Absent => {}
                Loaded::No(why) => {
                    reason.get_or_insert(format!("{file}: {why}"));
                }
            }
        }
        match reason {
            Some(reason) => Found::bad(self.name, reason),
            None => Found::absent(self.name, format!("{} not found", self.files[0])),
        }
    }
}

/// NVRTC, which the backend searches in more places than the loader.
fn nvrtc(name: &'static str) -> Found {
    match sarek_backends::cuda::nvrtc::version() {
        Ok((major, minor)) => Found::good(name, format!("version {major}.{minor}")),
        Err(reason) if std::env::var_os("SAREK_NVRTC").is_some() => Found::bad(name, reason),
        Err(reason) => Found::absent(name, reason),
    }
}

/// The result of loading a library.
pub enum Loaded {
    /// It loads.
    Yes,
    /// The file does not exist.
    Absent,
    /// It exists, and does not load.
    No(String),
}

/// Loads a library in a child process: the initializers of a broken one may crash it.
pub fn loads(file: &str) -> Loaded {
    let Ok(own) = std::env::current_exe() else {
        return Loaded::No("this program does not find itself".into());
    };
    let output = std::process::Command::new(own)
        .args(["__load", file])
        .output();
    let output = match output {
        Ok(output) => output,
        Err(error) => return Loaded::No(error.to_string()),
    };
    match output.status.code() {
        Some(0) => Loaded::Yes,
        Some(1) => {
            let said = String::from_utf8_lossy(&output.stdout);
            let absent = format!("{file}: cannot open shared object file: No such file");
            match said.contains(&absent) || is_absent(&said, file) {
                true => Loaded::Absent,
                false => Loaded::No(said.trim().to_owned()),
            }
        }
        Some(_) | None => Loaded::No(format!("loading it ended the process ({})", output.status)),
    }
}

/// True for the messages of macOS and Windows about a file that does not exist.
fn is_absent(said: &str, _file: &str) -> bool {
    (cfg!(target_os = "macos") && said.contains("no such file"))
        || (cfg!(windows) && (said.contains("code: 126") || said.contains("os error 126")))
}

/// In the child process: loads the library. Returns the loader's message if it does not load.
pub fn load(file: &str) -> Result<(), String> {
    // SAFETY: the library belongs to a driver, as the backends load it.
    match unsafe { libloading::Library::new(file) } {
        Ok(library) => {
            // Some drivers do not survive being unloaded.
            std::mem::forget(library);
            Ok(())
        }
        Err(error) => Err(match std::error::Error::source(&error) {
            Some(source) => source.to_string(),
            None => error.to_string(),
        }),
    }
}
