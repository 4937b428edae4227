use memory_core::{Category, Scope};
use memory_ingest::{Codex, SourceName};

use crate::sandbox::{IngestSandbox, SourceSurvey, SurveyNote, moment, stated_days, survey_opened};

const HANDBOOK: &str = "A remark of the user\n\n\
    # Task Group: shop / checkout\n\nscope: the \"checkout\" page: all of it\n\
    applies_to: cwd=/home/me/dev/shop; reuse_rule=same checkout only\n\n\
    ## Task 1: fix the cart, done\n\n### rollout_summary_files\n\n\
    - rollout_summaries/a.md (cwd=/home/me/dev/shop, rollout_path=/x.jsonl, updated_at=2026-01-02T03:04:05Z, thread_id=t-1, useful)\n\
    - rollout_summaries/b.md (cwd=/home/me/dev/shop, updated_at=2026-02-02T00:00:00Z, thread_id=t-1)\n\n\
    ### keywords\n\n- cart, `npm test`, エラー: 型\n\n\
    ## User preferences\n\n- the user asked: \"run the tests\" 🧪 [Task 1]\n\n\
    ## Reusable knowledge\n\n- the token is ghp_0123456789abcdefghijABCDEFGHIJ012345\n```sh\n# not a heading\n```\n\n\
    ## Failures and how to do differently\n\n- wrong port -> use 8080\n\n\
    ## Notes\n\nmine\n\n## Empty\n\n\
    # Task Group: general\nscope: x\napplies_to: cwd=any checkout; reuse_rule=always\n\n\
    ## User preferences\n\n- short answers\n\n# Task Group: general\n\n## User preferences\n\n- in German\n";

const SUMMARY: &str = "v1\n\n## User Profile\n\nWrites Rust.\n\n## User preferences\n- plain words\n## General Tips\n- read first\n\
    ## What's in Memory\n\n### /home/me/dev/shop\n\n- cart: a, b\n";

fn survey(files: &[(&str, &str)]) -> SourceSurvey {
    let home = IngestSandbox::new(files);
    survey_opened(&Codex::open(&home.path()).expect("it is there"))
}

#[test]
fn sections_of_the_handbook_and_the_summary_are_notes() {
    let found = survey(&[
        ("memories/MEMORY.md", HANDBOOK),
        ("memories/memory_summary.md", SUMMARY),
        (
            "memories/raw_memories.md",
            "# Raw Memories\n\n## Thread `t-1`\nupdated_at: 2026-01-02\n\nraw",
        ),
        (
            "memories/rollout_summaries/a.md",
            "thread_id: t-1\nupdated_at: 2026-01-02\ncwd: /home/me/dev/shop\n\nraw",
        ),
        ("memories/extensions/x/resources/a.md", "ours"),
        (
            "memories/skills/deploy/SKILL.md",
            "---\nname: deploy\ndescription: Deploy: the shop\n---\n# Deploy\n",
        ),
        ("memories/skills/deploy/scripts/run.sh", "true"),
        ("memories/.git/HEAD", "ref"),
        ("auth.json", "secret"),
    ]);
    let paths = [
        "MEMORY.md",
        "MEMORY.md/general/User preferences",
        "MEMORY.md/general/User preferences (2)",
        "MEMORY.md/shop / checkout/Failures and how to do differently",
        "MEMORY.md/shop / checkout/Notes",
        "MEMORY.md/shop / checkout/Reusable knowledge",
        "MEMORY.md/shop / checkout/User preferences",
        "memory_summary.md/General Tips",
        "memory_summary.md/User Profile",
        "memory_summary.md/User preferences",
        "skills/deploy/SKILL.md",
    ];
    assert_eq!(
        found.notes.iter().map(SurveyNote::path).collect::<Vec<_>>(),
        paths
    );
    assert_eq!(
        found.note("MEMORY.md").draft.content,
        "A remark of the user"
    );
    let note = found.note("MEMORY.md/shop / checkout/User preferences");
    assert_eq!(
        note.draft.title.as_deref(),
        Some("shop / checkout: User preferences")
    );
    assert_eq!(
        note.draft.content,
        "- the user asked: \"run the tests\" 🧪 [Task 1]"
    );
    assert_eq!(
        (note.draft.category, &note.draft.scope),
        (Some(Category::Preferences), &Scope::Project("shop".into()))
    );
    assert_eq!(
        (note.draft.created_at, note.updated_at),
        (
            Some(moment("2026-01-02T03:04:05Z")),
            Some(moment("2026-02-02T00:00:00Z"))
        )
    );
    let lines = "codex_scope: \"the \\\"checkout\\\" page: all of it\"\n\
        codex_applies_to: \"cwd=/home/me/dev/shop; reuse_rule=same checkout only\"\n\
        codex_tasks: [\"1: fix the cart, done\"]\ncodex_keywords: [\"cart\",\"`npm test`\",\"エラー: 型\"]\ncodex_threads: [\"t-1\"]\n";
    assert_eq!(note.front_matter, lines);
    let general = found.note("MEMORY.md/general/User preferences");
    assert_eq!(
        (&general.draft.scope, general.draft.created_at),
        (&Scope::Global, None)
    );
    let knowledge = found.note("MEMORY.md/shop / checkout/Reusable knowledge");
    assert!(
        knowledge
            .draft
            .content
            .ends_with("```sh\n# not a heading\n```")
    );
    assert!(
        found
            .report
            .warnings
            .iter()
            .any(|warning| warning.reason.starts_with("redacted a credential"))
    );
    let skill = found.note("skills/deploy/SKILL.md");
    assert_eq!(
        (
            skill.draft.category,
            skill.draft.content.contains("# Deploy")
        ),
        (Some(Category::Skills), true)
    );
    assert_eq!(found.attachments, ["skills/deploy/scripts/run.sh"]);
    assert_eq!(
        (found.report.new, found.again.new, found.again.unchanged),
        (11, 0, 11)
    );
}

#[test]
fn other_sections_of_a_task_are_a_note() {
    let found = survey(&[(
        "MEMORY.md",
        "# Task Group: shop\n\n## Task 1: cart\n\n### rollout_summary_files\n- a.md\n### learnings\n\n- use 8080\n### keywords\n- x\n\n\
         ## Task 2: page\n\n### keywords\n- y\n\n## User preferences\n\n- short\n",
    )]);
    let paths: Vec<_> = found.notes.iter().map(SurveyNote::path).collect();
    assert_eq!(
        paths,
        [
            "MEMORY.md/shop/Task 1: cart",
            "MEMORY.md/shop/User preferences"
        ]
    );
    assert_eq!(found.notes[0].draft.content, "### learnings\n\n- use 8080");
}

#[test]
fn a_group_without_sections_is_a_note_of_its_tasks_and_an_empty_one_is_reported() {
    let found = survey(&[(
        "MEMORY.md",
        "# Task Group: tasks only\n\n## Task 1: cart\n\nfixed\n\n# Task Group: empty\n\n# Task Group:\n",
    )]);
    let note = found.note("MEMORY.md/tasks only");
    assert_eq!(
        (note.draft.content.as_str(), note.draft.title.as_deref()),
        ("## Task 1: cart\n\nfixed", Some("tasks only: tasks"))
    );
    let skipped: Vec<_> = found
        .skipped
        .iter()
        .map(|(path, reason)| format!("{path} {reason}"))
        .collect();
    assert_eq!(skipped, ["MEMORY.md/ is empty", "MEMORY.md/empty is empty"]);
}

#[test]
fn without_a_handbook_the_summaries_of_sessions_are_notes() {
    let summary = "thread_id: t-1\nupdated_at: 2026-01-02T03:04:05Z\ncwd: /home/me/dev/shop\n\n# Cart\n\nfixed";
    let found = survey(&[
        ("rollout_summaries/a.md", summary),
        ("memory_summary.md", ""),
    ]);
    assert_eq!(
        found.skipped,
        [("memory_summary.md".to_owned(), "is empty".to_owned())]
    );
    let note = found.note("rollout_summaries/a.md");
    assert_eq!(
        (&note.draft.scope, note.updated_at),
        (
            &Scope::Project("shop".into()),
            Some(moment("2026-01-02T03:04:05Z"))
        )
    );
    assert_eq!(note.draft.content, summary);
}

#[test]
fn days_without_a_time_are_marked() {
    let handbook = "# Task Group: tea\n\n## Task 1: boil\n\n### rollout_summary_files\n\n- a.md (updated_at=2026-01-02, \
        thread_id=t-1)\n\n## Notes\n\nmine\n";
    let home = IngestSandbox::new(&[
        ("memories/MEMORY.md", handbook),
        (
            "memories/extensions/ad_hoc/notes/a.md",
            "updated_at: 2026-01-03\n\ngreen tea",
        ),
    ]);
    let days = stated_days(SourceName::Codex, &home.path());
    assert!(days.contains(&"2026-01-02".to_owned()), "{days:?}");
}
