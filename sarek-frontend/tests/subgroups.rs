//! Proofs of races that rely on the size of subgroups. Each kernel stands beside one that differs a little, and in which
//! threads meet.

mod common;

use common::{lowered, races};

/// The text of the preconditions.
#[track_caller]
fn needs(source: &str) -> String {
    let kernel = match lowered(source) {
        Ok(kernel) => kernel.to_string(),
        Err(errors) => panic!("{source}: {errors:#?}"),
    };
    let required = kernel.lines().filter(|line| line.starts_with("requires "));
    required.collect::<Vec<_>>().join("; ")
}

fn store(guard: &str, index: &str) -> String {
    format!(
        "fn k(y: &mut [u32]) {{ let i = global_idx_x(); let t = thread_idx_x(); if {guard} {{ y[{index}] = 1; }} }}"
    )
}

const FIRST: &str = "subgroup_lane() == 0";

#[test]
fn the_size_is_that_of_the_index() {
    for (index, size) in [
        ("i / 32", "32"),
        ("i >> 5", "32"),
        ("i / 16", "16"),
        ("i / 64", "64"),
        ("i / WARP", "WARP"),
        ("block_idx_x() * (block_dim_x() / 32) + t / 32", "32"),
    ] {
        let needs = needs(&store(FIRST, index));
        assert!(
            needs.contains(&format!("subgroup_size() == {size}")),
            "{needs}"
        );
        assert!(needs.contains("subgroups"), "{needs}");
        assert!(needs.contains("block_dim_y() <= 1"), "{needs}");
    }
    races(&store(FIRST, "i / 33"));
    races(&store(FIRST, "i / 128 / 2"));
    races(&store("subgroup_lane() < 2", "i / 32"));
    races(&store("true", "i / 32 + subgroup_lane()"));
    races(&store(FIRST, "t / 32"));
    races(&store(
        FIRST,
        "block_idx_x() * (block_dim_x() / 64) + t / 32",
    ));
    races(&store("subgroup_lane() == i % 2", "i / 32"));
}

#[test]
fn any_size_will_do_if_the_kernel_asks_for_it() {
    for guard in [FIRST, "subgroup_lane() == subgroup_size() - 1"] {
        let needs = needs(&store(guard, "i / subgroup_size()"));
        assert!(needs.contains("requires equal_subgroups"), "{needs}");
        assert!(needs.contains("requires whole_subgroups"), "{needs}");
        assert!(!needs.contains("subgroup_size() =="), "{needs}");
    }
    races(&store(FIRST, "i / (subgroup_size() + 1)"));
    races(&store("subgroup_lane() % 2 == 0", "i / subgroup_size()"));
}

#[test]
fn a_block_of_other_sizes_is_refused() {
    let of = |block: &str| {
        let attribute = format!("block = {block}").parse().expect("tokens");
        let source = store(FIRST, "i / 32").parse().expect("tokens");
        sarek_frontend::expand::lowered(attribute, source)
    };
    for block in ["32", "64", "256"] {
        let kernel = of(block).expect("whole subgroups").to_string();
        assert!(!kernel.contains("whole_subgroups"), "{kernel}");
    }
    for block in ["48", "16", "100"] {
        assert!(of(block).is_err(), "{block}");
    }
}

#[test]
fn partial_sums_are_those_of_subgroups() {
    let of = |guard: &str, index: &str, tail: &str| {
        let source = format!(
            "fn k(x: &[u32], y: &mut [u32]) {{ let partial = shared_array::<u32, 8>(); let t = thread_idx_x(); \
             let (w, lane) = (t / 32, subgroup_lane()); if {guard} {{ partial[{index}] = 1; }} barrier(); \
             if {tail} {{ y[block_idx_x()] = partial[0]; }} }}"
        );
        let (attribute, source) = ("block = 256".parse(), source.parse());
        sarek_frontend::expand::lowered(attribute.expect("tokens"), source.expect("tokens"))
    };
    assert!(of("lane == 0", "w", "t == 0").is_ok());
    assert!(of("lane == 31", "w", "w == 0 && lane == 0").is_ok());
    assert!(of("lane == 0", "t / subgroup_size()", "t == 0").is_ok());
    assert!(of("lane == 0", "t / WARP", "t < WARP && lane == 0").is_ok());
    assert!(of("lane < 2", "w", "t == 0").is_err());
    assert!(of("lane == 0", "w / 2", "t == 0 && w == 0").is_err());
    assert!(of("lane == 0", "w", "lane == 0").is_err());
    assert!(of("lane == 0", "w", "t < 33 && lane == 0").is_err());
}

/// One size for all accesses: no device has two.
#[test]
fn a_kernel_needs_one_size() {
    let of = |second: &str| {
        format!(
            "fn k(y: &mut [u32], z: &mut [u32]) {{ let i = global_idx_x(); if subgroup_lane() == 0 {{ y[i / 32] = 1; z[{second}] = 1; }} }}"
        )
    };
    assert!(needs(&of("i / 32")).contains("subgroup_size() == 32"));
    races(&of("i / 64"));
}
