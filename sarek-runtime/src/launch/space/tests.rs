use super::*;
use crate::plugin::backend::Features;

fn gpu() -> DeviceInfo {
    DeviceInfo {
        name: "test GPU".into(),
        priority: None,
        host_memory: false,
        features: Features::default(),
        max_block: [1024, 1024, 64],
        max_block_threads: 1024,
        max_grid: [65535; 3],
        max_shared: 48 << 10,
        max_buffer: u64::MAX,
        max_buffers: 31,
        warp: 32,
        memory: 0,
        ..DeviceInfo::default()
    }
}

fn host(cost: u32) -> Host {
    Host {
        cost,
        row_wise: false,
        tall: false,
    }
}

fn row_wise(cost: u32) -> Host {
    Host {
        cost,
        row_wise: true,
        tall: false,
    }
}

fn over(extent: [usize; 3]) -> IndexSpace {
    let shape = Shape::Over(Dims(extent));
    shape.check(None).unwrap();
    shape.space((None, false), None, &gpu(), None).unwrap()
}

#[test]
fn automatic_blocks_fit_the_extent() {
    for (extent, block) in [
        ([1 << 20, 1, 1], [256, 1, 1]),
        ([10, 1, 1], [32, 1, 1]),
        ([33, 1, 1], [64, 1, 1]),
        ([1, 1000, 1], [32, 8, 1]),
        ([1000, 1000, 1], [32, 8, 1]),
        ([1 << 20, 2, 1], [128, 2, 1]),
        ([1000, 1000, 1000], [32, 4, 2]),
        ([5, 5, 5], [32, 4, 2]),
    ] {
        assert_eq!(over(extent).block, block, "{extent:?}");
    }
}

#[test]
fn automatic_blocks_respect_every_limit() {
    let mut info = gpu();
    for (max_block, max_block_threads, warp) in [
        ([1, 1, 1], 1, 32),
        ([1024, 1, 1], 64, 32),
        ([7, 3, 2], 16, 4),
        ([256, 256, 64], 100, 1),
        ([256, 256, 64], 256, 0),
        ([0, 0, 0], 0, 1),
    ] {
        (info.max_block, info.max_block_threads, info.warp) = (max_block, max_block_threads, warp);
        for extent in [
            [1, 1, 1],
            [1000, 1, 1],
            [3, 500, 7],
            [1, 1, 900],
            [64, 64, 64],
        ] {
            for host in [None, Some(host(1)), Some(row_wise(1))] {
                let block = automatic_block(extent, &info, host);
                let threads: u32 = block.iter().product();
                assert!(
                    threads >= 1 && threads <= max_block_threads.max(1),
                    "{block:?}"
                );
                assert!((0..3).all(|i| block[i] <= max_block[i].max(1)), "{block:?}");
            }
        }
    }
}

#[test]
fn over_is_exact_and_cover_rounds_up() {
    assert_eq!(over([1000, 1, 1]).extent, [1000, 1, 1]);
    assert_eq!(over([1000, 1, 1]).grid, [4, 1, 1]);
    let cover =
        Shape::Cover(Dims([1000, 1, 1])).space((Some([128, 1, 1]), false), None, &gpu(), None);
    let cover = cover.unwrap();
    assert_eq!((cover.grid, cover.extent), ([8, 1, 1], [1024, 1, 1]));
}

/// The same threads run on every device.
#[test]
fn cover_is_of_the_same_blocks_everywhere() {
    let mut cpu = gpu();
    (cpu.max_block, cpu.max_block_threads, cpu.warp) = ([1 << 20; 3], 1 << 20, 1);
    for (extent, block, whole) in [
        ([1000, 1, 1], [256, 1, 1], [1024, 1, 1]),
        ([100, 1, 1], [128, 1, 1], [128, 1, 1]),
        ([1, 1, 1], [32, 1, 1], [32, 1, 1]),
        ([70, 5, 1], [32, 5, 1], [96, 5, 1]),
        ([9, 9, 9], [32, 4, 2], [32, 12, 10]),
    ] {
        for (info, host) in [
            (gpu(), None),
            (cpu.clone(), Some(host(1))),
            (cpu.clone(), Some(row_wise(1000))),
            (DeviceInfo { warp: 8, ..gpu() }, None),
        ] {
            let cover = Shape::Cover(Dims(extent));
            let space = cover.space((None, false), None, &info, host).unwrap();
            assert_eq!((space.block, space.extent), (block, whole), "{extent:?}");
            let serial = cover.space((None, true), None, &info, None).unwrap();
            assert_eq!((serial.block, serial.extent), ([1; 3], whole), "{extent:?}");
        }
    }
    let small = DeviceInfo {
        max_block_threads: 64,
        ..gpu()
    };
    let cover = Shape::Cover(Dims([1000, 1, 1]));
    let error = cover.space((None, false), None, &small, None).unwrap_err();
    assert!(error.contains("too large"), "{error}");
}

#[test]
fn host_devices_get_rows_and_tiles() {
    let mut info = gpu();
    (info.max_block, info.max_block_threads) = ([1 << 20; 3], 1 << 20);
    for (extent, block, grid) in [
        ([10_000, 1, 1], [4096, 1, 1], [3, 1, 1]),
        ([10_000, 3, 1], [256, 3, 1], [40, 1, 1]),
        ([100, 33, 2], [100, 16, 1], [1, 3, 2]),
    ] {
        let light = Some(host(1));
        let space = Shape::Over(Dims(extent))
            .space((None, false), None, &info, light)
            .unwrap();
        assert_eq!((space.block, space.grid), (block, grid));
    }
    for (cost, extent, block) in [
        (1, [10_000, 1, 1], [4096, 1, 1]),
        (1, [10_000, 3, 1], [4096, 1, 1]),
        (1, [4096, 4096, 1], [4096, 1, 1]),
        (1, [100, 100, 1], [100, 40, 1]),
        (1, [1, 100, 100], [1, 100, 1]),
        (1000, [100, 400, 1], [100, 25, 1]),
    ] {
        let light = Some(row_wise(cost));
        let space = Shape::Over(Dims(extent))
            .space((None, false), None, &info, light)
            .unwrap();
        assert_eq!(space.block, block, "cost {cost}, {extent:?}");
    }
}

#[test]
fn every_core_of_a_host_device_gets_blocks_if_they_are_worth_it() {
    let mut info = gpu();
    (info.max_block, info.max_block_threads) = ([1 << 20; 3], 1 << 20);
    info.compute_units = 8;
    for (cost, extent, block) in [
        (1, [4096, 1, 1], [4096, 1, 1]),
        (10, [1 << 24, 1, 1], [4096, 1, 1]),
        (1000, [4096, 1, 1], [128, 1, 1]),
        (1000, [1 << 15, 1, 1], [256, 1, 1]),
        (1 << 20, [500, 1, 1], [32, 1, 1]),
        (u32::MAX, [5, 1, 1], [5, 1, 1]),
        (1000, [32, 1, 128], [32, 1, 1]),
        (1000, [1024, 1024, 1], [256, 16, 1]),
        (1000, [128, 128, 1], [128, 4, 1]),
        (1, [128, 128, 1], [128, 16, 1]),
    ] {
        let heavy = Some(host(cost));
        let space = Shape::Over(Dims(extent))
            .space((None, false), None, &info, heavy)
            .unwrap();
        assert_eq!(space.block, block, "cost {cost}, {extent:?}");
    }
    let wide =
        Shape::Over(Dims([1000, 8, 1])).space((None, false), None, &info, Some(row_wise(1000)));
    assert_eq!(wide.unwrap().block, [128, 1, 1]);
}

#[test]
fn blocks_that_copy_elements_are_tall() {
    let mut info = gpu();
    (info.max_block, info.max_block_threads) = ([1 << 20; 3], 1 << 20);
    for (units, extent, block) in [
        (1, [512, 512, 1], [64, 128, 1]),
        (16, [512, 512, 1], [64, 64, 1]),
        (16, [2048, 2048, 1], [64, 128, 1]),
        (1, [40, 9, 1], [40, 2, 1]),
        (1, [300, 1, 1], [96, 1, 1]),
    ] {
        info.compute_units = units;
        let tall = Host {
            tall: true,
            ..host(1000)
        };
        let space = Shape::Over(Dims(extent)).space((None, false), None, &info, Some(tall));
        assert_eq!(space.unwrap().block, block, "{units}, {extent:?}");
    }
}

#[test]
fn malformed_shapes_are_refused() {
    let grid = |grid, block| Shape::Grid {
        grid: Dims(grid),
        block: Dims(block),
    };
    let check = |shape: Shape| shape.check(None);
    assert!(
        check(grid([1, 1, 1], [32, 0, 1]))
            .unwrap_err()
            .contains("no threads")
    );
    assert!(
        check(grid([1, 1, 1], [1 << 40, 1, 1]))
            .unwrap_err()
            .contains("larger than")
    );
    for huge in [
        Shape::Over(Dims([1 << 40, 1 << 40, 1])),
        grid([usize::MAX, 1, 1], [2, 1, 1]),
        grid([1 << 40, 1 << 20, 1], [32, 1, 1]),
    ] {
        assert!(check(huge).unwrap_err().contains("64 bits"), "{huge:?}");
    }
    // Only the block makes it overflow, which is known when the block size is chosen.
    let cover = Shape::Cover(Dims([usize::MAX, 1, 1]));
    check(cover).unwrap();
    assert!(
        cover
            .space((None, false), None, &gpu(), None)
            .unwrap_err()
            .contains("64 bits")
    );
    let large = grid([1, 1, 1], [2048, 1, 1]).space((None, false), None, &gpu(), None);
    assert!(large.unwrap_err().contains("at most 1024 threads"));
}

#[test]
fn a_grid_within_limits_is_not_folded() {
    assert_eq!(
        physical_grid([65535, 65535, 1], [65535; 3]),
        Some([65535, 65535, 1])
    );
}

#[test]
fn folding_covers_the_grid_and_wastes_little() {
    for (grid, max) in [
        ([65536, 1, 1], [65535; 3]),
        ([1, 65536, 1], [u32::MAX, 65535, 65535]),
        ([1, 1, 1 << 33], [65535; 3]),
        ([1 << 20, 1 << 20, 3], [65535; 3]),
        ([7, 11, 13], [3, 5, 100]),
        ([1 << 40, 1, 1], [1 << 31, 65535, 65535]),
    ] {
        let physical = physical_grid(grid, max).unwrap();
        assert!(
            (0..3).all(|i| (1..=max[i]).contains(&physical[i])),
            "{physical:?}"
        );
        let started: u128 = physical.iter().map(|&p| u128::from(p)).product();
        let wanted: u128 = grid.iter().map(|&g| u128::from(g)).product();
        assert!(started >= wanted, "{grid:?} -> {physical:?}");
        let slack = u128::from(physical[1]) * u128::from(physical[2]);
        assert!(started - wanted < 2 * slack, "{grid:?} -> {physical:?}");
    }
}

#[test]
fn folding_gives_up_past_the_devices_capacity() {
    assert_eq!(physical_grid([1 << 60, 1, 1], [65535; 3]), None);
    assert_eq!(physical_grid([27 * 65, 1, 1], [3, 5, 9]), None);
}
