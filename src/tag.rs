//! Tags: extensible enumerations of storages, schedules and other kinds, and kinds of one's own.
//!
//! ```
//! use sarek::tag::{self, Kind, ScheduleKind, Tag};
//!
//! // An enum of one's own. A variant with fields is a template.
//! #[derive(Kind, PartialEq, Eq, Hash, Debug)]
//! enum Order {
//!     Plain,
//!     Tiled { width: u32, height: u32 },
//! }
//!
//! let tag = Tag::of(Order::Tiled { width: 16, height: 4 });
//! let threads = match tag.view()? {
//!     Order::Tiled { width, height } => width * height,
//!     Order::Plain => 1,
//! };
//! assert_eq!(threads, 64);
//!
//! // The kinds of the library, and those of one's own, get members at run time.
//! let mine: Tag<ScheduleKind> = tag::register("doc/mine")?;
//! assert_eq!(tag::lookup("doc/mine"), mine);
//! # Ok::<(), sarek::Error>(())
//! ```

pub use sarek_macros::Kind;
pub use sarek_runtime::tag::*;
