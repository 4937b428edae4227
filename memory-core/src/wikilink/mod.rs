//! `[[Wikilinks]]`: parsing them in text, and resolving them to their targets.

mod catalog;
mod choose;
mod code;
mod fold;
mod parse;
mod place;
mod tags;

pub use catalog::{Catalog, Destination};
pub use choose::{By, Candidate, Rule, Target, choose, keys, names_of, prefixes};
pub use code::blank_code;
pub use fold::fold;
pub use parse::{Fragment, Wikilink, parse, parse_prose};
pub use tags::{inline_tags, prose_tags};
