use naga::front::wgsl;
use naga::valid::{Capabilities, ValidationFlags, Validator};

/// Parses and validates WGSL with every capability.
pub fn check(text: &str) {
    let module =
        wgsl::parse_str(text).unwrap_or_else(|e| panic!("{}\n{text}", e.emit_to_string(text)));
    Validator::new(ValidationFlags::all(), Capabilities::all())
        .validate(&module)
        .unwrap_or_else(|e| panic!("{}\n{text}", e.emit_to_string(text)));
}
