//! The texts of long kernels.

use std::fmt::Write;

/// The numbers of statements, each twice the one before.
pub const LENGTHS: [usize; 3] = [375, 750, 1500];

/// The shapes of bodies: statements without control flow, one loop in six of them, loops only, branches, and reads.
pub const SHAPES: [&str; 5] = ["straight", "some loops", "loops", "branches", "reads"];

/// The text of a crate with one kernel of this shape.
pub fn kernel(shape: &str, statements: usize) -> String {
    let mut body = String::new();
    for n in 0..statements {
        let assignment = format!("s = s.wrapping_mul({}) ^ {n};", n + 3);
        let a_loop = "for j in 0..3u32 { s = s.wrapping_add(j * 7); }";
        let statement = match shape {
            "some loops" if n % 6 == 5 => a_loop.into(),
            "loops" => a_loop.into(),
            "branches" => format!("if s > {n} {{ s = s.wrapping_add(7); }}"),
            "reads" => format!("s = s.wrapping_add(x[(i + {n}) % x.len()]);"),
            _ => assignment,
        };
        let _ = writeln!(body, "    {statement}");
    }
    format!(
        "use sarek::prelude::*;\n\n#[kernel]\npub fn long(x: &[u32], y: &mut [u32]) {{\n    let i = global_idx_x();\n    \
         let mut s = x[i];\n{body}    y[i] = s;\n}}\n"
    )
}
