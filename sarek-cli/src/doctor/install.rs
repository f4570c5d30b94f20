//! The commands that install what is missing.

use serde::Serialize;

use super::system::{System, Vendor};

/// A package manager.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Manager {
    Apt,
    Dnf,
    Pacman,
    /// macOS needs none: its drivers are a part of the system.
    MacOs,
    Windows,
}

impl Manager {
    /// The manager of this system; `None` if it is another one.
    pub fn of_this_system() -> Option<Manager> {
        match std::env::consts::OS {
            "macos" => Some(Manager::MacOs),
            "windows" => Some(Manager::Windows),
            _ => [
                ("apt-get", Manager::Apt),
                ("dnf", Manager::Dnf),
                ("pacman", Manager::Pacman),
            ]
            .into_iter()
            .find_map(|(program, manager)| in_path(program).then_some(manager)),
        }
    }
}

fn in_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// A part of a driver that can be missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub enum Need {
    NvidiaDriver,
    Nvrtc,
    OpenClLoader,
    OpenClDriver,
    VulkanLoader,
    GraphicsDriver,
}

const NVIDIA: &str =
    "install NVIDIA's driver from https://www.nvidia.com/drivers, and restart the machine";
const VENDOR: &str = "install the graphics driver of the processor's vendor; it brings OpenCL, Vulkan and DirectX 12";
const BY_HAND: &str = "install with this system's package manager:";

impl Need {
    /// The part that is most likely missing if all libraries of a backend are there.
    pub fn driver(backend: &str) -> Option<Need> {
        match backend {
            "cuda" => Some(Need::NvidiaDriver),
            "opencl" => Some(Need::OpenClDriver),
            "wgpu" => Some(Need::GraphicsDriver),
            _ => None,
        }
    }

    /// The steps that install it.
    pub fn steps(self, manager: Option<Manager>, system: &System) -> Vec<String> {
        if manager == Some(Manager::MacOs) {
            return vec![self.on_macos().to_owned()];
        }
        if matches!(self, Need::NvidiaDriver | Need::Nvrtc) && !system.may_have(Vendor::Nvidia) {
            return vec!["nothing: this machine has no NVIDIA GPU".to_owned()];
        }
        let mut steps: Vec<String> = match manager {
            Some(Manager::Apt) => vec![self.apt(system)],
            Some(Manager::Dnf) => vec![self.dnf(system)],
            Some(Manager::Pacman) => vec![self.pacman(system)],
            Some(Manager::Windows) => vec![self.on_windows().to_owned()],
            Some(Manager::MacOs) => vec![],
            None => vec![format!("{BY_HAND} {}", self.words())],
        };
        if self == Need::Nvrtc {
            steps.push(
                "or: python3 -m pip install nvidia-cuda-nvrtc-cu12, and set SAREK_NVRTC to the folder with libnvrtc"
                    .to_owned(),
            );
        }
        steps
    }

    fn words(self) -> &'static str {
        match self {
            Need::NvidiaDriver => "NVIDIA's driver",
            Need::Nvrtc => "NVRTC 12 or 13, a part of the CUDA toolkit",
            Need::OpenClLoader => "an OpenCL loader (ocl-icd)",
            Need::OpenClDriver => "an OpenCL driver; PoCL runs on every processor",
            Need::VulkanLoader => "the Vulkan loader",
            Need::GraphicsDriver => "Mesa's Vulkan drivers, or those of the GPU's vendor",
        }
    }

    fn apt(self, system: &System) -> String {
        match self {
            Need::NvidiaDriver => "sudo apt install nvidia-driver (Debian, from non-free), or sudo ubuntu-drivers install (Ubuntu)".to_owned(),
            Need::Nvrtc => "sudo apt install nvidia-cuda-toolkit".to_owned(),
            Need::OpenClLoader => "sudo apt install ocl-icd-libopencl1".to_owned(),
            Need::OpenClDriver => {
                let own = opencl_packages(system, ["nvidia-opencl-icd", "mesa-opencl-icd", "intel-opencl-icd"]);
                format!("sudo apt install {own}pocl-opencl-icd")
            }
            Need::VulkanLoader => "sudo apt install libvulkan1 mesa-vulkan-drivers".to_owned(),
            Need::GraphicsDriver => "sudo apt install mesa-vulkan-drivers".to_owned(),
        }
    }

    fn dnf(self, system: &System) -> String {
        match self {
            Need::NvidiaDriver => {
                "sudo dnf install akmod-nvidia xorg-x11-drv-nvidia-cuda (from RPM Fusion)"
                    .to_owned()
            }
            Need::Nvrtc => "sudo dnf install cuda-nvrtc-12-9 (from NVIDIA's repository)".to_owned(),
            Need::OpenClLoader => "sudo dnf install ocl-icd".to_owned(),
            Need::OpenClDriver => {
                let own = opencl_packages(
                    system,
                    [
                        "xorg-x11-drv-nvidia-cuda",
                        "rocm-opencl",
                        "intel-compute-runtime",
                    ],
                );
                format!("sudo dnf install {own}pocl")
            }
            Need::VulkanLoader => "sudo dnf install vulkan-loader mesa-vulkan-drivers".to_owned(),
            Need::GraphicsDriver => "sudo dnf install mesa-vulkan-drivers".to_owned(),
        }
    }

    fn pacman(self, system: &System) -> String {
        match self {
            Need::NvidiaDriver => "sudo pacman -S nvidia".to_owned(),
            Need::Nvrtc => "sudo pacman -S cuda".to_owned(),
            Need::OpenClLoader => "sudo pacman -S ocl-icd".to_owned(),
            Need::OpenClDriver => {
                let own = opencl_packages(
                    system,
                    [
                        "opencl-nvidia",
                        "rocm-opencl-runtime",
                        "intel-compute-runtime",
                    ],
                );
                format!("sudo pacman -S {own}pocl")
            }
            Need::VulkanLoader => "sudo pacman -S vulkan-icd-loader vulkan-swrast".to_owned(),
            Need::GraphicsDriver => {
                let own =
                    opencl_packages(system, ["nvidia-utils", "vulkan-radeon", "vulkan-intel"]);
                format!("sudo pacman -S {own}vulkan-swrast")
            }
        }
    }

    fn on_macos(self) -> &'static str {
        match self {
            Need::NvidiaDriver | Need::Nvrtc => "nothing: macOS has no CUDA; `wgpu` uses Metal",
            Need::OpenClLoader | Need::OpenClDriver => {
                "nothing: OpenCL is a part of macOS, as far as Apple supports it"
            }
            Need::VulkanLoader | Need::GraphicsDriver => "nothing: Metal is a part of macOS",
        }
    }

    fn on_windows(self) -> &'static str {
        match self {
            Need::NvidiaDriver => NVIDIA,
            Need::Nvrtc => "winget install Nvidia.CUDA",
            Need::OpenClLoader | Need::OpenClDriver | Need::VulkanLoader | Need::GraphicsDriver => {
                VENDOR
            }
        }
    }
}

/// The packages of the machine's vendors, each with a space behind it. The names are those for NVIDIA, AMD and Intel.
fn opencl_packages(system: &System, [nvidia, amd, intel]: [&str; 3]) -> String {
    let all = [
        (Vendor::Nvidia, nvidia),
        (Vendor::Amd, amd),
        (Vendor::Intel, intel),
    ];
    let has = |vendor| system.gpus.iter().any(|gpu| gpu.vendor == vendor);
    let own = all.iter().filter(|(vendor, _)| has(*vendor));
    own.map(|(_, package)| format!("{package} ")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::system::Gpu;
    use super::*;

    fn machine(vendors: &[Vendor]) -> System {
        let gpu = |vendor: &Vendor| Gpu {
            vendor: *vendor,
            id: String::new(),
        };
        System {
            name: String::new(),
            processor: String::new(),
            gpus: vendors.iter().map(gpu).collect(),
        }
    }

    #[test]
    fn packages_follow_the_graphics_processor() {
        let steps = |need: Need, manager, vendors: &[Vendor]| {
            need.steps(Some(manager), &machine(vendors)).remove(0)
        };
        assert_eq!(
            steps(Need::OpenClDriver, Manager::Apt, &[Vendor::Intel]),
            "sudo apt install intel-opencl-icd pocl-opencl-icd"
        );
        assert_eq!(
            steps(Need::OpenClDriver, Manager::Dnf, &[]),
            "sudo dnf install pocl"
        );
        assert!(steps(Need::NvidiaDriver, Manager::Pacman, &[]).contains("nvidia"));
        assert!(steps(Need::NvidiaDriver, Manager::Pacman, &[Vendor::Amd]).contains("nothing"));
    }

    #[test]
    fn every_need_has_a_step_everywhere() {
        let needs = [
            Need::NvidiaDriver,
            Need::Nvrtc,
            Need::OpenClLoader,
            Need::OpenClDriver,
            Need::VulkanLoader,
            Need::GraphicsDriver,
        ];
        let managers = [
            Some(Manager::Apt),
            Some(Manager::Dnf),
            Some(Manager::Pacman),
            Some(Manager::MacOs),
            Some(Manager::Windows),
            None,
        ];
        for need in needs {
            for manager in managers {
                assert!(!need.steps(manager, &machine(&[]))[0].is_empty());
            }
        }
    }
}
