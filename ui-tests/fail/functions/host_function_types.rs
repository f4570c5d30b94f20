use sarek::intrinsic::Intrinsic as _;
use sarek::prelude::*;

#[device(intrinsic)]
fn tripled(x: u32) -> u32 {
    3 * x
}

fn main() {
    let _ = tripled::register_host(|x: f32| 3.0 * x);
}
