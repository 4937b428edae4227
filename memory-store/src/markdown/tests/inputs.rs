//! Tests with the collection of unusual files of the project.

use std::collections::BTreeMap;
use std::path::PathBuf;

use memory_core::Tags;
use serde_json::Value;

use super::modified;
use crate::markdown::{decode, rewrite};

#[test]
fn every_odd_file_is_read_as_expected() {
    let Some(folder) = folder() else { return };
    let expected: Value =
        serde_json::from_slice(&std::fs::read(folder.join("expected.json")).unwrap()).unwrap();
    let cases = expected["cases"].as_object().unwrap();
    assert!(!cases.is_empty());
    for (name, case) in cases {
        let bytes = std::fs::read(folder.join(name)).unwrap();
        let parsed = decode(name, &bytes, modified());
        check(name, case, &parsed);
        keeps_the_rest(name, &bytes);
    }
}

fn check(name: &str, case: &Value, parsed: &crate::markdown::DecodedFile) {
    let memory = &parsed.memory;
    let outcome = case["outcome"].as_str().unwrap();
    let body = |text: &str| {
        text.strip_suffix('\n')
            .map_or(text, |text| text.strip_suffix('\r').unwrap_or(text))
            .to_owned()
    };
    match &parsed.problem {
        None => assert!(
            outcome.contains("parsed") || outcome.contains("body-only"),
            "{name}"
        ),
        Some(problem) => {
            assert!(outcome != "parsed", "{name}: {problem}");
            assert!(
                problem.path == name && (problem.line.is_some() || outcome.contains("parsed")),
                "{name}: {problem}"
            );
        }
    }
    if outcome == "body-only" {
        assert_eq!(
            (&memory.title, memory.tags.is_empty()),
            (&None, true),
            "{name}"
        );
    }
    if let Some(text) = case["body"].as_str() {
        assert_eq!(memory.content, body(text), "{name}");
    }
    if let Some(end) = case["body_ends_with"].as_str() {
        assert!(memory.content.ends_with(&body(end)), "{name}");
    }
    for part in case["body_contains"].as_array().into_iter().flatten() {
        assert!(memory.content.contains(part.as_str().unwrap()), "{name}");
    }
    let texts = |key: &str| -> Option<Vec<&str>> {
        Some(
            case[key]
                .as_array()?
                .iter()
                .map(|text| text.as_str().unwrap())
                .collect(),
        )
    };
    if outcome == "parsed" || parsed.problem.is_none() {
        if let Some(title) = case["title"].as_str() {
            assert_eq!(memory.title.as_deref(), Some(title), "{name}");
        }
        if let Some(tags) = texts("tags") {
            assert_eq!(memory.tags.as_slice(), tags, "{name}");
        }
        if let Some(aliases) = texts("aliases") {
            assert_eq!(memory.aliases, aliases, "{name}");
        }
        if let Some(count) = case["tags_count"].as_u64() {
            assert_eq!(memory.tags.as_slice().len() as u64, count, "{name}");
        }
    }
    if let Some(titles) = texts("title_any") {
        assert!(
            memory
                .title
                .as_deref()
                .is_none_or(|title| titles.contains(&title)),
            "{name}"
        );
    }
}

/// Adds a tag and checks that all lines except those of the tags are unchanged.
fn keeps_the_rest(name: &str, bytes: &[u8]) {
    let parsed = decode(name, bytes, modified());
    let mut after = parsed.memory.clone();
    after.tags = after.tags.with(&["added"].into_iter().collect::<Tags>());
    after.version += 1;
    after.updated_at = "2026-05-07T10:00:00Z".parse().unwrap();
    let rewritten = match rewrite(name, bytes, &after) {
        Ok(rewritten) => rewritten,
        Err(problem) => return assert_eq!(Some(problem), parsed.problem, "{name}"),
    };
    assert_eq!(parsed.problem, None, "{name}");
    assert_eq!(decode(name, &rewritten, modified()).memory, after, "{name}");
    let mut lines = BTreeMap::<&[u8], i64>::new();
    rewritten
        .split_inclusive(|byte| *byte == b'\n')
        .for_each(|line| *lines.entry(line).or_default() += 1);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let is_of_the_tags = String::from_utf8_lossy(line).starts_with("tags: ");
        let is_there = lines.get_mut(line).is_some_and(|count| {
            *count -= 1;
            0 <= *count
        });
        // The last line may have gained a line break, and the first may follow a new front matter.
        let is_the_body = line == bytes || !line.ends_with(b"\n");
        assert!(
            is_there || is_of_the_tags || is_the_body,
            "{name}: {:?}",
            String::from_utf8_lossy(line)
        );
    }
}

fn folder() -> Option<PathBuf> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/inputs");
    let folder = std::env::var_os("MEMORY_TEST_INPUTS")
        .map_or_else(beside, PathBuf::from)
        .join("frontmatter");
    if folder.join("expected.json").exists() {
        return Some(folder);
    }
    memory_core::testing::leave_out(&format!("{} does not exist", folder.display()));
    None
}
