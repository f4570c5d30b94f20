//! `mxu`: an accelerator with a matrix unit, simulated in memory.
//!
//! | Its own | Name | File |
//! |---|---|---|
//! | storages | `mxu/a`, `mxu/b`: the unit's operands; `mxu/accumulator` | `mod.rs`, `device.rs` |
//! | schedule | `mxu/turned`: the loops over blocks go from the last block to the first | `mod.rs`, `render.rs` |
//! | dialect | `mxu`: OpenCL C with other words for barriers and shared memory | `render.rs` |
//! | intrinsic | [`multiply_add`], which the unit executes | `unit.rs` |
//! | environment | `mxu/unit`: the header of the intrinsic, and a counter on each device | `unit.rs` |
//!
//! Programs call [`register`] once.

mod arguments;
mod device;
mod render;
mod stream;
mod unit;

use std::sync::{Arc, OnceLock};

use sarek::backend::claims::CopyAction;
use sarek::backend::{Backend, BackendDevice, Claims};
use sarek::tag::{self, ScheduleKind, StorageKind, Tag};
use sarek::{Result, environment, intrinsic, registry};

pub use render::MxuC;
pub use unit::{Unit, multiply_add};

const NAME: &str = "mxu";

/// The storage of the unit's left operand, `mxu/a`.
pub fn operand_a() -> Tag<StorageKind> {
    static A: OnceLock<Tag<StorageKind>> = OnceLock::new();
    A.get_or_init(|| tag::register("mxu/a").expect("the name is this crate's"))
        .clone()
}

/// The storage of the unit's right operand, `mxu/b`.
pub fn operand_b() -> Tag<StorageKind> {
    static B: OnceLock<Tag<StorageKind>> = OnceLock::new();
    B.get_or_init(|| tag::register("mxu/b").expect("the name is this crate's"))
        .clone()
}

/// The storage of the unit's results, `mxu/accumulator`.
pub fn accumulator() -> Tag<StorageKind> {
    static ACCUMULATOR: OnceLock<Tag<StorageKind>> = OnceLock::new();
    ACCUMULATOR
        .get_or_init(|| tag::register("mxu/accumulator").expect("the name is this crate's"))
        .clone()
}

/// The schedule whose loops over the blocks are turned round, `mxu/turned`.
pub fn turned() -> Tag<ScheduleKind> {
    static TURNED: OnceLock<Tag<ScheduleKind>> = OnceLock::new();
    TURNED
        .get_or_init(|| tag::register("mxu/turned").expect("the name is this crate's"))
        .clone()
}

/// Registers the backend, its environment and the text of its intrinsic.
///
/// # Errors
/// An error if they are registered already.
pub fn register() -> Result<()> {
    registry::register(Arc::new(Mxu))?;
    environment::register(unit::environment())?;
    // SAFETY: the text is an expression of its arguments, and calls the function of the unit's header.
    unsafe { intrinsic::register(unit::MULTIPLY_ADD, NAME, unit::SPELLING) }
}

struct Mxu;

impl Backend for Mxu {
    fn name(&self) -> &'static str {
        NAME
    }

    fn count(&self) -> Result<usize, String> {
        Ok(1)
    }

    fn open(&self, _ordinal: usize) -> Result<Arc<dyn BackendDevice>> {
        Ok(Arc::new(device::Simulated::new()))
    }

    fn priority(&self) -> i32 {
        5
    }

    fn claims(&self, claims: &mut Claims) {
        let [a, b, accumulator] = [operand_a(), operand_b(), accumulator()];
        let device = StorageKind::device();
        for storage in [&a, &b, &accumulator] {
            claims.storage(storage.clone());
        }
        claims.schedule(turned());
        for operand in [&a, &b] {
            claims.copies(device.clone(), operand.clone(), CopyAction::Native);
        }
        claims
            .copies(accumulator.clone(), device.clone(), CopyAction::Native)
            .copies(device, accumulator.clone(), CopyAction::StageViaHost)
            .copies(
                a,
                b.clone(),
                CopyAction::Illegal("the unit's operands are not connected"),
            )
            .copies(accumulator, b, CopyAction::Native);
    }
}
