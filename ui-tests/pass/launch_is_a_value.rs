//! A launch borrows its vectors until it is run, and can be built piece by piece.
#![deny(warnings)]

use sarek::prelude::*;

#[kernel]
fn add(by: u32, v: &mut [u32]) {
    let i = global_idx_x();
    v[i] += by;
}

fn main() -> sarek::Result<()> {
    let mut v = Vector::from_vec(vec![1, 2, 3]);
    let launch = add(10, &mut v);
    let ready = launch.over(3);
    assert!(ready.explain().contains("add"));
    ready.run()?;
    for device in Device::all() {
        let event = add(1, &mut v).over(3).enqueue(&device.stream())?;
        event.sync()?;
    }
    let total = 11 + Device::all().len() as u32;
    assert_eq!(v.to_vec()?, [total, total + 1, total + 2]);
    Ok(())
}
