#![forbid(unsafe_code)]

use sarek::backend::{Args, DirectArg, IndexSpace, Launch, Program, States};
use sarek::prelude::*;
use sarek::tag::ScheduleKind;

#[kernel]
fn ones(y: &mut [u32]) {
    y[global_idx_x()] = 1;
}

fn main() -> sarek::Result<()> {
    let device = Device::best()?;
    let raw = device.as_backend();
    let direct = <ones as sarek::Kernel>::DEF.direct;
    let program = raw.load(&Program::Direct(direct))?;
    let args = [DirectArg::Slice {
        ptr: 0x1000 as *mut u8,
        len: 8,
        mutable: true,
    }];
    let launch = Launch {
        program: &*program,
        kernel: "ones",
        space: IndexSpace {
            grid: [1; 3],
            block: [8, 1, 1],
            extent: [8, 1, 1],
        },
        grid: [1; 3],
        schedule: &ScheduleKind::blocks(),
        environments: &States::default(),
        args: Args::Host {
            args: &args,
            checked: true,
        },
    };
    raw.stream().launch(&launch)?;
    Ok(())
}
