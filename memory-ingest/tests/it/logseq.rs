use memory_ingest::SourceName;
use serde_json::Value;
use std::collections::HashSet;
use std::path::Path;

use crate::inputs::{read_facts, unpack_vault};
use crate::sandbox::{IngestSandbox, survey_source};

#[test]
fn logseq_docs_come_out_as_their_facts_say() {
    let Some((_folder, path)) = unpack_vault("logseq-docs") else {
        return;
    };
    let Some(facts) = read_facts("logseq-docs") else {
        return;
    };
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    let found = survey_source(SourceName::Logseq, &path);
    let counts = &facts["counts"];
    assert_eq!(found.notes.len() as u64, number(&facts["notes"]));
    assert_eq!(found.skipped, []);
    // Equal files become one memory, unless they have no text.
    let text = |path: &Path| {
        std::fs::read_to_string(path)
            .expect("the note is there")
            .trim()
            .to_owned()
    };
    let distinct: HashSet<String> = found
        .notes
        .iter()
        .map(|note| text(&path.join(note.path())))
        .collect();
    assert!(
        (distinct.len() as u64..=number(&facts["notes"])).contains(&found.report.new),
        "{}",
        found.report.new
    );
    assert_eq!(
        (found.again.new, found.again.updated, found.again.unchanged),
        (0, 0, number(&facts["notes"]))
    );
    // The facts do not contain labelled links of Org (two have a page as their target) and the titles of journals.
    let labelled_links = 2;
    let titles: HashSet<String> = found
        .notes
        .iter()
        .filter(|note| note.path().starts_with("journals/"))
        .flat_map(|note| note.draft.aliases.iter().map(|title| title.to_lowercase()))
        .collect();
    let links = found.notes.iter().flat_map(|note| &note.links);
    let to_journals = links
        .filter(|link| titles.contains(&link.to_lowercase()))
        .count() as u64;
    assert_eq!(
        found.report.links.resolved,
        number(&counts["refs_to_existing_page"])
            + number(&counts["refs_by_alias"])
            + labelled_links
            + to_journals
    );
    assert_eq!(
        found.report.links.unresolved,
        number(&counts["refs_to_no_page"]) - to_journals
    );
    let journals = found
        .notes
        .iter()
        .filter(|note| note.path().starts_with("journals/"));
    assert!(journals.clone().all(|note| note.draft.created_at.is_some()));
    assert_eq!(journals.count() as u64, number(&facts["journals"]));
    for note in &found.notes {
        let file = std::fs::read_to_string(path.join(note.path())).expect("the page is there");
        let is_rewritten = file.contains("((") || file.contains("logseq.order-list-type:: ");
        assert!(
            is_rewritten || file.contains(&note.draft.content),
            "{}",
            note.path()
        );
    }
}

#[test]
fn pages_and_journals_are_read_and_nothing_else() {
    let graph = IngestSandbox::new(&[
        (
            "pages/a___b.md",
            "alias:: ab\ntags:: x, [[two words]]\n\n- text #y\n  id:: 1\n",
        ),
        (
            "pages/o.org",
            "#+title: Org page\n* see [[a/b]] and [[AB]] [[file:x.png][label]]\n",
        ),
        (
            "journals/2023_01_31.md",
            "- [[org page]] #[[two words]] `[[code]]`",
        ),
        ("logseq/bak/pages/x.md", "old"),
        ("assets/x.md", "no page"),
    ]);
    let found = graph.survey(SourceName::Logseq);
    assert_eq!(
        found
            .notes
            .iter()
            .map(super::sandbox::SurveyNote::path)
            .collect::<Vec<_>>(),
        ["journals/2023_01_31.md", "pages/a___b.md", "pages/o.org"]
    );
    let page = &found.note("pages/a___b.md").draft;
    assert_eq!(
        (page.title.as_deref(), page.aliases.as_slice()),
        (Some("a/b"), &["ab".to_owned()][..])
    );
    assert_eq!(page.tags.as_slice(), ["x", "two words", "y"]);
    assert_eq!(
        page.content,
        "alias:: ab\ntags:: x, [[two words]]\n\n- text #y\n  id:: 1"
    );
    let journal = found.note("journals/2023_01_31.md");
    assert_eq!(
        journal.draft.created_at,
        Some("2023-01-31T00:00:00Z".parse().expect("a moment"))
    );
    assert_eq!(journal.links, ["org page", "two words"]);
    // `[[two words]]` and `#y` have no page.
    assert_eq!(
        (found.report.links.resolved, found.report.links.unresolved),
        (3, 3)
    );
}

#[test]
fn journals_are_linked_by_their_title_and_blocks_by_their_page() {
    let id = "64a1b2c3-0000-4000-8000-000000000001";
    let plan = format!("- see [[Mar 4th, 2023]] and (({id})), [x]([[Tea]])\n");
    let tea = format!("- Sencha\n  id:: {id}\n");
    let folder = IngestSandbox::new(&[
        ("journals/2023_03_04.md", "- rain\n"),
        ("pages/Plan.md", plan.as_str()),
        ("pages/Tea.md", tea.as_str()),
    ]);
    let found = folder.survey(SourceName::Logseq);
    assert_eq!(
        (found.report.links.resolved, found.report.links.unresolved),
        (2, 0)
    );
    let plan = found.note("pages/Plan.md");
    assert_eq!(
        plan.draft.content,
        "- see [[Mar 4th, 2023]] and [[Tea|Sencha]], [x]([[Tea]])"
    );
    assert_eq!(plan.uncounted_links, ["Tea"]);
    assert_eq!(
        found.note("journals/2023_03_04.md").draft.aliases,
        ["Mar 4th, 2023"]
    );

    folder.write(
        "logseq/config.edn",
        br#"{:journal/page-title-format "yyyy-MM-dd EEEE"}"#,
    );
    folder.write("pages/Plan.md", b"- see [[2023-03-04 Saturday]]\n");
    let found = folder.survey(SourceName::Logseq);
    assert_eq!(found.report.links.resolved, 1);
}

#[test]
fn numbered_blocks_are_numbered_lists() {
    let folder = IngestSandbox::new(&[(
        "pages/Steps.md",
        "- boil\n  logseq.order-list-type:: number\n- pour\n  logseq.order-list-type:: number\n",
    )]);
    let found = folder.survey(SourceName::Logseq);
    assert_eq!(
        found.note("pages/Steps.md").draft.content,
        "1. boil\n2. pour"
    );
}
