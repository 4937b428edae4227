//! `[[Wikilinks]]`: parsing them in text, and resolving them to their targets.

mod catalog;
mod choose;
mod code;
mod link_name;
mod parse;
mod path_pattern;
mod tags;

pub use catalog::{WikilinkCatalog, WikilinkDestination};
pub use choose::{WikilinkCandidate, WikilinkNameKind, WikilinkRule, WikilinkTarget, choose, keys, names_of, prefixes};
pub use code::blank_code;
pub use link_name::fold;
pub use parse::{Fragment, Wikilink, parse, parse_prose};
pub use tags::{inline_tags, prose_tags};
