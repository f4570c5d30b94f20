//! Methods called by the paths of their traits: generic ones with defaults, under other names, and with closures.
#![forbid(unsafe_code)]
use sarek::prelude::*;
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
pub struct P {
    a: f32,
}
mod inner {
    use sarek::prelude::*;
    #[device]
    pub trait Conv<T = f32> {
        type Out;
        fn conv(&self, k: T) -> T;
        fn out(&self) -> Self::Out;
        fn gene<U: Num>(&self, u: U) -> U;
        fn fold(&self, f: impl Fn(f32) -> f32) -> f32;
    }
}
use inner::Conv as C2;
#[device]
impl C2<f32> for P {
    type Out = u32;
    fn conv(&self, k: f32) -> f32 {
        self.a * k
    }
    fn out(&self) -> u32 {
        3
    }
    fn gene<U: Num>(&self, u: U) -> U {
        u + u
    }
    fn fold(&self, f: impl Fn(f32) -> f32) -> f32 {
        f(self.a)
    }
}
#[device]
impl C2<i32> for P {
    type Out = f32;
    fn conv(&self, k: i32) -> i32 {
        self.a as i32 * k
    }
    fn out(&self) -> f32 {
        4.0
    }
    fn gene<U: Num>(&self, u: U) -> U {
        u
    }
    fn fold(&self, f: impl Fn(f32) -> f32) -> f32 {
        f(self.a) + 1.0
    }
}
#[device]
fn generic<T: inner::Conv<f32> + KernelType>(t: T) -> f32 {
    <T as inner::Conv<f32>>::gene(&t, 2.0f32) + <T as inner::Conv<f32>>::gene::<f32>(&t, 2.0)
}
#[device]
trait ByValue {
    fn take(self, x: f32) -> f32;
}
#[device]
impl ByValue for P {
    fn take(self, x: f32) -> f32 {
        self.a + x
    }
}
#[kernel]
fn k(p: P, out: &mut [f32]) {
    let i = global_idx_x();
    if i < out.len() {
        out[i] = <P as C2>::conv(&p, 2.0)
            + <P as C2<i32>>::conv(&p, 2) as f32
            + <P as C2>::out(&p) as f32
            + <P as C2<i32>>::out(&p)
            + <P as C2>::gene(&p, 1u32) as f32
            + generic(p)
            + <P as C2>::fold(&p, |x| x + 0.5)
            + <P as ByValue>::take(p, 3.0);
    }
}
fn main() -> sarek::Result<()> {
    let mut y = Vector::<f32>::zeros(4);
    k(P { a: 3.0 }, &mut y).over(4).run()?;
    assert_eq!(
        y.to_vec()?,
        [6.0 + 6.0 + 3.0 + 4.0 + 2.0 + 8.0 + 3.5 + 6.0; 4]
    );
    Ok(())
}
