use super::record::{COLUMNS, Record, Row};
use super::*;

/// A folder that is removed again.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("sarek-plot-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const FACTS: &str = "# device: A <card>\n# backend: cuda\n# date: 2026-11-27\n# command: cargo bench --bench cuda\n\
                     # bandwidth_gb_s: 3000\n# peak_gflop_s: 60000\n";
const TRIAD: &str = "triad\ttuned\t1024\t2.5\t2.0\t0.8\t0.7\t0.9\t2400\tGB/s\t12288\t2048";

fn table(rows: &str) -> String {
    format!("{FACTS}{}\n{rows}\n", COLUMNS.join("\t"))
}

/// The message about the file, without its path.
fn message(path: &Path) -> (String, u8) {
    let error = Record::read(path).unwrap_err();
    let text = error.to_string();
    let prefix = format!("`{}`", path.display());
    (text.replace(&prefix, "FILE"), error.code())
}

#[test]
fn a_table_has_facts_and_rows() {
    let folder = Folder::new("table");
    let path = folder.file(
        "a.tsv",
        &table(&format!("{TRIAD}\nlaunch\t\t\t3.5\t\t\t\t\t\t\t\t")),
    );
    let [record] = &Record::read(&path).unwrap()[..] else {
        panic!("one record");
    };
    assert_eq!((&*record.name, record.fact("device")), ("a", "A <card>"));
    assert_eq!(record.number("bandwidth_gb_s"), Some(3000.0));
    let [triad, launch] = &record.rows[..] else {
        panic!("two rows");
    };
    let expected = Row {
        kernel: "triad".into(),
        against: "tuned".into(),
        size: "1024".into(),
        ours: Some(2.5),
        theirs: Some(2.0),
        ratio: Some(0.8),
        quartiles: Some((0.7, 0.9)),
        rate: Some((2400.0, "GB/s".into())),
        bytes: Some(12288.0),
        flop: Some(2048.0),
    };
    assert_eq!(*triad, expected);
    assert_eq!(
        (launch.ours, launch.theirs, launch.ratio),
        (Some(3.5), None, None)
    );
}

#[test]
fn damaged_records_are_errors_with_a_line() {
    let folder = Folder::new("damaged");
    let without_date = table(TRIAD).replace("# date: 2026-11-27\n", "");
    let columns = COLUMNS.join(", ");
    for (text, expected) in [
        (
            String::new(),
            "line 1: the line with the columns is missing",
        ),
        (
            FACTS.to_owned(),
            "line 6: the line with the columns is missing",
        ),
        (without_date, "line 6: `# date: …` is missing"),
        ("# nonsense: 1\n".into(), "line 1: unknown fact `nonsense`"),
        ("# device\n".into(), "line 1: a fact is `# name: value`"),
        (format!("{FACTS}{FACTS}"), "line 7: a second `device`"),
        (
            FACTS.replace("3000", "fast"),
            "line 5: `fast` is no number above zero",
        ),
        (
            format!("{FACTS}kernel\tsize\n"),
            &format!("line 7: the columns are not {columns}"),
        ),
        (
            format!("{FACTS}{}\n", COLUMNS.join("\t")),
            "line 7: no rows follow",
        ),
        (table("triad\ttuned"), "line 8: 2 columns, not 12"),
        (
            table(&format!("{TRIAD}\n{}", TRIAD.replace("2.5", "NaN"))),
            "line 9: ours_us: `NaN` is no number above zero",
        ),
        (
            table("triad\t\t\t\t2.0\t\t\t\t\t\t\t"),
            "line 8: `ours_us` and `ratio` are empty",
        ),
        (
            table(&TRIAD.replace("0.9", "0.1")),
            "line 8: `low` and `high` are no quartiles",
        ),
        (
            table(&TRIAD.replace("GB/s", "")),
            "line 8: a rate has a unit",
        ),
        (
            table(&TRIAD.replace("triad", "")),
            "line 8: the kernel has no name",
        ),
    ] {
        let path = folder.file("a.tsv", &text);
        let expected = format!("FILE, {expected}");
        assert_eq!(message(&path), (expected, 2), "{text}");
    }
    let path = folder.file("a.json", "{\n  \"version\": 1,\n  \"command\": 7\n}");
    let (text, code) = message(&path);
    assert!(text.starts_with("FILE, line 3: ") && code == 2, "{text}");
    let path = folder.file(
        "a.json",
        r#"{"version":2,"command":"x","runs":1,"kernels":[]}"#,
    );
    assert!(message(&path).0.contains("version 2"));
    let path = folder.file("a.txt", "");
    assert!(message(&path).0.contains("neither a .tsv nor a .json"));
}

#[test]
fn a_run_of_cargo_sarek_bench_is_a_record_for_each_device() {
    let folder = Folder::new("json");
    let kernel = |device: &str, share: &str| {
        format!(
            r#"{{"device":"{device}","kind":"kernel","name":"k","calls":1,"total_ms":1.0,"best_us":5.0,"median_us":6.0,"gb_per_s":50.0,"share":{share}}}"#
        )
    };
    let text = format!(
        r#"{{"version":1,"command":"run","runs":5,"kernels":[{},{}]}}"#,
        kernel("a", "0.5"),
        kernel("b", "null")
    );
    let records = Record::read(&folder.file("r.json", &text)).unwrap();
    let facts = |fact| records.iter().map(|r| r.fact(fact)).collect::<Vec<_>>();
    assert_eq!(facts("device"), ["a", "b"]);
    assert_eq!(facts("bandwidth_gb_s"), ["100", ""]);
    assert_eq!(records[0].rows[0].ours, Some(5.0));
}

#[test]
fn the_page_shows_all_records() {
    let folder = Folder::new("page");
    folder.file("old.tsv", &table(TRIAD));
    folder.file(
        "new.tsv",
        &table(
            &TRIAD
                .replace("2.5", "1.6")
                .replace("0.8", "1.25")
                .replace("\t0.7\t0.9", "\t1.2\t1.3"),
        ),
    );
    folder.file("README.md", "no record");
    let args = Args {
        records: vec![folder.0.clone()],
        to: folder.0.join("page"),
    };
    assert_eq!(run(&args, Output { json: false }).unwrap(), Outcome::Good);
    let page = fs::read_to_string(folder.0.join("page/index.html")).unwrap();
    for part in [
        "A &lt;card&gt;, cuda, 2026-11-27 (old)",
        "cargo bench --bench cuda",
        "Side by side",
        "<td>1.60 (1.250)<td>2.50 (0.800)",
        "<td class=\"behind\">0.800<td>0.700–0.900<td>2400 GB/s<td>80 %",
        "floating-point operations for each byte",
        "above 1, sarek is faster",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    assert_eq!(
        page.matches("<svg").count(),
        4,
        "ratios and a roofline each"
    );
    // It needs no network and no script.
    for absent in ["<script", "<link", "src=", "A <card>"] {
        assert!(!page.contains(absent), "{absent}");
    }
}

#[test]
fn a_folder_without_records_is_an_error() {
    let folder = Folder::new("empty");
    let args = Args {
        records: vec![folder.0.clone()],
        to: folder.0.join("page"),
    };
    let error = run(&args, Output { json: false }).unwrap_err();
    assert_eq!(error.code(), 2);
}

/// The records of the project are sound, and say where and how they were measured.
#[test]
fn the_records_of_the_project_can_be_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/benchmarks");
    let files = files(&folder).unwrap();
    let records = files.iter().flat_map(|file| Record::read(file).unwrap());
    let records: Vec<Record> = records.collect();
    assert!(records.len() > 5, "{}", records.len());
    assert!(page::html(&records).unwrap().contains("NVIDIA H100"));
}
