use sarek::prelude::*;

#[kernel]
unsafe fn scatter(at: &[u32], out: &mut [f32]) {
    let i = global_idx_x();
    out[at[i] as usize] = 1.0;
}

fn main() -> sarek::Result<()> {
    let at = Vector::from_vec(vec![0u32; 4]);
    let mut out = Vector::<f32>::zeros(4);
    scatter(&at, &mut out).over(4).run()
}
