//! The tags of a memory.

use crate::wikilink::fold_link_name;

/// The tags of a memory, in the given order.
///
/// A tag has no surrounding whitespace and no leading `#`. No tag occurs twice, ignoring case.
///
/// ```
/// use memory_core::Tags;
///
/// let tags: Tags = ["#UI", " deploy ", "ui", ""].into_iter().collect();
/// assert_eq!(tags.as_slice(), ["UI", "deploy"]);
/// assert!(tags.contains("Deploy"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tags(Vec<String>);

impl Tags {
    /// Returns the tags.
    pub fn as_slice(&self) -> &[String] {
        &self.0
    }

    /// Returns whether there are no tags.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over the tags.
    pub fn iter(&self) -> std::slice::Iter<'_, String> {
        self.0.iter()
    }

    /// Returns whether `tag` is one of the tags, ignoring case.
    pub fn contains(&self, tag: &str) -> bool {
        let wanted = Self::key(tag);
        self.0.iter().any(|own| Self::key(own) == wanted)
    }

    /// Returns whether `tag` or a tag below it (`a/b` is below `a`) is one of the tags, ignoring case.
    pub fn contains_or_below(&self, tag: &str) -> bool {
        let wanted = Self::key(tag);
        self.0.iter().any(|own| {
            let own = Self::key(own);
            own == wanted
                || own
                    .strip_prefix(&wanted)
                    .is_some_and(|rest| rest.starts_with('/'))
        })
    }

    /// Returns the normalized form for comparing tags.
    pub fn key(tag: &str) -> String {
        fold_link_name(Self::label(tag))
    }

    /// Returns `tag` without all leading `#` and all surrounding whitespace. The function is idempotent.
    fn label(tag: &str) -> &str {
        tag.trim_start_matches(|sign: char| sign == '#' || sign.is_whitespace())
            .trim_end()
    }

    /// Returns these tags, followed by those of `more` that are new.
    #[must_use]
    pub fn with(&self, more: &Self) -> Self {
        self.iter().chain(more.iter()).collect()
    }

    /// Returns these tags without those in `fewer`.
    #[must_use]
    pub fn without(&self, fewer: &Self) -> Self {
        self.iter().filter(|tag| !fewer.contains(tag)).collect()
    }
}

impl<T: AsRef<str>> FromIterator<T> for Tags {
    fn from_iter<I: IntoIterator<Item = T>>(tags: I) -> Self {
        let mut kept = Vec::<String>::new();
        let mut seen = std::collections::HashSet::new();
        for tag in tags {
            let tag = Self::label(tag.as_ref()).replace(['\n', '\r'], " ");
            if !tag.is_empty() && seen.insert(Self::key(&tag)) {
                kept.push(tag);
            }
        }
        Self(kept)
    }
}

impl<'a> IntoIterator for &'a Tags {
    type Item = &'a String;
    type IntoIter = std::slice::Iter<'a, String>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::Tags;

    #[test]
    fn a_label_that_was_cleaned_stays_as_it_is() {
        let tags: Tags = ["# #", "##work", " # # deep work ", "#", "c#"]
            .into_iter()
            .collect();
        assert_eq!(tags.as_slice(), ["work", "deep work", "c#"]);
        assert_eq!(tags.iter().collect::<Tags>(), tags);
    }
}
