use sarek::prelude::*;

fn main() {
    let factor = 2.0f32;

    #[kernel]
    fn wrong(x: &mut [f32]) {
        let i = global_idx_x();
        x[i] = x[i] * factor;
    }

    let mut x = Vector::<f32>::zeros(4);
    let _ = wrong(&mut x).over(4).run();
}
