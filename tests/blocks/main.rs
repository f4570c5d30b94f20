//! Kernels with barriers: compares the native device, whose bodies are split into regions at barriers,
//! with the interpreter, which suspends each thread there.

#![deny(warnings)]

mod shaped;
mod shapes;

use sarek::prelude::*;

/// Runs a launch with an output of `n` elements on both devices, and compares the results.
fn agree<T: sarek::Element + PartialEq + std::fmt::Debug + From<u8>>(
    what: &str,
    n: usize,
    launch: impl Fn(&mut Vector<T>, &Device) -> sarek::Result<()>,
) -> Vec<T> {
    let outcome = |backend: &str| {
        let device = Device::of(backend).expect("built in");
        let mut out = Vector::filled(n, T::from(77));
        launch(&mut out, &device).unwrap_or_else(|why| panic!("{what} on {backend}: {why}"));
        out.to_vec()
            .unwrap_or_else(|why| panic!("{what} on {backend}: {why}"))
    };
    let (expected, got) = (outcome("interpreter"), outcome("native"));
    assert_eq!(got, expected, "{what}");
    assert!(
        expected.iter().any(|v| *v != T::from(77)),
        "{what}: nothing"
    );
    got
}

#[kernel]
fn reversed(x: &[u32], out: &mut [u32]) {
    let tile = shared_array::<u32, 64>();
    let t = thread_idx_x();
    let kept = x[global_idx_x()] * 3;
    tile[t] = kept;
    barrier();
    out[global_idx_x()] = tile[block_dim_x() - 1 - t] + kept;
}

#[kernel]
fn tree(x: &[u32], out: &mut [u32]) {
    let tile = shared_array::<u32, 64>();
    let t = thread_idx_x();
    tile[t] = x[global_idx_x()];
    barrier();
    let mut half = block_dim_x() / 2;
    while half > 0 {
        if t < half {
            tile[t] += tile[t + half];
        }
        barrier();
        half /= 2;
    }
    if t == 0 {
        out[block_idx_x()] = tile[0];
    }
}

#[kernel(block = (8, 4))]
fn fixed(x: &[u32], out: &mut [u32]) {
    let tile = shared_array::<[u32; 8], 4>();
    let tx = thread_idx_x();
    let ty = thread_idx_y();
    let at = global_idx_y() * global_dim_x() + global_idx_x();
    let mut sums = [0u32; 3];
    for k in 0..3u32 {
        tile[ty][tx] = x[at] + k;
        barrier();
        sums[k as usize] = tile[(ty + 1) % 4][7 - tx];
        barrier();
    }
    out[at] = sums[0] * 10000 + sums[1] * 100 + sums[2];
}

#[kernel]
fn early(n: usize, x: &[u32], out: &mut [u32]) {
    let tile = shared_array::<u32, 64>();
    let t = thread_idx_x();
    tile[t] = 1000;
    if x[global_idx_x()] % 3 == 0 {
        out[global_idx_x()] = 5;
        return;
    }
    let mut sum = 0;
    for k in 0..n {
        barrier();
        tile[t] = x[global_idx_x()] + k as u32;
        barrier();
        if tile[t] % 5 == 0 {
            out[global_idx_x()] = sum;
            return;
        }
        sum += tile[(t + 1) % block_dim_x()];
    }
    barrier();
    out[global_idx_x()] = sum + 1;
}

#[kernel]
fn skips(n: usize, x: &[u32], out: &mut [u32]) {
    let tile = shared_array::<u32, 64>();
    let t = thread_idx_x();
    let mut sum = 0;
    let mut turns = 0;
    while turns < n {
        if turns == 3 && n > 7 {
            break;
        }
        turns += 1;
        tile[t] = x[global_idx_x()] + sum;
        barrier();
        let near = tile[t ^ 1];
        barrier();
        if n % 2 == 1 {
            barrier();
            if near % 3 == 0 {
                continue;
            }
            sum += 1;
        }
        sum += near;
    }
    out[global_idx_x()] = sum;
}

#[kernel]
fn ends(x: &[u32], out: &mut [u32]) {
    barrier();
    barrier();
    let mut last = 0;
    for outer in 0..3 {
        for inner in 0..2 {
            barrier();
            last = x[global_idx_x()] + outer * 10 + inner;
            barrier();
        }
        if outer == 1 {
            barrier();
        } else {
            last += 1;
        }
    }
    out[global_idx_x()] = last;
    barrier();
}

#[kernel]
fn guarded(x: &[u32], out: &mut [u32]) {
    let tile = shared_array::<u32, 1024>();
    let i = global_idx_x();
    let t = thread_idx_x();
    tile[t] = 3;
    barrier();
    if i >= x.len() {
        return;
    }
    tile[t] = x[i];
    let before = x[block_idx_x() * block_dim_x()];
    barrier();
    let mut near = before;
    if t > 0 {
        near += tile[t - 1];
    }
    out[i] = near;
}

#[kernel]
fn sized(n: usize, x: &[u32], out: &mut [u32]) {
    let tile = shared_slice::<u32>(n + block_dim_x());
    let flags = shared_array::<Atomic<u32>, 4>();
    let t = thread_idx_x();
    if t < 4 {
        flags[t].store(0);
    }
    tile[t + n] = x[global_idx_x()];
    barrier();
    flags[(tile[t + n] % 4) as usize].fetch_add(t as u32 + 1);
    flags[3].fetch_max(2);
    barrier();
    out[global_idx_x()] = flags[t % 4].load() * 100 + tile[n + (t + 5) % block_dim_x()];
}

#[kernel]
fn subgroups(x: &[u32], out: &mut [u32]) {
    let t = thread_idx_x();
    let v = x[global_idx_x()];
    let all = subgroup_sum(v);
    let mut some = 7;
    if v % 3 != 0 {
        some = subgroup_max(v) + subgroup_exclusive_sum(1u32);
        if t % 2 == 0 {
            some += subgroup_shuffle_down(v, 2) * 10;
        }
    }
    let mut k = 0;
    while k < v % 4 {
        k += 1;
        some += subgroup_inclusive_sum(k);
        if subgroup_any(some % 7 == 0) {
            continue;
        }
        some += 1;
    }
    for i in 0..t % 3 {
        some += subgroup_min(i as u32 + v);
    }
    out[global_idx_x()] = all + some;
}

#[kernel]
fn histogram(x: &[u32], bins: &[Atomic<u32>]) {
    let i = global_idx_x();
    if i < x.len() {
        bins[(x[i] % 8) as usize].fetch_add(x[i]);
    }
}

fn input(n: usize) -> Vector<u32> {
    Vector::from_vec((0..n as u32).map(|i| i * 37 % 101).collect())
}

#[test]
fn sums_are_right() {
    let x = input(256);
    let sums = agree("tree", 4, |out, device| {
        tree(&x, out).grid(4).block(64).run_on(device)
    });
    let expected: Vec<u32> = x
        .as_slice()
        .unwrap()
        .chunks(64)
        .map(|c| c.iter().sum())
        .collect();
    assert_eq!(sums, expected);
}

#[test]
fn all_agree() {
    for block in [1, 2, 16, 33, 64] {
        for n in [block, 3 * block] {
            let x = input(n);
            let check =
                |what: &str, launch: &dyn Fn(&mut Vector<u32>, &Device) -> sarek::Result<()>| {
                    agree(&format!("{what}, {n} in blocks of {block}"), n, launch);
                };
            check("reversed", &|out, d| {
                reversed(&x, out).grid(n / block).block(block).run_on(d)
            });
            check("sized", &|out, d| {
                sized(3, &x, out).grid(n / block).block(block).run_on(d)
            });
            for k in [0, 1, 4, 9] {
                check("early", &|out, d| {
                    early(k, &x, out).grid(n / block).block(block).run_on(d)
                });
                if block % 2 == 0 {
                    check("skips", &|out, d| {
                        skips(k, &x, out).grid(n / block).block(block).run_on(d)
                    });
                }
            }
            check("ends", &|out, d| {
                ends(&x, out).grid(n / block).block(block).run_on(d)
            });
            check("subgroups", &|out, d| {
                subgroups(&x, out).grid(n / block).block(block).run_on(d)
            });
        }
    }
}

/// Threads beyond the end of the data return before the barriers.
#[test]
fn ragged_blocks_agree() {
    for n in [1, 5, 100, 1000] {
        let x = input(n);
        agree("guarded", n, |out, device| {
            guarded(&x, out)
                .grid(n.div_ceil(256))
                .block(256)
                .run_on(device)
        });
    }
}

#[test]
fn fixed_blocks_agree() {
    for n in [8, 16, 24] {
        let x = input(n * 8);
        agree("fixed", n * 8, |out, device| {
            fixed(&x, out).grid((n / 8, 2)).run_on(device)
        });
    }
}

#[test]
fn global_atomics_agree() {
    let x = input(1000);
    let bins = |backend: &str| {
        let device = Device::of(backend).unwrap();
        let mut bins = Vector::<u32>::zeros(8);
        histogram(&x, &mut bins).over(1000).run_on(&device).unwrap();
        bins.to_vec().unwrap()
    };
    assert_eq!(bins("native"), bins("interpreter"));
    assert_eq!(
        bins("native").iter().sum::<u32>(),
        x.as_slice().unwrap().iter().sum()
    );
}

#[kernel]
fn reaches(at: usize, x: &[u32], out: &mut [u32]) {
    let tile = shared_array::<u32, 64>();
    let t = thread_idx_x();
    tile[t] = x[global_idx_x()];
    barrier();
    let mut sum = 0;
    for k in 0..4u32 {
        // One thread indexes out of bounds in the third iteration.
        if k == 2 && global_idx_x() == at {
            sum += tile[64 + t];
        }
        barrier();
        sum += tile[t] / (at as u32 + 1);
    }
    out[global_idx_x()] = sum;
}

#[kernel]
fn shaped_reach(n: usize, at: usize, x: &[u32], out: &mut [u32]) {
    let i = global_idx_x();
    if i < out.len() {
        let mut sum = 0;
        for k in 0..n {
            let far = if i == at && k == 2 {
                x[(x[0] + 100) as usize] as usize * 10
            } else {
                k
            };
            sum += x[far];
        }
        out[i] = sum;
    }
}

/// Faults after a barrier and in a strip report the same source location, index and thread on both devices.
#[test]
fn faults_are_the_same() {
    let x = input(256);
    let of = |launch: &dyn Fn(&mut Vector<u32>, &Device) -> sarek::Result<()>, backend: &str| {
        let device = Device::of(backend).unwrap();
        let mut out = Vector::<u32>::zeros(256);
        let why = launch(&mut out, &device).expect_err("it reaches too far");
        why.to_string()
    };
    for at in [0, 70, 255] {
        let behind: &dyn Fn(&mut Vector<u32>, &Device) -> sarek::Result<()> =
            &|out, d| reaches(at, &x, out).grid(4).block(64).run_on(d);
        let strip: &dyn Fn(&mut Vector<u32>, &Device) -> sarek::Result<()> =
            &|out, d| shaped_reach(4, at, &x, out).over(256).run_on(d);
        for launch in [behind, strip] {
            let expected = of(launch, "interpreter");
            assert!(expected.contains(&format!("{at}")), "{expected}");
            assert_eq!(of(launch, "native"), expected);
        }
    }
}

#[kernel]
fn gathered(width: usize, at: &[u32], x: &[u32], out: &mut [u32]) {
    let (i, j) = (global_idx_x(), global_idx_y());
    if i < width {
        let own = j * width + i;
        out[own] = x[at[own] as usize];
    }
}

/// Threads that do not see their blocks may run in others, and are named as the launch numbers them.
#[test]
fn a_fault_names_the_thread_of_the_launch() {
    let (width, height) = (37, 24);
    let mut at = vec![3; width * height];
    at[19 * width + 33] = 8;
    let (at, x) = (Vector::from_vec(at), input(8));
    for backend in ["native", "interpreter"] {
        let device = Device::of(backend).expect("built in");
        let mut out = Vector::zeros(width * height);
        let launch = gathered(width, &at, &x, &mut out)
            .grid((5, 3))
            .block((8, 8));
        let done = launch.run_on(&device).and_then(|()| out.to_vec());
        let Err(sarek::Error::Fault(fault)) = done else {
            panic!("{backend}: {done:?}");
        };
        assert_eq!(fault.thread, [33, 19, 0], "{backend}: {fault}");
        let is_index = matches!(fault.kind, sarek::FaultKind::Index { index: 8, .. });
        assert!(is_index, "{backend}: {fault}");
    }
}
