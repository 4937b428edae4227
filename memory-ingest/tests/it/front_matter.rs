use memory_ingest::SourceName;
use serde_json::Value;

use crate::inputs::inputs_folder;
use crate::sandbox::survey_source;

#[test]
fn odd_front_matter_comes_out_as_stated() {
    let Some(folder) = inputs_folder().map(|inputs| inputs.join("frontmatter")) else {
        return;
    };
    let expected =
        std::fs::read_to_string(folder.join("expected.json")).expect("the cases are stated");
    let expected: Value = serde_json::from_str(&expected).expect("it is JSON");
    let found = survey_source(SourceName::Obsidian, &folder);
    for (name, case) in expected["cases"].as_object().expect("a map") {
        let note = found.note(name);
        let draft = &note.draft;
        let outcome = case["outcome"].as_str().expect("a text");
        let text = |key: &str| case[key].as_str();
        let is_parsed = note.warning.is_none() && outcome.starts_with("parsed");
        if is_parsed {
            if let Some(title) = text("title") {
                assert_eq!(draft.title.as_deref(), Some(title), "{name}");
            }
            if let Some(body) = text("body") {
                assert_eq!(
                    draft.content,
                    body.trim_end_matches('\n').trim_end_matches('\r'),
                    "{name}"
                );
            }
            for (key, own) in [
                ("tags", draft.tags.as_slice()),
                ("aliases", draft.aliases.as_slice()),
            ] {
                if let Some(wanted) = case[key].as_array() {
                    assert_eq!(
                        own,
                        wanted.iter().filter_map(Value::as_str).collect::<Vec<_>>(),
                        "{name}"
                    );
                }
            }
            if let Some(count) = case["tags_count"].as_u64() {
                assert_eq!(draft.tags.as_slice().len() as u64, count, "{name}");
            }
        } else {
            let body = text("body").or(text("body_ends_with")).unwrap_or_default();
            assert!(
                draft.content.ends_with(body.trim_end_matches('\n')),
                "{name}"
            );
            let may_be_silent = outcome.starts_with("body-only");
            assert!(
                may_be_silent
                    || note
                        .warning
                        .as_ref()
                        .is_some_and(|warning| warning.starts_with(name)),
                "{name}"
            );
            assert!(outcome != "parsed", "{name}: {:?}", note.warning);
        }
        for part in case["body_contains"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
        {
            assert!(draft.content.contains(part), "{name}");
        }
    }
    assert!(
        !found
            .note("37-wikilink-value.md")
            .uncounted_links
            .is_empty()
    );
    assert!(
        found
            .note("37-wikilink-value.md")
            .front_matter
            .contains("[[")
    );
}
