//! Estimates the number of tokens in a text.

/// Estimates the number of language model tokens in `text`.
///
/// Four characters of Latin and similar scripts count as one token, and each character of other scripts counts as one. The vocabularies of
/// models differ; for prose the estimate is rather too high than too low.
pub fn token_count(text: &str) -> usize {
    let (narrow, wide) = text.chars().fold((0, 0), |(narrow, wide), character| {
        // In the scripts below this code point, a token contains several letters.
        if character < '\u{2e80}' {
            (narrow + 1, wide)
        } else {
            (narrow, wide + 1)
        }
    });
    usize::div_ceil(narrow, 4) + wide
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_weigh_what_models_make_of_them() {
        assert_eq!(token_count(""), 0);
        assert_eq!(token_count("user prefers dark mode"), 6);
        assert_eq!(token_count("用户偏好深色模式"), 8);
    }
}
