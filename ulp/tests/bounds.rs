//! Checks that functions keep their promised accuracy, on the devices present and in the recorded measurements.

use sarek::Device;
use sarek::ir::{Intrinsic, Scalar};
use sarek_ulp::functions::FUNCTIONS;
use sarek_ulp::run::{self, Effort};
use sarek_ulp::table::{self, Lines};

fn measured() -> Lines {
    Lines::parse(&std::fs::read_to_string(table::file()).expect("the file is there"))
}

#[test]
fn the_page_shows_what_was_measured() {
    let page = std::fs::read_to_string(table::page()).expect("the page is there");
    let lines = measured();
    assert!(lines.iter().count() > 100);
    assert!(
        page == lines.page(&page),
        "run `sarek-ulp --merge /dev/null`"
    );
}

#[test]
fn what_was_measured_is_promised() {
    for line in measured().iter() {
        let function = FUNCTIONS.iter().find(|f| f.name == line.function);
        let function =
            function.unwrap_or_else(|| panic!("no function is called {}", line.function));
        let class = table::class(&line.backend);
        if let Some(promised) = function.promise.ulps(class, table::format(&line.ty)) {
            assert!(
                line.ulps <= promised,
                "{line:?}: {promised} ulps are promised"
            );
        }
    }
}

#[test]
fn devices_keep_what_is_promised() {
    let effort = Effort {
        every: 65_521,
        pairs: 5000,
        wide: 300,
        only: vec![],
    };
    let mut broken = vec![];
    for device in Device::all() {
        let found = run::device(&device, &effort, |_| {}).expect("the functions run");
        assert!(
            found.len() >= FUNCTIONS.len(),
            "{device}: {} results",
            found.len()
        );
        for one in found {
            if let Some(at) = one.worst.broken {
                broken.push(format!(
                    "{device}: {} {:?}: {:?} at {at:?}",
                    one.function.name, one.format, one.worst
                ));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Functions of floats that are correctly rounded by definition, on every backend.
const EXACT: &[&str] = &[
    "abs",
    "min",
    "max",
    "clamp",
    "signum",
    "floor",
    "ceil",
    "round",
    "trunc",
    "fract",
    "copysign",
    "is_nan",
    "is_infinite",
    "is_finite",
    "is_sign_negative",
    "to_bits",
];

#[test]
fn every_function_of_floats_is_measured_or_exact() {
    let floats = Intrinsic::ALL
        .iter()
        .filter(|i| i.class().contains(Scalar::F32));
    for name in floats.map(|i| i.name()) {
        let is_measured = FUNCTIONS.iter().any(|f| f.name == name);
        assert!(is_measured != EXACT.contains(&name), "{name}");
    }
}
