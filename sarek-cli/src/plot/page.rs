//! The page: one HTML file without scripts, which needs no network.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::chart;
use super::record::{Record, Row};
use crate::error::Result;

const STYLE: &str = "body{font:15px/1.45 sans-serif;max-width:70em;margin:2em auto;padding:0 1em}\
table{border-collapse:collapse;margin:1em 0;display:block;overflow-x:auto}\
td,th{padding:.15em .7em;border-bottom:1px solid #ddd;text-align:right}\
td:first-child,th:first-child,td:nth-child(2),th:nth-child(2){text-align:left}\
.behind{color:#d55e00}svg{max-width:100%;height:auto}code{background:#f3f3f3;padding:0 .2em}";

/// The page of these records.
pub fn html(records: &[Record]) -> Result<String> {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>Benchmarks of sarek</title>\n\
         <style>{STYLE}</style>\n<h1>Benchmarks of sarek</h1>\n\
         <p>A ratio is the time of the other side, divided by the time of sarek. <b>Above 1, sarek is faster.</b> \
         Each record says where and how it was measured.</p>\n"
    );
    contents(&mut page, records);
    comparison(&mut page, records);
    for (at, record) in records.iter().enumerate() {
        section(&mut page, at, record)?;
    }
    page.push_str("</html>\n");
    Ok(page)
}

/// Writing to a string cannot fail.
macro_rules! add {
    ($page:expr, $($text:tt)*) => {{ let _ = writeln!($page, $($text)*); }};
}

fn contents(page: &mut String, records: &[Record]) {
    add!(page, "<ul>");
    for (at, record) in records.iter().enumerate() {
        add!(
            page,
            "<li><a href=\"#record-{at}\">{}</a>",
            escape(&title(record))
        );
    }
    add!(page, "</ul>");
}

fn title(record: &Record) -> String {
    let parts = ["device", "backend", "version", "date"].map(|fact| record.fact(fact));
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    format!("{} ({})", parts.join(", "), record.name)
}

/// The rows that several records have, side by side: devices, backends, versions.
fn comparison(page: &mut String, records: &[Record]) {
    let mut all: BTreeMap<(&str, &str, &str), BTreeMap<usize, &Row>> = BTreeMap::new();
    for (at, record) in records.iter().enumerate() {
        for row in &record.rows {
            let key = (&*row.kernel, &*row.against, &*row.size);
            all.entry(key).or_default().entry(at).or_insert(row);
        }
    }
    all.retain(|_, columns| columns.len() > 1);
    if all.is_empty() {
        return;
    }
    let used = (0..records.len()).filter(|at| all.values().any(|row| row.contains_key(at)));
    let used: Vec<usize> = used.collect();
    add!(
        page,
        "<h2>Side by side</h2>\n<p>The rows of more than one record: the time of sarek in microseconds, and the ratio.</p>"
    );
    let mut head = "<th>kernel<th>against<th>size".to_owned();
    for at in &used {
        let _ = write!(
            head,
            "<th><a href=\"#record-{at}\">{}</a>",
            escape(&records[*at].name)
        );
    }
    add!(page, "<table>\n<tr>{head}");
    for ((kernel, against, size), columns) in all {
        let _ = write!(
            page,
            "<tr><td>{}<td>{}<td>{}",
            escape(kernel),
            escape(against),
            escape(size)
        );
        for at in &used {
            let cell = columns.get(at).map_or(String::new(), |row| cell(row));
            let _ = write!(page, "<td>{cell}");
        }
        page.push('\n');
    }
    add!(page, "</table>");
}

/// A time with its ratio, or the one that is known.
fn cell(row: &Row) -> String {
    match (row.ours, row.ratio) {
        (Some(ours), Some(ratio)) => format!("{} ({ratio:.3})", time(ours)),
        (Some(ours), None) => time(ours),
        (None, Some(ratio)) => format!("({ratio:.3})"),
        (None, None) => String::new(),
    }
}

fn section(page: &mut String, at: usize, record: &Record) -> Result<()> {
    add!(
        page,
        "<h2 id=\"record-{at}\">{}</h2>\n<ul>",
        escape(&title(record))
    );
    for (key, value) in &record.facts {
        if !value.is_empty() {
            add!(page, "<li>{}: <code>{}</code>", escape(key), escape(value));
        }
    }
    add!(page, "</ul>");
    let plots = [chart::ratios(record)?, chart::roofline(record)?];
    for svg in plots.iter().flatten() {
        add!(page, "{svg}");
    }
    let bandwidth = record.number("bandwidth_gb_s");
    add!(
        page,
        "<table>\n<tr><th>kernel<th>against<th>size<th>sarek, µs<th>other, µs<th>ratio<th>quartiles<th>rate<th>of the bandwidth"
    );
    for row in &record.rows {
        let or_none = |text: Option<String>| text.unwrap_or_default();
        let share = row.rate.as_ref().filter(|(_, unit)| unit == "GB/s");
        let share = share
            .zip(bandwidth)
            .map(|((rate, _), most)| 100.0 * rate / most);
        let behind = row.ratio.is_some_and(|ratio| ratio < 1.0);
        add!(
            page,
            "<tr><td>{}<td>{}<td>{}<td>{}<td>{}<td{}>{}<td>{}<td>{}<td>{}",
            escape(&row.kernel),
            escape(&row.against),
            escape(&row.size),
            or_none(row.ours.map(time)),
            or_none(row.theirs.map(time)),
            if behind { " class=\"behind\"" } else { "" },
            or_none(row.ratio.map(|ratio| format!("{ratio:.3}"))),
            or_none(
                row.quartiles
                    .map(|(low, high)| format!("{low:.3}–{high:.3}"))
            ),
            or_none(
                row.rate
                    .as_ref()
                    .map(|(rate, unit)| format!("{rate} {}", escape(unit)))
            ),
            or_none(share.map(|share| format!("{share:.0} %"))),
        );
    }
    add!(page, "</table>");
    Ok(())
}

fn time(us: f64) -> String {
    format!("{us:.2}")
}

/// Text as HTML.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
