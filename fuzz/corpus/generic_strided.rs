// launch: seed=5 over=12,1,1 lens=40,60,12 view=3,4,2,8,2 view=12,1,2,3,4,2,1 generics=i16,3
use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
pub struct G<T> { pub f0: T, pub f1: u32 }

#[device]
pub trait Kind: KernelType {
    const ORDER: u32;
    fn weight(&self, p0: u32) -> u32;
}

#[device]
impl Kind for G<i16> {
    const ORDER: u32 = 3;
    fn weight(&self, p0: u32) -> u32 {
        (self.f0 as u32) ^ (self.f1 + p0)
    }
}

#[device]
pub fn judged<S: Kind>(p0: u32, s: S) -> u32 {
    let order: u32 = S::ORDER;
    let w: u32 = s.weight(p0);
    w * order
}

#[device]
pub fn h0<T: Int, const N: u32>(a: T, b: T) -> T {
    let mut s: T = a;
    for _ in 0..N {
        s = s.wrapping_mul(b) ^ T::from_u32(s.count_ones());
    }
    s
}

#[kernel]
pub unsafe fn k<T: Int, const N: usize>(first: T, r0: View2<u32>, mut out1: ViewMut3<i32>, out2: &mut [u32]) {
    let i = global_idx_x();
    let x = r0[[i % r0.rows(), i % r0.cols()]];
    let t = (h0::<T, 3>(first, T::from_u32(x))).to_i32();
    out1[[i, 0, 1]] = t + N as i32;
    let s = G::<i16> { f0: h0::<i16, 2>(x as i16, 7), f1: x };
    out2[i] = judged::<G<i16>>(x, s);
}
