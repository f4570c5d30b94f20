//! What must not be skipped: `SAREK_REQUIRE`, a comma list of backends' names and `nvrtc`.

/// Skips what is absent, with a line on stderr, unless `SAREK_REQUIRE` names it.
pub fn skip(what: &str, reason: &str) {
    let required = std::env::var("SAREK_REQUIRE").unwrap_or_default();
    assert!(
        !required.split(',').any(|name| name.trim() == what),
        "SAREK_REQUIRE names `{what}`, which is absent: {reason}"
    );
    eprintln!("skipped, no {what}: {reason}");
}
