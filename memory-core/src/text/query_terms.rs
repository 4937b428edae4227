//! Splits a query into search terms.

use std::collections::HashSet;

use super::{Token, TokenKind, tokenize};

/// A search term of a query.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Term {
    /// The text, in the form of an index token.
    pub text: String,
    /// The kind of token. Terms with equal texts and different kinds are different.
    pub kind: TokenKind,
}

/// Returns the distinct terms of a query, in the order of their first occurrence.
///
/// Every word is a term. In a run of a script without spaces the bigrams are terms, because they are far rarer than single characters; a
/// run of one character is a term itself.
///
/// ```
/// # use memory_core::text::query_terms;
/// let terms: Vec<String> = query_terms("记忆力 in 用").into_iter().map(|term| term.text).collect();
/// assert_eq!(terms, ["记忆", "忆力", "in", "用"]);
/// ```
pub fn query_terms(text: &str) -> Vec<Term> {
    let mut terms = Vec::new();
    let mut lone = None;
    let mut last_kind = None;
    tokenize(text, &mut |token| {
        match token.kind {
            // This character is the second one of the preceding bigram.
            TokenKind::Character if last_kind == Some(TokenKind::Bigram) => {}
            TokenKind::Character => terms.extend(lone.replace(Term::from(&token))),
            // The pending character is the first one of this bigram.
            TokenKind::Bigram => {
                lone = None;
                terms.push(Term::from(&token));
            }
            TokenKind::Word | TokenKind::Symbol => {
                terms.extend(lone.take());
                terms.push(Term::from(&token));
            }
        }
        last_kind = Some(token.kind);
    });
    terms.extend(lone);

    let mut seen = HashSet::new();
    terms.retain(|term| seen.insert(term.clone()));
    terms
}

impl From<&Token<'_>> for Term {
    fn from(token: &Token<'_>) -> Self {
        Self {
            text: token.text.to_owned(),
            kind: token.kind,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::{Term, query_terms};
    use crate::text::{TokenKind, tokenize};

    fn texts(query: &str) -> Vec<String> {
        query_terms(query)
            .into_iter()
            .map(|term| term.text)
            .collect()
    }

    #[test]
    fn a_term_is_asked_for_once() {
        assert_eq!(texts("Rust rusts 记忆 RUST 记忆"), ["rust", "记忆"]);
    }

    #[test]
    fn a_lone_character_is_a_term_and_one_of_a_run_is_not() {
        assert_eq!(texts("用 记 忆力"), ["用", "记", "忆力"]);
        assert_eq!(texts("忆力x记"), ["忆力", "x", "记"]);
        assert_eq!(query_terms("用")[0].kind, TokenKind::Character);
        assert_eq!(query_terms("用户")[0].kind, TokenKind::Bigram);
    }

    #[test]
    fn nothing_to_ask_for_is_no_term() {
        assert_eq!(texts(" …?! "), Vec::<String>::new());
    }

    proptest! {
        #[test]
        fn every_character_and_every_pair_of_a_text_is_found(text in "[一-龥ぁ-ゖァ-ヺ가-힣ก-ฮa-z ]{0,30}") {
            let mut indexed = HashSet::new();
            tokenize(&text, &mut |token| { indexed.insert(Term::from(&token)); });
            let characters: Vec<char> = text.chars().collect();
            for part in characters.windows(1).chain(characters.windows(2)) {
                if part.iter().any(char::is_ascii) {
                    continue;
                }
                let terms = query_terms(&part.iter().collect::<String>());
                prop_assert_eq!(terms.len(), 1);
                prop_assert!(indexed.contains(&terms[0]));
            }
        }

        #[test]
        fn every_term_of_a_query_is_a_token_of_it(text in any::<String>()) {
            let mut indexed = HashSet::new();
            tokenize(&text, &mut |token| { indexed.insert(Term::from(&token)); });
            prop_assert!(query_terms(&text).iter().all(|term| indexed.contains(term)));
        }
    }
}
