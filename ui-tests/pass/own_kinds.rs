//! Enums as kinds of tags, under another name of the crate and beside names that shadow the usual ones.
#![deny(warnings)]
#![allow(dead_code, non_camel_case_types)]

pub extern crate sarek as renamed;

use renamed::tag::Tag;

mod shadow {
    pub enum Option {}
    pub enum Result {}
    pub enum Vec {}
    pub struct Some;
    pub struct Ok;
    pub struct Err;
    pub enum str {}
    pub enum bool {}
}

mod inner {
    #![allow(unused_imports)]
    use super::shadow::{Err, Ok, Option, Result, Some, Vec, bool, str};

    #[derive(renamed::tag::Kind, PartialEq, Eq, Hash, Debug)]
    #[kind(crate = renamed)]
    pub enum Order {
        Plain,
        Tiled { fields: u32, name: i8, tag: u8, r#type: u16 },
    }

    use super::renamed;
}

/// A kind without predefined members.
#[derive(renamed::tag::Kind, PartialEq, Eq, Hash, Debug)]
#[kind(crate = crate::renamed)]
enum Empty {}

macro_rules! made {
    ($name:ident: $($variant:ident { $($field:ident: $ty:ty),* }),*) => {
        #[derive(renamed::tag::Kind, PartialEq, Eq, Hash, Debug)]
        #[kind(crate = $crate::renamed)]
        enum $name {
            Plain,
            $($variant { $($field: $ty),* }),*
        }
    };
}

made!(Made: Sized { width: u32 });

fn main() {
    use inner::Order;
    let value = || Order::Tiled { fields: 1, name: 2, tag: 3, r#type: 4 };
    assert_eq!(Tag::of(value()).view().unwrap(), &value());
    assert_eq!(Tag::of(Order::Plain).view().unwrap(), &Order::Plain);
    assert!(renamed::tag::members::<Empty>().is_empty());
    assert_eq!(Tag::of(Made::Sized { width: 3 }).name(), "Sized");
}
