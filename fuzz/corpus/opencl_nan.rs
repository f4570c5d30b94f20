// launch: seed=165 over=7,1,1 lens=7,7
use sarek::prelude::*;

#[kernel]
pub unsafe fn k(near0: &mut [f32], near1: &mut [f64]) {
    let i = global_thread_id();
    let x = f32::NAN;
    near0[i] = x.floor() + x.ceil() + x.trunc() + x.round() + x.exp() + x.exp2() + x.exp_m1() + x.sinh() + x.cosh() + x.tanh();
    let y = f64::NAN;
    near1[i] = y.floor() + y.ceil() + y.trunc() + y.round() + y.exp() + y.exp2() + y.exp_m1() + y.sinh() + y.cosh() + y.tanh();
}
