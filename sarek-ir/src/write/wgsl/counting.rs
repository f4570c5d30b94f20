//! Derives a WGSL dialect that counts loop iterations, for Mesa's software device.

use crate::write::{Atomic, Derived, Dialect, Iterations, Unsupported};

use super::Wgsl;

/// [`Wgsl`] for Mesa's software device (llvmpipe). That device silently leaves the loops of a thread after 65535
/// iterations, counted over all its loops, including those in helpers. In this dialect a thread that exceeds the limit
/// faults.
#[derive(Clone, Copy, Debug)]
pub struct CountingWgsl;

/// The largest number of iterations. It leaves room for a helper's loops between two tests.
const MOST: u32 = 60_000;

impl Derived for CountingWgsl {
    fn base(&self) -> &dyn Dialect {
        &Wgsl
    }

    fn name(&self) -> &'static str {
        Dialect::name(&Wgsl)
    }

    fn max_iterations(&self) -> Option<u32> {
        Some(MOST)
    }

    fn atomic(&self, atomic: &Atomic<'_>) -> Result<String, Unsupported> {
        Ok(counted(&Wgsl.atomic(atomic)?))
    }

    fn snippet(&self, name: &str) -> Option<String> {
        let site = Iterations::SITE.0;
        let test = format!("if (srk_iterations > {MOST}u) {{ srk_fault({site}u, low, high); }}");
        Some(match name {
            "srk_iterations" => "// How many iterations the loops of this thread took.
var<private> srk_iterations: u32 = 0u;"
                .into(),
            "srk_iteration" => format!(
                "fn srk_iteration(high: u32, low: u32) {{\n    srk_iterations += 1u;\n    {test}\n}}"
            ),
            "srk_iterated" => format!(
                "fn srk_iterated(high: u32, low: u32) {{\n    srk_iterations += 1u;\n    {test}\n}}"
            ),
            // It runs once, after the counting has ended.
            "srk_fault" => Wgsl.snippet(name)?,
            _ => counted(&Wgsl.snippet(name)?),
        })
    }
}

/// Adds iteration counts to the loops of one of our snippets. The device also counts the final test that ends a loop.
fn counted(text: &str) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let code = line.trim_start();
        if !["for (", "loop {"]
            .iter()
            .any(|head| code.starts_with(head))
        {
            out.push_str(line);
            continue;
        }
        let (head, body) = line.split_once(" {").unwrap_or_else(|| {
            unreachable!("a loop's head stands in one line of a helper: {line}")
        });
        let indent = &line[..line.len() - code.len()];
        out.push_str(&format!(
            "{indent}srk_iterations += 1u;\n{head} {{ srk_iterations += 1u;{body}"
        ));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::{collective, snippets, snippets_float};
    use super::*;

    #[test]
    fn each_loop_of_a_helper_counts() {
        let all = [
            snippets::TEMPLATES,
            snippets_float::TEMPLATES,
            collective::TEMPLATES,
        ]
        .concat();
        let mut loops = 0;
        for template in all {
            let words = |text: &str| {
                let heads = ["for (", "while (", "loop {"];
                heads
                    .map(|head| text.matches(head).count())
                    .iter()
                    .sum::<usize>()
            };
            let here = words(template.text);
            loops += here;
            let text = counted(template.text);
            assert_eq!(
                text.matches("srk_iterations += 1u;").count(),
                2 * here,
                "{text}"
            );
        }
        assert!(loops > 8, "{loops} loops");
    }
}
