use memory_core::{Category, Phase, Scope, SpeakerRole};
use memory_ingest::SourceName;

use crate::inputs::unpack_door;
use crate::sandbox::{IngestSandbox, SurveyNote, moment, survey_source};

#[test]
fn real_bundles_are_read_without_warnings() {
    let Some((_folder, path)) = unpack_door("okf") else {
        return;
    };
    for (name, notes, lists) in [("acme_retail", 9, 9), ("ga4", 9, 5)] {
        let found = survey_source(SourceName::Okf, &path.join("bundles").join(name));
        assert_eq!(
            (found.notes.len(), found.skipped.len()),
            (notes, 0),
            "{name}"
        );
        assert_eq!(found.attachments.len(), lists, "{name}");
        assert!(
            found
                .notes
                .iter()
                .all(|note| note.warning.is_none() && note.updated_at.is_some()),
            "{name}"
        );
        assert_eq!(
            (found.report.new, found.again.unchanged),
            (notes as u64, notes as u64),
            "{name}"
        );
        let links = found.report.links;
        assert_eq!(links.unresolved, 0, "{name}: {links:?}");
        assert_ne!(links.resolved, 0, "{name}");
    }
}

const REVENUE: &str = "---\ntype: Metric\ntitle: Revenue\ndescription: \"Sum: of orders\"\ntags: [finance, 'a b']\n\
    generated: { by: reference_agent/gemini, at: 2026-06-30T14:00:00Z }\nverified: { by: human:me, at: 2026-07-01T09:00:00Z }\n\
    status: deprecated\nstale_after: 2026-12-31T00:00:00Z\nsources:\n  - id: policy\n    resource: policies/p.md\n  - resource: all queries of x\n\
    scope: team\nid: 7\n---\n\n# Definition\n\nsee [t](/tables/orders.md#x) and [`p`](../policies/p.md), [gone](/gone.md), [web](https://x.y/a.md)[^policy]\n\n[^policy]: Policy\n";

#[test]
fn fields_of_a_concept_become_fields_of_a_draft() {
    let bundle = IngestSandbox::new(&[
        (
            "index.md",
            "---\nokf_version: \"0.2\"\n---\n# Lists\n* [m](metrics/)\n",
        ),
        ("log.md", "# Log\n"),
        ("metrics/index.md", "* [r](revenue.md)\n"),
        ("metrics/revenue.md", REVENUE),
        (
            "metrics/old.md",
            "---\ntype: Decision\ntimestamp: '2025-01-02T03:04:05+00:00'\nstatus: draft\n---\ntext\n",
        ),
        (
            "policies/p.md",
            "---\ntype: Preferences\ngenerated: { by: \"human:me\" }\ndescription: only this\n---\n",
        ),
        (
            "tables/orders.md",
            "---\ntype: BigQuery Table\n---\n注文 🧾\n",
        ),
        ("plain.md", "no front matter"),
        ("attesters/a.py", "print()"),
    ]);
    assert_eq!(SourceName::detect(&bundle.path()), [SourceName::Okf]);
    let found = bundle.survey(SourceName::Okf);
    let paths = [
        "metrics/old.md",
        "metrics/revenue.md",
        "plain.md",
        "policies/p.md",
        "tables/orders.md",
    ];
    assert_eq!(
        found.notes.iter().map(SurveyNote::path).collect::<Vec<_>>(),
        paths
    );
    assert_eq!(
        found.attachments,
        ["attesters/a.py", "index.md", "log.md", "metrics/index.md"]
    );
    let note = found.note("metrics/revenue.md");
    assert_eq!(
        (note.draft.title.as_deref(), note.draft.category),
        (Some("Revenue"), None)
    );
    assert_eq!(note.draft.tags.as_slice(), ["finance", "a b", "deprecated"]);
    assert_eq!(
        (note.draft.role, note.draft.phase),
        (Some(SpeakerRole::Assistant), Some(Phase::Inbox))
    );
    assert_eq!(note.updated_at, Some(moment("2026-06-30T14:00:00Z")));
    assert_eq!(note.draft.expires_at, Some(moment("2026-12-31T00:00:00Z")));
    assert_eq!(
        note.links,
        ["/tables/orders.md", "../policies/p.md", "/gone.md"]
    );
    for line in [
        "type: Metric\n",
        "description: \"Sum: of orders\"\n",
        "verified: { by: human:me",
        "  - resource: all queries of x\n",
        "okf_scope: team\n",
        "okf_id: 7\n",
    ] {
        assert!(
            note.front_matter.contains(line),
            "{line} {}",
            note.front_matter
        );
    }
    let old = found.note("metrics/old.md");
    assert_eq!(
        (old.draft.category, old.updated_at),
        (
            Some(Category::Decisions),
            Some(moment("2025-01-02T03:04:05Z"))
        )
    );
    let policy = found.note("policies/p.md");
    assert_eq!(
        (policy.draft.content.as_str(), policy.draft.category),
        ("only this", Some(Category::Preferences))
    );
    assert_eq!(
        (policy.draft.role, policy.draft.created_at),
        (Some(SpeakerRole::Person), None)
    );
    assert_eq!(
        (found.report.links.resolved, found.report.links.unresolved),
        (2, 1)
    );
    assert_eq!(
        (found.again.new, found.again.updated, found.again.unchanged),
        (0, 0, 5)
    );
}

#[test]
fn a_memory_of_this_program_is_restored() {
    let text = "---\ntype: habits\ntitle: Tea\ntags: [drink]\nstatus: stable\nx_memory:\n  id: 6a0c3a5e-7a55-4a57-9a0b-0f3c7f2f3a11\n  \
        category: habits\n  phase: organized\n  scope: project:shop\n  source: claude\n  role: assistant\n  pinned: true\n  tags: [drink]\n  \
        title: Tea\n  aliases: [cha]\n  created_at: 2024-01-02T03:04:05.6Z\n  updated_at: 2024-02-02T00:00:00Z\n  \
        export:\n    title: Tea\n    aliases: []\n    tags: [drink]\n    category: habits\n    keys: [type, status]\nmine: 1\n---\n\n";
    let bundle = IngestSandbox::new(&[("habits/tea.md", &format!("{text}green tea\n"))]);
    let found = bundle.survey(SourceName::Okf);
    let note = found.note("habits/tea.md");
    assert_eq!(note.id, "6a0c3a5e-7a55-4a57-9a0b-0f3c7f2f3a11".parse().ok());
    let draft = &note.draft;
    assert_eq!(
        (draft.category, draft.phase, draft.pinned),
        (Some(Category::Habits), Some(Phase::Organized), true)
    );
    assert_eq!(
        (&draft.scope, draft.source.as_str()),
        (&Scope::Project("shop".into()), "claude")
    );
    assert_eq!(
        (draft.created_at, note.updated_at),
        (
            Some(moment("2024-01-02T03:04:05.6Z")),
            Some(moment("2024-02-02T00:00:00Z"))
        )
    );
    assert_eq!(
        (draft.aliases.as_slice(), draft.tags.as_slice()),
        (&["cha".to_owned()][..], &["drink".to_owned()][..])
    );
    assert_eq!(
        (note.front_matter.as_str(), &note.warning),
        ("mine: 1\n", &None)
    );
}
