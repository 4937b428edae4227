//! `[[Wikilinks]]`: parsing them in text, and resolving them to their targets.

mod catalog;
mod choose;
mod parse;
mod tags;

pub use catalog::{WikilinkCatalog, WikilinkDestination};
pub use choose::{
    WikilinkCandidate, WikilinkNameKind, WikilinkRule, WikilinkTarget, choose_target, id_prefixes,
    lookup_keys, memory_keys,
};
pub use parse::{Fragment, Wikilink, blank_code, fold_link_name, parse, parse_prose_wikilinks};
pub use tags::{inline_tags, is_tag_name, prose_tags};
