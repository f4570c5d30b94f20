use sarek_ir::Kernel;
use sarek_ir::link::{Function, Links};

/// What `#[device]` implements for the struct that it puts beside a function.
///
/// # Safety
/// The function's compiled body does what [`DeviceFn::IR`] says, and has as many sites as
/// [`DeviceFn::SITES`] tells.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be called in a kernel",
    label = "not a `#[device]` function",
    note = "kernels call functions that are marked: write `#[device]` before the function"
)]
pub unsafe trait DeviceFn {
    /// The function as data, perhaps with links open.
    const IR: &'static Kernel;

    /// The sites of the function and of all that it calls.
    const SITES: u32;

    /// Do the threads of a block work together in it, by barriers, shared arrays or subgroups?
    const COLLECTIVE: bool;

    /// For each parameter: must all threads of a block give the same, because barriers depend on it?
    const UNIFORM: &'static [bool];

    /// What it names of the user's crate.
    fn links() -> Links;

    /// The function with what it names.
    fn function() -> Function {
        Function {
            ir: Self::IR,
            links: Self::links(),
        }
    }
}
