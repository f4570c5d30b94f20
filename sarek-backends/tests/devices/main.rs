//! Tests every backend that compiles source, through the backend traits alone.
//!
//! A backend without a device is skipped unless `SAREK_REQUIRE` names it.

#[path = "../../../sarek-ir/tests/common/blocks.rs"]
mod blocks;
mod call;
mod cooperation;
mod nvrtc;
mod rendered;
mod require;
mod rig;
mod subgroups;
mod suite;
mod texts;

/// Defines a test for each backend and each function listed, by its module.
macro_rules! on_each_backend {
    ($($path:path => $test:ident;)*) => {
        on_each_backend!(@ cuda: $($path => $test;)*);
        on_each_backend!(@ opencl: $($path => $test;)*);
        on_each_backend!(@ wgpu: $($path => $test;)*);
    };
    (@ $backend:ident: $($path:path => $test:ident;)*) => {
        mod $backend {
            $(#[test]
            fn $test() {
                crate::rig::on_each_device(stringify!($backend), $path);
            })*
        }
    };
}

on_each_backend! {
    crate::suite::info_is_plausible => info_is_plausible;
    crate::suite::copies_take_offsets => copies_take_offsets;
    crate::suite::zero_leaves_the_neighbours => zero_leaves_the_neighbours;
    crate::suite::copies_within_the_device => copies_within_the_device;
    crate::suite::saxpy_runs => saxpy_runs;
    crate::suite::a_block_of_another_size_runs => a_block_of_another_size_runs;
    crate::suite::buffers_are_bound_by_slot => buffers_are_bound_by_slot;
    crate::suite::scalars_are_laid_out => scalars_are_laid_out;
    crate::suite::parts_of_buffers_are_arguments => parts_of_buffers_are_arguments;
    crate::suite::a_kernel_without_arguments_runs => a_kernel_without_arguments_runs;
    crate::suite::a_compile_error_is_told => a_compile_error_is_told;
    crate::suite::a_missing_entry_is_an_error => a_missing_entry_is_an_error;
    crate::suite::kernels_are_taken_out_by_name => kernels_are_taken_out_by_name;
    crate::suite::a_program_has_several_files => a_program_has_several_files;
    crate::suite::an_artifact_survives_the_disk => an_artifact_survives_the_disk;
    crate::suite::events_mark_points => events_mark_points;
    crate::suite::events_keep_time => events_keep_time;
    crate::suite::streams_wait_for_each_other => streams_wait_for_each_other;
    crate::suite::memory_and_programs_may_go_while_in_use => memory_and_programs_may_go_while_in_use;
    crate::suite::large_copies_arrive => large_copies_arrive;
    crate::suite::uploads_stay_in_order => uploads_stay_in_order;
    crate::suite::threads_share_a_device => threads_share_a_device;
    crate::suite::too_much_memory_is_an_error => too_much_memory_is_an_error;
    crate::suite::foreign_objects_are_errors => foreign_objects_are_errors;
    crate::rendered::rendered_kernels_run => rendered_kernels_run;
    crate::rendered::faults_are_recorded => faults_are_recorded;
    crate::cooperation::blocks_reduce => blocks_reduce;
    crate::cooperation::blocks_transpose => blocks_transpose;
    crate::cooperation::blocks_count => blocks_count;
    crate::cooperation::a_fault_changes_nothing_else => a_fault_changes_nothing_else;
    crate::cooperation::launches_size_shared_arrays => launches_size_shared_arrays;
    crate::cooperation::much_shared_memory_is_given => much_shared_memory_is_given;
    crate::cooperation::local_arrays_are_each_threads_own => local_arrays_are_each_threads_own;
    crate::cooperation::a_fault_ends_a_loop_with_barriers => a_fault_ends_a_loop_with_barriers;
    crate::cooperation::atomics_lose_nothing => atomics_lose_nothing;
    crate::cooperation::atomic_extremes_treat_nan_as_rust => atomic_extremes_treat_nan_as_rust;
    crate::cooperation::subgroups_work_together => subgroups_work_together;
}
