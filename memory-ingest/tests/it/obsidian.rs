use std::collections::HashSet;
use std::path::Path;

use memory_ingest::SourceName;
use serde_json::Value;

use crate::inputs::{read_facts, run_tool, unpack_vault};
use crate::sandbox::{IngestSandbox, survey_source};

#[test]
fn oldwinter_garden_comes_out_as_its_facts_say() {
    let Some((_folder, path)) = unpack_vault("oldwinter-garden") else {
        return;
    };
    let Some(facts) = read_facts("oldwinter-garden") else {
        return;
    };
    assert_facts_match(&path, &facts);
}

#[test]
fn kepano_vault_comes_out_as_its_facts_say() {
    let Some((_folder, path)) = unpack_vault("kepano-vault") else {
        return;
    };
    let Some(facts) = read_facts("kepano-vault") else {
        return;
    };
    assert_facts_match(&path, &facts);
}

#[test]
fn clickear_garden_comes_out_as_an_independent_program_says() {
    let Some((_folder, path)) = unpack_vault("clickear-garden") else {
        return;
    };
    let Some(facts) = run_tool("vault_facts.py", &[Path::new("obsidian"), &path]) else {
        return;
    };
    assert_facts_match(&path, &facts);
}

fn assert_facts_match(path: &Path, facts: &Value) {
    let found = survey_source(SourceName::Obsidian, path);
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    let links = &facts["links"];
    assert_eq!(found.notes.len() as u64, number(&facts["notes"]));
    assert_eq!(
        (found.notes.len() + found.attachments.len()) as u64,
        number(&facts["files"])
    );
    assert_eq!(found.skipped, []);
    let tags: Vec<&str> = found.tags.iter().map(String::as_str).collect();
    assert_eq!(
        tags,
        facts["tags"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(Value::as_str)
            .collect::<Vec<_>>()
    );
    assert_eq!(
        found
            .notes
            .iter()
            .map(|note| note.links.len() as u64)
            .sum::<u64>(),
        number(&links["links"])
    );
    assert_eq!(
        (found.report.links.resolved, found.report.links.unresolved),
        (number(&links["resolved"]), number(&links["unresolved"]))
    );
    assert_eq!(
        found.report.links.only_by_alias,
        number(&links["unresolved_only_by_alias"])
    );
    assert_eq!(
        found.report.links.only_by_title,
        number(&links["unresolved_only_by_title"])
    );
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
    assert_eq!(found.report.tags, number(&facts["distinct_tags"]));
    assert_eq!(
        (found.again.new, found.again.updated, found.again.unchanged),
        (0, 0, number(&facts["notes"]))
    );
    let is_misunderstood = |warning: &str| !warning.contains("is not read as a time");
    let warned = found
        .notes
        .iter()
        .filter(|note| note.warning.as_deref().is_some_and(is_misunderstood))
        .count() as u64;
    let misunderstood = [
        "yaml error",
        "not a map",
        "starts with --- but no frontmatter",
    ];
    assert_eq!(
        warned,
        misunderstood
            .iter()
            .map(|kind| number(&facts["frontmatter"][kind]))
            .sum::<u64>()
    );
    for note in &found.notes {
        let file = std::fs::read_to_string(path.join(note.path())).expect("the note is there");
        assert!(file.contains(&note.draft.content), "{}", note.path());
    }
}

#[test]
fn a_vault_is_read_without_what_is_hidden_or_leads_out_of_it() {
    let outside = IngestSandbox::new(&[("secret.md", "out")]);
    let vault = IngestSandbox::new(&[
        ("b/note.md", "see [[a]] and ![[p.png]]"),
        ("a.MD", ""),
        ("p.png", ""),
        (".obsidian/x.md", ""),
        (".trash/x.md", ""),
        ("b/.x.md", ""),
    ]);
    std::os::unix::fs::symlink(
        outside.path().join("secret.md"),
        vault.path().join("out.md"),
    )
    .expect("a symlink");
    std::os::unix::fs::symlink(outside.path(), vault.path().join("outside")).expect("a symlink");
    std::os::unix::fs::symlink(vault.path().join("a.MD"), vault.path().join("in.md"))
        .expect("a symlink");
    let found = vault.survey(SourceName::Obsidian);
    assert_eq!(
        found
            .notes
            .iter()
            .map(super::sandbox::SurveyNote::path)
            .collect::<Vec<_>>(),
        ["a.MD", "b/note.md", "in.md"]
    );
    assert_eq!(found.attachments, ["p.png"]);
    assert_eq!(
        found
            .skipped
            .iter()
            .map(|(path, _)| path.as_str())
            .collect::<Vec<_>>(),
        ["out.md", "outside"]
    );
    assert_eq!(
        (found.report.links.resolved, found.report.links.unresolved),
        (2, 0)
    );
    assert_eq!(found.note("a.MD").draft.content, "");
}

#[test]
fn a_file_with_a_name_outside_of_the_vault_is_named_and_skipped() {
    let outside = IngestSandbox::new(&[("secret.md", "private")]);
    let vault = IngestSandbox::new(&[("a.md", "a"), ("b.md", "b"), ("c.md", "c")]);
    let link = |from: &str, to: std::path::PathBuf| {
        std::fs::hard_link(vault.path().join(from), to).expect("a hard link");
    };
    std::fs::hard_link(
        outside.path().join("secret.md"),
        vault.path().join("out.md"),
    )
    .expect("a hard link");
    // A backup in the vault, and one in a hidden folder of it.
    link("a.md", vault.path().join("a backup.md"));
    std::fs::create_dir(vault.path().join(".backup")).expect("a folder");
    link("b.md", vault.path().join(".backup/b.md"));
    // A backup outside has the same inode, and nothing shows who owns it.
    link("c.md", outside.path().join("c.md"));
    let found = vault.survey(SourceName::Obsidian);
    let paths: Vec<_> = found
        .notes
        .iter()
        .map(super::sandbox::SurveyNote::path)
        .collect();
    assert_eq!(paths, ["a backup.md", "a.md", "b.md"]);
    let reason = "is a hard link: it has another name outside the folder";
    assert_eq!(
        found.skipped,
        ["c.md", "out.md"].map(|path| (path.to_owned(), reason.to_owned()))
    );
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_is_taken() {
    let vault = IngestSandbox::new(&[("a.md", "a"), ("z.md", "z")]);
    vault.write("big.md", &vec![b'x'; (16 << 20) + 1]);
    vault.write("latin.md", b"caf\xe9 [[a]]");
    vault.write("nul.md", b"before\0after");
    let found = vault.survey(SourceName::Obsidian);
    assert_eq!(
        found.skipped,
        [("big.md".to_owned(), "is larger than 16 MiB".to_owned())]
    );
    assert_eq!(found.notes.len(), 4);
    assert_eq!(found.note("latin.md").draft.content, "café [[a]]");
    assert_eq!(
        found.note("latin.md").warning.as_deref(),
        Some("latin.md:1: is not UTF-8; it was read as windows-1252")
    );
    assert!(
        found.note("nul.md").draft.content.ends_with("after")
            && found.note("nul.md").warning.is_some()
    );
}

#[test]
fn a_home_of_memories_in_a_vault_is_no_part_of_it() {
    let vault = IngestSandbox::new(&[
        ("a.md", "text"),
        ("mine/categories/inbox/a-00000000.md", "text"),
        ("mine/trash/2026-01/0/a-00000000.md", "old"),
        ("mine/index/documents.db", ""),
        ("mine/journal/2026-01.jsonl", ""),
        ("mine/notes/b.md", "more"),
        ("other/categories/c.md", "no home"),
    ]);
    let found = vault.survey(SourceName::Obsidian);
    let paths: Vec<_> = found
        .notes
        .iter()
        .map(super::sandbox::SurveyNote::path)
        .collect();
    assert_eq!(paths, ["a.md", "mine/notes/b.md", "other/categories/c.md"]);
    assert_eq!(found.attachments, [""; 0]);
    assert_eq!(
        found.skipped,
        [(
            "mine/categories".into(),
            "contains memories, not notes".into()
        )]
    );
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_look_the_same_are_not_taken_for_one_file() {
    use std::os::unix::ffi::OsStrExt;
    let vault = IngestSandbox::new(&[("k.md", "k")]);
    for name in [b"x\xfe.md", b"x\xff.md"] {
        let path = vault.path().join(std::ffi::OsStr::from_bytes(name));
        std::fs::write(path, name[1..2].escape_ascii().to_string()).expect("a file can be written");
    }
    let found = vault.survey(SourceName::Obsidian);
    assert_eq!(
        (found.report.new, found.again.updated, found.again.unchanged),
        (2, 0, 2)
    );
    assert_eq!(found.note("x\u{fffd}.md").draft.content, "\\xfe");
    let reason = "has a name that is not UTF-8 and conflicts with another file";
    assert_eq!(
        found.skipped,
        [("x\u{fffd}.md".to_owned(), reason.to_owned())]
    );
}

#[test]
fn names_come_in_one_form() {
    let vault = IngestSandbox::new(&[("Cafe\u{301}.md", ""), ("x.md", "[[café]] [[CAFE\u{301}]]")]);
    let found = vault.survey(SourceName::Obsidian);
    assert_eq!(found.notes[0].path(), "Café.md");
    assert_eq!(found.report.links.resolved, 2);
}

#[test]
fn properties_become_fields_tags_and_links() {
    let text = "---\ntitle: A title\ntags: \"one, #two three\"\nalias: |\n  x y\n  z\ncreated: 2024-01-02 03:04\nup: [[b]]\nrelated:\n  - \"[[c|C]]\"\nversion: 1.10\n---\n\nbody #four\n";
    let found = IngestSandbox::new(&[("n.md", text)]).survey(SourceName::Obsidian);
    let note = found.note("n.md");
    assert_eq!(note.draft.title.as_deref(), Some("A title"));
    assert_eq!(note.draft.tags.as_slice(), ["one", "two", "three", "four"]);
    assert_eq!(note.draft.aliases, ["x y", "z"]);
    assert_eq!(
        note.draft.created_at,
        Some("2024-01-02T03:04:00Z".parse().expect("a moment"))
    );
    assert_eq!(
        (note.links.as_slice(), note.uncounted_links.as_slice()),
        (&["c".to_owned()][..], &["b".to_owned()][..])
    );
    assert_eq!(note.draft.content, "\nbody #four");
    let kept =
        "created: 2024-01-02 03:04\nup: [[b]]\nrelated:\n  - \"[[c|C]]\"\nobsidian_version: 1.10\n";
    assert_eq!(note.front_matter, kept);
    assert_eq!(note.warning, None);
}

#[test]
fn links_in_front_matter_that_is_kept_as_text_are_followed() {
    let text = "---\nup: \"[[b]]\"\ncreated: {{date}}\n---\n[[c]]\n";
    let found = IngestSandbox::new(&[("n.md", text), ("b.md", "b"), ("c.md", "c")])
        .survey(SourceName::Obsidian);
    let note = found.note("n.md");
    assert!(note.draft.content.starts_with("---\nup:"));
    assert_eq!(
        (note.links.as_slice(), note.uncounted_links.as_slice()),
        (&["c".to_owned()][..], &["b".to_owned()][..])
    );
}

#[test]
fn markdown_links_lead_to_notes_as_wikilinks_do() {
    let a = "[x](sub/B.md#part) [y](C%20d.md \"t\") ![r] [n](B) [z](../gone.md) [w](https://a.b/B.md) `[c](E.md)`\n\n[r]: </other/E.md>\n";
    let folder = IngestSandbox::new(&[
        ("x/a.md", a),
        ("x/sub/B.md", "b"),
        ("sub/B.md", "another"),
        ("other/C d.md", "c"),
        ("other/E.md", "e"),
    ]);
    let found = folder.survey(SourceName::Obsidian);
    assert_eq!(
        found.note("x/a.md").uncounted_links,
        ["./sub/B.md", "C d.md", "/other/E.md", "B", "../gone.md"]
    );
    assert_eq!(found.report.links.stored, 3);
    assert_eq!((found.again.new, found.again.updated), (0, 0));
}
