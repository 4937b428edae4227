//! Heuristics that distinguish credentials from placeholders and similar text.

/// Substrings of common placeholders.
const PLACEHOLDER_PARTS: [&str; 14] = [
    "example",
    "placeholder",
    "redacted",
    "change",
    "your",
    "insert",
    "replace",
    "dummy",
    "xxxx",
    "****",
    "....",
    "…",
    "<",
    "{",
];

/// Returns whether `value` is a placeholder: `your-api-key`, `xxxx`, `${TOKEN}`, `<token>`, `$TOKEN`.
pub(super) fn is_placeholder(value: &str) -> bool {
    let value = value.to_ascii_lowercase();
    value.starts_with(['$', '%'])
        || PLACEHOLDER_PARTS
            .iter()
            .any(|filler| value.contains(filler))
}

/// Returns whether `token` has fewer than six distinct characters.
pub(super) fn is_monotonous(token: &str) -> bool {
    let mut characters: Vec<char> = token.chars().collect();
    characters.sort_unstable();
    characters.dedup();
    characters.len() < 6
}

/// Returns whether a piece of `token` between `-` and `_` is long and mixes letters and digits.
pub(super) fn has_long_random_piece(token: &str) -> bool {
    token.split(['-', '_']).any(|piece| {
        16 <= piece.len()
            && piece.bytes().any(|byte| byte.is_ascii_digit())
            && piece.bytes().any(|byte| byte.is_ascii_alphabetic())
    })
}

/// Returns whether `value` looks random.
///
/// In a random value, letters and digits alternate more often than in words, names and paths.
pub(super) fn looks_random(value: &str) -> bool {
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    4 <= letters && 2 <= digits && !is_hash_or_uuid(value) && alternates(value)
}

/// Returns whether a value of 8 to 15 characters looks like a password: it mixes kinds of characters, and two fifths differ in kind from the
/// one before. In words, names, versions and paths, fewer do; a small letter behind a capital one does not count.
pub(super) fn looks_like_password(value: &str) -> bool {
    let kind = |byte: u8| match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        b'-' | b'_' | b'.' | b':' | b'/' | b',' => 3,
        _ => 4,
    };
    let has = |wanted| value.bytes().any(|byte| kind(byte) == wanted);
    let pairs = value.as_bytes().windows(2);
    let is_turn = |pair: &&[u8]| {
        let (one, other) = (kind(pair[0]), kind(pair[1]));
        one != other && (one, other) != (1, 0)
    };
    let turns = pairs.filter(is_turn).count();
    (8..16).contains(&value.len())
        && !value.contains(['/', ':', '%'])
        && has(0)
        && has(2)
        && (has(1) || has(4))
        && 2 * (value.len() - 1) <= 5 * turns
}

/// Returns whether kinds of characters alternate as often as in a random value.
pub(super) fn alternates(value: &str) -> bool {
    let bytes = value.as_bytes();
    let neighbours = || {
        bytes
            .windows(2)
            .filter(|pair| pair.iter().all(u8::is_ascii_alphanumeric))
    };
    // A change from an upper-case to a lower-case letter is excluded, since it is common in identifiers.
    let turns = neighbours()
        .filter(|pair| {
            char_kind(pair[0]) < char_kind(pair[1])
                || (pair[0].is_ascii_digit() && !pair[1].is_ascii_digit())
        })
        .count();
    MIN_TURN_PERCENT * neighbours().count() <= 100 * turns && MIN_ENTROPY <= bits_per_byte(bytes)
}

/// Minimum percentage of adjacent characters of different kinds.
///
/// It is about 40 in a random value, and about 20 in a name such as `getTokenFromV2`.
const MIN_TURN_PERCENT: usize = 22;

/// Minimum entropy in bits per byte of a random value of at least 16 characters.
const MIN_ENTROPY: f64 = 3.0;

/// Returns the kind of a character: lower case, upper case or other.
fn char_kind(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        _ => 2,
    }
}

/// Returns whether `value` is a UUID, a SHA-1 or git hash, or a SHA-256 hash, with or without a label.
pub(super) fn is_hash_or_uuid(value: &str) -> bool {
    let bare = value
        .rsplit([':', '='])
        .next()
        .unwrap_or(value)
        .trim_matches(|character: char| !character.is_ascii_alphanumeric());
    let groups: Vec<&str> = bare.split('-').collect();
    if !groups
        .iter()
        .all(|group| group.bytes().all(|byte| byte.is_ascii_hexdigit()))
    {
        return false;
    }
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    let is_labelled = bare.len() < value.len();
    matches!(lengths.as_slice(), [40 | 64] | [8, 4, 4, 4, 12]) || (is_labelled && lengths == [32])
}

#[expect(
    clippy::cast_precision_loss,
    reason = "values are far shorter than 2^52 bytes"
)]
fn bits_per_byte(bytes: &[u8]) -> f64 {
    let mut counts = [0_usize; 256];
    for &byte in bytes {
        counts[usize::from(byte)] += 1;
    }
    let share = |count: usize| count as f64 / bytes.len() as f64;
    counts
        .into_iter()
        .filter(|&count| 0 < count)
        .map(|count| -share(count) * share(count).log2())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_paths_and_dates_do_not_look_random() {
        for value in [
            "getAccessTokenFromVault2",
            "text-embedding-3-small",
            "claude-3-5-sonnet-20241022",
            "2026-05-01T12:00:00Z",
            "minimum12characters",
            "projects/123/secrets/name45",
            "550e8400-e29b-41d4-a716-446655440000",
            "sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709",
        ] {
            assert!(!looks_random(value), "{value}");
        }
    }

    #[test]
    fn short_passwords_mix_characters_and_names_do_not() {
        for value in [
            "yMlj!4YvzHrH",
            "Dhg7Jj6vPUPM",
            "P@ssw0rd",
            "k3Jd8sLq",
            "a1b2!c3d4",
        ] {
            assert!(looks_like_password(value), "{value}");
        }
        for value in [
            "Argon2id",
            "PBKDF2-SHA256",
            "bcrypt/12",
            "8-16chars",
            "getToken2",
            "MyPassword",
            "2026-11-28",
            "v1.2.3-rc1",
            "Win10Home",
            "Pass1/Fail2",
            "98.5Pct%",
            "Top10List",
            "LoginForm2V1",
            "C:/Dev1/Src2",
            "PB12/PA5",
        ] {
            assert!(!looks_like_password(value), "{value}");
        }
    }

    #[test]
    fn random_values_look_random() {
        for value in [
            "k3Jd8sLq0ZpX2vNb",
            "d41d8cd98f00b204e9800998ecf8427e",
            "p@ss-9fK2-xY7q-1LmZ",
        ] {
            assert!(looks_random(value), "{value}");
        }
    }
}
