//! A kernel, its argument, a field, a label and a variable share one name.
#![deny(warnings)]

use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Scale {
    scale: f32,
}

#[kernel]
fn scale(scale: &[Scale], out: &mut [f32]) {
    let i = global_idx_x();
    'scale: for k in 0..4u32 {
        let scale = scale[i].scale * k as f32;
        if scale > 3.0 {
            out[i] = scale;
            break 'scale;
        }
    }
}

fn main() -> sarek::Result<()> {
    let scales = Vector::from_vec(vec![Scale { scale: 2.0 }]);
    let mut out = Vector::zeros(1);
    scale(&scales, &mut out).over(1).run()?;
    assert_eq!(out.to_vec()?, [4.0]);
    Ok(())
}
