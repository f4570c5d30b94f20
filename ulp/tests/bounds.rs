//! Checks that functions keep their promised accuracy, on the devices present and in the recorded measurements.

use sarek::Device;
use sarek_ir::numeric::{self, Body};
use sarek_ir::{Exactness, Scalar};
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
        if let Some(promised) = function.promise().ulps(class, table::format(&line.ty)) {
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

/// A function made of others may be left out: it is as exact as they are.
#[test]
fn every_function_of_floats_is_measured_or_exact() {
    for row in numeric::methods().filter(|row| row.on.contains(Scalar::F32)) {
        let is_measured = FUNCTIONS.iter().any(|f| f.name == row.name);
        let is_exact = matches!(row.exactness, Exactness::Exact | Exactness::Zeros);
        let is_made_of_others = !matches!(row.body, Body::Intrinsic(_));
        let is_right = is_measured != is_exact || (is_made_of_others && !is_measured);
        assert!(is_right, "{}", row.name);
    }
}
