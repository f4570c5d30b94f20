//! Kernels whose subgroups exchange values, on the native device in strips of complete subgroups and otherwise, give
//! the bits of the interpreter.

use sarek::prelude::*;

/// A loop with constant distances, and a lane of each subgroup that acts alone.
#[kernel(block = 256)]
unsafe fn halves(x: &[f32], sums: &mut [f32]) {
    let parts = shared_array::<f32, 8>();
    let t = thread_idx_x();
    let i = global_idx_x();
    let mut sum = if i < x.len() { x[i] } else { 0.0 };
    let mut step = 16;
    while step > 0 {
        sum += subgroup_shuffle_down(sum, step);
        step /= 2;
    }
    if t % 32 == 0 {
        parts[t / 32] = sum;
    }
    barrier();
    if t < 8 {
        sums[block_idx_x() * 8 + t] = parts[t];
    }
}

/// A counted loop.
#[kernel(block = 64)]
unsafe fn crossed(x: &[f32], sums: &mut [f32]) {
    let i = global_idx_x();
    let mut sum = if i < x.len() { x[i] } else { 0.0 };
    for k in 0..5 {
        sum += subgroup_shuffle_xor(sum, 16 >> k);
    }
    sums[i] = sum;
}

/// The sum of [`crossed`] as one operation.
#[kernel(block = 64)]
unsafe fn summed(x: &[f32], sums: &mut [f32]) {
    let i = global_idx_x();
    sums[i] = subgroup_sum(if i < x.len() { x[i] } else { 0.0 });
}

/// Folds, scans and votes; a distance that the launch gives; a branch on a vote.
#[kernel]
unsafe fn all_kinds(x: &[f32], by: usize, out: &mut [f32]) {
    let i = global_idx_x();
    let v = if i < x.len() { x[i] } else { 1.5 };
    let prefix = subgroup_inclusive_sum(v);
    let before = subgroup_exclusive_sum(v);
    let moved = subgroup_shuffle_up(prefix, by);
    let votes = subgroup_ballot(v > 0.5);
    let mut bits = votes.count_ones() as f32;
    if subgroup_any(v > 0.99) {
        bits += 0.25;
    }
    let most = subgroup_max(v) + subgroup_broadcast(v, 3);
    let all = subgroup_sum(v) * subgroup_product(0.5 + v);
    out[i] = prefix + before * 2.0 + moved + bits + most + all;
}

/// A value that is changed under a condition in an unrolled loop, and read after a barrier.
#[kernel(block = 64)]
unsafe fn scanned(x: &[u32], out: &mut [u32]) {
    let t = thread_idx_x();
    let mut v = x[global_idx_x()];
    let mut step = 1;
    while step < 32 {
        let other = subgroup_shuffle_up(v, step);
        if subgroup_lane() >= step {
            v += other;
        }
        step *= 2;
    }
    barrier();
    let w = subgroup_shuffle(v, (t * 7) % 32);
    out[global_idx_x()] = w ^ subgroup_shuffle_xor(v, 3);
}

/// Steps that outlive the strips: each strip must begin with the same one.
#[kernel(block = 128)]
unsafe fn twice(x: &[u32], out: &mut [u32]) {
    let mut v = x[global_idx_x()];
    let mut step = 1;
    for _ in 0..2 {
        v += subgroup_shuffle_down(v, step);
        step += 1;
    }
    barrier();
    out[global_idx_x()] = v + step as u32;
}

fn results(device: &Device) -> sarek::Result<Vec<Vec<u32>>> {
    let n = 256 * 9 + 77;
    let x: Vec<f32> = (0..n)
        .map(|i| (i * 7919 % 1000) as f32 * 0.001 + 0.0003)
        .collect();
    let x = Vector::from_vec(x);
    let words = Vector::from_vec((0..128 * 19).map(|i: u32| i * 77).collect());
    let bits = |v: Vector<f32>| -> sarek::Result<Vec<u32>> {
        Ok(v.to_vec()?.into_iter().map(f32::to_bits).collect())
    };
    let mut all = vec![];
    let mut out = Vector::zeros(80);
    // SAFETY: the threads of all kernels store to elements of their own.
    unsafe { halves(&x, &mut out) }.cover(n).run_on(device)?;
    all.push(bits(out)?);
    let mut out = Vector::zeros(64 * 38);
    // SAFETY: as above.
    unsafe { crossed(&x, &mut out) }.grid(38).run_on(device)?;
    all.push(bits(out)?);
    let mut out = Vector::zeros(64 * 38);
    // SAFETY: as above.
    unsafe { summed(&x, &mut out) }.grid(38).run_on(device)?;
    all.push(bits(out)?);
    assert_eq!(all[1], all[2], "sums are those of exchanges");
    for (block, by) in [(256, 1), (128, 5), (64, 2), (96, 16), (48, 3)] {
        let mut out = Vector::zeros(256 * 12);
        // SAFETY: as above.
        let launch = unsafe { all_kinds(&x, by, &mut out) };
        launch.grid(256 * 12 / block).block(block).run_on(device)?;
        all.push(bits(out)?);
    }
    let mut out = Vector::zeros(128 * 19);
    // SAFETY: as above.
    unsafe { scanned(&words, &mut out) }
        .grid(38)
        .run_on(device)?;
    all.push(out.to_vec()?);
    // SAFETY: as above.
    unsafe { twice(&words, &mut out) }.grid(19).run_on(device)?;
    all.push(out.to_vec()?);
    Ok(all)
}

#[test]
fn strips_give_the_bits_of_the_interpreter() -> sarek::Result<()> {
    let native = results(&Device::of("native")?)?;
    let due = results(&Device::of("interpreter")?)?;
    for (of, (out, due)) in native.iter().zip(&due).enumerate() {
        assert_eq!(out, due, "result {of}");
    }
    Ok(())
}
