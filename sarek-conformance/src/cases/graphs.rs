//! A recorded graph, replayed many times, does the same as its launches and copies one by one.

use crate::Case;
use crate::check::{Check, ensure, expect, sentinel_filled};
use crate::input::{Random, SIZES, Sample};
use sarek::prelude::*;
use sarek::{Error, Graph};

pub const CASES: &[Case] = &[
    Case::new("graphs/replay", &[], replay),
    Case::new("graphs/fault", &[], fault),
];

#[kernel]
fn mix(factor: i32, from: &[i32], to: &mut [i32]) {
    let i = global_idx_x();
    to[i] = to[i].wrapping_mul(factor).wrapping_add(from[i]);
}

#[kernel]
fn pick(index: &[u32], from: &[i32], to: &mut [i32]) {
    let i = global_idx_x();
    to[i] = from[index[i] as usize];
}

fn recorded(
    device: &Device,
    x: &mut Vector<i32>,
    y: &mut Vector<i32>,
    z: &mut Vector<i32>,
) -> sarek::Result<Graph> {
    let n = x.len();
    let mut recording = device.record_graph();
    recording.launch(mix(3, x, y).over(n))?;
    recording.copy(z, 1, y, ..)?;
    recording.launch(mix(-7, y, x).over(n))?;
    recording.fill(y, n as i32)?;
    Ok(recording.finish())
}

fn replay(device: &Device) -> Check {
    for n in SIZES {
        let mut random = Random::new(n as u64 + 77);
        let (mut a, mut b): (Vec<i32>, Vec<i32>) = (random.values(n), random.values(n));
        let (mut x, mut y) = (Vector::from_slice(&a), Vector::from_slice(&b));
        let mut z = sentinel_filled(n + 1);
        let graph = recorded(device, &mut x, &mut y, &mut z)?;
        for round in 0..3 {
            let c: Vec<i32> = a
                .iter()
                .zip(&b)
                .map(|(a, b)| b.wrapping_mul(3).wrapping_add(*a))
                .collect();
            a = a
                .iter()
                .zip(&c)
                .map(|(a, c)| a.wrapping_mul(-7).wrapping_add(*c))
                .collect();
            graph.replay((&mut x, &mut y, &mut z))?;
            if round == 1 {
                expect("copied", &z, &[&[i32::SENTINEL], &c[..]].concat())?;
                y.copy_from_slice(&c)?;
                b = c;
            } else {
                b = vec![n as i32; n];
            }
        }
        ensure(x.to_vec()? == a && y.to_vec()? == b, || {
            format!("{n} elements")
        })?;
    }
    Ok(())
}

/// A fault makes every vector that the graph writes unreadable; the next replay is unaffected.
fn fault(device: &Device) -> Check {
    let from = Vector::from_vec(vec![4, 5, 6]);
    let mut index = Vector::from_vec(vec![2u32, 1, 0]);
    let (mut to, mut more) = (sentinel_filled(3), sentinel_filled(3));
    let mut recording = device.record_graph();
    recording.launch(mix(1, &from, &mut more).over(3))?;
    recording.launch(pick(&index, &from, &mut to).over(3))?;
    let graph = recording.finish();
    for bad in [false, true, false] {
        index.set(1, if bad { 3 } else { 1 })?;
        more.fill(0)?;
        to.fill(0)?;
        let outcome = graph.replay((&index, &from, &mut to, &mut more));
        let outcome = outcome.and_then(|()| to.read(..3));
        match (bad, outcome) {
            (false, outcome) => ensure(outcome? == [6, 5, 4], || "picked".into())?,
            (true, Err(Error::Fault(_))) => ensure(more.to_vec().is_err(), || "lost".into())?,
            (true, other) => ensure(false, || {
                format!("a fault was expected, and came {other:?}")
            })?,
        }
    }
    Ok(device.sync()?)
}
