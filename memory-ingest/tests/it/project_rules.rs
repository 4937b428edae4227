use std::path::Path;

use memory_core::{Category, Scope, SourceError};
use memory_ingest::{SourceName, SourceOptions, open};

use crate::sandbox::{IngestSandbox, SurveyNote, survey_source};

fn paths(notes: &[SurveyNote]) -> Vec<&str> {
    notes.iter().map(SurveyNote::path).collect()
}

#[test]
fn a_memory_bank_has_its_project_as_scope() {
    let home = IngestSandbox::new(&[
        (
            "shop 店/memory-bank/projectbrief.md",
            "# Brief\n\nsee [progress](progress.md)\n",
        ),
        ("shop 店/memory-bank/progress.md", "90 % 🛒"),
        ("shop 店/memory-bank/decisionLog.md", "- use Rust"),
        ("shop 店/memory-bank/activeContext.md", ""),
        ("shop 店/memory-bank/image.png", "x"),
        ("shop 店/README.md", "not read"),
    ]);
    let project = home.path().join("shop 店");
    assert_eq!(
        SourceName::detect(&project),
        [SourceName::Cline, SourceName::Roo]
    );
    for name in [SourceName::Cline, SourceName::Roo] {
        let found = survey_source(name, &project);
        let expected = [
            "memory-bank/decisionLog.md",
            "memory-bank/progress.md",
            "memory-bank/projectbrief.md",
        ];
        assert_eq!(paths(&found.notes), expected);
        assert_eq!(found.skipped.len(), 1);
        assert!(
            found
                .notes
                .iter()
                .all(|note| note.draft.scope == Scope::Project("shop 店".into()))
        );
        let categories = found.notes.iter().map(|note| note.draft.category);
        let expected = [Category::Decisions, Category::Project, Category::Project].map(Some);
        assert!(categories.eq(expected));
        assert_eq!((found.report.links.resolved, found.again.unchanged), (1, 3));
        let inner = survey_source(name, &project.join("memory-bank"));
        assert_eq!(inner.notes[0].draft.origin, found.notes[0].draft.origin);
    }
}

#[test]
fn rules_of_cursor_are_read_with_patterns_that_are_not_yaml() {
    let project = IngestSandbox::new(&[
        (
            ".cursor/rules/ts.mdc",
            "---\ndescription: TypeScript: style\nglobs: *.ts,**/*.tsx\nalwaysApply: true\n---\n- no any\n",
        ),
        (".cursor/rules/sub/plain.mdc", "no front matter"),
        (".cursor/rules/readme.txt", "x"),
        (".cursor/rules/naming.md", "name things"),
        (
            ".cursor/rules/api-style/RULE.md",
            "---\ndescription: API\n---\nplural nouns",
        ),
        ("packages/web/.cursor/rules/web.mdc", "web only"),
        ("node_modules/x/.cursor/rules/x.mdc", "OF A DEPENDENCY"),
        (".cursor/mcp.json", "{\"token\": \"secret\"}"),
        (".cursorrules", "be short"),
        ("AGENTS.md", "# Build\n"),
        ("packages/web/AGENTS.md", "# Web\n"),
        ("vendor/x/AGENTS.md", "OF A DEPENDENCY"),
        ("docs/other.md", "x"),
    ]);
    let found = project.survey(SourceName::Cursor);
    let expected = [
        ".cursor/rules/api-style/RULE.md",
        ".cursor/rules/naming.md",
        ".cursor/rules/sub/plain.mdc",
        ".cursor/rules/ts.mdc",
        ".cursorrules",
        "AGENTS.md",
        "packages/web/.cursor/rules/web.mdc",
        "packages/web/AGENTS.md",
    ];
    assert_eq!(paths(&found.notes), expected);
    let rule = found.note(".cursor/rules/ts.mdc");
    assert_eq!(
        (rule.draft.content.as_str(), &rule.warning),
        ("- no any", &None)
    );
    let lines = "description: \"TypeScript: style\"\nglobs: \"*.ts,**/*.tsx\"\nalwaysApply: true\n";
    assert_eq!(rule.front_matter, lines);
    assert_eq!(
        (rule.draft.title.as_deref(), rule.draft.category),
        (Some("ts"), Some(Category::Preferences))
    );
    assert_eq!(
        found.note(".cursorrules").draft.title.as_deref(),
        Some(".cursorrules")
    );
    let name = project
        .path()
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .expect("a name");
    assert_eq!(rule.draft.scope, Scope::Project(name));
    assert_eq!(
        found
            .note(".cursor/rules/api-style/RULE.md")
            .draft
            .title
            .as_deref(),
        Some("api-style")
    );
    let titles =
        ["AGENTS.md", "packages/web/AGENTS.md"].map(|path| found.note(path).draft.title.clone());
    assert_eq!(
        titles,
        [
            Some("AGENTS".to_owned()),
            Some("packages/web/AGENTS.md".to_owned())
        ]
    );
    assert_eq!(found.again.unchanged, 8);
}

#[test]
fn global_rules_of_windsurf_are_for_all_projects() {
    let home = IngestSandbox::new(&[
        (".codeium/windsurf/memories/global_rules.md", "be kind"),
        (".codeium/windsurf/memories/x.pb", "binary"),
        (
            "app/.windsurf/rules/style.md",
            "---\ntrigger: always_on\n---\ntabs",
        ),
        ("app/.windsurf/other.md", "x"),
        ("app/web/.windsurf/rules/web.md", "web only"),
        ("app/AGENTS.md", "# Build\n"),
        ("app/web/AGENTS.md", "# Web\n"),
    ]);
    let global = survey_source(
        SourceName::Windsurf,
        &home.path().join(".codeium/windsurf/memories"),
    );
    assert_eq!(paths(&global.notes), ["global_rules.md"]);
    assert_eq!(global.notes[0].draft.scope, Scope::Global);
    let project = survey_source(SourceName::Windsurf, &home.path().join("app"));
    let expected = [
        ".windsurf/rules/style.md",
        "AGENTS.md",
        "web/.windsurf/rules/web.md",
        "web/AGENTS.md",
    ];
    assert_eq!(paths(&project.notes), expected);
    assert_eq!(project.notes[0].draft.scope, Scope::Project("app".into()));
    assert_eq!(project.notes[0].front_matter, "trigger: always_on\n");
}

#[test]
fn a_project_without_such_files_is_not_recognized() {
    let empty = IngestSandbox::new(&[("README.md", "x")]);
    let check = |name, path: &Path| open(name, path, &SourceOptions::default()).map(|_| ());
    for name in [
        SourceName::Cline,
        SourceName::Roo,
        SourceName::Cursor,
        SourceName::Windsurf,
    ] {
        assert!(
            matches!(
                check(name, &empty.path()),
                Err(SourceError::NotRecognized { .. })
            ),
            "{name}"
        );
    }
}
