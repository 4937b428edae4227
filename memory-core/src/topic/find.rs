//! Finds a topic by its file name or title.

use super::name::fold_name;
use super::{TopicError, TopicListing, TopicName, Topics};

/// Finds the topic called `reference` by its file name, with or without `.md`, or by its title.
///
/// The title is compared only if no file matches. Case is ignored.
///
/// `reference` may be a wikilink in brackets.
///
/// # Errors
/// [`TopicError::NotFound`], [`TopicError::Ambiguous`], or the reason why `reference` is not a valid file name.
pub fn find(topics: &Topics, reference: &str) -> Result<TopicName, TopicError> {
    let inner = reference.strip_prefix("[[").and_then(|inner| inner.strip_suffix("]]"));
    let reference = inner.map_or(reference, |inner| inner.split(['|', '#']).next().unwrap_or(inner).trim());
    let parsed = reference.parse::<TopicName>();
    let name = match parsed {
        Ok(name) => name,
        // A path that leads out of the folder is refused whether the file exists or not.
        Err(error @ (TopicError::Outside { .. } | TopicError::Index)) if !reference.contains(':') => return Err(error),
        Err(error) => return find_by_title(&topics.store.topics()?, reference)?.ok_or(error),
    };
    if topics.store.text(name.path()).map_or(true, |found| found.is_some()) {
        return Ok(name);
    }
    find_by_title(&topics.store.topics()?, reference)?.ok_or_else(|| TopicError::not_found(reference))
}

/// Finds the single topic with `reference` as its file name or title, ignoring case.
fn find_by_title(listing: &TopicListing, reference: &str) -> Result<Option<TopicName>, TopicError> {
    let wanted = fold_name(reference);
    let is_it = |text: &str| fold_name(text) == wanted;
    let of_file = listing.topics.iter().filter(|topic| is_it(topic.name.as_str()) || is_it(topic.name.stem()));
    let of_title = listing.topics.iter().filter(|topic| is_it(&topic.title));
    for found in [of_file.collect::<Vec<_>>(), of_title.collect()] {
        match found[..] {
            [] => {}
            [topic] => return Ok(Some(topic.name.clone())),
            _ => {
                let candidates = found.iter().map(|topic| topic.name.to_string()).collect();
                return Err(TopicError::Ambiguous { name: reference.to_owned(), candidates });
            }
        }
    }
    Ok(None)
}
