//! Compares the backend `cuda` with hand-written CUDA C (`kernels.cu`, `blocks.cu`).
//!
//! `cargo bench --bench cuda -- [FILTER] [--quick]`

#[path = "../common/mod.rs"]
mod common;
#[path = "../device/mod.rs"]
mod device;
mod raw;

use common::Fallible;
use common::runner::Runner;
use device::{Bench, Sizes};
use sarek::Device;

fn main() -> Fallible {
    let device = match Device::of("cuda") {
        Ok(device) => device,
        Err(why) => {
            println!("cuda: skipped: {why}");
            return Ok(());
        }
    };
    println!("cuda: {}", device.name());
    let facts = device.debug_info();
    let arch = facts
        .get("architecture")
        .ok_or("the device does not tell its architecture")?;
    let baseline = raw::Cuda::new(arch)?;
    let sizes = Sizes::of(&device);
    Bench {
        runner: Runner::from_args()?,
        device,
        baseline,
    }
    .run(sizes)
}
