//! Tests of the classifier.

use memory_core::Category;
use proptest::prelude::*;

use super::{Classification, ClassifierInput, LABELS, SURE, classify};

fn classify_text(text: &str) -> Classification {
    classify(&ClassifierInput::from_text(text))
}

#[track_caller]
fn assert_filed(category: Category, texts: &[&str]) {
    for text in texts {
        assert_eq!(
            classify_text(text).category(),
            Some(category),
            "{text}: {:?}",
            &classify_text(text).scores[..3]
        );
    }
}

#[track_caller]
fn assert_unsure(text: &str) {
    assert_eq!(
        classify_text(text).category(),
        None,
        "{text}: {:?}",
        &classify_text(text).scores[..3]
    );
}

#[test]
fn a_request_to_be_told_is_a_reminder_and_a_plain_deadline_a_date() {
    assert_filed(
        Category::Reminders,
        &[
            "Remind me to submit the tax return on Friday",
            "周五提醒我交报税表",
        ],
    );
    assert_filed(
        Category::Date,
        &[
            "The tax return is due on Friday, 31 July",
            "报税表七月三十一日周五截止",
        ],
    );
}

#[test]
fn an_instruction_is_a_preference_and_a_place_is_the_project() {
    assert_filed(
        Category::Preferences,
        &[
            "Always run the linter before you commit",
            "提交之前必须先跑一遍 lint",
        ],
    );
    assert_filed(
        Category::Project,
        &[
            "The linter's rules are in `config/lint.toml`",
            "lint 规则放在 `config/lint.toml`",
        ],
    );
}

#[test]
fn a_rule_with_the_trouble_that_taught_it_is_a_lesson() {
    assert_filed(
        Category::Lessons,
        &[
            "We lost a day because the linter had been skipped; never again",
            "跳过了 lint，结果白白浪费一天，教训",
        ],
    );
}

#[test]
fn a_choice_with_its_alternative_is_a_decision() {
    assert_filed(
        Category::Decisions,
        &[
            "We chose ESLint instead of Biome because of its plugins",
            "我们决定用 ESLint 而不是 Biome，因为插件多",
        ],
    );
}

#[test]
fn what_is_done_regularly_is_a_habit_and_what_is_liked_a_preference() {
    assert_filed(
        Category::Habits,
        &[
            "Every morning she drinks tea on the balcony",
            "她每天早上都在阳台上喝茶",
        ],
    );
    assert_filed(
        Category::Preferences,
        &["She prefers green tea to coffee", "比起咖啡，她更喜欢绿茶"],
    );
}

#[test]
fn who_somebody_is_to_us_is_people_and_how_they_are_is_character() {
    assert_filed(
        Category::People,
        &[
            "Greta is my cousin; she works at the harbour",
            "小格是我表姐，在港口上班",
        ],
    );
    assert_filed(
        Category::Character,
        &[
            "Greta is warm, stubborn and very funny",
            "小格热情、固执，也很幽默",
        ],
    );
}

#[test]
fn traditional_characters_are_read_as_simplified_ones() {
    let [traditional, simplified] = ["請在明天提醒我繳費", "请在明天提醒我缴费"].map(classify_text);
    assert_eq!(traditional.category(), Some(Category::Reminders));
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
fn a_tag_that_names_a_category_speaks_for_it() {
    let tags = ["#lesson".to_owned()];
    let text = "The cache is per process";
    let tagged = ClassifierInput {
        title: None,
        content: text,
        tags: &tags,
    };
    assert_ne!(classify_text(text).category(), Some(Category::Lessons));
    assert_eq!(classify(&tagged).category(), Some(Category::Lessons));
}

#[test]
fn a_title_is_read_as_well() {
    let titled = ClassifierInput {
        title: Some("Lesson learned the hard way"),
        content: "The cache is per process",
        tags: &[],
    };
    assert_eq!(classify(&titled).scores[0].category, Category::Lessons);
}

#[test]
fn the_end_of_a_long_note_does_not_outweigh_its_beginning() {
    let note = "Remind me tomorrow at nine to call the bank. ".to_owned() + &"… ".repeat(1_000_000);
    assert_eq!(classify_text(&note).category(), Some(Category::Reminders));
}

proptest! {
    #[test]
    fn any_text_has_probabilities_that_are_one_together(text in any_text()) {
        let found = classify_text(&text);
        let sum: f32 = found.scores.iter().map(|score| score.probability).sum();
        prop_assert!((sum - 1.0).abs() < 1e-4, "{sum}");
        prop_assert!(found.scores.is_sorted_by(|one, other| other.score <= one.score));
        prop_assert!(LABELS.iter().all(|label| found.scores.iter().any(|score| score.category == *label)));
        prop_assert_eq!(found.category().is_some(), SURE <= found.confidence());
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
