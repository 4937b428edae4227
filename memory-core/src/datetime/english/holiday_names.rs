//! The English names of holidays.

use std::collections::HashMap;
use std::sync::LazyLock;

use chrono::Weekday;

use super::super::cursor::TokenCursor;
use super::super::holidays::Holiday;

/// The names of holidays; a name precedes its own prefixes.
const HOLIDAY_NAMES: &[(&str, Holiday)] = &[
    ("chinese new year eve", Holiday::LunarNewYear(-1)),
    ("chinese new years eve", Holiday::LunarNewYear(-1)),
    ("chinese new year day", Holiday::LunarNewYear(0)),
    ("chinese new year", Holiday::LunarNewYear(0)),
    ("lunar new year eve", Holiday::LunarNewYear(-1)),
    ("lunar new years eve", Holiday::LunarNewYear(-1)),
    ("lunar new year day", Holiday::LunarNewYear(0)),
    ("lunar new year", Holiday::LunarNewYear(0)),
    ("spring festival eve", Holiday::LunarNewYear(-1)),
    ("spring festival", Holiday::LunarNewYear(0)),
    ("lantern festival", Holiday::Lunar(1, false, 15)),
    ("qingming festival", Holiday::ClearBrightness),
    ("qingming", Holiday::ClearBrightness),
    ("tomb sweeping day", Holiday::ClearBrightness),
    ("dragon boat festival", Holiday::Lunar(5, false, 5)),
    ("qixi festival", Holiday::Lunar(7, false, 7)),
    ("qixi", Holiday::Lunar(7, false, 7)),
    ("ghost festival", Holiday::Lunar(7, false, 15)),
    ("mid autumn festival", Holiday::Lunar(8, false, 15)),
    ("mid autumn day", Holiday::Lunar(8, false, 15)),
    ("moon festival", Holiday::Lunar(8, false, 15)),
    ("double ninth festival", Holiday::Lunar(9, false, 9)),
    ("chongyang festival", Holiday::Lunar(9, false, 9)),
    ("laba festival", Holiday::Lunar(12, false, 8)),
    ("new year eve", Holiday::Fixed(12, 31)),
    ("new years eve", Holiday::Fixed(12, 31)),
    ("new year day", Holiday::Fixed(1, 1)),
    ("new years day", Holiday::Fixed(1, 1)),
    ("new year", Holiday::Fixed(1, 1)),
    ("new years", Holiday::Fixed(1, 1)),
    ("nye", Holiday::Fixed(12, 31)),
    ("epiphany", Holiday::Fixed(1, 6)),
    ("three kings day", Holiday::Fixed(1, 6)),
    ("martin luther king day", Holiday::Nth(3, Weekday::Mon, 1)),
    (
        "martin luther king jr day",
        Holiday::Nth(3, Weekday::Mon, 1),
    ),
    (
        "martin luther king birthday",
        Holiday::Nth(3, Weekday::Mon, 1),
    ),
    ("mlk day", Holiday::Nth(3, Weekday::Mon, 1)),
    ("mlk jr day", Holiday::Nth(3, Weekday::Mon, 1)),
    ("australia day", Holiday::Fixed(1, 26)),
    ("inauguration day", Holiday::Fixed(1, 20)),
    ("candlemas", Holiday::Fixed(2, 2)),
    ("annunciation", Holiday::Fixed(3, 25)),
    ("siblings day", Holiday::Fixed(4, 10)),
    ("emancipation day", Holiday::Fixed(4, 16)),
    ("civic holiday", Holiday::Nth(1, Weekday::Mon, 8)),
    ("dominion day", Holiday::Fixed(7, 1)),
    ("world vegan day", Holiday::Fixed(11, 1)),
    ("vegan day", Holiday::Fixed(11, 1)),
    ("immaculate conception", Holiday::Fixed(12, 8)),
    ("kwanzaa", Holiday::Fixed(12, 26)),
    ("stephen day", Holiday::Fixed(12, 26)),
    ("groundhog day", Holiday::Fixed(2, 2)),
    ("ground hog day", Holiday::Fixed(2, 2)),
    ("super bowl sunday", Holiday::Nth(2, Weekday::Sun, 2)),
    ("super bowl", Holiday::Nth(2, Weekday::Sun, 2)),
    ("valentine day", Holiday::Fixed(2, 14)),
    ("valentines day", Holiday::Fixed(2, 14)),
    ("st valentine day", Holiday::Fixed(2, 14)),
    ("saint valentine day", Holiday::Fixed(2, 14)),
    ("valentines", Holiday::Fixed(2, 14)),
    ("presidents day", Holiday::Nth(3, Weekday::Mon, 2)),
    ("president day", Holiday::Nth(3, Weekday::Mon, 2)),
    ("washington birthday", Holiday::Nth(3, Weekday::Mon, 2)),
    ("women day", Holiday::Fixed(3, 8)),
    ("womens day", Holiday::Fixed(3, 8)),
    ("international women day", Holiday::Fixed(3, 8)),
    ("pi day", Holiday::Fixed(3, 14)),
    ("saint patrick day", Holiday::Fixed(3, 17)),
    ("saint patrick", Holiday::Fixed(3, 17)),
    ("st patrick day", Holiday::Fixed(3, 17)),
    ("st patrick", Holiday::Fixed(3, 17)),
    ("patrick day", Holiday::Fixed(3, 17)),
    ("patricks day", Holiday::Fixed(3, 17)),
    ("paddy day", Holiday::Fixed(3, 17)),
    ("paddys day", Holiday::Fixed(3, 17)),
    ("patty day", Holiday::Fixed(3, 17)),
    ("april fools day", Holiday::Fixed(4, 1)),
    ("april fool day", Holiday::Fixed(4, 1)),
    ("april fools", Holiday::Fixed(4, 1)),
    ("fools day", Holiday::Fixed(4, 1)),
    ("fool day", Holiday::Fixed(4, 1)),
    ("tax day", Holiday::Fixed(4, 15)),
    ("ides of march", Holiday::Fixed(3, 15)),
    ("earth day", Holiday::Fixed(4, 22)),
    ("st george day", Holiday::Fixed(4, 23)),
    ("saint george day", Holiday::Fixed(4, 23)),
    ("king day", Holiday::Fixed(4, 27)),
    ("anzac day", Holiday::Fixed(4, 25)),
    ("arbor day", Holiday::Nth(-1, Weekday::Fri, 4)),
    (
        "administrative professionals day",
        Holiday::Nth(-1, Weekday::Wed, 4),
    ),
    ("secretaries day", Holiday::Nth(-1, Weekday::Wed, 4)),
    ("may day", Holiday::Fixed(5, 1)),
    ("labour day", Holiday::Fixed(5, 1)),
    ("international workers day", Holiday::Fixed(5, 1)),
    ("international worker day", Holiday::Fixed(5, 1)),
    ("workers day", Holiday::Fixed(5, 1)),
    ("star wars day", Holiday::Fixed(5, 4)),
    ("cinco de mayo", Holiday::Fixed(5, 5)),
    ("mother day", Holiday::Nth(2, Weekday::Sun, 5)),
    ("mothers day", Holiday::Nth(2, Weekday::Sun, 5)),
    ("military spouse day", Holiday::Nth(2, Weekday::Fri, 5)),
    ("victoria day", Holiday::Before(Weekday::Mon, 5, 25)),
    ("memorial day", Holiday::Nth(-1, Weekday::Mon, 5)),
    ("decoration day", Holiday::Nth(-1, Weekday::Mon, 5)),
    ("children day", Holiday::Fixed(6, 1)),
    ("childrens day", Holiday::Fixed(6, 1)),
    ("flag day", Holiday::Fixed(6, 14)),
    ("father day", Holiday::Nth(3, Weekday::Sun, 6)),
    ("fathers day", Holiday::Nth(3, Weekday::Sun, 6)),
    ("juneteenth", Holiday::Fixed(6, 19)),
    ("canada day", Holiday::Fixed(7, 1)),
    ("independence day", Holiday::Fixed(7, 4)),
    ("fourth of july", Holiday::Fixed(7, 4)),
    ("bastille day", Holiday::Fixed(7, 14)),
    ("parents day", Holiday::Nth(4, Weekday::Sun, 7)),
    ("parent day", Holiday::Nth(4, Weekday::Sun, 7)),
    ("friendship day", Holiday::Nth(1, Weekday::Sun, 8)),
    ("assumption day", Holiday::Fixed(8, 15)),
    ("labor day", Holiday::Nth(1, Weekday::Mon, 9)),
    ("patriot day", Holiday::Fixed(9, 11)),
    ("grandparents day", Holiday::Nth(2, Weekday::Sun, 9)),
    ("grandparent day", Holiday::Nth(2, Weekday::Sun, 9)),
    ("teacher day", Holiday::Fixed(9, 10)),
    ("teachers day", Holiday::Fixed(9, 10)),
    ("columbus day", Holiday::Nth(2, Weekday::Mon, 10)),
    ("indigenous peoples day", Holiday::Nth(2, Weekday::Mon, 10)),
    ("boss day", Holiday::Fixed(10, 16)),
    ("bosses day", Holiday::Fixed(10, 16)),
    ("halloween day", Holiday::Fixed(10, 31)),
    ("halloween", Holiday::Fixed(10, 31)),
    ("hallowe en", Holiday::Fixed(10, 31)),
    ("all hallows eve", Holiday::Fixed(10, 31)),
    ("all saints day", Holiday::Fixed(11, 1)),
    ("all saint day", Holiday::Fixed(11, 1)),
    ("all souls day", Holiday::Fixed(11, 2)),
    ("guy fawkes day", Holiday::Fixed(11, 5)),
    ("guy fawkes night", Holiday::Fixed(11, 5)),
    ("guy fawkes", Holiday::Fixed(11, 5)),
    ("bonfire night", Holiday::Fixed(11, 5)),
    ("veterans day", Holiday::Fixed(11, 11)),
    ("veteran day", Holiday::Fixed(11, 11)),
    ("remembrance day", Holiday::Fixed(11, 11)),
    ("armistice day", Holiday::Fixed(11, 11)),
    ("singles day", Holiday::Fixed(11, 11)),
    ("thanksgiving day", Holiday::Thanksgiving(0)),
    ("thanksgiving", Holiday::Thanksgiving(0)),
    ("thanks giving day", Holiday::Thanksgiving(0)),
    ("thanks giving", Holiday::Thanksgiving(0)),
    ("turkey day", Holiday::Thanksgiving(0)),
    ("black friday", Holiday::Thanksgiving(1)),
    ("small business saturday", Holiday::Thanksgiving(2)),
    ("cyber monday", Holiday::Thanksgiving(4)),
    ("giving tuesday", Holiday::Thanksgiving(5)),
    ("st nicholas day", Holiday::Fixed(12, 6)),
    ("saint nicholas day", Holiday::Fixed(12, 6)),
    ("christmas eve", Holiday::Fixed(12, 24)),
    ("christmas day", Holiday::Fixed(12, 25)),
    ("christmas", Holiday::Fixed(12, 25)),
    ("xmas eve", Holiday::Fixed(12, 24)),
    ("xmas day", Holiday::Fixed(12, 25)),
    ("xmas", Holiday::Fixed(12, 25)),
    ("boxing day", Holiday::Fixed(12, 26)),
    ("clean monday", Holiday::Easter(-48)),
    ("ash monday", Holiday::Easter(-48)),
    ("lazarus saturday", Holiday::Easter(-8)),
    ("great saturday", Holiday::Easter(-1)),
    ("white sunday", Holiday::Easter(49)),
    ("white monday", Holiday::Easter(50)),
    ("feast of the ascension", Holiday::Easter(39)),
    ("sacred heart", Holiday::Easter(68)),
    ("shrove monday", Holiday::Easter(-48)),
    ("shrove tuesday", Holiday::Easter(-47)),
    ("pancake day", Holiday::Easter(-47)),
    ("pancake tuesday", Holiday::Easter(-47)),
    ("mardi gras", Holiday::Easter(-47)),
    ("ash wednesday", Holiday::Easter(-46)),
    ("palm sunday", Holiday::Easter(-7)),
    ("maundy thursday", Holiday::Easter(-3)),
    ("covenant thursday", Holiday::Easter(-3)),
    ("holy thursday", Holiday::Easter(-3)),
    ("good friday", Holiday::Easter(-2)),
    ("great friday", Holiday::Easter(-2)),
    ("holy saturday", Holiday::Easter(-1)),
    ("easter eve", Holiday::Easter(-1)),
    ("easter saturday", Holiday::Easter(-1)),
    ("easter sunday", Holiday::Easter(0)),
    ("easter monday", Holiday::Easter(1)),
    ("easter mon", Holiday::Easter(1)),
    ("easter", Holiday::Easter(0)),
    ("ascension day", Holiday::Easter(39)),
    ("ascension thursday", Holiday::Easter(39)),
    ("pentecost sunday", Holiday::Easter(49)),
    ("pentecost monday", Holiday::Easter(50)),
    ("pentecost", Holiday::Easter(49)),
    ("whit sunday", Holiday::Easter(49)),
    ("whit monday", Holiday::Easter(50)),
    ("trinity sunday", Holiday::Easter(56)),
    ("corpus christi", Holiday::Easter(60)),
];

/// Optional words before a name.
const TITLES: &[&str] = &["st", "saint", "happy", "merry", "international"];

/// The names, grouped by their first word.
static BY_FIRST_WORD: LazyLock<HashMap<&str, Vec<(&str, Holiday)>>> = LazyLock::new(|| {
    let mut by_first_word: HashMap<_, Vec<_>> = HashMap::new();
    for (name, feast) in HOLIDAY_NAMES {
        let first = name.split(' ').next().unwrap_or(name);
        by_first_word
            .entry(first)
            .or_default()
            .push((*name, *feast));
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
            if !cursor.consume_any_word(TITLES) {
                return None;
            }
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
    let of_other = matches!(
        cursor.word_before(1),
        "lunar"
            | "chinese"
            | "islamic"
            | "jewish"
            | "persian"
            | "hindu"
            | "muslim"
            | "tibetan"
            | "thai"
            | "orthodox"
            | "tamil"
    );
    if of_other && cursor.word() == "new" {
        return None;
    }
    let named = BY_FIRST_WORD.get(cursor.word())?;
    named
        .iter()
        .find(|(name, _)| cursor.consume_phrase(name))
        .map(|(_, feast)| *feast)
}
