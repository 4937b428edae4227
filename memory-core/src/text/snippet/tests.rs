use proptest::prelude::*;

use super::{Snippet, contained_terms, snippet};
use crate::text::{Term, query_terms, symbol_terms, tokenize};

/// Returns the snippet with brackets around its marks.
fn marked_snippet(text: &str, query: &str, width: usize) -> String {
    let Snippet {
        mut text, marks, ..
    } = snippet(text, &query_terms(query), &[], width);
    for mark in marks.iter().rev() {
        text.insert(mark.end, ']');
        text.insert(mark.start, '[');
    }
    text
}

#[test]
fn a_short_text_is_shown_whole_on_one_line() {
    assert_eq!(
        marked_snippet(
            "# Editor\n\nAnna   prefers\tdark mode\u{7}.\n",
            "prefer",
            80
        ),
        "# Editor Anna [prefers] dark mode ."
    );
}

#[test]
fn a_word_with_styled_letters_is_marked_as_a_whole() {
    assert_eq!(
        marked_snippet("take the **Kay**ak", "kayak kay", 80),
        "take the **[Kay**ak]"
    );
    let terms = query_terms("kayak tea");
    let found = contained_terms("take the **Kay**ak", &terms);
    assert_eq!(found.collect::<Vec<_>>(), [0]);
}

#[test]
fn without_a_match_the_beginning_is_shown() {
    assert_eq!(
        marked_snippet("one two three four five six", "seven", 15),
        "one two three…"
    );
    assert_eq!(
        marked_snippet("one two three four five six", "", 15),
        "one two three…"
    );
}

#[test]
fn the_place_with_most_distinct_terms_wins() {
    let text = "dark dark dark. Then a long way of other words, until the dark mode comes, and much more follows after it.";
    assert_eq!(
        marked_snippet(text, "dark mode", 30),
        "…until the [dark] [mode] comes,…"
    );
}

#[test]
fn of_equal_places_the_first_is_shown() {
    let text = format!(
        "{}rusting here {}rust there",
        "word ".repeat(20),
        "word ".repeat(20)
    );
    assert_eq!(marked_snippet(&text, "rust", 24), "…word [rusting] here…");
}

#[test]
fn pairs_that_touch_are_one_mark() {
    assert_eq!(
        marked_snippet("我的记忆力很好", "记忆力", 80),
        "我的[记忆力]很好"
    );
    let text = format!("{}记忆力{}", "好".repeat(50), "很".repeat(50));
    assert_eq!(
        marked_snippet(&text, "记忆力", 11),
        "…好好好[记忆力]很很很…"
    );
}

#[test]
fn a_match_at_the_end_uses_the_whole_width() {
    assert_eq!(
        marked_snippet("one two three four five six", "six", 16),
        "…four five [six]"
    );
}

#[test]
fn narrow_excerpts_stay_within_their_width() {
    for width in 0..6 {
        assert!(
            snippet("one two three four", &query_terms("three"), &[], width)
                .text
                .chars()
                .count()
                <= width
        );
    }
}

#[test]
fn a_part_of_a_word_and_a_symbol_are_marked_where_they_stand() {
    let marked = |text: &str, terms: &[Term], parts: &[&str]| {
        let Snippet { text, marks, .. } = snippet(text, terms, parts, 60);
        marks
            .into_iter()
            .map(|mark| text[mark].to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        marked("moved to PostgreSQL, from MySQL", &[], &["sql"]),
        ["SQL", "SQL"]
    );
    assert_eq!(
        marked("das Großhandelsregister", &[], &["handel"]),
        ["handel"]
    );
    assert_eq!(marked("the ŁódźCamp", &[], &["camp"]), ["ŁódźCamp"]);
    let terms: Vec<Term> = symbol_terms("🚀 C#")
        .into_iter()
        .map(|(term, _)| term)
        .collect();
    assert_eq!(
        marked("we ship 🚀 with C# and C", &terms, &[]),
        ["🚀", "C#"]
    );
}

proptest! {
    #[test]
    fn an_excerpt_is_a_line_within_its_width_and_marks_what_matches(
        text in prop_oneof![any::<String>(), "[abc 记忆が\u{300}\u{e48}\n]{0,120}"],
        query in "[abc 记忆]{0,6}",
        width in 0_usize..60,
    ) {
        let terms = query_terms(&query);
        let Snippet { text: line, marks, .. } = snippet(&text, &terms, &[], width);
        prop_assert!(line.chars().count() <= width);
        prop_assert!(!line.chars().any(char::is_control));
        let mut last_end = 0;
        for mark in marks {
            prop_assert!(last_end <= mark.start && mark.start < mark.end);
            last_end = mark.end;
            let mut found = false;
            tokenize(&line[mark], &mut |token| found |= terms.contains(&Term::from(&token)));
            prop_assert!(found);
        }
    }

    #[test]
    fn a_text_that_matches_shows_a_match(before in "[x ]{0,200}", after in "[x ]{0,200}", width in 6_usize..60) {
        let found = snippet(&format!("{before} abc {after}"), &query_terms("abc"), &[], width);
        prop_assert_eq!(found.marks.len(), 1);
    }
}
