//! Resolves wikilinks to topics.

use super::{TopicListing, TopicName};
use crate::wikilink::{fold_link_name, parse};

/// Returns the topic that a wikilink names: by file name, with or without `.md`, otherwise by title.
///
/// Returns `None` if the name is ambiguous.
pub fn resolve_wikilink<'l>(listing: &'l TopicListing, target: &str) -> Option<&'l TopicName> {
    let wanted = fold_link_name(target);
    let wanted = wanted.strip_suffix(".md").unwrap_or(&wanted);
    if wanted.is_empty() {
        return None;
    }
    let mut by_file = listing.topics.iter().filter(|topic| fold_link_name(topic.name.stem()) == wanted);
    let mut by_title = listing.topics.iter().filter(|topic| fold_link_name(&topic.title) == wanted);
    let only = match (by_file.next(), by_file.next()) {
        (Some(topic), None) => Some(topic),
        (None, _) => by_title.next().filter(|_| by_title.next().is_none()),
        (Some(_), Some(_)) => None,
    };
    only.map(|topic| &topic.name)
}

/// Returns the distinct wikilinks of a text in order, each with the topic that it resolves to, if any.
pub(super) fn resolve_links(listing: &TopicListing, text: &str) -> Vec<(String, Option<TopicName>)> {
    let mut links: Vec<(String, Option<TopicName>)> = Vec::new();
    for found in parse(text).into_iter().filter(|found| !found.target.trim().is_empty()) {
        if links.iter().all(|(target, _)| *target != found.target) {
            let name = resolve_wikilink(listing, &found.target).cloned();
            links.push((found.target, name));
        }
    }
    links
}
