use sarek::prelude::*;

#[kernel(block = 64)]
fn fill(out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = 1.0;
}

fn main() -> sarek::Result<()> {
    let mut out = Vector::<f32>::zeros(64);
    fill(&mut out).grid(1).block(32).run()
}
