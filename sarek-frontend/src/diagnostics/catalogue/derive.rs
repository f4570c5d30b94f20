//! `#[derive(KernelType)]`.

super::catalogue! {
LAYOUT = 1001 by Macro {
    title: "a type has no layout that is the same everywhere",
    means: "`#[repr(C)]` for a struct, `#[repr(u32)]` for an enum without fields, `#[repr(C, u32)]` for one with fields.",
    why: "Rust orders the fields of a type as it likes, while host and device have to find them in the same places",
    wrong: r#"
#[derive(Clone, Copy, KernelType)]
struct Point {
    x: f32,
}
"#,
    right: r#"
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Point {
    x: f32,
}
"#,
}

EMPTY_TYPE = 1002 by Macro {
    title: "a type is a union, borrows, or has nothing in it",
    means: "Kernels know structs with fields and enums with variants, which own what is in them.",
    why: "C and WGSL have no types without members, and an address of the host's means nothing on a device",
    wrong: r#"
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Nothing {}
"#,
    right: r#"
#[derive(Clone, Copy, KernelType)]
#[repr(C)]
struct Something {
    x: f32,
}
"#,
}
}
