//! Compares the backend `opencl` with hand-written OpenCL C (`kernels.cl`, `blocks.cl`).
//!
//! `cargo bench --bench opencl -- [FILTER] [--quick]`

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
    let device = match Device::of("opencl") {
        Ok(device) => device,
        Err(why) => {
            println!("opencl: skipped: {why}");
            return Ok(());
        }
    };
    let runner = Runner::from_args()?;
    runner.on_device("opencl", device.name())?;
    let baseline = raw::OpenCl::new(device.name())?;
    let sizes = Sizes::of(&device);
    Bench {
        runner,
        device,
        baseline,
    }
    .run(sizes)
}
