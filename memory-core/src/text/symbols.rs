//! Extracts signs and emoji, which make a text searchable in addition to its words.

use std::iter::Peekable;
use std::ops::Range;
use std::str::CharIndices;

use super::fold::{fold, joins_previous};
use super::tokens::{CharClass, classify_char};
use super::{Term, Token, TokenKind};

/// The maximum length of a run of signs; longer runs are rules and borders, which are not searched for.
const MAX_RUN: usize = 8;

/// The maximum number of bytes of a word that is combined with adjacent signs.
const MAX_WORD: usize = 40;

/// The maximum number of symbols in a query; further ones are ignored.
const MAX_TERMS: usize = 32;

/// Signs that attach to the preceding word: `c++`, `c#`, `50%`, `20$`.
const SUFFIX_SIGNS: [char; 4] = ['+', '#', '%', '$'];

/// Signs that attach to the following word: `.net`, `$home`, `#idea`, `@anna`.
const PREFIX_SIGNS: [char; 4] = ['.', '$', '#', '@'];

/// Calls `each` with every symbol of `text`, in unspecified order.
///
/// A run of ASCII signs yields the run, each distinct sign, and the run combined with an adjacent word (`c++`, `.net`, `--fresh`). Every
/// other sign and every emoji is a symbol of its own; a composed emoji also yields its components. Sentence punctuation alone is not a
/// symbol.
///
/// ```
/// # use memory_core::text::for_each_symbol;
/// let mut found = Vec::new();
/// for_each_symbol("C++ 🚀.", &mut |token| found.push(token.text.to_owned()));
/// assert_eq!(found, ["++", "+", "c++", "🚀"]);
/// ```
pub fn for_each_symbol(text: &str, each: &mut dyn FnMut(Token<'_>)) {
    scan_symbols(text, &mut |symbol| {
        let mut emit = |text: &str, span: &Range<usize>| {
            each(Token {
                text,
                spelled: text,
                kind: TokenKind::Symbol,
                span: span.clone(),
            });
        };
        match symbol {
            Symbol::Run { text, span, joined } => {
                if text.chars().nth(1).is_some() {
                    emit(text, &span);
                }
                let mut seen = Vec::new();
                for (at, sign) in text.char_indices().filter(|(_, sign)| is_sign(*sign)) {
                    if !seen.contains(&sign) {
                        seen.push(sign);
                        // A full-width sign is longer than its folded form.
                        let at = if span.len() == text.len() {
                            span.start + at..span.start + at + 1
                        } else {
                            span.clone()
                        };
                        emit(sign.encode_utf8(&mut [0; 4]), &at);
                    }
                }
                for (text, span) in joined {
                    emit(text, span);
                }
            }
            Symbol::Picture { whole, parts, span } => {
                emit(whole, &span);
                parts
                    .iter()
                    .filter(|part| **part != whole)
                    .for_each(|part| emit(part, &span));
            }
        }
    });
}

/// Returns the distinct symbols of a query, each with whether it is a bare run of ASCII signs.
///
/// For signs next to a word, only the combination of both is returned.
pub fn symbol_terms(text: &str) -> Vec<(Term, bool)> {
    let mut terms: Vec<(Term, bool)> = Vec::new();
    let mut push = |text: &str, is_bare: bool| {
        if terms.len() < MAX_TERMS && !terms.iter().any(|(known, _)| known.text == text) {
            terms.push((
                Term {
                    text: text.to_owned(),
                    kind: TokenKind::Symbol,
                },
                is_bare,
            ));
        }
    };
    scan_symbols(text, &mut |symbol| match symbol {
        Symbol::Run {
            text, joined: [], ..
        } => {
            if text.chars().any(is_sign) || text.chars().nth(1).is_some() {
                push(text, true);
            }
        }
        Symbol::Run { joined, .. } => joined.iter().for_each(|(text, _)| push(text, false)),
        Symbol::Picture { whole, .. } => push(whole, false),
    });
    terms
}

/// A symbol that a scan of a text finds.
enum Symbol<'s> {
    /// Adjacent ASCII signs, and their combinations with the adjacent words.
    Run {
        text: &'s str,
        span: Range<usize>,
        joined: &'s [(String, Range<usize>)],
    },
    /// A non-ASCII sign or an emoji, without variation selectors, and its components.
    Picture {
        whole: &'s str,
        parts: &'s [&'s str],
        span: Range<usize>,
    },
}

fn scan_symbols(text: &str, each: &mut dyn FnMut(Symbol<'_>)) {
    if text
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace())
    {
        return;
    }
    let mut characters = text.char_indices().peekable();
    let mut word = 0..0;
    while let Some((start, raw)) = characters.next() {
        let character = to_half_width(raw);
        if is_word(raw) {
            word = if word.end == start && !word.is_empty() {
                word.start..start
            } else {
                start..start
            };
            word.end = start + raw.len_utf8();
        } else if is_in_run(character) {
            scan_run(text, start, character, &word, &mut characters, each);
        } else if is_sign_or_emoji(character) {
            scan_picture(text, start, character, &mut characters, each);
        }
    }
}

/// Parses the run of signs at `start`.
fn scan_run(
    text: &str,
    start: usize,
    first: char,
    word: &Range<usize>,
    characters: &mut Peekable<CharIndices<'_>>,
    each: &mut dyn FnMut(Symbol<'_>),
) {
    let mut signs = String::from(first);
    while let Some((_, raw)) = characters.next_if(|(_, next)| is_in_run(to_half_width(*next))) {
        signs.push(to_half_width(raw));
    }
    let end = characters.peek().map_or(text.len(), |(at, _)| *at);
    let mut joined: Vec<(String, Range<usize>)> = Vec::new();
    let follows = word.end == start && !word.is_empty();
    if follows && word.len() <= MAX_WORD {
        let own = signs
            .find(|sign| !SUFFIX_SIGNS.contains(&sign))
            .unwrap_or(signs.len());
        if 0 < own && own <= MAX_RUN {
            let bytes = text[start..end]
                .chars()
                .take(own)
                .map(char::len_utf8)
                .sum::<usize>();
            joined.push((
                fold(&text[word.clone()]) + &signs[..own],
                word.start..start + bytes,
            ));
        }
    }
    let next: &str = &text[end..];
    let next = &next[..next
        .find(|character| !is_word(character))
        .unwrap_or(next.len())];
    if !next.is_empty() && next.len() <= MAX_WORD {
        let span = |signs: usize| {
            let bytes: usize = text[start..end]
                .chars()
                .rev()
                .take(signs)
                .map(char::len_utf8)
                .sum();
            end - bytes..end + next.len()
        };
        let last = signs.chars().next_back().unwrap_or(first);
        if PREFIX_SIGNS.contains(&last) {
            joined.push((format!("{last}{}", fold(next)), span(1)));
        } else if !follows && (signs == "-" || signs == "--") {
            joined.push((format!("{signs}{}", fold(next)), span(signs.len())));
        }
    }
    if MAX_RUN < signs.len() {
        signs.truncate(1);
    }
    each(Symbol::Run {
        text: &signs,
        span: start..end,
        joined: &joined,
    });
}

/// Parses the emoji or sign at `start`.
fn scan_picture(
    text: &str,
    start: usize,
    first: char,
    characters: &mut Peekable<CharIndices<'_>>,
    each: &mut dyn FnMut(Symbol<'_>),
) {
    let mut whole = String::from(first);
    let mut parts: Vec<_> = std::iter::once(0..first.len_utf8()).collect();
    if is_regional(first)
        && let Some((_, second)) = characters.next_if(|(_, next)| is_regional(*next))
    {
        // Half of a flag is not a symbol.
        whole.push(second);
        parts.clear();
    }
    while let Some((_, next)) = characters.next_if(|(_, next)| is_joined(*next)) {
        match next {
            JOINER => {
                let Some((at, part)) = characters.next_if(|(_, next)| is_sign_or_emoji(*next))
                else {
                    continue;
                };
                debug_assert!(start < at, "characters come in order");
                whole.push(JOINER);
                parts.push(whole.len()..whole.len() + part.len_utf8());
                whole.push(part);
            }
            // These only select a glyph.
            '\u{fe00}'..='\u{fe0f}' | '\u{20e3}' => {}
            modifier => whole.push(modifier),
        }
    }
    let end = characters.peek().map_or(text.len(), |(at, _)| *at);
    let parts: Vec<&str> = parts.into_iter().map(|part| &whole[part]).collect();
    each(Symbol::Picture {
        whole: &whole,
        parts: &parts,
        span: start..end,
    });
}

/// The zero-width joiner, which joins emoji.
const JOINER: char = '\u{200d}';

/// Returns whether `character` belongs to the preceding emoji.
fn is_joined(character: char) -> bool {
    matches!(character, JOINER | '\u{fe00}'..='\u{fe0f}' | '\u{20e3}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0020}'..='\u{e007f}')
}

fn is_regional(character: char) -> bool {
    matches!(character, '\u{1f1e6}'..='\u{1f1ff}')
}

/// Returns the ASCII form of a full-width character, or the character itself.
fn to_half_width(character: char) -> char {
    match character {
        '\u{ff01}'..='\u{ff5e}' => {
            char::from_u32(u32::from(character) - 0xfee0).unwrap_or(character)
        }
        other => other,
    }
}

/// Returns whether `character` is part of a word of a script with spaces between words.
fn is_word(character: char) -> bool {
    match character {
        '\0'..='\u{7f}' => character.is_ascii_alphanumeric(),
        '\u{ff01}'..='\u{ff5e}' => to_half_width(character).is_ascii_alphanumeric(),
        _ if is_sign_or_emoji(character) || is_joined(character) => false,
        _ => {
            matches!(classify_char(character), CharClass::Word | CharClass::Mark)
                || joins_previous(character) && classify_char(character) != CharClass::Blankless
        }
    }
}

/// Returns whether an ASCII character is a symbol on its own.
fn is_sign(character: char) -> bool {
    matches!(character, '#'..='&' | '*' | '+' | '-' | '/' | '<'..='>' | '@' | '\\' | '^'..='`' | '|' | '~')
}

/// Returns whether an ASCII character may be part of a run of signs: `::`, `!=`.
fn is_in_run(character: char) -> bool {
    is_sign(character) || matches!(character, '!' | '.' | ':' | '?')
}

/// Returns whether `character` is a non-ASCII sign or an emoji.
///
/// Punctuation, letters and digits are not.
pub fn is_sign_or_emoji(character: char) -> bool {
    let is_in_block = matches!(character,
        '\u{a2}'..='\u{a6}' | '\u{a9}' | '\u{ac}' | '\u{ae}'..='\u{b1}' | '\u{d7}' | '\u{f7}'
        // Currencies, arrows, mathematics, technical signs, shapes and dingbats; then the private use area, and emoji.
        | '\u{20a0}'..='\u{20cf}' | '\u{2100}'..='\u{2bff}' | '\u{e000}'..='\u{f8ff}' | '\u{1f000}'..='\u{1fbff}');
    is_in_block && !character.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn all_symbols(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        for_each_symbol(text, &mut |token| found.push(token.text.to_owned()));
        found
    }

    fn query_symbols(text: &str) -> Vec<String> {
        symbol_terms(text)
            .into_iter()
            .map(|(term, _)| term.text)
            .collect()
    }

    #[test]
    fn signs_are_symbols_with_the_word_they_touch() {
        for (text, expected) in [
            ("C#", vec!["#", "c#"]),
            ("(C#, F#)", vec!["#", "c#", "#", "f#"]),
            ("ASP.NET", vec![".net"]),
            (
                "C++20/C#-Kurs",
                vec!["++", "+", "c++", "/", "#-", "#", "-", "c#"],
            ),
            ("$HOME", vec!["$", "$home"]),
            ("--fresh", vec!["--", "-", "--fresh"]),
            ("a -> b", vec!["->", "-", ">"]),
            ("std::fmt", vec!["::"]),
            ("dark-mode", vec!["-"]),
            ("用C＃写", vec!["#", "c#"]),
            ("Ｃ＋＋", vec!["++", "+", "c++"]),
            ("Done. Really? Yes!", vec![]),
            ("----------------", vec!["-"]),
        ] {
            assert_eq!(all_symbols(text), expected, "{text}");
        }
    }

    #[test]
    fn emoji_are_symbols_and_found_by_what_they_are_made_of() {
        for (text, expected) in [
            ("go🚀now", vec!["🚀"]),
            ("❤\u{fe0f}", vec!["❤"]),
            ("🇩🇪🇫🇷", vec!["🇩🇪", "🇫🇷"]),
            ("👍🏽", vec!["👍🏽", "👍"]),
            ("👩\u{200d}💻", vec!["👩\u{200d}💻", "👩", "💻"]),
            ("a → b ≠ 5 €", vec!["→", "≠", "€"]),
            ("🎉🎉", vec!["🎉", "🎉"]),
        ] {
            assert_eq!(all_symbols(text), expected, "{text}");
        }
    }

    #[test]
    fn a_query_asks_for_the_most_certain_symbols() {
        for (text, expected) in [
            ("C#", vec!["c#"]),
            ("++", vec!["++"]),
            (".NET or F#", vec![".net", "f#"]),
            ("👩\u{200d}💻 🇩🇪", vec!["👩\u{200d}💻", "🇩🇪"]),
            ("a + b", vec!["+"]),
            ("what is it?", vec![]),
        ] {
            assert_eq!(query_symbols(text), expected, "{text}");
        }
    }

    #[test]
    fn spans_are_where_the_symbols_are() {
        let text = "用 Ｃ＃ and C++, ❤\u{fe0f}!";
        let mut pieces = Vec::new();
        for_each_symbol(text, &mut |token| {
            pieces.push((token.text.to_owned(), &text[token.span]));
        });
        let of = |symbol: &str| {
            pieces
                .iter()
                .find(|(own, _)| own == symbol)
                .map(|(_, piece)| *piece)
        };
        assert_eq!(
            [of("c#"), of("c++"), of("❤")],
            [Some("Ｃ＃"), Some("C++"), Some("❤\u{fe0f}")]
        );
    }

    proptest! {
        #[test]
        fn what_a_query_asks_for_is_found_in_its_own_text(text in "([a-cé用写 ]|[-+#$%.:!?/@]|🚀|👩|\u{200d}|\u{fe0f}|🇩|🇪|→|👍|🏽|＃){0,14}") {
            let found: HashSet<String> = all_symbols(&text).into_iter().collect();
            for term in query_symbols(&text) {
                prop_assert!(found.contains(&term), "{:?} in {:?}", term, text);
            }
        }

        #[test]
        fn any_text_is_read_and_spans_are_on_borders(text in any::<String>()) {
            for_each_symbol(&text, &mut |token| assert!(!token.text.is_empty() && !text[token.span].is_empty()));
        }
    }
}
