//! Who speaks in a question.

use crate::text::{TokenKind, fold, tokens};

/// Returns a question about somebody as if they spoke of themselves: `Where does Anna's brother live?` asked of Anna is
/// `Where does my brother live?`.
///
/// What people say, they say in the first person, and a model finds a text the nearer the more it is put the same way. `name`
/// is in lower case. The pronouns are English, as most models are; where that does not fit, the text as it was typed must count
/// as well.
pub fn in_first_person(text: &str, name: &str) -> String {
    let mut said = String::with_capacity(text.len());
    let mut done = 0;
    tokens(text, &mut |token| {
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
        assert_eq!(in_first_person("What did ANNA paint for Anna’s brother?", "anna"), "What did I paint for my brother?");
        assert_eq!(in_first_person("Annabel met Anna.", "anna"), "Annabel met I.");
    }

    proptest! {
        #[test]
        fn who_is_not_named_changes_nothing(text in any::<String>()) {
            prop_assert_eq!(in_first_person(&text, "\u{1}"), text);
        }
    }
}
