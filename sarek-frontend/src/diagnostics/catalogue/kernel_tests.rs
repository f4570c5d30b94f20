//! `#[kernel_test]`.

super::catalogue! {
TEST_OPTION = 1201 by Macro {
    title: "an option of `#[kernel_test]` is unknown, or does not fit",
    means: "The attribute names the kernel first, then options: one index space, how exact results are to be, which backends run. Arguments may have \
            `#[within(low..high)]` and, if they are slices, `#[len(count)]`.",
    why: "a test makes up arguments and launches by what stands here, and what is not understood would test less than it says",
    wrong: r#"
#[kernel_test(scale, precision = 2)]
fn scaled(by: f32, x: &mut [f32]) {
    for v in x {
        *v *= by;
    }
}
"#,
    right: r#"
#[kernel_test(scale, ulps = 2)]
fn scaled(by: f32, x: &mut [f32]) {
    for v in x {
        *v *= by;
    }
}
"#,
}

TEST_FORM = 1202 by Macro {
    title: "a test of a kernel is not a function that says what the kernel does",
    means: "The function has the arguments of its kernel, by plain names, is not generic, and writes what is expected to its `&mut [T]`.",
    why: "the kernel and the function are given the same arguments, and what both wrote is compared",
    wrong: r#"
#[kernel_test(scale)]
fn scaled(by: f32, x: &[f32]) -> f32 {
    by * x[0]
}
"#,
    right: r#"
#[kernel_test(scale)]
fn scaled(by: f32, x: &mut [f32]) {
    for v in x {
        *v *= by;
    }
}
"#,
}
}
