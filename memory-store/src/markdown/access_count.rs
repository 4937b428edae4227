//! The access count in the front matter, which is written without an operation.

use std::ops::Range;

use memory_core::ContentHash;

/// The key of the count, as this program writes it.
const KEY: &[u8] = b"access_count: ";

/// Maximum number of bytes that are hashed to find a former version.
const MAX_HASHED: usize = 32 << 20;

/// Returns whether `bytes` have the hash `expected`, or had it when their access count was lower.
pub(crate) fn is_version(bytes: &[u8], expected: ContentHash) -> bool {
    if ContentHash::from_bytes(bytes) == expected {
        return true;
    }
    let Some((_, count)) = find_count(bytes) else {
        return false;
    };
    let most = (MAX_HASHED / bytes.len()) as u64;
    (count.saturating_sub(most)..count).rev().any(|count| {
        with_access_count(bytes, count)
            .is_some_and(|former| ContentHash::from_bytes(&former) == expected)
    })
}

/// Returns a file with another access count; `None` if it has no line of the count.
pub(crate) fn with_access_count(bytes: &[u8], count: u64) -> Option<Vec<u8>> {
    let (digits, _) = find_count(bytes)?;
    let (before, after) = (&bytes[..digits.start], &bytes[digits.end..]);
    Some([before, count.to_string().as_bytes(), after].concat())
}

/// Returns the place and the value of the count in the front matter.
fn find_count(bytes: &[u8]) -> Option<(Range<usize>, u64)> {
    let mut at = 0;
    for (number, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let text = line.trim_ascii_end();
        match (number, text) {
            (0, b"---") => {}
            (0, _) | (_, b"---") => return None,
            _ => {
                if let Some(digits) = text.strip_prefix(KEY) {
                    let count = std::str::from_utf8(digits).ok()?.parse().ok()?;
                    let begin = at + KEY.len();
                    return Some((begin..begin + digits.len(), count));
                }
            }
        }
        at += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &[u8] = b"---\nid: 1\naccess_count: 12\nlinks: []\n---\naccess_count: 7\n";

    #[test]
    fn only_the_count_of_the_front_matter_changes() {
        let written = with_access_count(FILE, 3).expect("the file has a count");
        assert_eq!(
            written,
            b"---\nid: 1\naccess_count: 3\nlinks: []\n---\naccess_count: 7\n"
        );
        for without in [
            &b"access_count: 7\n"[..],
            b"---\nid: 1\n---\naccess_count: 7\n",
            b"---\naccess_count: many\n---\n",
            b"---\n  access_count: 7\n---\n",
            b"",
        ] {
            assert_eq!(with_access_count(without, 3), None);
        }
    }

    #[test]
    fn a_version_is_found_by_its_lower_count_only() {
        let hash = |count| {
            ContentHash::from_bytes(&with_access_count(FILE, count).expect("the file has a count"))
        };
        assert!(is_version(FILE, hash(12)) && is_version(FILE, hash(0)));
        assert!(!is_version(FILE, hash(13)));
        let other = ContentHash::from_bytes(b"---\nid: 2\naccess_count: 12\n---\n");
        assert!(!is_version(FILE, other));
    }
}
