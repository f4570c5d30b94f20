//! The time to compile an expression grows slowly with its depth. A walk that takes each way to a value, or reads an operand
//! twice at each level, would never end here.

use sarek_frontend::expand::messages;

/// The depth of the expressions.
const LEVELS: usize = 32;

/// The errors of a kernel that computes an index; empty if there are none.
fn judge(lines: &str, index: &str) -> String {
    messages(&format!(
        "#[kernel] fn k(y: &mut [u32]) {{ let i = global_idx_x(); {lines} if i < y.len() {{ y[{index}] = 1; }} }}"
    ))
    .join("\n")
}

/// `before` and `after`, around `i`, at each level.
fn nested(before: &str, after: &str) -> String {
    format!("{}i{}", before.repeat(LEVELS), after.repeat(LEVELS))
}

#[test]
fn expressions() {
    for (before, after) in [
        ("", " & 7"),
        ("", " | 7"),
        ("(", " << 1 | 1)"),
        ("(", " ^ (i >> 1))"),
        ("(", " % (i + 3))"),
        ("i / (1 + ", ")"),
        ("i % (1 + ", ")"),
        ("i * (1 + ", ")"),
        ("1 << (", ")"),
        ("i >> (1 & ", ")"),
        ("(", ").min(17).max(3)"),
        ("(", ").abs_diff(3)"),
        ("(", ").wrapping_add(3).wrapping_mul(5)"),
        ("(", ").pow(2)"),
        ("i & (", ")"),
        ("1 | (", ")"),
        ("(i << 3) | (", ")"),
        ("i & !(", ")"),
        ("if i > 2 { i } else { 1 + ", " }"),
    ] {
        let said = judge(&format!("let m = {};", nested(before, after)), "m");
        assert!(
            said.is_empty() || said.contains("SRK0603"),
            "{before}…{after}: {said}"
        );
    }
}

#[test]
fn chains_of_locals() {
    for step in [
        "@ + @",
        "@ ^ (@ >> 3)",
        "@ % 7 + @ / 7",
        "if @ > 3 { @ } else { @ + 1 }",
        "@ & (@ + 5)",
        "@.min(@ / 2)",
    ] {
        let lines: String = (0..LEVELS)
            .map(|n| format!("let a{} = {};", n + 1, step.replace('@', &format!("a{n}"))))
            .collect();
        let said = judge(&format!("let a0 = i; {lines}"), &format!("a{LEVELS}"));
        assert!(
            said.is_empty() || said.contains("SRK0603"),
            "{step}: {said}"
        );
    }
}
