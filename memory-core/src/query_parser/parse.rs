//! The query parser.

use std::collections::{HashMap, HashSet};

use chrono::{TimeZone, Utc};

use super::dates::{SpelledWord, extract_dates, find_han_dates};
use super::filter_extraction::{ExtractedFilter, remove_spans};
use super::phrase::Phrase;
use super::query_intent::{asks_assistant, asks_summary, asks_when, asks_which, parse_dialogue};
use super::query_lexer::{QueryElement, add_characters, parse_filter, split_query};
use super::stop_words::{is_stop_token, is_stop_word};
use super::{ParsedQuery, QueryWord, TextQuery, WordRole};
use crate::Filter;
use crate::text::{
    Term, TokenKind, compound_names, exact_form, for_each_compound_token, hyphenated_form,
    identifier_parts, query_terms, symbol_terms, tokenize,
};

/// Maximum number of query words; the rest is dropped.
const MAX_WORDS: usize = 256;

/// Maximum number of messages about invalid filters.
const MAX_MISREAD: usize = 3;

/// Maximum number of Chinese dates in a query.
const MAX_DATES: usize = 16;

/// Maximum number of candidate speaker names in a query.
const MAX_NAMES: usize = 32;

/// Numbers of words and of stop words outside quotation marks, from either of which a query is prose.
const MIN_PROSE_WORDS: [usize; 2] = [15, 3];

/// Returns whether a text is a sentence, a question or a command, in which quotation marks and leading minus signs do not limit the search.
fn is_prose(text: &str, pieces: &[QueryElement<'_>]) -> bool {
    let is_option = |piece: &QueryElement<'_>| match piece {
        QueryElement::Without(text) => {
            text.len() == 1 && text.starts_with(|own: char| own.is_ascii())
        }
        QueryElement::Text(text) => text.starts_with("--") && text.contains(char::is_alphabetic),
        QueryElement::Phrase(_) => false,
    };
    let counts = pieces.iter().map(count_words);
    let [words, stop_words] = counts.fold([0, 0], |[words, stops], [own, own_stops]| {
        [words + own, stops + own_stops]
    });
    text.trim_end().ends_with(['?', '？', '吗', '嗎', '呢'])
        || MIN_PROSE_WORDS[0] <= words
        || MIN_PROSE_WORDS[1] <= stop_words
        || pieces.iter().any(is_option)
}

/// Parses a query.
///
/// A text matches if it contains any of the words. `"a phrase"` is required, `-word` and `-"a phrase"` are excluded, and `begin*` matches
/// every word with that prefix. `tag:`, `scope:`, `category:`, `source:`, `from:` and `to:` (a year, month or day, as in `2026-05`) are
/// combined with `filter`; days begin at midnight in UTC, see [`extract_bounds()`]. All other input is text, including an unclosed quotation mark and a `tag:` without a value; an invalid filter
/// is reported in `misread`. The quotation marks `“…”`, `„…“`, `«…»`, `「…」` and `『…』` also delimit phrases. In a question, a text with an
/// option such as `-m` or `--all`, and a text with 3 stop words or 15 words outside quotation marks, quotation marks are plain text, and
/// `-word` is a word.
///
/// A dialogue, which has one message per line after the name of its speaker, consists of words only; words of later messages have more
/// weight.
pub fn parse(text: &str, filter: &Filter) -> ParsedQuery {
    let mut filter = filter.clone();
    let mut question = TextQuery::default();
    let (mut plain, mut prefixes, mut misread) = (String::new(), Vec::new(), Vec::new());
    if let Some(messages) = parse_dialogue(text) {
        let ends = messages.iter().map(|message| {
            push_separated(&mut plain, message);
            plain.len()
        });
        let ends: Vec<usize> = ends.collect();
        analyze_words(&plain, &prefixes, &ends, &mut question);
        question.text = plain;
        return ParsedQuery {
            question,
            filter,
            misread,
        };
    }
    let pieces = split_query(text);
    let is_prose = is_prose(text, &pieces);
    for piece in pieces {
        match piece {
            QueryElement::Without(text) if is_prose => push_separated(&mut plain, text),
            QueryElement::Without(text) => {
                let Some(phrase) = Phrase::of(text) else {
                    continue;
                };
                match phrase.single_term() {
                    Some(only) => question.without.push(only.clone()),
                    None => question.without_phrases.push(phrase),
                }
            }
            QueryElement::Phrase(text) => {
                question
                    .phrases
                    .extend(Phrase::of(text).filter(|_| !is_prose));
                push_separated(&mut plain, text);
            }
            QueryElement::Text(text) => {
                match parse_filter(text, &mut filter, &Utc) {
                    Ok(true) => continue,
                    Ok(false) => {}
                    Err(why) => {
                        if !misread.contains(&why) && misread.len() < MAX_MISREAD {
                            misread.push(why);
                        }
                    }
                }
                if let Some(beginning) = text.strip_suffix('*') {
                    prefixes.extend(prefix_term(beginning));
                }
                push_separated(&mut plain, text);
            }
        }
    }
    analyze_words(&plain, &prefixes, &[], &mut question);
    question.text = plain;
    ParsedQuery {
        question,
        filter,
        misread,
    }
}

/// Parses a sentence or a dialogue, in which nothing is an operator or a filter.
pub(crate) fn parse_sentence(text: &str, filter: &Filter) -> ParsedQuery {
    if parse_dialogue(text).is_some() {
        return parse(text, filter);
    }
    let mut question = TextQuery::default();
    analyze_words(text, &[], &[], &mut question);
    text.clone_into(&mut question.text);
    ParsedQuery {
        question,
        filter: filter.clone(),
        misread: Vec::new(),
    }
}

/// Moves the `from:` and `to:` of a query into the filter, with days that begin at midnight in `zone`.
///
/// ```
/// use chrono::FixedOffset;
/// use memory_core::Filter;
/// use memory_core::query_parser::extract_bounds;
///
/// let zone = FixedOffset::east_opt(3600).unwrap();
/// let extracted = extract_bounds("tea from:2026-02-11 -green", &Filter::default(), &zone);
/// assert_eq!(extracted.text, "tea -green");
/// assert_eq!(extracted.filter.from.unwrap().to_rfc3339(), "2026-02-10T23:00:00+00:00");
/// ```
pub fn extract_bounds<Tz: TimeZone>(text: &str, filter: &Filter, zone: &Tz) -> ExtractedFilter {
    let mut filter = filter.clone();
    let mut taken = Vec::new();
    if parse_dialogue(text).is_none() {
        for piece in split_query(text) {
            if let QueryElement::Text(piece) = piece
                && let Some((key, _)) = piece.split_once(':')
                && ["from", "to"]
                    .iter()
                    .any(|bound| key.eq_ignore_ascii_case(bound))
                && matches!(parse_filter(piece, &mut filter, zone), Ok(true))
            {
                let start = piece.as_ptr() as usize - text.as_ptr() as usize;
                taken.push(start..start + piece.len());
            }
        }
    }
    let text = if taken.is_empty() {
        text.to_owned()
    } else {
        remove_spans(text, taken)
    };
    ExtractedFilter { text, filter }
}

/// Returns whether a query contains a phrase, an exclusion, a prefix or a filter in the syntax of [`parse()`].
///
/// ```
/// use memory_core::query_parser::has_operators;
///
/// assert!(has_operators("tea -green") && has_operators("\"green tea\"") && has_operators("tea tag:kitchen"));
/// assert!(!has_operators("decisions about the database last week"));
/// ```
pub fn has_operators(text: &str) -> bool {
    let ParsedQuery {
        question,
        filter,
        misread,
    } = parse(text, &Filter::default());
    let TextQuery {
        words,
        phrases,
        without,
        without_phrases,
        ..
    } = question;
    let has_prefix = words.iter().any(|word| word.is_prefix);
    let has_quote_or_exclusion =
        !(phrases.is_empty() && without.is_empty() && without_phrases.is_empty());
    has_prefix || has_quote_or_exclusion || !misread.is_empty() || filter != Filter::default()
}

/// Returns the numbers of words and of stop words of an element that is neither quoted, excluded nor a filter.
fn count_words(piece: &QueryElement<'_>) -> [usize; 2] {
    let mut count = [0; 2];
    if let QueryElement::Text(text) = piece
        && !matches!(parse_filter(text, &mut Filter::default(), &Utc), Ok(true))
    {
        tokenize(text, &mut |token| {
            let is_word = token.kind == TokenKind::Word;
            let is_stop = is_word && is_stop_token(&text[token.span], true);
            count[0] += usize::from(token.kind != TokenKind::Character);
            count[1] += usize::from(is_stop);
        });
    }
    count
}

fn push_separated(plain: &mut String, text: &str) {
    if !plain.is_empty() {
        plain.push(' ');
    }
    plain.push_str(text);
}

/// Returns the last word before a `*`, case-folded but not stemmed.
fn prefix_term(text: &str) -> Option<String> {
    let mut last = None;
    tokenize(text, &mut |token| {
        last =
            (token.kind == TokenKind::Word).then(|| crate::text::fold(&text[token.span.clone()]));
    });
    last
}

/// Fills `question` with the words, dates and properties of `plain`.
///
/// In a dialogue, `ends` holds the end offsets of its messages, which are in reverse order; otherwise it is empty.
fn analyze_words(plain: &str, prefixes: &[String], ends: &[usize], question: &mut TextQuery) {
    let mut typed = Vec::new();
    let mut ages = HashMap::<Term, u8>::new();
    let age =
        |start: usize| u8::try_from(ends.partition_point(|end| *end <= start)).unwrap_or(u8::MAX);
    let mut han = find_han_dates(plain);
    han.truncate(MAX_DATES);
    let (mut within, mut besides) = (HashSet::new(), HashSet::new());
    tokenize(plain, &mut |token| {
        let term = Term {
            text: token.text.to_owned(),
            kind: token.kind,
        };
        if !ends.is_empty() {
            ages.entry(term.clone()).or_insert(age(token.span.start));
        }
        if token.kind == TokenKind::Word {
            let spelled = &plain[token.span.clone()];
            let is_capital = spelled.starts_with(char::is_uppercase);
            typed.push(SpelledWord {
                lower: crate::text::fold(spelled),
                is_capital,
                term,
                span: token.span,
            });
        } else if han.iter().any(|date| date.span.contains(&token.span.start)) {
            within.insert(term);
        } else {
            besides.insert(term);
        }
    });
    let dated = extract_dates(plain, &typed, &han, question);
    question.asks_when = asks_when(plain, &typed);
    question.asks_which = asks_which(plain, &typed);
    question.asks_assistant = asks_assistant(plain, &typed);
    question.asks_summary = asks_summary(plain, &typed);
    let mut roles = HashMap::<&str, WordRole>::new();
    for (index, word) in typed.iter().enumerate() {
        let role = match (is_stop_word(&word.lower), dated.contains(&index)) {
            (_, true) => WordRole::Date,
            (true, false) => WordRole::Aside,
            (false, false) => WordRole::Content,
        };
        let is_content = role == WordRole::Content;
        // A repeated word gets the role `Content` if any occurrence has it.
        roles
            .entry(word.term.text.as_str())
            .and_modify(|known| {
                if is_content {
                    *known = role;
                }
            })
            .or_insert(role);
        let name = word.lower.strip_suffix("'s").unwrap_or(&word.lower);
        if is_content
            && question.names.len() < MAX_NAMES
            && question.names.iter().all(|own| own != name)
        {
            question.names.push(name.to_owned());
        }
    }
    let mut spelled = HashMap::<&str, &str>::new();
    for word in &typed {
        spelled
            .entry(word.term.text.as_str())
            .or_insert(word.lower.as_str());
    }
    let begins = |term: &Term| {
        prefixes
            .iter()
            .any(|beginning| *beginning == term.text || beginning.starts_with(&term.text))
    };
    let terms = query_terms(plain);
    question.left_out = terms.len().saturating_sub(MAX_WORDS);
    for term in terms.into_iter().take(MAX_WORDS) {
        let is_quoted = question
            .phrases
            .iter()
            .any(|phrase| phrase.terms().contains(&term));
        let known = match term.kind {
            TokenKind::Word => roles.get(term.text.as_str()).copied(),
            TokenKind::Bigram | TokenKind::Character | TokenKind::Symbol => {
                Some(WordRole::Date).filter(|_| within.contains(&term) && !besides.contains(&term))
            }
        };
        let role = known.filter(|_| !is_quoted).unwrap_or(WordRole::Content);
        let is_prefix = term.kind == TokenKind::Word && begins(&term);
        // A prefix is searched as typed, because its stem could be shorter.
        let own = spelled
            .get(term.text.as_str())
            .filter(|_| term.kind == TokenKind::Word);
        let spelled = own.map_or_else(|| term.text.clone(), |own| (*own).to_owned());
        let text = prefixes
            .iter()
            .find(|beginning| is_prefix && beginning.starts_with(&term.text))
            .cloned();
        let age = ages.get(&term).copied().unwrap_or_default();
        let term = Term {
            text: text.unwrap_or(term.text),
            kind: term.kind,
        };
        let is_word = term.kind == TokenKind::Word && !is_prefix;
        let alternatives = exact_form(&spelled)
            .into_iter()
            .chain([hyphenated_form(&term.text)])
            .filter(|_| is_word)
            .collect();
        question.words.push(QueryWord {
            term,
            spelled,
            role,
            age,
            is_prefix,
            alternatives,
        });
    }
    add_compounds(plain, &mut question.words);
    add_identifier_words(plain, &typed, &mut question.words);
    for name in compound_names(plain) {
        let term = Term {
            text: name.clone(),
            kind: TokenKind::Word,
        };
        add_word(term, &name, &mut question.words);
    }
    add_characters(plain, &ages, MAX_WORDS, &mut question.words);
    add_symbols(plain, question);
    if question
        .words
        .iter()
        .all(|word| word.role != WordRole::Content)
    {
        question.is_only_date = question.date.is_some();
        let counts = if question.is_only_date {
            WordRole::Date
        } else {
            WordRole::Aside
        };
        question
            .words
            .iter_mut()
            .filter(|word| word.role == counts)
            .for_each(|word| word.role = WordRole::Content);
    }
}

/// Adds the symbols of a query, such as `C#`.
fn add_symbols(plain: &str, question: &mut TextQuery) {
    let has_content = question
        .words
        .iter()
        .any(|word| word.role == WordRole::Content);
    for (term, is_bare) in symbol_terms(plain) {
        // A bare symbol between words, such as a dash, is rarely the subject of a query.
        let is_quoted = question
            .phrases
            .iter()
            .any(|phrase| phrase.terms().contains(&term));
        let role = if is_bare && has_content && !is_quoted {
            WordRole::Aside
        } else {
            WordRole::Content
        };
        question.words.push(QueryWord {
            spelled: term.text.clone(),
            term,
            role,
            age: 0,
            is_prefix: false,
            alternatives: Vec::new(),
        });
    }
}

/// Lets both words of a compound match the compound without its hyphen.
fn add_compounds(plain: &str, words: &mut [QueryWord]) {
    for_each_compound_token(plain, &mut |compound| {
        tokenize(&plain[compound.span.clone()], &mut |part| {
            let mut own = words.iter_mut().filter(|word| word.term.text == part.text);
            if let Some(word) = own.next() {
                word.alternatives.push(compound.text.to_owned());
            }
        });
    });
}

/// Adds the words of identifiers, which other texts write apart.
fn add_identifier_words(plain: &str, typed: &[SpelledWord], words: &mut Vec<QueryWord>) {
    for part in typed
        .iter()
        .flat_map(|word| identifier_parts(&plain[word.span.clone()]))
    {
        for term in query_terms(part) {
            add_word(term, part, words);
        }
    }
}

fn add_word(term: Term, spelled: &str, words: &mut Vec<QueryWord>) {
    if words.len() < MAX_WORDS && words.iter().all(|own| own.term != term) {
        let is_stop = is_stop_token(spelled, true);
        words.push(QueryWord {
            term,
            spelled: crate::text::fold(spelled),
            role: if is_stop {
                WordRole::Aside
            } else {
                WordRole::Content
            },
            age: 0,
            is_prefix: false,
            alternatives: Vec::new(),
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use chrono::{DateTime, Datelike, FixedOffset};
    use proptest::prelude::*;

    use super::*;
    use crate::{Category, LocalZone, Scope};

    fn read(text: &str) -> TextQuery {
        parse(text, &Filter::default()).question
    }

    #[test]
    fn phrases_exclusions_prefixes_dates_and_identifiers_are_exact() {
        for exact in [
            "\"green tea\"",
            "tea -green",
            "tea -\"green tea\"",
            "migr*",
            "2026-05-07",
            "ERR_1234",
            "std::fs::read",
            "config.yaml 550e8400-e29b",
        ] {
            assert!(read(exact).is_exact(), "{exact}");
        }
        for meant in [
            "what pet do I have",
            "well-known names",
            "don't",
            "why 3 pets?",
            "我有3只猫吗",
            "什么",
        ] {
            assert!(!read(meant).is_exact(), "{meant}");
        }
    }

    fn words(text: &str, role: WordRole) -> Vec<String> {
        read(text)
            .words
            .into_iter()
            .filter(|word| word.role == role)
            .map(|word| word.term.text)
            .collect()
    }

    #[test]
    fn what_holds_a_sentence_together_is_an_aside() {
        assert_eq!(
            words("When did we decide on Postgres?", WordRole::Content),
            ["decid", "postgr"]
        );
        assert_eq!(
            words("When did we decide on Postgres?", WordRole::Aside),
            ["when", "do", "we", "on"]
        );
        assert_eq!(
            words("to be or not to be", WordRole::Content),
            ["to", "be", "or", "not"]
        );
        assert_eq!(
            words("用Rust写的CLI", WordRole::Content),
            ["用", "rust", "写的", "cli"]
        );
    }

    #[test]
    fn symbols_are_asked_for_and_signs_between_words_are_asides() {
        assert_eq!(
            words("C# or .NET 🚀", WordRole::Content),
            ["c", "net", "c#", ".net", "🚀"]
        );
        assert_eq!(words("what is ++", WordRole::Content), ["++"]);
        assert_eq!(
            words("salt + pepper", WordRole::Content),
            ["salt", "pepper"]
        );
        assert_eq!(words("salt + pepper", WordRole::Aside), ["+"]);
        assert_eq!(words("when?", WordRole::Content), ["when"]);
        let question = read("code -C# -🚀 \"C++\"");
        assert_eq!(
            question
                .without
                .iter()
                .map(|term| term.text.as_str())
                .collect::<Vec<_>>(),
            ["c#", "🚀"]
        );
        assert_eq!(question.phrases[0].terms()[0].text, "c++");
    }

    #[test]
    fn a_question_tells_what_it_asks_for() {
        for (text, when, which) in [
            ("When is the deadline?", true, false),
            ("how long did it take", true, false),
            ("which month did she move", true, true),
            ("我什么时候去体检？", true, false),
            ("誰負責後端？", false, true),
            ("where are the keys", false, true),
            ("dark mode", false, false),
        ] {
            let question = read(text);
            assert_eq!(
                (question.asks_when, question.asks_which),
                (when, which),
                "{text}"
            );
        }
    }

    #[test]
    fn a_question_may_ask_for_a_message_of_the_assistant() {
        for (text, is_asked) in [
            ("What did you recommend for dinner?", true),
            ("which of your suggestions was about tea?", true),
            ("Remind me how you had explained it", true),
            ("你上次推荐了什么？", true),
            ("Can you recommend a place for dinner?", false),
            ("Thank you, tell me more", false),
            ("What did Anna recommend?", false),
        ] {
            assert_eq!(read(text).asks_assistant, is_asked, "{text}");
        }
    }

    #[test]
    fn a_question_may_ask_for_a_summary() {
        for (text, is_asked) in [
            ("Can you summarize how my project developed?", true),
            ("Give me an overview of the weather app", true),
            ("请总结一下我的旅行计划", true),
            ("When did my project start?", false),
            ("Which summer was the warmest?", false),
        ] {
            assert_eq!(read(text).asks_summary, is_asked, "{text}");
        }
    }

    #[test]
    fn words_of_earlier_messages_of_a_dialogue_are_older() {
        let question =
            read("Anna: I like green tea\nHelper: Good -tea \"for you\"\nAnna: And coffee?");
        let age = |text: &str| {
            question
                .words
                .iter()
                .find(|word| word.term.text == text)
                .map(|word| word.age)
        };
        assert_eq!(
            ["coffe", "tea", "green", "anna"].map(age),
            [Some(0), Some(1), Some(2), None]
        );
        assert!(question.without.is_empty() && question.phrases.is_empty());
    }

    #[test]
    fn single_characters_stand_beside_their_pairs() {
        assert_eq!(
            words("小狗生病了", WordRole::Content),
            ["小狗", "狗生", "生病", "病了"]
        );
        assert_eq!(
            words("小狗生病了", WordRole::Character),
            ["小", "狗", "生", "病"]
        );
        assert_eq!(words("茶", WordRole::Content), ["茶"]);
    }

    #[test]
    fn dates_are_taken_out_of_the_words() {
        let question = read("What did Anna paint on the 7th of May 2023?");
        let date = question.date.unwrap();
        assert_eq!(
            (date.years, date.months, date.days),
            (vec![2023], vec![5], vec![7])
        );
        assert_eq!(
            words(
                "What did Anna paint on the 7th of May 2023?",
                WordRole::Content
            ),
            ["anna", "paint"]
        );
        assert_eq!(
            words(
                "What did Anna paint on the 7th of May 2023?",
                WordRole::Date
            ),
            ["7", "may", "2023"]
        );
        assert_eq!(read("may I march in").date, None);
        assert_eq!(words("May 2023", WordRole::Content), ["may", "2023"]);
        let date = read("2026-05-07").date.unwrap();
        assert_eq!(
            (date.years, date.months, date.days),
            (vec![2026], vec![5], vec![7])
        );
        assert_eq!(words("in March 2024", WordRole::Aside), ["in"]);
    }

    #[test]
    fn a_numeric_date_is_one_day_in_each_order_that_is_certain() {
        for text in [
            "16.01.2024",
            "am 16.1.2024 um neun",
            "16/01/2024",
            "01/16/2024",
            "2024/01/16",
            "2024.01.16",
            "2024-01-16",
            "16-01-2024",
        ] {
            let date = read(text).date.unwrap();
            assert_eq!(
                (date.years, date.months, date.days),
                (vec![2024], vec![1], vec![16]),
                "{text}"
            );
        }
        for text in [
            "05/07/2024",
            "version 2024.1 of it",
            "It was in 2024. 5 of us came",
            "40.01.2024",
            "16.13.2024",
        ] {
            let date = read(text).date.unwrap();
            assert_eq!(
                (date.years, date.months, date.days),
                (vec![2024], vec![], vec![]),
                "{text}"
            );
        }
    }

    #[test]
    fn chinese_dates_are_taken_out_of_the_words_too() {
        for (text, years, months, days) in [
            ("2024年3月8日我们决定了什么", vec![2024], vec![3], vec![8]),
            ("二〇二四年三月決定了什麼", vec![2024], vec![3], vec![]),
            ("3月8日 Anna 决定了什么", vec![], vec![3], vec![8]),
            ("2024年的决定", vec![2024], vec![], vec![]),
        ] {
            let date = read(text).date.unwrap();
            assert_eq!(
                (date.years, date.months, date.days),
                (years, months, days),
                "{text}"
            );
            let contents = words(text, WordRole::Content);
            assert!(
                contents.contains(&"决定".to_owned()),
                "{text}: {contents:?}"
            );
            assert!(
                !contents.iter().any(
                    |word| word.contains(['年', '月', '日']) || word.contains(char::is_numeric)
                ),
                "{contents:?}"
            );
        }
        assert!(read("2024年3月8日").is_only_date);
        assert_eq!(words("3月8日 日 会议", WordRole::Content), ["日", "会议"]);
    }

    #[test]
    fn phrases_prefixes_and_exclusions_are_understood() {
        let question = read("\"dark mode\" deplo* -staging -\"old server\" -5 x");
        let texts = |terms: &[Term]| {
            terms
                .iter()
                .map(|term| term.text.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            question
                .phrases
                .iter()
                .map(|phrase| texts(phrase.terms()))
                .collect::<Vec<_>>(),
            [["dark", "mode"]]
        );
        assert_eq!(texts(&question.without), ["stage"]);
        let without: Vec<_> = question
            .without_phrases
            .iter()
            .map(|phrase| texts(phrase.terms()))
            .collect();
        assert_eq!(without, [["old", "server"]]);
        let prefixes: Vec<_> = question
            .words
            .iter()
            .filter(|word| word.is_prefix)
            .map(|word| word.term.text.as_str())
            .collect();
        assert_eq!(prefixes, ["deplo"]);
        assert!(question.words.iter().any(|word| word.term.text == "5"));
    }

    #[test]
    fn quotation_marks_in_prose_are_plain_text() {
        let prose = "I like the \"Pay Yourself First\" method best, so let us start with it and write down each step that I have to take";
        let question = read(prose);
        assert!(question.phrases.is_empty());
        assert!(
            question
                .words
                .iter()
                .any(|word| word.term.text == "pay" && word.role == WordRole::Content)
        );
        for sentence in [
            "which step of the \"Pay Yourself First\" method did I choose in May?",
            "summarize what is in my note \"Pay Yourself First\"",
            "「Pay Yourself First」里写了什么？",
        ] {
            assert!(read(sentence).phrases.is_empty(), "{sentence}");
        }
        for query in ["\"pay yourself first\" method", "「自己先付」 方法"] {
            assert_eq!(read(query).phrases.len(), 1, "{query}");
        }
    }

    #[test]
    fn a_minus_sign_in_prose_is_plain_text() {
        let prose = "I ran git commit -m with a long message -\"to the point\" and it failed, so how do I change that message now?";
        let question = read(prose);
        assert!(question.without.is_empty() && question.without_phrases.is_empty());
        for word in ["m", "point"] {
            assert!(
                question.words.iter().any(|own| own.term.text == word),
                "{word}"
            );
        }
        for command in ["git commit -m fix", "cargo test --release -quiet"] {
            assert!(read(command).without.is_empty(), "{command}");
        }
        for query in ["git commit -amend", "喝 -茶"] {
            assert_eq!(read(query).without.len(), 1, "{query}");
        }
    }

    #[test]
    fn filters_are_taken_out_of_the_text() {
        let ParsedQuery {
            question,
            filter,
            misread,
        } = parse(
            "tea tag:work tag:\"a b\" category:people scope:agent:x from:2026 to:2026-05",
            &Filter::default(),
        );
        assert_eq!((question.words.len(), misread), (1, vec![]));
        assert_eq!(filter.tags.as_slice(), ["work", "a b"]);
        assert_eq!(
            (filter.category, filter.scope),
            (Some(Category::People), Some(Scope::Agent("x".into())))
        );
        assert_eq!(filter.from, Some("2026-01-01T00:00:00Z".parse().unwrap()));
        assert_eq!(filter.until, Some("2026-06-01T00:00:00Z".parse().unwrap()));
    }

    #[test]
    fn bounds_are_days_of_the_time_zone() {
        let berlin = LocalZone::new(Arc::new(|at: DateTime<Utc>| {
            let hours = if (4..=10).contains(&at.month()) { 2 } else { 1 };
            let zone = FixedOffset::east_opt(hours * 3600).expect("an offset");
            at.with_timezone(&zone)
        }));
        let earlier: DateTime<Utc> = "2026-01-05T00:00:00Z".parse().unwrap();
        let is = |text: &str, left: &str, from: Option<&str>, until: Option<&str>| {
            let filter = Filter {
                from: Some(earlier),
                ..Filter::default()
            };
            let found = extract_bounds(text, &filter, &berlin);
            let day = |day: &str| day.parse::<DateTime<Utc>>().unwrap();
            assert_eq!(found.text, left, "{text}");
            let expected = (Some(from.map_or(earlier, day)), until.map(day));
            assert_eq!((found.filter.from, found.filter.until), expected, "{text}");
        };
        let (winter, next) = ("2026-02-10T23:00:00Z", "2026-02-11T23:00:00Z");
        is(
            "kettle from:2026-02-11 to:2026-02-11",
            "kettle",
            Some(winter),
            Some(next),
        );
        let summer = "2026-06-30T22:00:00Z";
        is("From:2026-07 tag:a -b", "tag:a -b", Some(summer), None);
        is("from:\"2026-07-01\" \"a b\"", "\"a b\"", Some(summer), None);
        is("to:2025 tea", "tea", None, Some("2025-12-31T23:00:00Z"));
        is("from:2025 tea", "tea", None, None);
        for text in [
            "from:yesterday  tea",
            "\"from:2026\" tea",
            "-from:2026 tea",
            "tag:2026",
        ] {
            is(text, text, None, None);
        }
    }

    #[test]
    fn what_is_no_filter_is_text() {
        for text in [
            "tag:",
            "category:nonsense",
            "from:yesterday",
            "to:2026-13",
            "12:30",
            "https://example.com/a",
            "scope:x y",
            "\"open",
        ] {
            let ParsedQuery {
                question, filter, ..
            } = parse(text, &Filter::default());
            assert_eq!(filter, Filter::default(), "{text}");
            assert!(!question.words.is_empty(), "{text}");
        }
    }

    #[test]
    fn a_question_without_end_is_cut_and_says_so() {
        let text = (0..10_000)
            .map(|number| format!("word{number}"))
            .collect::<Vec<_>>()
            .join(" ");
        let question = read(&text);
        assert_eq!(
            (question.words.len(), question.left_out),
            (MAX_WORDS, 10_000 - MAX_WORDS)
        );
    }

    proptest! {
        #[test]
        fn whatever_is_typed_is_read(text in any::<String>()) {
            read(&text);
            extract_bounds(&text, &Filter::default(), &Utc);
        }

        #[test]
        fn syntax_in_any_order_is_read(pieces in proptest::collection::vec("\"|-|\\*|:|tag|from|2026|-|[a-z]{1,3}| |用户", 0..20)) {
            read(&pieces.concat());
            extract_bounds(&pieces.concat(), &Filter::default(), &Utc);
        }
    }
}
