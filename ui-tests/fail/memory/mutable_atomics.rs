use sarek::prelude::*;

#[kernel]
fn wrong(count: &mut [Atomic<u32>]) {
    count[0].fetch_add(1);
}

fn main() {}
