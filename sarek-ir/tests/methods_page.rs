//! `book/src/methods.md` is written from the table of numeric methods; `SAREK_BLESS=1` writes it anew.

use std::collections::BTreeMap;
use std::path::Path;

use sarek_ir::numeric::{self, Body, Group, Method};
use sarek_ir::{Intrinsic, Scalar};

const HEAD: &str = "\
# The methods of numbers in kernels

The methods have the meaning that they have in Rust, on every device. An integer method gives Rust's result for every argument, and faults where Rust panics;
`abs` and `pow` [overflow](overflow.md) as `+` does. `usize` has the methods of unsigned integers, except those that take its signed counterpart, since
kernels have no `isize`.

## Integers

";

const FLOATS: &str = "
## Floats

[ulp.md](ulp.md) has their accuracy, and [strict.md](strict.md) that of strict kernels.

";

const TAIL: &str = "
`f16` and `bf16` have fewer methods. For logarithms, exponentials and angles, convert: `f16::from_f32(x.to_f32().exp())`.

If a trait of yours has a method with one of these names, and Rust would call yours, that is a compile error (SRK0316). Rename it, or call the intended one by
its path: `f32::min(a, b)`.

Kernels have no `Ordering`, and so neither `cmp` nor `total_cmp`. Compare by `<`, `==` and `>`.
";

/// The longest line.
const WIDTH: usize = 155;

#[test]
fn the_page_lists_every_method() {
    let page = format!("{HEAD}{}{FLOATS}{}{TAIL}", integers(), floats());
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../book/src/methods.md");
    if std::env::var_os("SAREK_BLESS").is_some() {
        std::fs::write(&file, &page).expect("the page is written");
    }
    let kept = std::fs::read_to_string(&file).expect("the page is there");
    assert!(
        kept == page,
        "run `SAREK_BLESS=1 cargo test -p sarek-ir --test methods_page`"
    );
}

/// The rows that stand on one of some types, by their groups, a name once.
fn groups(types: &[Scalar]) -> BTreeMap<Group, Vec<&'static Method>> {
    let mut groups = BTreeMap::<Group, Vec<&Method>>::new();
    for row in numeric::methods() {
        let rows = groups.entry(row.group).or_default();
        let stands = types.iter().any(|on| row.stands_on(*on));
        if stands && !rows.iter().any(|known| known.name == row.name) {
            rows.push(row);
        }
    }
    groups.retain(|_, rows| !rows.is_empty());
    groups
}

fn integers() -> String {
    let groups = groups(&[Scalar::I32, Scalar::U32]);
    let items = groups.into_iter().map(|(group, rows)| match group {
        Group::Signed => format!("With a signed argument, of unsigned ones: {}.", list(&rows)),
        Group::Unsigned => format!(
            "With an unsigned argument, of signed ones: {}.",
            list(&rows)
        ),
        Group::Basic
        | Group::Power
        | Group::Multiple
        | Group::Rounding
        | Group::Angle
        | Group::Bits
        | Group::Wrapping
        | Group::Saturating
        | Group::Checked
        | Group::Overflowing => format!("{}.", by_sign(&rows)),
    });
    items.map(|item| wrapped(&item)).collect()
}

fn floats() -> String {
    let items = groups(&[Scalar::F32]).into_iter().map(|(group, rows)| {
        let note = match group {
            Group::Basic => ". `rsqrt` is of the trait `Float`.",
            Group::Rounding => ". `div_euclid` and `rem_euclid` are as exact as `/` and `%`.",
            Group::Bits => {
                ", `f32::from_bits`. Classes are determined from the bits, also on a device that computes with zeros for subnormal numbers."
            }
            _ => ".",
        };
        format!("{}{note}", list(&rows))
    });
    items.map(|item| wrapped(&item)).collect()
}

/// Names of rows that all integers have, then those of signed and of unsigned ones.
fn by_sign(rows: &[&Method]) -> String {
    let has = |row: &&&Method, on| numeric::method(row.name, on).is_some();
    let of = |signed, unsigned, suffix: &str| {
        let rows = rows.iter().filter(|row| has(row, Scalar::I32) == signed);
        let rows: Vec<_> = rows
            .filter(|row| has(row, Scalar::U32) == unsigned)
            .copied()
            .collect();
        (!rows.is_empty()).then(|| format!("{}{suffix}", list(&rows)))
    };
    let parts = [
        of(true, true, ""),
        of(true, false, " of signed ones"),
        of(false, true, " of unsigned ones"),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn list(rows: &[&Method]) -> String {
    let names: Vec<_> = rows.iter().map(|row| format!("`{}`", row.name)).collect();
    names.join(", ")
}

/// An item of a list, in lines of a bounded width.
fn wrapped(item: &str) -> String {
    let mut lines = vec!["-".to_owned()];
    for word in item.split(' ') {
        if lines[lines.len() - 1].len() + 1 + word.len() > WIDTH {
            lines.push(" ".to_owned());
        }
        if let Some(line) = lines.last_mut() {
            *line = format!("{line} {word}");
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn functions_from_bits_are_the_only_rows_without_a_type() {
    let lost = numeric::methods().filter(|row| !Scalar::ALL.iter().any(|on| row.stands_on(*on)));
    let is_from_bits = |body| match body {
        Body::Intrinsic(intrinsic) => Intrinsic::is_from_bits(intrinsic),
        _ => false,
    };
    for row in lost {
        assert!(is_from_bits(row.body), "{}", row.name);
    }
}
