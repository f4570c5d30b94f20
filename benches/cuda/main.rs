//! Compares the backend `cuda` with hand-written CUDA C (`kernels.cu`, `blocks.cu`), with kernels tuned by hand (`tuned.cu`, `shapes.cu`), and with cuBLAS.
//!
//! `cargo bench --bench cuda -- [FILTER] [--quick] [--on BACKEND]`
//!
//! `--on wgpu` and `--on opencl` compare another backend on the same card.

mod blas;
#[path = "../common/mod.rs"]
mod common;
#[path = "../device/mod.rs"]
mod device;
mod layouts;
mod raw;
mod shapes;
mod tuned;

use common::Fallible;
use common::runner::Runner;
use device::{Bench, Sizes};
use sarek::Device;

fn main() -> Fallible {
    let cuda = match Device::of("cuda") {
        Ok(device) => device,
        Err(why) => {
            println!("cuda: skipped: {why}");
            return Ok(());
        }
    };
    let runner = Runner::from_args()?;
    let device = match runner.backend() {
        Some(backend) => Device::of(backend)?,
        None => cuda.clone(),
    };
    runner.on_device(device.backend(), device.name())?;
    let facts = cuda.debug_info();
    let arch = facts
        .get("architecture")
        .ok_or("the device does not tell its architecture")?;
    let baseline = raw::Cuda::new(arch)?;
    let sizes = Sizes::of(&device);
    let bench = Bench {
        runner,
        device,
        baseline,
    };
    bench.run(sizes)?;
    bench.tuned(sizes)?;
    bench.shapes(sizes)?;
    bench.layouts(sizes)
}
