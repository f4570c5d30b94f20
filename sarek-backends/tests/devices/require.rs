//! Reads `SAREK_REQUIRE`, a comma-separated list of what must not be skipped: backends' names and `nvrtc`.

/// Reports a skipped test on stderr. Fails if `SAREK_REQUIRE` names what is absent.
pub fn skip(what: &str, reason: &str) {
    let required = std::env::var("SAREK_REQUIRE").unwrap_or_default();
    assert!(
        !required.split(',').any(|name| name.trim() == what),
        "SAREK_REQUIRE names `{what}`, which is absent: {reason}"
    );
    eprintln!("skipped, no {what}: {reason}");
}
