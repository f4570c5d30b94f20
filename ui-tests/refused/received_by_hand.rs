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

impl<'a> sarek::__private::host::Borrowed<'a, Taken> for Given {
    fn borrowed(&'a mut self) -> Taken {
        Taken { at: 1 << 30 }
    }
}

impl<'a> sarek::__private::host::Received<'a, Taken> for Given {
    fn received(&'a mut self) -> Taken {
        Taken { at: 1 << 30 }
    }
}

impl<'a> sarek::__private::host::ReceivedLanes<'a, &'a [MaybeUninit<Taken>]> for Given {
    fn received_lanes(_: &'a mut [MaybeUninit<Given>]) -> &'a [MaybeUninit<Taken>] {
        &[]
    }
}

fn main() {}
