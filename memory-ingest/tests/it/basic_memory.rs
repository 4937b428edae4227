use memory_core::Category;
use memory_ingest::SourceName;

use crate::sandbox::{IngestSandbox, moment};

#[test]
fn observations_relations_and_permalinks_are_read() {
    let search = "---\ntitle: Search: Design\ntype: note\n---\n";
    let coffee = "---\ntitle: Coffee\ntype: note\ntags: [coffee, brewing]\npermalink: drinks/coffee\n\
        created: 2024-01-02T03:04:05.678901+02:00\nmodified: '2024-03-04 05:06'\nschema: Drink\nbm_custom: {a: 1}\n---\n\
        # Coffee\n\n- [preference] light roasts #beans (own taste)\n- [preferences] no sugar\n- [ ] buy filters\n- [a link](https://x.y)\n\n\
        - requires [[Grinder]] (always)\n- \"goes well with\" [[tea|Tea]]\n- relates_to [[drinks/tea]]\n\nsee memory://drinks/tea and memory://drinks/*\n";
    let tea =
        "---\ntitle: 茶\ntype: Person\npermalink: drinks/tea\n---\n[coffee](Coffee%20beans.md) 🍵";
    let folder = IngestSandbox::new(&[
        ("drinks/Coffee beans.md", coffee),
        ("drinks/tea leaves.md", tea),
        ("broken.md", search),
        ("Grinder.md", "no front matter"),
        ("tags.md", "---\ntags: machine learning, x\n---\ntext"),
        (".obsidian/x.md", "hidden"),
    ]);
    let found = folder.survey(SourceName::BasicMemory);
    let note = found.note("drinks/Coffee beans.md");
    assert_eq!(note.draft.title.as_deref(), Some("Coffee"));
    assert_eq!(note.draft.tags.as_slice(), ["coffee", "brewing", "beans"]);
    assert_eq!(
        (note.draft.category, note.draft.aliases.as_slice()),
        (
            Some(Category::Preferences),
            &["drinks/coffee".to_owned()][..]
        )
    );
    assert_eq!(
        note.draft.created_at,
        Some(moment("2024-01-02T01:04:05.678901Z"))
    );
    assert_eq!(note.updated_at, Some(moment("2024-03-04T05:06:00Z")));
    assert_eq!(note.links, ["Grinder", "tea", "drinks/tea", "drinks/tea"]);
    for line in [
        "type: note\n",
        "permalink: drinks/coffee\n",
        "schema: Drink\n",
        "bm_custom: {a: 1}\n",
    ] {
        assert!(
            note.front_matter.contains(line),
            "{line} {}",
            note.front_matter
        );
    }
    assert!(
        note.draft
            .content
            .contains("- \"goes well with\" [[tea|Tea]]\n")
    );
    let tea = found.note("drinks/tea leaves.md");
    assert_eq!(
        (tea.draft.category, tea.links.as_slice()),
        (
            Some(Category::People),
            &["./Coffee beans.md".to_owned()][..]
        )
    );
    let search = found.note("broken.md");
    assert_eq!(search.warning, None);
    assert_eq!(search.draft.title.as_deref(), Some("Search: Design"));
    assert_eq!(
        found.note("tags.md").draft.tags.as_slice(),
        ["machine learning", "x"]
    );
    assert_eq!((found.report.new, found.again.unchanged), (5, 5));
    // A title and a permalink are names of a note; the title `茶` has no link.
    assert_eq!(
        (
            found.report.links.resolved,
            found.report.links.only_by_alias,
            found.report.links.unresolved
        ),
        (4, 0, 1)
    );
}
