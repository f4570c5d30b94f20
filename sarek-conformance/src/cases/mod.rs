//! The cases of the suite, with one kernel or one family of kernels per file.

mod atomic_results;
mod atomics;
mod bfloat;
mod bits;
mod black_scholes;
mod block;
mod bools;
mod casts;
mod chains;
mod coherence;
mod constants;
mod constants_of_composites;
mod constants_of_functions;
mod constants_of_lengths;
mod constants_tables;
mod control;
mod counts;
mod faults;
mod filters;
mod functions;
mod generics;
mod graphs;
mod half;
mod half_functions;
mod idioms;
mod items;
mod launch;
mod local_arrays;
mod mandelbrot;
mod matmul;
mod methods;
mod names;
mod native_text;
mod nbody;
mod operators;
mod packed;
mod prints;
mod prints_values;
mod rust_forms;
mod saxpy;
mod shared_words;
mod small;
mod small_rest;
mod std_functions;
mod stencil;
mod stream;
mod strict;
mod subgroup_values;
mod subgroups;
mod swaps;
mod transpose;
mod types;
mod vector_add;
mod vectors;
mod views;

use std::sync::LazyLock;

use super::Case;

/// Every case.
pub fn all() -> &'static [Case] {
    static ALL: LazyLock<Vec<Case>> = LazyLock::new(|| {
        let parts: &[&[Case]] = &[
            vector_add::CASES,
            saxpy::CASES,
            stream::CASES,
            mandelbrot::CASES,
            matmul::CASES,
            transpose::CASES,
            stencil::CASES,
            black_scholes::CASES,
            nbody::CASES,
            bits::CASES,
            bools::CASES,
            constants::CASES,
            constants_of_functions::CASES,
            constants_of_lengths::CASES,
            constants_of_composites::CASES,
            constants_tables::CASES,
            names::CASES,
            shared_words::CASES,
            small::CASES,
            small_rest::CASES,
            half::CASES,
            half_functions::CASES,
            vectors::CASES,
            graphs::CASES,
            local_arrays::CASES,
            packed::CASES,
            strict::CASES,
            atomics::CASES,
            counts::CASES,
            filters::CASES,
            atomic_results::CASES,
            subgroups::CASES,
            subgroup_values::CASES,
            swaps::CASES,
            std_functions::CASES,
            chains::CASES,
        ];
        let groups: &[&[&[Case]]] = &[
            bfloat::CASES,
            operators::CASES,
            methods::CASES,
            casts::CASES,
            control::CASES,
            launch::CASES,
            faults::CASES,
            functions::CASES,
            generics::CASES,
            types::CASES,
            block::CASES,
            views::CASES,
            idioms::CASES,
            rust_forms::CASES,
        ];
        let rest: &[&[Case]] = &[
            native_text::CASES,
            prints::CASES,
            prints_values::CASES,
            items::CASES,
            coherence::CASES,
        ];
        let all = parts
            .iter()
            .chain(groups.iter().copied().flatten())
            .chain(rest);
        all.copied().flatten().copied().collect()
    });
    &ALL
}
