// launch: seed=5003369 grid=1,1,1 block=3,1,1 lens=60,30,67,32
use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C, u32)]
pub enum E0 { Case0(u32), Case1 { f0: u8 }, Case2(i32, u8) }

#[kernel]
pub unsafe fn k(mut a0: bool, a1: u8, r0: &[u64], r1: &[i32], r2: &[i32], out3: &mut [u32]) {
    let i = global_thread_id();
    let mut v2 = r1[i.rotate_right(0u32.leading_zeros()) % r1.len()];
    let mut v30 = (v2 as u32);
    out3[i] = v30;
}
