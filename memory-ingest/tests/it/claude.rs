use std::collections::BTreeMap;

use memory_core::{Category, Phase, Scope};
use memory_ingest::SourceName;
use serde_json::Value;

use crate::inputs::run_tool;
use crate::sandbox::{IngestSandbox, survey_source};

#[test]
fn a_realistic_home_comes_out_as_its_facts_say() {
    let home = tempfile::tempdir().expect("a temporary folder can be made");
    let Some(facts) = run_tool("claude_home.py", &[home.path()]) else {
        return;
    };
    let number = |key: &str| facts[key].as_u64().unwrap_or_default();
    let found = survey_source(SourceName::Claude, &home.path().join(".claude"));
    let count = |begin: &str| {
        found
            .notes
            .iter()
            .filter(|note| note.path().starts_with(begin))
            .count() as u64
    };
    assert_eq!(count("CLAUDE.md"), number("user_claude_md"));
    assert_eq!(count("rules/"), number("rules"));
    assert_eq!(count("agents/"), number("agents"));
    assert_eq!(count("projects/"), number("memory_files_not_empty"));
    assert_eq!(
        found.notes.len() as u64,
        [
            "user_claude_md",
            "rules",
            "agents",
            "memory_files_not_empty"
        ]
        .map(number)
        .iter()
        .sum::<u64>()
    );
    assert_eq!(
        found.skipped,
        [
            (
                "plugins/cache/some-plugin/CLAUDE.md".to_owned(),
                "is part of a plugin, or a former state of a file".to_owned()
            ),
            (
                "projects/-home-dev-work-long/memory/empty.md".to_owned(),
                "is empty".to_owned()
            )
        ]
    );
    let indexes = found
        .notes
        .iter()
        .filter(|note| note.path().ends_with("/MEMORY.md"))
        .count() as u64;
    assert_eq!(indexes, number("index_files"));
    let mut kinds = BTreeMap::new();
    for note in found
        .notes
        .iter()
        .filter(|note| note.path().starts_with("projects/"))
    {
        let kind = match note.draft.category {
            Some(Category::Preferences) => "user",
            Some(Category::Feedback) => "feedback",
            Some(Category::Project) => "project",
            Some(Category::Knowledge) => "reference",
            _ => "none",
        };
        *kinds.entry(kind).or_insert(0_u64) += 1;
    }
    let types = facts["memory_types"].as_object().expect("a map");
    // The empty file is one of those without a type.
    let expected = |kind: &str| {
        types.get(kind).and_then(Value::as_u64).unwrap_or_default() - u64::from(kind == "none")
    };
    assert_eq!(
        kinds,
        kinds.keys().map(|kind| (*kind, expected(kind))).collect()
    );
    let scope = |path: &str| {
        found
            .note(&format!("projects/{path}/memory/MEMORY.md"))
            .draft
            .scope
            .clone()
    };
    assert_eq!(
        scope("-home-dev-work-compose-envkit"),
        Scope::Project("compose.envkit".into())
    );
    assert_eq!(
        scope("-home-dev-work-long"),
        Scope::Project("home-dev-work-long".into())
    );
}

#[test]
fn instructions_in_inner_folders_are_read_or_named() {
    let home = IngestSandbox::new(&[
        (".claude/CLAUDE.md", "Answer briefly."),
        (".claude/projects/-home-a-tea/CLAUDE.md", "Green tea."),
        (".claude/commands/brew/CLAUDE.local.md", "Brew."),
        (".claude/plugins/cache/x/CLAUDE.md", "Not of the user."),
        (".claude/plugins/cache/x/README.md", "x"),
        (".claude/skills/node_modules/y/CLAUDE.md", "x"),
    ]);
    let found = survey_source(SourceName::Claude, &home.path().join(".claude"));
    let notes: Vec<_> = found
        .notes
        .iter()
        .map(|note| {
            (
                note.path(),
                note.draft.title.as_deref().unwrap_or_default(),
                note.draft.scope.clone(),
            )
        })
        .collect();
    let project = Scope::Project("home-a-tea".into());
    let expected = [
        ("CLAUDE.md", "CLAUDE", Scope::Global),
        (
            "commands/brew/CLAUDE.local.md",
            "commands/brew/CLAUDE.local.md",
            Scope::Global,
        ),
        (
            "projects/-home-a-tea/CLAUDE.md",
            "projects/-home-a-tea/CLAUDE.md",
            project,
        ),
    ];
    assert_eq!(notes, expected);
    let skipped: Vec<_> = found
        .skipped
        .iter()
        .map(|(path, _)| path.as_str())
        .collect();
    assert_eq!(skipped, ["plugins/cache/x/CLAUDE.md"]);
}

#[test]
fn the_other_folders_of_that_home_keep_what_they_must() {
    let home = tempfile::tempdir().expect("a temporary folder can be made");
    let Some(_) = run_tool("claude_home.py", &[home.path()]) else {
        return;
    };
    let car = survey_source(SourceName::CarAgent, &home.path().join(".car-agent"));
    assert_eq!(
        car.notes
            .iter()
            .map(super::sandbox::SurveyNote::path)
            .collect::<Vec<_>>(),
        ["memory/trips/2026-03.md", "preferences.md"]
    );
    let long = &car.notes[0].draft.content;
    assert!(
        long.starts_with("# 三月\n")
            && long
                .lines()
                .last()
                .is_some_and(|line| line.starts_with("[cut: 5,000 of ")),
        "{long}"
    );
    let chat = survey_source(SourceName::Fingersaver, &home.path().join(".fingersaver"));
    let content = &chat.notes[0].draft.content;
    assert!(content.ends_with("the newest message of all"));
    let mut lines = content.lines();
    assert!(
        lines
            .next()
            .is_some_and(|line| line.starts_with("[cut: the newest "))
    );
    assert!(
        lines
            .nth(1)
            .is_some_and(|line| line.starts_with("### [2026-03-11 09:"))
    );
}

#[test]
fn three_generations_of_memory_notes_are_understood() {
    let folder = IngestSandbox::new(&[
        ("projects/-a-b/memory/free.md", "free text"),
        (
            "projects/-a-b/memory/flat.md",
            "---\nname: Flat note\ndescription: d # c\ntype: user\n---\ntext [[nested]]\n",
        ),
        (
            "projects/-a-b/memory/nested.md",
            "---\nname: nested\nmetadata: \n  node_type: memory\n  type: feedback\n---\ntext\n",
        ),
        (
            "projects/-a-b/s.jsonl",
            "{\"type\":\"summary\"}\n{\"broken\n{\"cwd\":\"/x/项目.v2\",\"n\":1}\n",
        ),
        ("agent-memory/architect/MEMORY.md", "index"),
        ("plugins/cache/p/CLAUDE.md", "no"),
        ("file-history/s/CLAUDE.md", "no"),
    ]);
    let found = folder.survey(SourceName::Claude);
    assert_eq!(found.notes.len(), 4);
    let flat = found.note("projects/-a-b/memory/flat.md");
    assert_eq!(flat.draft.title.as_deref(), Some("Flat note"));
    assert_eq!(
        (flat.draft.category, flat.draft.phase),
        (Some(Category::Preferences), Some(Phase::Inbox))
    );
    assert_eq!(flat.draft.scope, Scope::Project("项目.v2".into()));
    assert_eq!(flat.front_matter, "description: d # c\ntype: user\n");
    assert_eq!(
        found.note("projects/-a-b/memory/nested.md").draft.category,
        Some(Category::Feedback)
    );
    assert_eq!(
        found.note("projects/-a-b/memory/free.md").draft.category,
        None
    );
    assert_eq!(
        found.note("agent-memory/architect/MEMORY.md").draft.scope,
        Scope::Global
    );
    assert_eq!(found.report.links.resolved, 1);
}
