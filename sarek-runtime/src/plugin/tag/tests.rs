use serde::{Deserialize, Serialize};

use super::*;

#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
struct Tiled {
    block_size: u32,
    smem_kb: u32,
}

#[derive(PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
struct Nested {
    inner: Tag<StorageKind>,
    #[serde(default)]
    depth: u8,
}

#[derive(PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
struct Bytes(u64);

fn tiled(block_size: u32, smem_kb: u32) -> Tiled {
    Tiled {
        block_size,
        smem_kb,
    }
}

fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap()
}

/// A kind for one test.
macro_rules! kind {
    ($kind:ident: $($member:literal),*) => {
        #[derive(Debug)]
        enum $kind {}

        impl Kind for $kind {
            const NAME: &'static str = "test kind";
            const MEMBERS: &'static [&'static str] = &[$($member),*];
        }
    };
}

#[test]
fn members_are_listed_in_their_order() {
    kind!(Listed: "a", "b");
    let external: Template<Listed, Tiled> = template("external").unwrap();
    let plain = register::<Listed>("plain").unwrap();
    let _instance = external.of(tiled(1, 2));
    let _unknown = lookup::<Listed>("unknown");
    let names: Vec<String> = members::<Listed>().iter().map(Tag::to_string).collect();
    assert_eq!(names, ["a", "b", "external (template)", "plain"]);
    assert_eq!(
        (lookup::<Listed>("plain"), members()[3].clone()),
        (plain.clone(), plain)
    );
    assert_eq!(
        lookup_template::<Listed, Tiled>("external").unwrap().tag(),
        external.tag()
    );
    // Different kinds are independent.
    kind!(Other: "a");
    assert_eq!(members::<Other>().len(), 1);
}

#[test]
fn a_name_is_given_once() {
    kind!(Once: "a");
    let error = register::<Once>("a").unwrap_err();
    assert_eq!(
        error.to_string(),
        "test kind `a`: it was added already: `a` with the value 1"
    );
    template::<Once, Tiled>("t").unwrap();
    assert!(template::<Once, Bytes>("t").is_err() && register::<Once>("t").is_err());
    let other = lookup_template::<Once, Bytes>("t").unwrap_err().to_string();
    assert!(other.contains("other attributes"), "{other}");
    assert!(lookup_template::<Once, Bytes>("a").is_err());
    assert!(lookup_template::<Once, Bytes>("nowhere").is_err());
}

#[test]
fn instances_of_equal_attributes_are_one() {
    kind!(Interned: "a");
    let one: Template<Interned, Tiled> = template("one").unwrap();
    // Two templates with the same attribute type are different.
    let two: Template<Interned, Tiled> = template("two").unwrap();
    let small = one.of(tiled(32, 1));
    assert_eq!(small, one.of(tiled(32, 1)));
    assert_ne!(small, one.of(tiled(32, 2)));
    assert_ne!(small, two.of(tiled(32, 1)));
    assert_ne!(small, *one.tag());
    assert!(one.matches(&small) && one.matches(one.tag()) && !two.matches(&small));
    assert_eq!(one, small);
    assert_eq!(small, one);
    assert_eq!(one, *one.tag());
    assert_ne!(two, small);
    assert_ne!(small, two);
    assert!(!small.matches(one.tag()), "a template is no instance");
    assert!(small.matches(&small) && !small.matches(&one.of(tiled(1, 1))));
    assert_eq!(one.attributes(&small), Some(&tiled(32, 1)));
    assert_eq!(
        (two.attributes(&small), one.attributes(one.tag())),
        (None, None)
    );
    assert_eq!(
        small.to_string(),
        "one Tiled { block_size: 32, smem_kb: 1 }"
    );
    assert_eq!(format!("{one:?}"), "one (template)");
    assert!(one.tag().is_template() && !small.is_template());
    let mut set = std::collections::HashSet::from([small.clone()]);
    assert!(!set.insert(one.of(tiled(32, 1))) && set.insert(one.of(tiled(33, 1))));
    assert_eq!(small.name(), "one");
}

#[test]
fn tags_survive_a_round_trip() {
    kind!(Saved: "plain");
    let one: Template<Saved, Tiled> = template("tiled").unwrap();
    let bytes: Template<Saved, Bytes> = template("bytes").unwrap();
    let nested: Template<Saved, Nested> = template("nested").unwrap();
    let inner = StorageKind::pinned();
    for (tag, due) in [
        (lookup("plain"), r#""plain""#),
        (one.tag().clone(), r#"{"type":"tiled"}"#),
        (
            one.of(tiled(4, 5)),
            r#"{"type":"tiled","with":{"block_size":4,"smem_kb":5}}"#,
        ),
        (bytes.of(Bytes(7)), r#"{"type":"bytes","with":7}"#),
        (
            nested.of(Nested { inner, depth: 2 }),
            r#"{"type":"nested","with":{"inner":"pinned","depth":2}}"#,
        ),
    ] {
        assert_eq!(json(&tag), due);
        assert_eq!(serde_json::from_str::<Tag<Saved>>(due).unwrap(), tag);
    }
    // Attributes may have defaults.
    let short: Tag<Saved> =
        serde_json::from_str(r#"{"type":"nested","with":{"inner":"shared"}}"#).unwrap();
    assert_eq!(nested.attributes(&short).unwrap().depth, 0);
}

#[test]
fn wrong_data_are_errors() {
    kind!(Wrong: "plain");
    template::<Wrong, Tiled>("tiled").unwrap();
    for (text, part) in [
        (r#"{"type":"tiled","with":{"block_size":4}}"#, "smem_kb"),
        (
            r#"{"type":"tiled","with":{"block_size":4,"smem_kb":1,"other":2}}"#,
            "too many",
        ),
        (
            r#"{"type":"tiled","with":{"block_size":4,"smem_kb":1},"x":0}"#,
            "belong in the field `with`",
        ),
        (
            r#"{"type":"tiled","with":{"block_size":"x","smem_kb":1}}"#,
            "test kind `tiled`",
        ),
        (
            r#"{"type":"tiled","block_size":4,"smem_kb":1}"#,
            "belong in the field `with`",
        ),
        (r#"{"type":"plain","x":1}"#, "takes no attributes"),
        (r#"{"x":1}"#, "type"),
        ("7", "a tag must be a name"),
    ] {
        let error = serde_json::from_str::<Tag<Wrong>>(text)
            .unwrap_err()
            .to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}

#[test]
fn unknown_names_are_kept() {
    kind!(Unknown: "a");
    for text in [
        r#""later""#,
        r#"{"type":"later"}"#,
        r#"{"type":"later","x":[1,{"y":null}]}"#,
    ] {
        let tag: Tag<Unknown> = serde_json::from_str(text).unwrap();
        assert!(tag.is_undefined() && tag.name() == "later");
        assert_eq!(tag.to_string(), "Undefined(later)");
        assert_eq!(json(&tag), text);
        assert_eq!(
            serde_json::from_str::<Tag<Unknown>>(&json(&tag)).unwrap(),
            tag
        );
    }
    // A known name is known even if an unknown tag had it before, and the reverse.
    let before: Tag<Unknown> = lookup("later");
    let known = register::<Unknown>("later").unwrap();
    assert_ne!(before, known);
    assert_eq!(
        (json(&before), json(&known)),
        (r#""later""#.into(), r#""later""#.into())
    );
    assert_eq!(lookup::<Unknown>("later"), known);
    let other: Tag<Unknown> = lookup("other");
    assert_eq!(
        (json(&known), json(&other)),
        (r#""later""#.into(), r#""other""#.into())
    );
}

#[test]
fn the_kinds_have_members_from_the_beginning() {
    assert_eq!(StorageKind::device().name(), "device");
    assert_eq!(ScheduleKind::grid_stride(), lookup("grid_stride"));
    assert!(members::<Language>().contains(&Language::wgsl()));
    assert!(members::<DeviceKind>().len() >= 3 && members::<InstrumentationKind>().len() >= 3);
}

#[test]
fn values_are_unique_and_stay() {
    kind!(Numbered: "a", "b");
    assert_eq!(lookup::<Numbered>("a").value(), Some(1));
    let tens = register_as::<Numbered>("tens", 10).unwrap();
    let next = register::<Numbered>("next").unwrap();
    let tiles: Template<Numbered, Tiled> = template("tiles").unwrap();
    assert_eq!(
        (tens.value(), next.value(), tiles.of(tiled(1, 2)).value()),
        (Some(10), Some(11), Some(12))
    );
    assert_eq!(lookup::<Numbered>("nowhere").value(), None);
    let taken = register_as::<Numbered>("other", 11)
        .unwrap_err()
        .to_string();
    assert_eq!(taken, "test kind `other`: its value 11 is that of `next`");
    let twice = register_as::<Numbered>("tens", 20).unwrap_err().to_string();
    assert!(twice.contains("`tens` with the value 10"), "{twice}");
    assert_eq!(
        [2, 10, 11, 20].map(with_value::<Numbered>),
        [Some(lookup("b")), Some(tens.clone()), Some(next), None]
    );
    let again: Tag<Numbered> = serde_json::from_str(&json(&tens)).unwrap();
    assert_eq!(again.value(), Some(10));
    register_as::<Numbered>("last", i64::MAX).unwrap();
    let full = register::<Numbered>("more").unwrap_err().to_string();
    assert!(full.contains("no value is left"), "{full}");
}

#[test]
fn strict_kinds_know_all_names() {
    #[derive(Debug)]
    enum Strict {}

    impl Kind for Strict {
        const NAME: &'static str = "strict kind";
        const MEMBERS: &'static [&'static str] = &["a"];
        const STRICT: bool = true;
    }

    let read = |text: &str| serde_json::from_str::<Tag<Strict>>(text);
    assert_eq!(read("\"a\"").unwrap(), lookup("a"));
    for unknown in ["\"b\"", r#"{"type":"b","with":1}"#] {
        let error = read(unknown).unwrap_err().to_string();
        assert!(
            error.contains("strict kind `b`: it was not added"),
            "{error}"
        );
    }
    // The sentinel is not a name that is lost.
    let none = Tag::<Strict>::undefined();
    assert!(none.is_undefined() && none == Tag::undefined());
    assert_eq!(
        (none.to_string(), json(&none)),
        ("Undefined".into(), "\"Undefined\"".into())
    );
    assert_eq!(read(&json(&none)).unwrap(), none);
    assert!(register::<Strict>("Undefined").is_err());
}
