#![forbid(unsafe_code)]

fn main() -> sarek::Result<()> {
    sarek::intrinsic::register("same", "opencl", "(*(__global uint*)16 = {0})")?;
    sarek::intrinsic::register("same", "cuda", "(*(unsigned*)16 = {0})")
}
