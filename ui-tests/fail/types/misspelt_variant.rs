use sarek::prelude::*;

#[derive(Clone, Copy, KernelType)]
#[repr(C, u32)]
enum Op {
    Add,
    Scale(f32),
    Move { by: f32 },
}

#[kernel]
fn value(out: &mut [Op]) {
    let i = global_idx_x();
    out[i] = Op::Ad;
}

#[kernel]
fn tuple(out: &mut [Op]) {
    let i = global_idx_x();
    out[i] = Op::Scal(1.0);
}

#[kernel]
fn strukt(out: &mut [Op]) {
    let i = global_idx_x();
    out[i] = Op::Mov { by: 1.0 };
}

#[kernel]
fn matched(ops: &[Op], out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = match ops[i] {
        Op::Ad => 0.0,
        Op::Scale(x) => x,
        Op::Move { by } => by,
    };
}

#[kernel]
fn matched2(ops: &[Op], out: &mut [f32]) {
    let i = global_idx_x();
    out[i] = match ops[i] {
        Op::Add => 0.0,
        Op::Scal(x) => x,
        Op::Move { by } => by,
    };
}

#[kernel]
fn iflet(ops: &[Op], out: &mut [f32]) {
    let i = global_idx_x();
    if let Op::Scal(x) = ops[i] {
        out[i] = x;
    }
}

fn main() {}
