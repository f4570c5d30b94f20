//! Printing and assertions.

super::catalogue! {
FORMAT = 901 by Macro {
    title: "a format or message is not one that kernels have",
    means: "Formats are string literals with `{}`, `{:?}`, widths and precisions that are numbers. The messages of `panic!` and assertions have no \
            arguments.",
    why: "the host formats what the device stored, and a message is known before the launch",
    wrong: r#"
#[kernel]
fn show(width: usize, x: &[u32]) {
    println!("{:width$}", x[global_idx_x()]);
}
"#,
    right: r#"
#[kernel]
fn show(x: &[u32]) {
    println!("{:8}", x[global_idx_x()]);
}
"#,
}

PRINTED = 902 by Macro {
    title: "a printed value does not have the format, or is too long",
    means: "Numbers and `bool` are printed; integers also by `{:x}` and its like, as in Rust. Structs, enums, tuples and arrays are printed \
            as their `Debug` or `Display` says, up to 1024 scalars at once. The length of a local array has to be a number.",
    why: "each scalar is stored by a statement of the kernel, and formatted on the host by Rust's own code",
    wrong: r#"
#[kernel]
fn show(x: &[f32]) {
    println!("{:x}", x[global_idx_x()]);
}
"#,
    right: r#"
#[kernel]
fn show(x: &[f32]) {
    println!("{:x}", x[global_idx_x()].to_bits());
}
"#,
}
}
