use memory_core::Category;

use super::super::{Classification, classify};
use super::*;

fn decisive_category(note: &ClassifierInput<'_>) -> Option<Category> {
    find_cues(note, false).decisive
}

fn classify_text(text: &str) -> Classification {
    classify(&ClassifierInput::from_text(text))
}

/// Returns the lines `category|sentence` of the table; without a category, no cue is decisive.
fn labelled_sentences() -> impl Iterator<Item = (Option<Category>, &'static str)> {
    let lines = include_str!("sentences.txt")
        .lines()
        .filter(|line| !line.starts_with('#'));
    lines.map(|line| {
        let (name, sentence) = line.split_once('|').expect("a name and a sentence");
        (name.parse().ok(), sentence)
    })
}

#[test]
fn a_cue_decides_the_category_of_a_plain_sentence() {
    for (category, sentence) in labelled_sentences() {
        let cues = find_cues(&ClassifierInput::from_text(sentence), false);
        assert_eq!(cues.decisive, category, "{sentence}: {:?}", cues.decisive);
    }
}

#[test]
fn a_cue_outweighs_the_model_and_its_doubts() {
    for (category, sentence) in labelled_sentences() {
        if let Some(category) = category {
            let found = classify_text(sentence);
            assert_eq!(
                found.category(),
                Some(category),
                "{sentence}: {:?}",
                &found.scores[..2]
            );
            assert!(
                0.949 < found.confidence(),
                "{sentence}: {}",
                found.confidence()
            );
        }
    }
}

#[test]
fn a_title_is_a_label_unless_the_text_says_more() {
    let titled = |title, content| {
        decisive_category(&ClassifierInput {
            title: Some(title),
            content,
            tags: &[],
        })
    };
    assert_eq!(
        titled("Lessons learned", "The cache is per process"),
        Some(Category::Lessons)
    );
    assert_eq!(titled("偏好", "深色，大字号"), Some(Category::Preferences));
    assert_eq!(
        titled("Deploy day", "We decided to deploy on Tuesdays"),
        Some(Category::Decisions)
    );
    assert_eq!(titled("Kettle", "It is blue"), None);
}

#[test]
fn a_heading_and_front_matter_are_read_as_people_mean_them() {
    let of = |text: &str| decisive_category(&ClassifierInput::from_text(text));
    assert_eq!(
        of("# Lessons learned\n- keep the old server for a week"),
        Some(Category::Lessons)
    );
    assert_eq!(of("## 习惯\n- 早起"), Some(Category::Habits));
    assert_eq!(
        of("---\nname: x\ntype: project\n---\nDecision: no ORM"),
        Some(Category::Decisions)
    );
    assert_eq!(of("- **Decision**: no ORM"), Some(Category::Decisions));
    assert_eq!(of("【教训】先备份"), Some(Category::Lessons));
    assert_eq!(of("[decision] no ORM"), Some(Category::Decisions));
}

#[test]
fn a_tag_that_names_a_category_precedes_a_phrase_and_follows_a_label() {
    let tags = ["people".to_owned()];
    let tagged = |content| {
        classify(&ClassifierInput {
            title: None,
            content,
            tags: &tags,
        })
        .scores[0]
            .category
    };
    assert_eq!(tagged("Lesson learned: ask Anna first"), Category::Lessons);
    assert_eq!(
        find_cues(&ClassifierInput::from_text("We decided to ask Anna"), true).decisive,
        None
    );
}

#[test]
fn quotes_and_code_are_no_cues() {
    for text in [
        "“we decided” 是一个例子",
        "「偏好」这个词",
        "run `lesson learned` twice",
        "```\ndecision: x\n```",
    ] {
        assert_eq!(
            decisive_category(&ClassifierInput::from_text(text)),
            None,
            "{text}"
        );
    }
}

#[test]
fn only_the_beginning_of_a_long_note_is_searched() {
    let long = format!("{} We decided to stop.", "word ".repeat(200));
    assert_eq!(decisive_category(&ClassifierInput::from_text(&long)), None);
}

#[test]
fn every_category_has_cues_of_both_languages() {
    for category in super::super::LABELS {
        let table = read_table();
        let (_, alternatives) = table
            .iter()
            .find(|(own, _)| *own == category)
            .expect("it is in the table");
        for key in ["label.en", "label.zh", "strong.en", "strong.zh"] {
            assert!(alternatives.contains_key(key), "{category} {key}");
        }
    }
}
