//! The names by which the author of a note calls its category: `names.json` of each language.

use std::collections::HashMap;
use std::sync::LazyLock;

use memory_core::Category;
use memory_core::language::read_classes;
use memory_core::text::fold;

use super::LABELS;
use super::feature::ClassifierInput;

/// Maximum number of bytes of the first line that are searched for a label.
const MAX_LINE_BYTES: usize = 200;

/// Returns the category that the author named by the tags, the folder, the title, or the heading or label of the first line; `None` if
/// there is none, or if the names contradict each other.
pub(super) fn named_category(note: &ClassifierInput<'_>) -> Option<Category> {
    let tags = note.tags.iter().filter_map(|tag| tag.split('/').next());
    let names = tags
        .chain(note.folder)
        .chain(note.title)
        .chain(first_label(note.content));
    let mut categories = names.filter_map(category_of_name);
    let first = categories.next()?;
    categories.all(|other| other == first).then_some(first)
}

fn category_of_name(name: &str) -> Option<Category> {
    let is_decoration = |character: char| !character.is_alphabetic();
    CATEGORIES
        .get(fold(name).trim_matches(is_decoration))
        .copied()
}

/// Returns the first line if it is a heading, or else its part before a colon, a dash or a closing bracket.
fn first_label(text: &str) -> Option<&str> {
    let line = text.trim_start().lines().next()?;
    let line = &line[..line.floor_char_boundary(MAX_LINE_BYTES)];
    let label = LABEL_ENDS.iter().filter_map(|mark| line.find(mark)).min();
    match label {
        Some(end) => Some(&line[..end]),
        None => line.starts_with('#').then_some(line),
    }
}

const LABEL_ENDS: [&str; 8] = [":", "：", "—", "–", " - ", " -- ", "]", "】"];

/// The category of each name, folded.
static CATEGORIES: LazyLock<HashMap<String, Category>> = LazyLock::new(|| {
    let names = read_classes(&[
        include_str!("../language/en/names.json"),
        include_str!("../language/zh/names.json"),
    ]);
    let of_category = |category: Category| {
        let own = names.get(category.as_str()).into_iter().flatten();
        own.map(move |name| (fold(name), category))
    };
    LABELS.into_iter().flat_map(of_category).collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    fn named(tags: &[&str], folder: &str, title: &str, content: &str) -> Option<Category> {
        let tags: Vec<String> = tags.iter().map(ToString::to_string).collect();
        named_category(&ClassifierInput {
            title: Some(title),
            content,
            folder: Some(folder),
            tags: &tags,
        })
    }

    #[test]
    fn a_tag_a_folder_a_title_or_a_label_names_the_category() {
        for (tags, folder, title, content, category) in [
            (&["#lesson"][..], "", "", "", Category::Lessons),
            (&["decision/db"], "", "", "", Category::Decisions),
            (&[], "People", "Mei", "", Category::People),
            (&[], "1-Projects", "", "", Category::Project),
            (&[], "偏好", "茶", "", Category::Preferences),
            (&[], "", "Lessons learned", "", Category::Lessons),
            (&[], "", "", "# Habits\n- tea at six", Category::Habits),
            (
                &[],
                "",
                "",
                "Lesson learned: test backups",
                Category::Lessons,
            ),
            (&[], "", "", "- **Decision**: no ORM", Category::Decisions),
            (&[], "", "", "ADR 14: no ORM", Category::Decisions),
            (&[], "", "", "[decision] no ORM", Category::Decisions),
            (&[], "", "", "教训：备份必须定期测试", Category::Lessons),
            (&[], "", "", "【教训】先备份", Category::Lessons),
        ] {
            let found = named(tags, folder, title, content);
            assert_eq!(found, Some(category), "{tags:?} {folder} {title} {content}");
        }
    }

    #[test]
    fn other_words_and_names_that_contradict_each_other_name_none() {
        for (tags, folder, title, content) in [
            (&[][..], "", "", ""),
            (&["db"], "Notes", "Kettle", "It is blue: a decision"),
            (&[], "", "Piano lessons", "On Tuesdays at five"),
            (&[], "", "", "Home\n\n## Decisions\n- tea"),
            (&["lesson"], "people", "", ""),
        ] {
            assert_eq!(named(tags, folder, title, content), None, "{title}");
        }
    }

    #[test]
    fn every_category_has_names_in_both_languages() {
        for category in LABELS.into_iter().filter(|own| *own != Category::Inbox) {
            let own = CATEGORIES.iter().filter(|(_, named)| **named == category);
            let names: Vec<&String> = own.map(|(name, _)| name).collect();
            assert!(names.iter().any(|name| name.is_ascii()), "{category}");
            assert!(!names.iter().all(|name| name.is_ascii()), "{category}");
        }
    }
}
