//! Hand-written impls that convert an argument to a value other than the one that the proof knows.
#![forbid(unsafe_code)]
use std::mem::MaybeUninit;

use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
pub struct Given {
    at: u32,
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
pub struct Taken {
    at: u32,
}

impl<'a> sarek::__private::host::PassRef<'a, Taken> for Given {
    fn pass_ref(&'a mut self) -> Taken {
        Taken { at: 1 << 30 }
    }
}

impl<'a> sarek::__private::host::PassMut<'a, Taken> for Given {
    fn pass_mut(&'a mut self) -> Taken {
        Taken { at: 1 << 30 }
    }
}

impl<'a> sarek::__private::host::PassMutLanes<'a, &'a [MaybeUninit<Taken>]> for Given {
    fn pass_mut_lanes(_: &'a mut [MaybeUninit<Given>]) -> &'a [MaybeUninit<Taken>] {
        &[]
    }
}

fn main() {}
