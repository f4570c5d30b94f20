//! Graphs on every device: a replay computes, prints and reports the same as its operations one by one.

use std::sync::Mutex;

use sarek::prelude::*;
use sarek::{Element, Error, Result};

#[kernel]
fn smooth(rate: f32, from: &[f32], to: &mut [f32]) {
    let i = global_idx_x();
    if i > 0 && i + 1 < from.len() {
        to[i] = from[i] + rate * (from[i - 1] - 2.0 * from[i] + from[i + 1]);
    }
}

#[kernel(block = 64)]
fn block_sums(from: &[f32], sums: &mut [f32]) {
    let sum = shared_array::<f32, 64>();
    let t = thread_idx_x();
    sum[t] = from[global_idx_x()];
    barrier();
    if t == 0 {
        let mut total = 0.0;
        for k in 0..64 {
            total += sum[k];
        }
        sums[block_idx_x()] = total;
    }
}

#[kernel]
fn gather(index: &[u32], from: &[f32], to: &mut [f32]) {
    let i = global_idx_x();
    to[i] = from[index[i] as usize];
}

#[kernel]
fn tell(x: &[u32]) {
    println!("x = {}", x[global_idx_x()]);
}

const N: usize = 256;

fn step(field: &mut [f32], next: &mut [f32]) {
    for i in 1..field.len() - 1 {
        next[i] = field[i] + 0.25 * (field[i - 1] - 2.0 * field[i] + field[i + 1]);
    }
    field.copy_from_slice(next);
}

#[test]
fn replays_give_the_results_of_their_operations() -> Result<()> {
    for device in Device::all() {
        let start: Vec<f32> = (0..N).map(|i| ((i * 37) % 64) as f32).collect();
        let (mut expected, mut due_next) = (start.clone(), vec![0.0; N]);
        let mut field = Vector::from_vec(start);
        let (mut next, mut sums) = (Vector::zeros(N), Vector::filled(N / 64, -1.0));
        let mut recording = device.record_graph();
        recording.fill(&mut sums, 5.0)?;
        recording.launch(smooth(0.25, &field, &mut next).over(N))?;
        recording.copy(&mut field, 0, &next, ..)?;
        recording.launch(block_sums(&field, &mut sums).grid(N / 64))?;
        let graph = recording.finish();
        let streams = [device.stream(), device.new_stream()?];
        for round in 0..20 {
            let stream = &streams[round / 3 % 2];
            drop(graph.replay_on(stream, (&mut field, &mut next, &mut sums))?);
            step(&mut expected, &mut due_next);
            if round % 7 == 0 {
                // The host writes one element between replays.
                field.set(round + 5, 9.0)?;
                expected[round + 5] = 9.0;
            }
        }
        assert_eq!(field.to_vec()?, expected, "{graph:?}");
        graph.replay((&mut field, &mut next, &mut sums))?;
        step(&mut expected, &mut due_next);
        let expected: Vec<f32> = expected
            .chunks(64)
            .map(|block| block.iter().sum())
            .collect();
        assert_eq!(sums.to_vec()?, expected, "{graph:?}");
        assert_eq!(
            device.backend() == "cuda",
            format!("{graph:?}").contains("as one launch")
        );
    }
    Ok(())
}

#[test]
fn each_replay_is_checked() -> Result<()> {
    for device in Device::all() {
        let from = Vector::filled(4, 2.0);
        let (mut index, mut to) = (Vector::zeros(4), Vector::zeros(4));
        let mut recording = device.record_graph();
        recording.launch(gather(&index, &from, &mut to).over(4))?;
        let graph = recording.finish();
        for round in 0..6u32 {
            index.fill(2 + round)?;
            let stream = device.new_stream()?;
            let event = graph.replay_on(&stream, (&index, &from, &mut to));
            let outcome = event.and_then(|event| event.sync());
            match round {
                0 | 1 => {
                    outcome?;
                    assert_eq!(to.to_vec()?, [2.0; 4]);
                }
                _ => {
                    assert!(
                        matches!(outcome, Err(Error::Fault(_))),
                        "{device}: {outcome:?}"
                    );
                    assert!(matches!(to.to_vec(), Err(Error::Fault(_))));
                    to.fill(0.0)?;
                }
            }
            device.sync()?;
        }
    }
    Ok(())
}

#[test]
fn each_replay_prints() -> Result<()> {
    static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());
    sarek::set_output(|line| LINES.lock().expect("no test panics").push(line.to_owned()));
    for device in Device::all() {
        let mut x = Vector::filled(1, 1);
        let mut recording = device.record_graph();
        recording.launch(tell(&x).over(1))?;
        let graph = recording.finish();
        for round in 0..3 {
            x.set(0, 10 + round)?;
            graph.replay(&x)?;
        }
        // Other streams are not synchronised, since they may have faults of another test.
        device.stream().sync()?;
        let lines: String = std::mem::take(&mut *LINES.lock().expect("no test panics")).concat();
        let lines: Vec<&str> = lines.split_terminator('\n').collect();
        assert_eq!(lines, ["x = 10", "x = 11", "x = 12"], "{device}");
    }
    sarek::reset_output();
    Ok(())
}

#[kernel(requires(at < 8))]
fn shifted(at: u32, factor: f32, from: &[f32], to: &mut [f32]) {
    let i = global_idx_x();
    to[i] = factor * from[i + at as usize];
}

#[kernel]
fn scaled<T: Float>(factor: T, negate: bool, to: &mut [T]) {
    let i = global_idx_x();
    to[i] = if negate {
        -factor * to[i]
    } else {
        factor * to[i]
    };
}

#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Pair {
    a: f32,
    b: f32,
}

#[kernel]
fn affine(pair: Pair, to: &mut [f32]) {
    let i = global_idx_x();
    to[i] = pair.a * to[i] + pair.b;
}

#[test]
fn scalars_are_set_between_replays() -> Result<()> {
    for device in Device::all() {
        let from: Vec<f32> = (0..20).map(|i| i as f32).collect();
        let from = Vector::from_vec(from);
        let (mut to, mut sums) = (Vector::zeros(16), Vector::filled(16, 2.0f32));
        let mut recording = device.record_graph();
        recording.launch(shifted(0, 1.0, &from, &mut to).over(16))?;
        recording.launch(scaled(2.0, false, &mut to).over(16))?;
        recording.launch(affine(Pair { a: 1.0, b: 0.5 }, &mut sums).over(16))?;
        recording.launch(scaled(3.0, false, &mut sums).over(16))?;
        let mut graph = recording.finish();
        let mut third = |graph: &sarek::Graph| -> Result<(f32, f32)> {
            sums.fill(2.0)?;
            graph.replay((&from, &mut to, &mut sums))?;
            Ok((to.get(3)?, sums.get(3)?))
        };
        assert_eq!(third(&graph)?, (6.0, 7.5), "{device}");
        // A float of one kernel, of one launch, and of all kernels with a scalar of this name.
        graph.set_scalar("shifted.factor", 10.0f32)?;
        assert_eq!(third(&graph)?, (60.0, 7.5), "{device}");
        graph.set_scalar_of(1, "factor", 1.0f32)?;
        assert_eq!(third(&graph)?, (30.0, 7.5), "{device}");
        graph.set_scalar("factor", 2.0f32)?;
        assert_eq!(third(&graph)?, (12.0, 5.0), "{device}");
        graph.set_scalar_of(3, "negate", true)?;
        assert_eq!(third(&graph)?, (12.0, -5.0), "{device}");
        // A scalar on which the proof of accesses depends.
        graph.set_scalar("at", 4u32)?;
        assert_eq!(third(&graph)?, (28.0, -5.0), "{device}");
        graph.set_scalar("at", 5u32)?;
        let lost = third(&graph);
        assert!(matches!(lost, Err(Error::Fault(_))), "{device}: {lost:?}");
        let _reported = device.sync();
        // A value that violates the kernel's precondition is refused, and changes nothing.
        let refused = graph.set_scalar("at", 8u32);
        assert!(
            matches!(refused, Err(Error::Precondition { .. })),
            "{device}: {refused:?}"
        );
        graph.set_scalar("at", 1u32)?;
        // Overwrites the vectors that the fault poisoned.
        to.fill(0.0)?;
        sums.fill(2.0)?;
        graph.replay((&from, &mut to, &mut sums))?;
        assert_eq!((to.get(3)?, sums.get(3)?), (16.0, -5.0), "{device}");
        let text = |result: Result<()>| result.expect_err("it is refused").to_string();
        let wrong = text(graph.set_scalar("factor", 1.0f64));
        assert!(
            wrong.contains("`factor` of `shifted` is f32, not f64"),
            "{wrong}"
        );
        for unknown in ["pair", "a", "from", "rate", "scaled.at"] {
            let wrong = text(graph.set_scalar(unknown, 1.0f32));
            assert!(
                wrong.contains("scaled.factor, scaled.negate, shifted.at"),
                "{wrong}"
            );
        }
    }
    Ok(())
}

#[derive(Clone, Copy, KernelType)]
#[repr(u32)]
enum Choice {
    First,
    Second,
}

#[kernel]
fn choose(e: Choice, e_tag: u32, to: &mut [u32]) {
    let i = global_idx_x();
    let chosen = match e {
        Choice::First => 10,
        Choice::Second => 20,
    };
    to[i] = chosen + e_tag;
}

#[derive(Clone, Copy, KernelType)]
#[repr(C, align(64))]
struct Wide {
    x: u32,
}

#[kernel]
fn widened(p: Wide, p_x: u32, to: &mut [u32]) {
    let i = global_idx_x();
    to[i] = p.x + p_x;
}

/// The extents, the offset and the strides of its view are separate parameters of the linked kernel.
#[kernel]
fn viewed(from: View2<u32>, rows: u32, to: &mut [u32]) {
    let i = global_idx_x();
    if i < from.rows() {
        to[i] = from[[i, 0]] + rows;
    }
}

#[kernel]
fn all_of<T: Element>(value: T, value_x: u32, to: &mut [T], sums: &mut [u32]) {
    let i = global_idx_x();
    to[i] = value;
    sums[i] = value_x;
}

/// The linker's names for the parts of a value may equal the name of a scalar. Only the scalar is set, whichever comes first.
#[test]
fn parts_of_values_are_no_scalars() -> Result<()> {
    for device in Device::all() {
        let mut to = Vector::<u32>::zeros(4);
        let mut recording = device.record_graph();
        recording.launch(choose(Choice::Second, 0, &mut to).over(4))?;
        let mut graph = recording.finish();
        graph.set_scalar("e_tag", 0x0100_0000u32)?;
        graph.replay(&mut to)?;
        assert_eq!(to.get(3)?, 0x0100_0000 + 20, "{device}");
        let mut recording = device.record_graph();
        recording.launch(widened(Wide { x: 1 }, 2, &mut to).over(4))?;
        let mut graph = recording.finish();
        graph.set_scalar("p_x", 9u32)?;
        graph.replay(&mut to)?;
        assert_eq!(to.get(3)?, 10, "{device}");
        // A generic value that is a scalar in one instance and a struct in another.
        let mut sums = Vector::<u32>::zeros(4);
        let mut recording = device.record_graph();
        recording.launch(all_of(7u32, 1, &mut to, &mut sums).over(4))?;
        let mut graph = recording.finish();
        graph.set_scalar("value", 8u32)?;
        graph.replay((&mut to, &mut sums))?;
        assert_eq!((to.get(3)?, sums.get(3)?), (8, 1), "{device}");
        let mut wide = Vector::filled(4, Wide { x: 0 });
        let mut recording = device.record_graph();
        recording.launch(all_of(Wide { x: 7 }, 1, &mut wide, &mut sums).over(4))?;
        let mut graph = recording.finish();
        assert!(graph.set_scalar("value", 8u32).is_err());
        graph.set_scalar("value_x", 2u32)?;
        graph.replay((&mut wide, &mut sums))?;
        assert_eq!((wide.get(3)?.x, sums.get(3)?), (7, 2), "{device}");
    }
    Ok(())
}

#[test]
fn parts_of_views_are_no_scalars() -> Result<()> {
    for device in Device::all() {
        let (from, mut to) = (Vector::filled(4, 1u32), Vector::<u32>::zeros(64));
        let mut recording = device.record_graph();
        recording.launch(viewed(from.view2(4, 1)?, 0, &mut to).over(64))?;
        let mut graph = recording.finish();
        let parts = ["rows", "cols", "offset", "row_stride", "col_stride"];
        for part in parts {
            let refused = graph.set_scalar(&format!("from_{part}"), 1usize << 20);
            let refused = refused.expect_err(part).to_string();
            assert!(
                refused.contains("there are viewed.rows"),
                "{device}: {refused}"
            );
        }
        graph.set_scalar("rows", 5u32)?;
        graph.replay((&from, &mut to))?;
        assert_eq!((to.get(3)?, to.get(4)?), (6, 0), "{device}");
    }
    Ok(())
}

/// # Safety
/// `at` is below the length.
#[kernel]
unsafe fn put(at: usize, to: &mut [u32]) {
    if global_idx_x() == 0 {
        // SAFETY: the caller guarantees that `at` is below the length.
        unsafe { *to.get_unchecked_mut(at) = 1 };
    }
}

/// Safe code cannot change a scalar for which the caller of an `unsafe` kernel has vouched.
#[test]
fn scalars_of_unsafe_calls_take_unsafe() -> Result<()> {
    for device in Device::all() {
        let mut to = Vector::<u32>::zeros(4);
        let mut recording = device.record_graph();
        // SAFETY: there are four.
        recording.launch(unsafe { put(3, &mut to) }.over(1))?;
        recording.launch(choose(Choice::First, 0, &mut to).over(0))?;
        let mut graph = recording.finish();
        for refused in [
            graph.set_scalar("at", 1_000_000_000usize),
            graph.set_scalar_of(0, "put.at", 1_000_000_000usize),
        ] {
            let refused = refused.expect_err("it is for the caller to vouch for");
            assert!(
                matches!(refused, Error::Graph { .. }),
                "{device}: {refused}"
            );
            assert!(
                refused
                    .to_string()
                    .contains("`put` was called in an `unsafe` block"),
                "{refused}"
            );
        }
        graph.replay(&mut to)?;
        // SAFETY: there are four.
        unsafe { graph.raw_set_scalar("at", 1usize) }?;
        graph.replay(&mut to)?;
        // SAFETY: there are four.
        unsafe { graph.raw_set_scalar_of(0, "at", 0usize) }?;
        graph.replay(&mut to)?;
        assert_eq!(to.to_vec()?, [1, 1, 0, 1], "{device}");
        // SAFETY: it returns an error and changes nothing.
        let typed = unsafe { graph.raw_set_scalar("at", 0u32) };
        assert!(
            typed
                .expect_err("its type")
                .to_string()
                .contains("usize, not u32")
        );
    }
    Ok(())
}

/// Elements with padding bytes are filled like any other.
#[test]
fn elements_with_padding_are_filled() -> Result<()> {
    #[derive(Clone, Copy, Debug, PartialEq, KernelType)]
    #[repr(C, u32)]
    enum Maybe {
        None,
        Some(u64),
    }
    for device in Device::all() {
        let mut to = Vector::from_vec(vec![Maybe::None; 4]);
        let mut recording = device.record_graph();
        recording.fill(&mut to, Maybe::Some(3))?;
        recording.finish().replay(&mut to)?;
        assert_eq!(to.to_vec()?, [Maybe::Some(3); 4], "{device}");
    }
    Ok(())
}
