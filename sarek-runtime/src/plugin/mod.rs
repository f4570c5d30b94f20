//! The interface that backends implement, their claims, and tags.

pub mod backend;
pub mod claims;
pub mod tag;
