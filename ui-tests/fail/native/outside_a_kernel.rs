use sarek::prelude::*;

fn wrong() {
    native!("cuda", "__syncthreads();");
}

fn main() {}
