//! How much of a language model's attention a text takes.

/// Returns about how many tokens a language model makes of `text`: one for four letters of Latin script and its like, one for
/// each character of all others. The vocabularies of models differ; this is rather too much than too little for prose.
pub fn token_count(text: &str) -> usize {
    let (narrow, wide) = text.chars().fold((0, 0), |(narrow, wide), character| {
        // Up to here scripts are written in letters of which several make a token.
        if character < '\u{2e80}' { (narrow + 1, wide) } else { (narrow, wide + 1) }
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
