//! Parts of vectors, copies, fills and streams.

use crate::Case;
use crate::check::{Check, ensure};
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("vectors/ranges", &[], ranges),
    Case::new("vectors/copies", &[], copies),
    Case::new("vectors/parts", &[], parts),
    Case::new("vectors/fills", &[], fills),
    Case::new("vectors/memory", &[], memory),
    Case::new("streams/order", &[], order),
    Case::new("streams/events", &[], events),
    Case::new("streams/fault", &[], fault),
];

#[kernel]
fn add(a: i32, x: &[i32], y: &mut [i32]) {
    let i = global_idx_x();
    y[i] = x[i] + y[i] * a;
}

/// Lengths close to the sizes of words, sectors and buffer alignments.
const LENGTHS: [usize; 6] = [1, 3, 64, 67, 1000, 4099];

fn numbers(n: usize) -> Vec<i32> {
    (0..n as i32).map(|i| i * 7 - 1000).collect()
}

/// A vector with these elements that only the device holds.
fn there(device: &Device, elements: &[i32]) -> sarek::Result<Vector<i32>> {
    let mut v = Vector::from_slice(elements);
    let zeros = Vector::zeros(elements.len());
    add(1, &zeros, &mut v).over(elements.len()).run_on(device)?;
    Ok(v)
}

fn same(what: &str, v: &Vector<i32>, expected: &[i32]) -> Check {
    let found = v.to_vec()?;
    let differs = |&i: &usize| found.get(i) != expected.get(i);
    match (0..found.len().max(expected.len())).find(differs) {
        None => Ok(()),
        Some(i) => ensure(false, || {
            let (found, expected) = (found.get(i), expected.get(i));
            format!(
                "{what}: element {i} of {} is {found:?}, not {expected:?}",
                v.len()
            )
        }),
    }
}

/// Reads and writes parts of a vector, at every offset.
fn ranges(device: &Device) -> Check {
    for n in LENGTHS {
        let mut expected = numbers(n);
        let mut v = there(device, &expected)?;
        for at in [0, 1, n / 3, n - 1] {
            let count = (n - at).min(5);
            ensure(v.read(at..at + count)? == expected[at..at + count], || {
                format!("{count} elements read at {at} of {n}")
            })?;
            let new: Vec<i32> = (0..count as i32).map(|i| -i - at as i32).collect();
            v.write(at, &new)?;
            expected[at..at + count].copy_from_slice(&new);
        }
        same("written in part", &v, &expected)?;
    }
    Ok(())
}

/// Copies parts between vectors on the host and on the device.
fn copies(device: &Device) -> Check {
    for n in LENGTHS {
        let from = numbers(n);
        for (source, target) in [(true, true), (true, false), (false, true)] {
            let place = |on_device: bool, elements: &[i32]| match on_device {
                true => there(device, elements),
                false => Ok(Vector::from_slice(elements)),
            };
            let mut expected = vec![5; n + 3];
            let source = place(source, &from)?;
            let mut v = place(target, &expected)?;
            for (at, range) in [(3, 0..n), (0, n / 2..n), (n, 0..1)] {
                v.copy_from(at, &source, range.clone())?;
                expected[at..at + range.len()].copy_from_slice(&from[range]);
            }
            same("copied", &v, &expected)?;
            same("the source", &source, &from)?;
        }
    }
    Ok(())
}

/// Kernels change parts of a vector, and the vector then has the changes.
fn parts(device: &Device) -> Check {
    for n in LENGTHS {
        let mut expected = numbers(n);
        let mut v = there(device, &expected)?;
        let zeros = Vector::zeros(n);
        for (k, part) in v.parts_mut(3)?.iter_mut().enumerate() {
            let len = part.len();
            add(k as i32 + 2, &zeros, part).over(len).run_on(device)?;
        }
        let starts = [0, n.div_ceil(3), n.div_ceil(3) + (n + 1) / 3, n];
        for k in 0..3 {
            let part = &mut expected[starts[k]..starts[k + 1]];
            part.iter_mut().for_each(|x| *x *= k as i32 + 2);
        }
        same("three parts", &v, &expected)?;
        let mut part = v.part_mut(n / 2..)?;
        let len = part.len();
        add(-1, &zeros, &mut part).over(len).run_on(device)?;
        drop(part);
        expected[n / 2..].iter_mut().for_each(|x| *x = -*x);
        same("the second half", &v, &expected)?;
        let gathered = Vector::gather(&v.partition(4)?)?;
        same("gathered", &gathered, &expected)?;
    }
    Ok(())
}

/// A fill keeps its place in the order of its stream.
fn fills(device: &Device) -> Check {
    let stream = device.new_stream()?;
    for n in LENGTHS {
        let ones = Vector::filled(n, 1);
        for value in [0, 7] {
            let mut v = there(device, &numbers(n))?;
            let mut before = Vector::zeros(n);
            add(1, &v, &mut before).over(n).enqueue(&stream)?;
            v.fill_on(&stream, value)?;
            add(3, &ones, &mut v).over(n).enqueue(&stream)?;
            same("before the fill", &before, &numbers(n))?;
            same("behind the fill", &v, &vec![3 * value + 1; n])?;
        }
    }
    Ok(())
}

/// The memory of a dropped vector serves the next one, without its old contents.
fn memory(device: &Device) -> Check {
    for round in 0..50 {
        let n = 1 + round * 997;
        let v = there(device, &vec![round as i32; n])?;
        let mut w = Vector::filled(n, -1);
        add(2, &v, &mut w).over(n).run_on(device)?;
        drop(v);
        same("the next", &w, &vec![round as i32 - 2; n])?;
    }
    Ok(())
}

/// Streams that use the same vectors run their work in the order in which it was queued.
fn order(device: &Device) -> Check {
    let streams = [device.new_stream()?, device.new_stream()?, device.stream()];
    let n = 5000;
    let ones = Vector::filled(n, 1);
    let (mut v, mut w) = (Vector::zeros(n), Vector::zeros(n));
    let (mut expected_v, mut expected_w) = (0i32, 0i32);
    for round in 0..60 {
        let stream = &streams[round * 7 % 3];
        // Read after write, write after read and write after write, each between all pairs of streams.
        match round % 4 {
            0 | 1 => {
                add(3, &ones, &mut v).over(n).enqueue(stream)?;
                expected_v = expected_v.wrapping_mul(3).wrapping_add(1);
            }
            2 => {
                add(2, &v, &mut w).over(n).enqueue(stream)?;
                expected_w = expected_w.wrapping_mul(2).wrapping_add(expected_v);
            }
            _ => {
                add(1, &w, &mut v).over(n).enqueue(stream)?;
                expected_v = expected_v.wrapping_add(expected_w);
                let keep = |x: i32| x % 1000;
                v.map_in_place(keep)?;
                w.map_in_place(keep)?;
                (expected_v, expected_w) = (keep(expected_v), keep(expected_w));
            }
        }
    }
    same("v", &v, &vec![expected_v; n])?;
    same("w", &w, &vec![expected_w; n])
}

/// Events mark points in a stream, order streams and measure time.
fn events(device: &Device) -> Check {
    let [a, b] = [device.new_stream()?, device.new_stream()?];
    let n = 1 << 16;
    let ones = Vector::filled(n, 1);
    let mut v = Vector::zeros(n);
    let start = a.record()?;
    for _ in 0..10 {
        add(1, &ones, &mut v).over(n).enqueue(&a)?;
    }
    let end = a.record()?;
    b.wait(&end)?;
    b.sync()?;
    ensure(end.is_done()? && start.is_done()?, || {
        "`b` did not wait".into()
    })?;
    match end.elapsed(&start) {
        Ok(time) => ensure(time.as_secs() < 3600, || format!("{time:?}"))?,
        Err(sarek::Error::Unsupported { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let all = device.record_all()?;
    all.sync()?;
    ensure(all.is_done()? && a.is_idle()?, || "work is left".into())?;
    same("ten", &v, &vec![10; n])
}

/// A fault is reported once, and the stream goes on.
fn fault(device: &Device) -> Check {
    let stream = device.new_stream()?;
    let (short, ones) = (Vector::filled(9, 1), Vector::filled(10, 1));
    let (mut lost, mut v) = (Vector::zeros(10), Vector::zeros(10));
    let queued = add(1, &short, &mut lost).over(10).enqueue(&stream);
    let told = queued.and_then(|_| {
        // The fault is not yet known: the result of this launch is lost as well.
        add(1, &ones, &mut v).over(10).enqueue(&stream)?;
        stream.sync()
    });
    ensure(matches!(told, Err(sarek::Error::Fault(_))), || {
        format!("told {told:?}")
    })?;
    stream.sync()?;
    ensure(lost.to_vec().is_err(), || "the vector is readable".into())?;
    v.fill(1)?;
    add(1, &ones, &mut v).over(10).enqueue(&stream)?;
    stream.sync()?;
    same("afterwards", &v, &[2; 10])
}
