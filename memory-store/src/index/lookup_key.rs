//! The keys for lookups of documents.

use chrono::Weekday;
use memory_core::standing::StandingKind;
use memory_core::{
    Category, ContentHash, HomeSection, MemoryId, Origin, Phase, Scope, SpeakerRole, Tags,
};

/// Minimum length of an id prefix, in digits.
pub(super) const SHORTEST: usize = 4;

/// A key for lookups of documents.
///
/// The index stores a 64-bit hash of each. Callers verify a result where a hash collision would cause harm.
#[derive(Debug, Clone, Copy)]
pub(super) enum LookupKey<'a> {
    /// A tag, or a parent of a tag.
    Tag(&'a str),
    /// The id of a linked document.
    Link(&'a MemoryId),
    /// A key of one of its wikilinks.
    Wikilink(&'a str),
    /// A key of its path.
    Path(&'a str),
    /// A key of its title.
    Title(&'a str),
    /// A key of one of its aliases.
    Alias(&'a str),
    /// The name of its file without the extension, in lower case.
    Stem(&'a str),
    /// The id in its file.
    Claim(&'a MemoryId),
    /// The hash of its content, and its scope.
    Content(&'a ContentHash, &'a Scope),
    /// The origin it was imported from.
    Origin(&'a Origin),
    /// The scope.
    Scope(&'a Scope),
    /// The phase.
    Phase(Phase),
    /// The category.
    Category(Category),
    /// The part of the home that contains it.
    Place(HomeSection),
    /// The source, in lower case.
    Source(&'a str),
    /// The document has an end of validity.
    Ends,
    /// The document is a proposal.
    Proposal,
    /// A word in the name of the speaker.
    ///
    /// The speaker is the source in a conversation, otherwise the agent that owns the memory.
    Speaker(&'a str),
    /// The first four digits of the id of a memory that it supersedes.
    Former(&'a str),
    /// The role of its author.
    Role(SpeakerRole),
    /// The memory that it is a reminder of.
    Reminds(&'a MemoryId),
    /// The year of creation.
    Year(i32),
    /// The month of creation, in any year.
    Month(u32),
    /// The weekday of creation.
    Weekday(Weekday),
    /// The document contains a standing instruction or preference.
    Standing,
    /// The strongest kind of its standing sentences.
    StandingOf(StandingKind),
}

impl LookupKey<'_> {
    /// Returns the hash, which is part of the format of the index.
    pub(super) fn bits(&self) -> i64 {
        let bits = match self {
            Self::Tag(tag) => hash(1, &[&Tags::key(tag)]),
            Self::Link(id) => hash(2, &[&id.to_string()]),
            Self::Wikilink(key) => hash(3, &[key]),
            Self::Path(key) => hash(4, &[key]),
            Self::Title(key) => hash(5, &[key]),
            Self::Alias(key) => hash(6, &[key]),
            Self::Stem(stem) => hash(7, &[stem]),
            Self::Claim(id) => hash(8, &[&id.to_string()]),
            Self::Content(content, scope) => hash(9, &[&content.to_string(), &scope.to_string()]),
            Self::Origin(origin) => hash(10, &[&origin.source, &origin.root, &origin.path]),
            Self::Scope(scope) => hash(11, &[&scope.to_string()]),
            Self::Phase(phase) => hash(12, &[phase.as_str()]),
            Self::Category(category) => hash(13, &[category.as_str()]),
            Self::Place(place) => hash(22, &[place.as_str()]),
            Self::Source(source) => hash(14, &[&source.to_lowercase()]),
            Self::Ends => hash(15, &[]),
            Self::Proposal => hash(26, &[]),
            Self::Speaker(name) => hash(16, &[&name.to_lowercase()]),
            Self::Year(year) => hash(17, &[&year.to_string()]),
            Self::Month(month) => hash(18, &[&month.to_string()]),
            Self::Standing => hash(24, &[]),
            Self::StandingOf(kind) => hash(25, &[kind.as_str()]),
            Self::Former(digits) => hash(21, &[digits]),
            Self::Reminds(id) => hash(20, &[&id.to_string()]),
            Self::Role(role) => hash(23, &[role.as_str()]),
            Self::Weekday(day) => hash(19, &[&day.num_days_from_monday().to_string()]),
        };
        bits.cast_signed()
    }
}

/// Hashes `parts`, with the same result on every machine and in every version.
pub(super) fn hash(seed: u64, parts: &[&str]) -> u64 {
    parts
        .iter()
        .fold(mix(seed), |state, part| hash_bytes(state, part.as_bytes()))
}

/// Hashes `bytes` into `state`.
pub(super) fn hash_bytes(state: u64, bytes: &[u8]) -> u64 {
    let mut state = mix(state ^ bytes.len() as u64);
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        state = mix(state ^ u64::from_le_bytes(*word));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix(state ^ u64::from_le_bytes(last))
}

/// Mixes every bit into all others (the finalizer of splitmix64).
pub(super) fn mix(bits: u64) -> u64 {
    let mut bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_ne!(hash(1, &["ab", "c"]), hash(1, &["a", "bc"]));
        assert_ne!(hash(1, &["a"]), hash(2, &["a"]));
        assert_ne!(hash(1, &["12345678"]), hash(1, &["12345678\0"]));
    }

    #[test]
    fn the_bits_never_change() {
        assert_eq!(hash(1, &["deploy"]), hash(1, &["deploy"]));
        assert_eq!(
            LookupKey::Tag("#Deploy ").bits(),
            LookupKey::Tag("deploy").bits()
        );
    }
}
