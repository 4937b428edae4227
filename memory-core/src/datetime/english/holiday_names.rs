//! The English names of holidays.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::super::cursor::TokenCursor;
use super::super::holidays::{Holiday, holidays};

/// Optional words before a name.
const TITLES: &[&str] = &["st", "saint", "happy", "merry", "international"];

/// The names, grouped by their first word.
static BY_FIRST_WORD: LazyLock<HashMap<&str, Vec<(&str, Holiday)>>> = LazyLock::new(|| {
    let mut by_first_word: HashMap<_, Vec<_>> = HashMap::new();
    for (name, feast) in holidays(include_str!("../../language/en/holidays.json")) {
        let first = name.split(' ').next().unwrap_or(name);
        by_first_word.entry(first).or_default().push((name, feast));
    }
    by_first_word
});

/// Returns whether a name can start with the word.
pub(super) fn can_start_holiday(word: &str) -> bool {
    word == "orthodox" || TITLES.contains(&word) || BY_FIRST_WORD.contains_key(word)
}

/// Consumes the name of a holiday.
pub(super) fn parse_holiday(cursor: &mut TokenCursor<'_>) -> Option<Holiday> {
    cursor.attempt(|cursor| {
        let is_orthodox = cursor.consume_word("orthodox");
        let named = cursor.attempt(name).or_else(|| {
            cursor.consume_any_word(TITLES).then_some(())?;
            cursor.consume_sign('.');
            name(cursor)
        });
        if is_orthodox {
            named?.orthodox()
        } else {
            named
        }
    })
}

/// Consumes a name. The tokenizer drops the `'s` of "New Year's", so that the table has names without it.
fn name(cursor: &mut TokenCursor<'_>) -> Option<Holiday> {
    // New Year in other calendars is on another day.
    let of_other = [
        "lunar", "chinese", "islamic", "jewish", "persian", "hindu", "muslim", "tibetan", "thai",
        "orthodox", "tamil",
    ]
    .contains(&cursor.word_before(1));
    (!of_other || cursor.word() != "new").then_some(())?;
    let named = BY_FIRST_WORD.get(cursor.word())?;
    named
        .iter()
        .find(|(name, _)| cursor.consume_phrase(name))
        .map(|(_, feast)| *feast)
}
