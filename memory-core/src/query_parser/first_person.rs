//! Conversion of queries to the first person.

use crate::text::{TokenKind, fold, tokenize};

/// Returns a query about the speaker `name` with the name replaced by first-person pronouns.
///
/// For `anna`, `Where does Anna's brother live?` becomes `Where does my brother live?`. Speakers write about themselves in the first
/// person, and an embedding model rates a text as more similar if it has the same form. `name` must be in lower case. The pronouns are
/// English, the language of most models; for other languages the caller must also search with the original text.
pub fn to_first_person(text: &str, name: &str) -> String {
    let mut said = String::with_capacity(text.len());
    let mut done = 0;
    tokenize(text, &mut |token| {
        if token.kind != TokenKind::Word || token.span.start < done {
            return;
        }
        let word = fold(&text[token.span.clone()]);
        let pronoun = match word.strip_suffix("'s") {
            Some(owner) if owner == name => "my",
            _ if word == name => "I",
            _ => return,
        };
        said.push_str(&text[done..token.span.start]);
        said.push_str(pronoun);
        done = token.span.end;
    });
    said.push_str(&text[done..]);
    said
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn who_is_named_speaks_of_themselves() {
        assert_eq!(to_first_person("What did ANNA paint for Anna’s brother?", "anna"), "What did I paint for my brother?");
        assert_eq!(to_first_person("Annabel met Anna.", "anna"), "Annabel met I.");
    }

    proptest! {
        #[test]
        fn who_is_not_named_changes_nothing(text in any::<String>()) {
            prop_assert_eq!(to_first_person(&text, "\u{1}"), text);
        }
    }
}
