//! Composite values that live across barriers.

use super::barriers::of_each_thread;
use crate::Case;
use crate::check::Check;
use sarek::prelude::*;

pub const CASES: &[Case] = &[
    Case::new("block/structs_across_barriers", &[], structs),
    Case::new("block/tuples_across_barriers", &[], tuples),
    Case::new("block/enums_across_barriers", &[], enums),
    Case::new("block/arrays_of_structs_across_barriers", &[], arrays),
    Case::new("block/values_across_returns", &[], returns),
    Case::new("block/uniform_values_across_barriers", &[], agreed),
    Case::new("block/values_of_arguments_across_barriers", &[], arguments),
];

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C)]
struct State {
    sum: u32,
    recent: [u32; 4],
    weight: f32,
}

#[derive(Clone, Copy, PartialEq, Debug, KernelType)]
#[repr(C, u32)]
enum Step {
    Idle,
    Move { by: u32 },
    Turn(u32, u32),
}

#[device]
fn started(t: u32) -> State {
    State {
        sum: t,
        recent: [t, t + 1, t + 2, t + 3],
        weight: 0.5,
    }
}

#[device]
fn advance(state: &mut State, by: u32) {
    state.sum += by;
    state.recent[(by % 4) as usize] = by;
}

/// A struct returned by a function is changed between barriers, in a loop, and by a function.
#[kernel]
fn structs_kernel(y: &mut [u32]) {
    let line = shared_array::<u32, 1024>();
    let t = thread_idx_x();
    let n = block_dim_x();
    let mut state = started(t as u32);
    let fixed = state;
    line[t] = state.sum;
    barrier();
    for k in 0..state.recent.len() {
        let other = line[(t + k + 1) % n];
        state.recent[k] += other;
        barrier();
        advance(&mut state, other);
        line[t] = state.recent[k] % 64;
        state.weight *= 2.0;
        barrier();
    }
    let mut all = state.sum + state.weight as u32;
    for k in 0..4 {
        all = all * 31 + state.recent[k] + fixed.recent[k];
    }
    y[global_idx_x()] = all;
}

fn structs(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>, block| structs_kernel(y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |_, t, n| {
        let n = n as usize;
        let start = |t: u32| State {
            sum: t,
            recent: [t, t + 1, t + 2, t + 3],
            weight: 0.5,
        };
        let mut states: Vec<State> = (0..n as u32).map(start).collect();
        let mut line: Vec<u32> = (0..n as u32).collect();
        for k in 0..4 {
            let before = line.clone();
            for (t, state) in states.iter_mut().enumerate() {
                let other = before[(t + k + 1) % n];
                state.recent[k] = state.recent[k].wrapping_add(other);
                state.sum += other;
                state.recent[(other % 4) as usize] = other;
                line[t] = state.recent[k] % 64;
                state.weight *= 2.0;
            }
        }
        let state = states[t as usize];
        let all = state.sum + state.weight as u32;
        (0..4).fold(all, |all: u32, k| {
            all.wrapping_mul(31)
                .wrapping_add(state.recent[k] + t + k as u32)
        })
    })
}

#[kernel]
fn tuples_kernel(y: &mut [u32]) {
    let line = shared_array::<u32, 1024>();
    let t = thread_idx_x();
    let pair = (t as u32, t as f32 * 0.5);
    let mut best = (0u32, (0usize, false));
    line[t] = (t as u32 * 7) % 13;
    barrier();
    for k in 0..block_dim_x() {
        if line[k] > best.0 {
            best = (line[k], (k, best.1.1 || k == t));
        }
    }
    barrier();
    line[t] = best.0;
    barrier();
    let (whole, half) = pair;
    let seen = if best.1.1 { 1000 } else { 0 };
    y[global_idx_x()] = whole + (half * 2.0) as u32 + line[best.1.0] + seen;
}

fn tuples(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>, block| tuples_kernel(y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |_, t, n| {
        let (mut best, mut seen) = (0, 0);
        for k in 0..n {
            if k * 7 % 13 > best {
                best = k * 7 % 13;
                seen = if seen == 1000 || k == t { 1000 } else { 0 };
            }
        }
        2 * t + best + seen
    })
}

#[kernel]
fn enums_kernel(y: &mut [u32]) {
    let line = shared_array::<u32, 1024>();
    let t = thread_idx_x();
    let n = block_dim_x();
    line[t] = t as u32;
    let mut step = match t % 3 {
        0 => Step::Idle,
        1 => Step::Move { by: t as u32 },
        _ => Step::Turn(t as u32, 5),
    };
    let mut found: Option<u32> = None;
    barrier();
    for k in 0..3 {
        let other = line[(t + k) % n];
        if let Step::Move { by } = step {
            found = Some(by + other);
        }
        barrier();
        step = match step {
            Step::Idle => Step::Move { by: other },
            Step::Move { by } => Step::Turn(by, other),
            Step::Turn(a, b) if a > b => Step::Idle,
            Step::Turn(a, b) => Step::Turn(b, a),
        };
        barrier();
    }
    let last = match step {
        Step::Idle => 1,
        Step::Move { by } => 10 + by,
        Step::Turn(a, b) => 100 + a * 2 + b,
    };
    let found = match found {
        Some(found) => found,
        None => 7,
    };
    y[global_idx_x()] = last + 10000 * found;
}

fn enums(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>, block| enums_kernel(y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |_, t, n| {
        let mut step = match t % 3 {
            0 => Step::Idle,
            1 => Step::Move { by: t },
            _ => Step::Turn(t, 5),
        };
        let mut found = None;
        for k in 0..3 {
            let other = (t + k) % n;
            if let Step::Move { by } = step {
                found = Some(by + other);
            }
            step = match step {
                Step::Idle => Step::Move { by: other },
                Step::Move { by } => Step::Turn(by, other),
                Step::Turn(a, b) if a > b => Step::Idle,
                Step::Turn(a, b) => Step::Turn(b, a),
            };
        }
        let last = match step {
            Step::Idle => 1,
            Step::Move { by } => 10 + by,
            Step::Turn(a, b) => 100 + a * 2 + b,
        };
        last + 10000 * found.unwrap_or(7)
    })
}

/// Local arrays of structs, and arrays used as values.
#[kernel]
fn arrays_kernel(y: &mut [u32]) {
    let line = shared_array::<u32, 1024>();
    let t = thread_idx_x();
    let one = started(t as u32);
    let mut states = [one, one, one];
    let mut recent: [u32; 4] = one.recent;
    line[t] = 3 * t as u32;
    for k in 0..3 {
        barrier();
        states[k].sum += line[block_dim_x() - 1 - t];
        states[k].recent[k + 1] = recent[k];
        recent[k] += 100;
        barrier();
        line[t] += 1;
    }
    let mut all = 0;
    for k in 0..states.len() {
        all += states[k].sum + states[k].recent[k + 1] * 1000;
    }
    y[global_idx_x()] = all + recent[0] + recent[3] + recent.len() as u32;
}

fn arrays(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>, block| arrays_kernel(y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |_, t, n| {
        let sum: u32 = (0..3)
            .map(|k| t + 3 * (n - 1 - t) + k + (t + k) * 1000)
            .sum();
        sum + (t + 100) + (t + 3) + 4
    })
}

/// Some threads return before and between barriers; the others keep their values.
#[kernel]
fn returns_kernel(y: &mut [u32]) {
    let line = shared_array::<u32, 1024>();
    let t = thread_idx_x();
    let mut state = started(t as u32);
    line[t] = 1;
    if t % 4 == 3 {
        y[global_idx_x()] = state.sum;
        return;
    }
    barrier();
    let mut k = 0;
    while k < 5 {
        if t % 4 == 1 {
            state.recent[0] += 1;
            if state.recent[0] > t as u32 + 2 {
                y[global_idx_x()] = state.recent[0] * 10 + state.recent[3];
                return;
            }
        }
        state.sum += line[0];
        k += 1;
        barrier();
    }
    y[global_idx_x()] = state.sum * 10 + state.recent[1];
}

fn returns(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>, block| returns_kernel(y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |_, t, _| match t % 4 {
        3 => t,
        1 => (t + 3) * 10 + t + 3,
        _ => (t + 5) * 10 + t + 1,
    })
}

/// All threads of a block hold the same value, and a loop with a barrier depends on it.
#[kernel]
fn agreed_kernel(rounds: u32, y: &mut [u32]) {
    let line = shared_array::<u32, 1024>();
    let t = thread_idx_x();
    let mut plan = State {
        sum: rounds,
        recent: [rounds, 0, rounds + 2, 0],
        weight: 1.0,
    };
    plan.recent[1] = block_idx_x() as u32;
    line[t] = t as u32;
    let mut sum = 0;
    barrier();
    let mut turn = (plan.recent[1], 0u32);
    while turn.1 < 3 {
        sum += line[(t + turn.1 as usize) % block_dim_x()];
        turn.1 += 1;
        turn.0 += 2;
        barrier();
    }
    y[global_idx_x()] = sum + 1000 * turn.0 + 100000 * plan.recent[1] + plan.recent[2];
}

fn agreed(device: &Device) -> Check {
    let run = |y: &mut Vector<u32>, block| agreed_kernel(4, y).grid(2).block(block).run_on(device);
    of_each_thread(device, run, |b, t, n| {
        let sum: u32 = (0..3).map(|k| (t + k) % n).sum();
        sum + 1000 * (b + 6) + 100000 * b + 6
    })
}

#[kernel]
fn arguments_kernel(state: State, mut own: State, y: &mut [u32]) {
    let line = shared_array::<u32, 1024>();
    let t = thread_idx_x();
    line[t] = state.recent[t % 4];
    own.sum += t as u32;
    barrier();
    own.recent[2] += line[(t + 1) % block_dim_x()];
    barrier();
    y[global_idx_x()] = own.sum + own.recent[2] + state.recent[3];
}

fn arguments(device: &Device) -> Check {
    let state = State {
        sum: 1,
        recent: [2, 30, 400, 5000],
        weight: 1.0,
    };
    let run = |y: &mut Vector<u32>, block| {
        arguments_kernel(state, state, y)
            .grid(2)
            .block(block)
            .run_on(device)
    };
    of_each_thread(device, run, |_, t, n| {
        1 + t + 400 + state.recent[((t + 1) % n % 4) as usize] + 5000
    })
}
