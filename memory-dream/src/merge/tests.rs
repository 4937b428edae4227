//! Tests of merging.

use chrono::{DateTime, TimeDelta};
use memory_core::testing::{any_memory, any_text};
use memory_core::{Category, Draft, Memory, MemoryId, Phase};
use proptest::collection::vec;
use proptest::prelude::*;

use super::merged_memory::merge_texts;
use super::{check_conserved, compare_precedence, merge_memories};

/// Generates Markdown with repeated sentences under different headings and in different forms.
fn any_markdown() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => prop::sample::select(vec![
            "Use tabs. ", "use tabs", "Never spaces! ", "用制表符。", "不用空格；", "Steps:", "为什么？", "e.g. this one. ", "foo",
            "1. Mix it\n", "- Bake it\n", "  - At 200 degrees\n", "- Serve:\n", "# One\n", "## Two\n", "===\n", "---\n", "> A quote. So.\n",
            "| a | b |\n", "|---|---|\n", "| 1 | 2 |\n", "```\n", "```rust\nlet a = 1;\n\nlet b;\n```\n", "~~~\n", "    code\n", "`a. b`",
            "<!-- ", "-->", "$$\n", "[[Link|A]] ", "- [ ] task\n", "**Bold.** ", "a | b\n",
        ]).prop_map(str::to_owned),
        4 => prop::sample::select(vec!["\n", "\n\n", " ", "  \n", "\r\n", "\r\n\r\n"]).prop_map(str::to_owned),
        1 => any_text(),
    ];
    vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn any_source() -> impl Strategy<Value = Memory> {
    (any_memory(), any_markdown(), 0..3_u64).prop_map(|(memory, content, access_count)| Memory {
        content,
        access_count,
        ..memory
    })
}

fn memory(number: u8, content: &str) -> Memory {
    let now = DateTime::UNIX_EPOCH + TimeDelta::days(number.into());
    Draft::new(content).into_memory(MemoryId::for_path(&number.to_string()), now)
}

fn merged_text(contents: &[&str]) -> String {
    merge_texts(contents[0], &contents[1..]).0
}

#[test]
fn a_text_that_says_all_already_stays_byte_for_byte() {
    let kept = "Use tabs.  \nNever spaces!\n";
    assert_eq!(
        merged_text(&[kept, "never spaces", "USE TABS", "Ｕｓｅ　ｔａｂｓ。"]),
        kept
    );
}

#[test]
fn new_sentences_follow_in_a_paragraph_of_their_own() {
    let text = merged_text(&[
        "Anna likes tea.",
        "Anna likes tea. She drinks it black. Ben does not.",
    ]);
    assert_eq!(
        text,
        "Anna likes tea.\n\nShe drinks it black. Ben does not."
    );
    assert_eq!(
        merged_text(&["安娜喜欢茶。", "安娜喜欢茶。她喝红茶！本不喝。"]),
        "安娜喜欢茶。\n\n她喝红茶！本不喝。"
    );
}

#[test]
fn items_are_added_as_a_list_under_what_announces_them() {
    let text = merged_text(&[
        "Never do:\n- force-push",
        "Always do:\n- run the tests\n- force-push",
    ]);
    assert_eq!(
        text,
        "Never do:\n- force-push\n\nAlways do:\n- run the tests\n- force-push"
    );
    assert_eq!(
        merged_text(&["Buy:\n- milk\n- tea", "Buy:\n- tea\n- bread\n  - brown"]),
        "Buy:\n- milk\n- tea\n\nBuy:\n\n- bread\n  - brown"
    );
}

#[test]
fn what_stands_under_a_heading_is_added_under_it() {
    let kept = "# Production\nThe port is 80.";
    let text = merged_text(&[
        kept,
        "# Production\nThe port is 80.\n\n# Staging\nThe port is 80.",
    ]);
    assert_eq!(
        text,
        "# Production\nThe port is 80.\n\n# Staging\nThe port is 80."
    );
    assert_eq!(
        merged_text(&[kept, "# Production\nThe host is ada."]),
        "# Production\nThe port is 80.\n\n# Production\nThe host is ada."
    );
}

#[test]
fn code_and_tables_are_never_cut_and_code_left_open_is_closed() {
    let code = "```sh\nmake\n\nmake install\n```";
    assert_eq!(
        merged_text(&["Build it.", &format!("Build it.\n\n{code}")]),
        format!("Build it.\n\n{code}")
    );
    assert_eq!(
        merged_text(&["```sh\nmake", "Use tabs."]),
        "```sh\nmake\n```\n\nUse tabs."
    );
    let table = |rows: &str| format!("| host | port |\n|---|---|\n{rows}");
    assert_eq!(
        merged_text(&[&table("| a | 1 |"), &table("| a | 1 |\n| b | 2 |")]),
        format!(
            "{}\n\n{}",
            table("| a | 1 |"),
            table("| a | 1 |\n| b | 2 |")
        )
    );
}

#[test]
fn case_matters_in_code_alone() {
    assert_eq!(
        merged_text(&["Set `PORT` now.", "set `PORT` NOW"]),
        "Set `PORT` now."
    );
    assert_eq!(
        merged_text(&["Set `PORT` now.", "Set `port` now."]),
        "Set `PORT` now.\n\nSet `port` now."
    );
    assert_eq!(
        merged_text(&["```\nPORT\n```", "```\nport\n```"]),
        "```\nPORT\n```\n\n```\nport\n```"
    );
}

#[test]
fn the_kept_one_has_what_all_have() {
    let (mut one, mut other) = (memory(2, "Anna likes tea."), memory(1, "Anna likes tea"));
    (one.access_count, other.access_count) = (1, 7);
    (one.title, other.title) = (Some("Tea".into()), Some("Anna".into()));
    (one.tags, other.tags) = (
        ["drinks", "Anna"].iter().collect(),
        ["anna"].iter().collect(),
    );
    (one.links, other.links) = (
        vec![other.id, MemoryId::for_path("x")],
        vec![MemoryId::for_path("y"), one.id],
    );
    (one.phase, one.category) = (Phase::Organized, Category::People);
    other.expires_at = Some(DateTime::UNIX_EPOCH);
    one.supersedes = vec![MemoryId::for_path("z")];
    let merged = merge_memories(&[&one, &other]).expect("there are two");
    let memory = merged.memory;
    assert_eq!((merged.gone, merged.added), (vec![one.id], vec![]));
    assert_eq!(
        (memory.id, memory.content.as_str(), memory.access_count),
        (other.id, "Anna likes tea", 7)
    );
    assert_eq!(
        (memory.title.as_deref(), memory.aliases),
        (Some("Anna"), vec!["Tea".to_owned()])
    );
    assert_eq!(memory.tags.as_slice(), ["anna", "drinks"]);
    assert_eq!(
        memory.links,
        [MemoryId::for_path("y"), MemoryId::for_path("x")]
    );
    assert_eq!(
        (memory.phase, memory.category, memory.expires_at),
        (Phase::Organized, Category::People, None)
    );
    assert_eq!(memory.supersedes, [MemoryId::for_path("z"), one.id]);
    assert_eq!(memory.created_at, other.created_at);
}

#[test]
fn a_sentence_is_lost_where_only_its_words_are_kept() {
    assert!(check_conserved(&["Use tabs."], &["Never use tabs."]).is_err());
    assert!(
        check_conserved(
            &["# Staging\nUse tabs."],
            &["# Production\nUse tabs.\n\n# Staging"]
        )
        .is_err()
    );
    assert!(check_conserved(&["```\na\nb\n```"], &["```\na\n```\n\n```\nb\n```"]).is_err());
    assert!(check_conserved(&["", " \n\n---\n"], &[]).is_ok());
}

#[test]
fn a_sentence_that_looks_like_an_item_stays_within_its_paragraph() {
    let source = "# One\nNever spaces! Steps:\n\nNever spaces! 1. Mix it\n";
    let (text, _) = merge_texts("", &[source]);
    assert_eq!(check_conserved(&[source], &[&text]), Ok(()), "{text:?}");
}

#[test]
fn ten_thousand_new_sentences_take_no_time() {
    let items: Vec<_> = (0..10_000)
        .map(|number| format!("- item {number}: kept\n\n"))
        .collect();
    let source = items.concat();
    let (text, added) = merge_texts("Kept.", &[&source, &source]);
    assert_eq!(
        (added.len(), check_conserved(&[&source], &[&text])),
        (10_000, Ok(()))
    );
}

proptest! {
    #[test]
    fn no_sentence_is_lost(texts in vec(any_markdown(), 1..4)) {
        let texts: Vec<_> = texts.iter().map(String::as_str).collect();
        let (text, added) = merge_texts(texts[0], &texts[1..]);
        prop_assert!(text.starts_with(texts[0]));
        prop_assert_eq!(added.is_empty(), text == texts[0]);
        prop_assert_eq!(check_conserved(&texts, &[&text]), Ok(()), "{:?}", text);
    }

    #[test]
    fn the_order_of_the_memories_does_not_matter(sources in vec(any_source(), 1..4), turn in 0..4_usize) {
        let mut turned: Vec<_> = sources.iter().collect();
        let straight = merge_memories(&turned);
        turned.reverse();
        let length = turned.len();
        turned.rotate_left(turn % length);
        prop_assert_eq!(merge_memories(&turned), straight);
    }

    #[test]
    fn merging_the_result_with_a_source_changes_nothing(sources in vec(any_source(), 1..4)) {
        let first = merge_memories(&sources.iter().collect::<Vec<_>>()).expect("there are some").memory;
        for source in &sources {
            let again = merge_memories(&[source, &first]).expect("there are two");
            prop_assert_eq!(&again.memory.content, &first.content);
            if source.id != first.id {
                prop_assert_eq!(&again.memory, &first);
            }
        }
    }

    #[test]
    fn the_kept_one_comes_first_and_gives_up_nothing(sources in vec(any_source(), 1..4)) {
        let merged = merge_memories(&sources.iter().collect::<Vec<_>>()).expect("there are some");
        let kept = &merged.memory;
        for source in &sources {
            prop_assert!(source.id == kept.id || compare_precedence(kept, source).is_lt());
            prop_assert!(source.id == kept.id || merged.gone.contains(&source.id) && kept.supersedes.contains(&source.id));
            prop_assert!(source.tags.iter().all(|tag| kept.tags.contains(tag)));
            prop_assert!(source.links.iter().all(|id| kept.links.contains(id) || sources.iter().any(|own| own.id == *id)));
            prop_assert!(source.access_count <= kept.access_count && kept.created_at <= source.created_at);
        }
    }
}
