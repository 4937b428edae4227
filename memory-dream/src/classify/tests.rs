//! Tests of the classifier.

use memory_core::Category;
use proptest::prelude::*;

use super::{CategoryChoice, ClassifierInput, LABELS, SURE, choose_for, classify};

fn choose_text(text: &str) -> CategoryChoice {
    choose_for(&ClassifierInput::from_text(text))
}

#[track_caller]
fn assert_suggested(category: Category, texts: &[&str]) {
    for text in texts {
        assert_eq!(
            choose_text(text).suggestion,
            Some(category),
            "{text}: {:?}",
            choose_text(text)
        );
    }
}

#[track_caller]
fn assert_unsure(text: &str) {
    assert_eq!(
        choose_text(text).category(),
        None,
        "{text}: {:?}",
        choose_text(text)
    );
}

#[test]
fn a_request_to_be_told_and_a_plain_deadline_are_dates() {
    assert_suggested(
        Category::Date,
        &[
            "Remind me to submit the tax return on Friday",
            "周五提醒我交报税表",
            "The tax return is due on Friday, 31 July",
            "报税表七月三十一日周五截止",
        ],
    );
}

#[test]
fn an_instruction_is_a_preference_and_a_place_is_the_project() {
    assert_suggested(
        Category::Preferences,
        &[
            "Always run the linter before you commit",
            "提交之前必须先跑一遍 lint",
        ],
    );
    assert_suggested(
        Category::Project,
        &[
            "The linter's rules are in `config/lint.toml`",
            "lint 规则放在 `config/lint.toml`",
        ],
    );
}

#[test]
fn a_rule_with_the_trouble_that_taught_it_is_a_lesson() {
    assert_suggested(
        Category::Lessons,
        &[
            "We lost a day because the linter had been skipped; never again",
            "跳过了 lint，结果白白浪费一天，教训",
        ],
    );
}

#[test]
fn a_choice_with_its_alternative_is_a_decision() {
    assert_suggested(
        Category::Decisions,
        &[
            "We chose ESLint instead of Biome because of its plugins",
            "我们决定用 ESLint 而不是 Biome，因为插件多",
        ],
    );
}

#[test]
fn what_is_done_regularly_is_a_habit_and_what_is_liked_a_preference() {
    assert_suggested(
        Category::Habits,
        &[
            "Every morning she drinks tea on the balcony",
            "她每天早上都在阳台上喝茶",
        ],
    );
    assert_suggested(
        Category::Preferences,
        &["She prefers green tea to coffee", "比起咖啡，她更喜欢绿茶"],
    );
}

#[test]
fn who_somebody_is_to_us_is_people_and_how_they_are_is_character() {
    assert_suggested(
        Category::People,
        &[
            "Greta is my cousin; she works at the harbour",
            "小格是我表姐，在港口上班",
        ],
    );
    assert_suggested(
        Category::Character,
        &[
            "Greta is warm, stubborn and very funny",
            "小格热情、固执，也很幽默",
        ],
    );
}

#[test]
fn traditional_characters_are_read_as_simplified_ones() {
    let [traditional, simplified] = ["請在明天提醒我繳費", "请在明天提醒我缴费"].map(choose_text);
    assert_eq!(traditional.category(), Some(Category::Date));
    assert_eq!(traditional, simplified);
}

#[test]
fn what_says_nothing_stays_unsure() {
    for text in [
        "",
        " \n",
        "…",
        "42",
        "asdf qwer",
        "ほげほげ",
        "Это просто текст",
        "안녕하세요",
        "ok",
        "嗯",
        "🙂",
    ] {
        assert_unsure(text);
    }
}

#[test]
fn a_name_by_the_author_precedes_the_words() {
    let tags = ["#lesson".to_owned()];
    let text = "The cache is per process";
    let tagged = ClassifierInput {
        tags: &tags,
        ..ClassifierInput::from_text(text)
    };
    assert_ne!(choose_text(text).category(), Some(Category::Lessons));
    assert_eq!(choose_for(&tagged).category(), Some(Category::Lessons));
}

#[test]
fn a_page_is_filed_only_by_a_name() {
    let person =
        "Speaks Mandarin with family, English with everyone else. Writes Rust and SQL daily.";
    let page = |folder, content| {
        choose_for(&ClassifierInput {
            title: Some("Lin"),
            folder,
            ..ClassifierInput::from_text(content)
        })
    };
    assert_eq!(
        page(Some("people"), person).category(),
        Some(Category::People)
    );
    assert_eq!(page(None, person).category(), None);
    assert_eq!(page(Some("people"), " \n").category(), None);
    let long = "Remind me tomorrow at nine to call the bank. ".repeat(1_000);
    assert_eq!(choose_text(&long).category(), None);
}

proptest! {
    #[test]
    fn any_text_has_probabilities_that_are_one_together(text in any_text()) {
        let found = classify(&ClassifierInput::from_text(&text));
        let sum: f32 = found.scores.iter().map(|score| score.probability).sum();
        prop_assert!((sum - 1.0).abs() < 1e-4, "{sum}");
        prop_assert!(found.scores.is_sorted_by(|one, other| other.score <= one.score));
        prop_assert!(LABELS.iter().all(|label| found.scores.iter().any(|score| score.category == *label)));
        let choice = found.choice();
        prop_assert_eq!(choice.category().is_some(), choice.suggestion.is_some() && SURE <= choice.confidence);
    }
}

fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "\\PC{0,12}",
        "[我你他提醒必须不要决定因为明天周五，。]{1,12}",
        "(remind|never|always|we chose|because|tomorrow|Anna|`a/b.rs`|- |#|\n|2026-01-02|https://x.y)",
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.join(" "))
}
