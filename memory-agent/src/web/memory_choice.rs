//! The choice of a memory in a form: by its id, by the address of its page, or by words.

use memory_core::{MemoryId, Query, search};

use super::card::MemoryCard;
use super::error::PageError;
use super::html::Label;
use super::request::WebRequest;

/// A memory to choose.
#[derive(Debug)]
pub(crate) struct MemoryCandidate {
    pub(crate) id: String,
    pub(crate) title: Label,
    pub(crate) passage: Option<Label>,
}

/// Maximum number of candidates.
const MAX_CANDIDATES: usize = 12;

/// Number of digits from which a text is the start of an id and not a word.
const MIN_DIGITS: usize = 8;

/// Returns the reference to a memory in `text`: the id in the address of its page, an id, or the start of an id.
///
/// `None` means that the text consists of words to search for.
pub(crate) fn memory_reference(text: &str) -> Option<&str> {
    let text = text.trim();
    let address = text.split(['?', '#']).next().unwrap_or(text);
    if let Some((_, id)) = address.split_once("/memories/") {
        return Some(id.split('/').next().unwrap_or(id)).filter(|id| !id.is_empty());
    }
    let is_start = MIN_DIGITS <= text.len()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    (is_start || text.parse::<MemoryId>().is_ok()).then_some(text)
}

/// Returns the memories that match `words`, best first.
///
/// # Errors
/// If the search fails.
pub(crate) fn find_candidates(
    request: &WebRequest,
    words: &str,
) -> Result<Vec<MemoryCandidate>, PageError> {
    let found = search(&request.services, &Query::new(words).limit(MAX_CANDIDATES))?;
    let candidates = found.hits.iter().map(|hit| {
        let MemoryCard { title, passage, .. } = MemoryCard::of_hit(request, hit, &[]);
        MemoryCandidate {
            id: hit.stored.memory.id.to_string(),
            title,
            passage,
        }
    });
    Ok(candidates.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_or_an_address_is_a_reference_and_words_are_not() {
        let id = "00000000-0000-4000-8000-000000000001";
        for text in [
            id,
            "http://127.0.0.1:1/memories/00000000-0000-4000-8000-000000000001?done=1#history",
            "/memories/00000000-0000-4000-8000-000000000001/edit",
        ] {
            assert_eq!(memory_reference(text), Some(id), "{text}");
        }
        assert_eq!(memory_reference(" 0a1b2c3d "), Some("0a1b2c3d"));
        for text in ["", "cafe", "green tea", "decade", "/memories/", "2026"] {
            assert_eq!(memory_reference(text), None, "{text}");
        }
    }
}
