//! Kinds of tags that are enums of a program's own, with templates among their members.

use std::collections::HashSet;

use sarek::tag::{self, Kind, StorageKind, Tag, Template};
use sarek::{Error, Result};

/// Every form of member, fields of several types, and names that only the options allow.
#[derive(Kind, Clone, PartialEq, Eq, Hash, Debug)]
#[kind(name = "loop order")]
enum Order {
    Plain,
    Tiled {
        width: u32,
        height: u32,
    },
    Staged {
        r#in: Tag<StorageKind>,
        depth: Option<u8>,
        names: Vec<String>,
    },
    #[kind(name = "z-curve")]
    ZCurve {
        bits: u8,
    },
    r#Loop,
}

fn tiled(width: u32, height: u32) -> Order {
    Order::Tiled { width, height }
}

/// The name of a tag as data.
fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap()
}

/// The number of threads that a code generator would take for a schedule of its own.
fn threads(tag: &Tag<Order>) -> Result<u32> {
    Ok(match tag.view()? {
        Order::Plain | Order::Loop => 1,
        Order::Tiled { width, .. } if *width > 100 => 100,
        Order::Tiled { width, height } => width * height,
        Order::Staged { depth, .. } => u32::from(depth.unwrap_or(7)),
        Order::ZCurve { bits } => 1 << bits,
    })
}

#[test]
fn templates_of_an_own_enum_stand_in_match_arms() {
    let staged = Order::Staged {
        r#in: StorageKind::pinned(),
        depth: None,
        names: vec!["a".to_owned()],
    };
    for (value, due) in [
        (Order::Plain, 1),
        (Order::Loop, 1),
        (tiled(4, 5), 20),
        (tiled(101, 5), 100),
        (staged, 7),
        (Order::ZCurve { bits: 3 }, 8),
    ] {
        let tag: Tag<Order> = value.clone().into();
        assert_eq!(threads(&tag).unwrap(), due, "{value:?}");
        assert_eq!(tag.view().unwrap(), &value);
        assert_eq!(tag.to_string(), format!("{value:?}"));
    }
}

#[test]
fn own_enums_are_kinds() {
    assert_eq!(Order::NAME, "loop order");
    let names: Vec<String> = tag::members::<Order>().iter().map(Tag::to_string).collect();
    let due = [
        "Plain",
        "Tiled (template)",
        "Staged (template)",
        "z-curve (template)",
        "Loop",
    ];
    assert_eq!(names[..5], due);
    let [plain, template] = ["Plain", "Tiled"].map(tag::lookup::<Order>);
    assert_eq!((plain.value(), template.value()), (Some(1), Some(2)));
    assert_eq!(plain, Tag::of(Order::Plain));

    // Equal arguments give one object, which the template and no other member matches.
    let small = Tag::of(tiled(8, 2));
    assert_eq!(small, Tag::of(tiled(8, 2)));
    assert_ne!(small, Tag::of(tiled(2, 8)));
    assert!(template.matches(&small) && !plain.matches(&small));
    assert!(!tag::lookup::<Order>("z-curve").matches(&small));
    let mut set = HashSet::from([small.clone()]);
    assert!(!set.insert(Tag::of(tiled(8, 2))) && set.insert(Tag::of(tiled(8, 3))));
    assert!(tag::register::<Order>("Tiled").is_err(), "a name is taken");
}

#[test]
fn own_enums_survive_a_round_trip() {
    let staged = |depth| Order::Staged {
        r#in: StorageKind::pinned(),
        depth,
        names: vec![],
    };
    for (value, due) in [
        (Order::Plain, r#""Plain""#),
        (
            tiled(4, 5),
            r#"{"type":"Tiled","with":{"width":4,"height":5}}"#,
        ),
        (
            staged(Some(3)),
            r#"{"type":"Staged","with":{"in":"pinned","depth":3,"names":[]}}"#,
        ),
        (
            Order::ZCurve { bits: 6 },
            r#"{"type":"z-curve","with":{"bits":6}}"#,
        ),
    ] {
        let tag = Tag::of(value);
        assert_eq!(json(&tag), due);
        assert_eq!(serde_json::from_str::<Tag<Order>>(due).unwrap(), tag);
    }
    // Data without an optional field.
    let short = r#"{"type":"Staged","with":{"in":"pinned","names":[]}}"#;
    let read: Tag<Order> = serde_json::from_str(short).unwrap();
    assert_eq!(read.view().unwrap(), &staged(None));
    for (text, part) in [
        (
            r#"{"type":"Tiled","with":{"width":4}}"#,
            "missing field `height`",
        ),
        (
            r#"{"type":"Tiled","with":{"width":4,"height":"x"}}"#,
            "`height`: invalid type",
        ),
        (
            r#"{"type":"Tiled","with":{"width":4,"height":5,"depth":6}}"#,
            "there is no attribute `depth`",
        ),
        (
            r#"{"type":"Tiled","with":[4,5]}"#,
            "loop order `Tiled`: its attributes must be an object",
        ),
        (
            r#"{"type":"Tiled","width":4,"height":5}"#,
            "belong in the field `with`",
        ),
        (r#"{"type":"Plain","with":{"x":1}}"#, "takes no attributes"),
    ] {
        let error = serde_json::from_str::<Tag<Order>>(text).unwrap_err();
        assert!(error.to_string().contains(part), "{text}: {error}");
    }
}

/// Tags that no variant stands for are errors of the view, and never panics.
#[test]
fn tags_without_a_variant_have_no_view() {
    #[derive(PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
    struct Added {
        by: u32,
    }

    let added: Template<Order, Added> = tag::template("added").unwrap();
    let newer = r#"{"type":"Swizzled","with":{"mask":7}}"#;
    let newer: Tag<Order> = serde_json::from_str(newer).unwrap();
    for (tag, part) in [
        (
            newer.clone(),
            "loop order `Swizzled`: this program has no such member",
        ),
        (tag::lookup("Woven"), "may be of a newer version"),
        (Tag::undefined(), "no such member"),
        (tag::lookup("Tiled"), "a template without attributes"),
        (
            tag::register("late").unwrap(),
            "`late`: it was added at run time",
        ),
        (
            added.of(Added { by: 3 }),
            "`added`: it was added at run time",
        ),
    ] {
        let error = tag.view().unwrap_err();
        assert!(matches!(error, Error::Tag { .. }), "{error:?}");
        assert!(error.to_string().contains(part), "{error}");
        assert!(threads(&tag).is_err());
    }
    // The data of a newer version are kept.
    assert_eq!(json(&newer), r#"{"type":"Swizzled","with":{"mask":7}}"#);
}

#[test]
fn own_enums_may_be_strict() {
    #[derive(Kind, PartialEq, Eq, Hash, Debug)]
    #[kind(strict, crate = ::sarek)]
    enum Strict {
        A,
        B { x: i64 },
    }

    assert_eq!(Strict::NAME, "Strict");
    let read = serde_json::from_str::<Tag<Strict>>;
    assert_eq!(read("\"A\"").unwrap(), Tag::of(Strict::A));
    let b = read(r#"{"type":"B","with":{"x":-1}}"#).unwrap();
    assert_eq!(b, Tag::of(Strict::B { x: -1 }));
    let error = read("\"C\"").unwrap_err().to_string();
    assert!(error.contains("Strict `C`: it was not added"), "{error}");
}

/// A kind that is written by hand declares templates, too.
#[test]
fn kinds_by_hand_declare_templates() {
    #[derive(PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
    struct Size(u32);

    enum Sized {}

    impl Kind for Sized {
        const NAME: &'static str = "sized";
        const MEMBERS: &'static [&'static str] = &["none", "size"];
        const TEMPLATES: &'static [tag::Declared] = &[tag::Declared::new::<Size>("size")];
    }

    let size = tag::lookup_template::<Sized, Size>("size").unwrap();
    let three = size.of(Size(3));
    assert_eq!(size, three);
    assert_eq!(json(&three), r#"{"type":"size","with":3}"#);
    assert_eq!(size.attributes(&three), Some(&Size(3)));
    assert!(!tag::lookup::<Sized>("none").is_template());
}
