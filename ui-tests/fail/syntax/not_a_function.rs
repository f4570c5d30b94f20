use sarek::prelude::*;

#[kernel]
struct Wrong;

fn main() {}
