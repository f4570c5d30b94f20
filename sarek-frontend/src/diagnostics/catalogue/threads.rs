//! What threads do to one another: barriers and races.

super::catalogue! {
DIVERGENT_BARRIER = 601 by Macro {
    title: "some threads of a block may miss a barrier",
    means: "A barrier stands where all threads of a block come together: not under a condition, in a loop or behind a `return` or `break` that \
            differs between them. Which values differ is followed through variables, calls and control.",
    why: "the threads that come to a barrier wait for the others: CUDA and OpenCL hang or go on with half-written memory",
    wrong: r#"
#[kernel(block = 64)]
fn fill(y: &mut [f32]) {
    if thread_idx_x() < 32 {
        barrier();
    }
    y[global_idx_x()] = 1.0;
}
"#,
    right: r#"
#[kernel(block = 64)]
fn fill(y: &mut [f32]) {
    barrier();
    if thread_idx_x() < 32 {
        y[global_idx_x()] = 1.0;
    }
}
"#,
}

COLLECTIVE_CALL = 602 by Rustc {
    title: "some threads of a block may miss a call, or make it differently",
    means: "A `#[device]` function with barriers, shared arrays or subgroups is called by all threads of a block together, with the same values \
            for arguments on which its barriers depend, or by which it keeps threads apart in shared arrays.",
    why: "the barrier inside of the function waits for all threads of the block",
    wrong: r#"
#[device]
fn pause() {
    barrier();
}

#[kernel(block = 64)]
fn fill(y: &mut [f32]) {
    if thread_idx_x() < 32 {
        pause();
    }
    y[global_idx_x()] = 1.0;
}
"#,
    right: r#"
#[device]
fn pause() {
    barrier();
}

#[kernel(block = 64)]
fn fill(y: &mut [f32]) {
    pause();
    y[global_idx_x()] = 1.0;
}
"#,
}

RACE = 603 by Macro {
    title: "two threads may use one element of a vector at once",
    means: "A kernel that is declared `fn` is safe to launch, so that each store to a `&mut [T]` is proved to touch an element that no other \
            thread touches. [What the proof accepts](../races.md) is listed; facts that only the launch knows can be stated by `requires(…)`.",
    why: "the order of threads differs from device to device and from run to run, and so would the result",
    wrong: r#"
#[kernel]
fn sum(x: &[u32], total: &mut [u32]) {
    total[0] += x[global_idx_x()];
}
"#,
    right: r#"
#[kernel]
fn sum(x: &[u32], total: &[Atomic<u32>]) {
    total[0].fetch_add(x[global_idx_x()]);
}
"#,
}

SHARED_RACE = 604 by Macro {
    title: "two threads of a block may use one element of a shared array at once",
    means: "Between two barriers no thread touches an element of a shared array that another one stores to. This is proved as for vectors, with \
            the thread's index in its block.",
    why: "the threads of a block run in any order between two barriers, on every device",
    wrong: r#"
#[kernel(block = 64)]
fn reverse(x: &mut [f32]) {
    let tile = shared_array::<f32, 64>();
    let t = thread_idx_x();
    tile[t] = x[global_idx_x()];
    x[global_idx_x()] = tile[63 - t];
}
"#,
    right: r#"
#[kernel(block = 64)]
fn reverse(x: &mut [f32]) {
    let tile = shared_array::<f32, 64>();
    let t = thread_idx_x();
    tile[t] = x[global_idx_x()];
    barrier();
    x[global_idx_x()] = tile[63 - t];
}
"#,
}

LENT_MEMORY = 605 by Macro {
    title: "a function is lent memory that it may race on",
    means: "Which elements a `#[device]` function uses of a `&mut [T]` is not known at the call, so vectors are not lent to be written. A shared \
            array may be lent to a function that is proved to keep its threads apart and ends by a barrier.",
    why: "the macro of the caller sees the name of the function and nothing of its body",
    wrong: r#"
#[device]
fn clear(x: &mut [f32]) {
    x[0] = 0.0;
}

#[kernel]
fn fill(y: &mut [f32]) {
    clear(y);
}
"#,
    right: r#"
#[device]
fn cleared() -> f32 {
    0.0
}

#[kernel]
fn fill(y: &mut [f32]) {
    y[global_idx_x()] = cleared();
}
"#,
}

OPEN_SHARED = 606 by Macro {
    title: "a function leaves its shared array in use",
    means: "A function that makes a shared array ends by a barrier behind the last use of it, and does not return before that.",
    why: "the next call uses the same memory, and a fast thread would begin it while a slow one still reads",
    wrong: r#"
#[device]
fn left(x: f32) -> f32 {
    let tile = shared_array::<f32, 64>();
    let t = thread_idx_x();
    tile[t] = x;
    barrier();
    tile[(t + 1) % 64]
}
"#,
    right: r#"
#[device]
fn left(x: f32) -> f32 {
    let tile = shared_array::<f32, 64>();
    let t = thread_idx_x();
    tile[t] = x;
    barrier();
    let found = tile[(t + 1) % 64];
    barrier();
    found
}
"#,
}
}
