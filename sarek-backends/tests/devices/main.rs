//! Every backend that compiles source, through the traits alone, with kernels written by hand.
//!
//! A backend without a device is skipped unless `SAREK_REQUIRE` names it.

mod nvrtc;
mod require;
mod rig;
mod suite;
mod texts;

macro_rules! suite {
    ($($test:ident)*) => {
        suite!(@ cuda: $($test)*);
        suite!(@ opencl: $($test)*);
        suite!(@ wgpu: $($test)*);
    };
    (@ $backend:ident: $($test:ident)*) => {
        mod $backend {
            $(#[test]
            fn $test() {
                crate::rig::on_each_device(stringify!($backend), crate::suite::$test);
            })*
        }
    };
}

suite! {
    info_is_plausible
    copies_take_offsets
    zero_leaves_the_neighbours
    copies_within_the_device
    saxpy_runs
    a_block_of_another_size_runs
    buffers_are_bound_by_slot
    scalars_are_laid_out
    parts_of_buffers_are_arguments
    a_kernel_without_arguments_runs
    a_compile_error_is_told
    a_missing_entry_is_an_error
    an_artifact_survives_the_disk
    events_mark_points
    streams_wait_for_each_other
    memory_and_programs_may_go_while_in_use
    threads_share_a_device
    too_much_memory_is_an_error
    foreign_objects_are_errors
}
