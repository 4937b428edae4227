use proptest::prelude::*;

use super::{MAX_WORD, Range, TokenKind, tokenize};

fn all(text: &str) -> Vec<(String, TokenKind, Range<usize>)> {
    let mut found = Vec::new();
    tokenize(text, &mut |token| {
        found.push((token.text.to_owned(), token.kind, token.span));
    });
    found
}

fn texts(text: &str) -> Vec<String> {
    all(text).into_iter().map(|(text, _, _)| text).collect()
}

#[test]
fn words_meet_in_their_stem() {
    assert_eq!(
        texts("Anna's preference: she PREFERS dark-mode"),
        ["anna", "prefer", "she", "prefer", "dark", "mode"]
    );
    assert_eq!(texts("Anna’s"), texts("Anna"));
    assert_eq!(texts("café's"), texts("cafes"));
}

#[test]
fn an_apostrophe_belongs_only_inside_a_word() {
    assert_eq!(
        texts("'tis o'clock' ''rock''n 'em'"),
        ["tis", "oclock", "rock", "n", "em"]
    );
}

#[test]
fn names_are_found_with_and_without_their_apostrophes() {
    for (one, other) in [
        ("Zʾōrā", "Zora"),
        ("Qur'an", "Quran"),
        ("O’Brien's", "OBrien"),
        ("Hawaiʻi", "Hawaii"),
        ("Muʿāwiya", "Muawiya"),
        ("Соловʼйов", "Соловйов"),
    ] {
        assert_eq!(texts(one), texts(other), "{one} and {other}");
    }
    // The apostrophe of an ending parts other words from it.
    for (one, other) in [("we'll", "well"), ("can't", "cant"), ("she'd", "shed")] {
        assert_ne!(texts(one), texts(other), "{one} and {other}");
    }
    assert_eq!(texts("Anna's"), texts("Anna"));
}

#[test]
fn a_hebrew_acronym_is_found_with_and_without_its_sign() {
    for text in [
        "רש״י",
        "רש\"י",
        "רש”י",
        "רש“י",
        "רש''י",
        "רש׳׳י",
        "רַשִׁ״י",
        "רש＂י",
    ] {
        assert_eq!(
            all(text),
            [("רשי".into(), TokenKind::Word, 0..text.len())],
            "{text}"
        );
    }
    assert_eq!(
        texts("צה״ל בעש\"ט מנכ\"לית ג׳ורג׳"),
        ["צהל", "בעשט", "מנכלית", "גורג"]
    );
    // Quotation marks around words are no part of them.
    assert_eq!(
        texts("\"שלום\" ב\"הארץ\" ה\"ארגונים של וה\"ניו יורק\""),
        [
            "שלום",
            "ב",
            "הארץ",
            "ה",
            "ארגונים",
            "של",
            "וה",
            "ניו",
            "יורק"
        ]
    );
    assert_eq!(texts("ב''דבר''"), ["ב", "דבר"]);
    assert_eq!(
        texts("רש\"a a\"י 5\"י a\"b"),
        ["רש", "a", "a", "י", "5", "י", "a", "b"]
    );
    let text = "ב\"הארץ\"";
    let parts: Vec<&str> = all(text)
        .into_iter()
        .map(|(.., span)| &text[span])
        .collect();
    assert_eq!(parts, ["ב", "הארץ"]);
}

#[test]
fn underscores_and_punctuation_part_words() {
    assert_eq!(
        texts("snake_case kebab-case a.b/c@d"),
        ["snake", "case", "kebab", "case", "a", "b", "c", "d"]
    );
}

#[test]
fn digits_are_words() {
    assert_eq!(
        texts("v2 42 3.14 ２０２４年 ๑๒"),
        ["v2", "42", "3", "14", "2024", "年", "12"]
    );
}

#[test]
fn a_run_without_blanks_gives_characters_and_pairs() {
    assert_eq!(texts("記憶力"), ["记", "记忆", "忆", "忆力", "力"]);
    assert_eq!(texts("食べる"), ["食", "食べ", "べ", "べる", "る"]);
    assert_eq!(texts("기억"), ["기", "기억", "억"]);
    assert_eq!(texts("ｻｰﾊﾞｰ"), texts("サーバー"));
    assert_eq!(texts("ㄅㄆ"), ["ㄅ", "ㄅㄆ", "ㄆ"]);
}

#[test]
fn marks_stay_with_their_character() {
    assert_eq!(texts("ที่นี่"), ["ที่", "ที่นี่", "นี่"]);
    assert_eq!(texts("नमस्ते दुनिया"), ["नमस्ते", "दुनिया"]);
}

#[test]
fn scripts_part_where_they_meet() {
    assert_eq!(texts("用Rust写"), ["用", "rust", "写"]);
    assert_eq!(texts("第3章"), ["第", "3", "章"]);
}

#[test]
fn spans_point_into_the_original() {
    let text = "Ｃafé: ｶﾞｲﾄﾞ";
    let pieces: Vec<&str> = all(text)
        .into_iter()
        .map(|(_, _, span)| &text[span])
        .collect();
    assert_eq!(pieces, ["Ｃafé", "ｶﾞ", "ｶﾞｲ", "ｲ", "ｲﾄﾞ", "ﾄﾞ"]);
}

#[test]
fn endless_words_are_cut() {
    let text = "9".repeat(100);
    assert_eq!(
        all(&text),
        [("9".repeat(MAX_WORD), TokenKind::Word, 0..100)]
    );
}

#[test]
fn endless_marks_are_cut() {
    let text = format!("ก{}", "\u{e48}".repeat(1000));
    assert_eq!(texts(&text), [format!("ก{}", "\u{e48}".repeat(8))]);
}

/// Generates text in which scripts, marks, apostrophes and spaces often meet.
///
/// In `any::<String>()` they rarely do.
fn mixed() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "a",
        "Rust",
        "running",
        "é",
        "e\u{301}",
        "'",
        "’",
        "_",
        " ",
        "\n",
        "1",
        "½",
        "ß",
        "記",
        "憶",
        "が",
        "ｶ",
        "ﾞ",
        "ー",
        "기",
        "\u{1100}",
        "\u{1161}",
        "\u{11a8}",
        "ำ",
        "น้",
        "\u{e48}",
        "\u{200b}",
        "\u{ad}",
        "क्",
        "ि",
        "й",
        "ω",
        "م",
        "\u{640}",
        "\u{64e}",
        "أ",
        "שׁ",
        "רש",
        "״",
        "\"",
        "”",
        "٣",
        "1\u{fe0f}\u{20e3}",
        "🦀",
    ]);
    prop_oneof![
        prop::collection::vec(pieces, 0..20).prop_map(|pieces| pieces.concat()),
        any::<String>()
    ]
}

#[test]
fn a_title_before_a_name_ends_no_sentence() {
    let split = |text: &'static str| -> Vec<&str> {
        super::sentences(text)
            .into_iter()
            .map(|range| text[range].trim())
            .collect()
    };
    let whole = "Ines sees Dr. Zupan (e.g. on Mondays).";
    assert_eq!(split(whole), [whole]);
    assert_eq!(
        split("The answer is no. Ask Anna."),
        ["The answer is no.", "Ask Anna."]
    );
}

proptest! {
    #[test]
    fn spans_are_in_order_and_on_borders(text in mixed()) {
        let mut last_start = 0;
        for (token, _, span) in all(&text) {
            prop_assert!(!token.is_empty());
            prop_assert!(!text[span.clone()].is_empty());
            prop_assert!(last_start <= span.start);
            last_start = span.start;
        }
    }

    #[test]
    fn a_blank_parts_texts_completely(one in mixed(), other in mixed()) {
        let mut apart = all(&one);
        let shift = one.len() + 1;
        apart.extend(all(&other).into_iter().map(|(text, kind, span)| (text, kind, span.start + shift..span.end + shift)));
        prop_assert_eq!(all(&format!("{one} {other}")), apart);
    }

    #[test]
    fn the_short_way_through_ascii_equals_the_long_one(text in "[ -~]{0,80}") {
        let full_width: String = text
            .chars()
            .map(|ascii| if ascii == ' ' { '\u{3000}' } else { char::from_u32(u32::from(ascii) + 0xfee0).unwrap() })
            .collect();
        prop_assert_eq!(texts(&full_width), texts(&text));
    }

    #[test]
    fn folded_text_has_the_same_tokens(text in mixed()) {
        prop_assert_eq!(texts(&crate::text::fold(&text)), texts(&text));
    }
}
