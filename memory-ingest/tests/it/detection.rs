//! Tests of the detection of formats.

use std::io::{Cursor, Write};

use memory_core::Scope;
use memory_ingest::SourceName;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::sandbox::{IngestSandbox, survey_source};

const PAGE: &str = "Part-1/Tea 0123456789abcdef0123456789abcdef.md";
const NOTE: &str = r#"{"title":"Tea","textContent":"green","isTrashed":false,"createdTimestampUsec":1717378714000123}"#;

fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(*name, SimpleFileOptions::default())
            .expect("a name is valid");
        zip.write_all(bytes).expect("there is room");
    }
    zip.finish().expect("there is room").into_inner()
}

/// Returns the sources that recognize a file with this name and these bytes.
fn detect_file(name: &str, bytes: &[u8]) -> Vec<SourceName> {
    let folder = IngestSandbox::new(&[]);
    folder.write(name, bytes);
    SourceName::detect(&folder.path().join(name))
}

/// Returns the sources that recognize the folder `name` with these files.
fn detect_folder(name: &str, files: &[(&str, &str)]) -> Vec<SourceName> {
    let folder = IngestSandbox::new(&[]);
    for (path, text) in files {
        folder.write(&format!("{name}/{path}"), text.as_bytes());
    }
    SourceName::detect(&folder.path().join(name))
}

#[test]
fn archives_are_recognized_by_their_files() {
    let pages = zip(&[(PAGE, b"# Tea"), ("Part-1/pic.png", b"x")]);
    assert_eq!(detect_file("Export.zip", &pages), [SourceName::Notion]);
    assert_eq!(
        detect_file("Export.zip", &zip(&[("Export-1-Part-1.zip", &pages)])),
        [SourceName::Notion]
    );
    assert_eq!(
        detect_file("notes.zip", &zip(&[("inner.zip", &pages), ("a.md", b"a")])),
        []
    );
    let takeout = zip(&[
        ("Takeout/Photos/a.json", b"{}"),
        ("Takeout/Keep/Tea.json", NOTE.as_bytes()),
    ]);
    assert_eq!(detect_file("takeout.zip", &takeout), [SourceName::Keep]);
    assert_eq!(detect_file("takeout", &takeout), [SourceName::Keep]);
    assert_eq!(
        detect_file("takeout.zip", &zip(&[("Takeout/Photos/a.json", b"{}")])),
        []
    );
    assert_eq!(detect_file("Tea.json", NOTE.as_bytes()), [SourceName::Keep]);
    let note = b"---\ntitle: Tea\npermalink: notes/tea\n---\n- [fact] green\n";
    assert_eq!(
        detect_file("project.zip", &zip(&[("notes/Tea.md", note)])),
        [SourceName::BasicMemory]
    );
}

#[test]
fn the_folders_of_programs_are_recognized_by_their_names_or_files() {
    let both = [SourceName::Claude, SourceName::ClaudeSessions];
    let transcript = ("projects/-home-a-tea/1.jsonl", "{}");
    let memory = ("projects/-home-a-tea/memory/MEMORY.md", "tea");
    assert_eq!(detect_folder(".claude", &[transcript, memory]), both);
    assert_eq!(detect_folder("backup", &[transcript, memory]), both);
    assert_eq!(
        detect_folder(".claude", &[("CLAUDE.md", "Answer briefly.")]),
        [SourceName::Claude]
    );
    assert_eq!(
        detect_folder(".claude", &[transcript]),
        [SourceName::ClaudeSessions]
    );
    assert_eq!(
        detect_folder("project", &[("CLAUDE.md", "Answer briefly.")]),
        []
    );
    assert_eq!(
        detect_folder(".codex", &[("sessions/2026/01/02/rollout-1.jsonl", "{}")]),
        [SourceName::Codex]
    );
    for session in ["2026/01/02/rollout-1.jsonl", "rollout-2025-04-16-1.json"] {
        let files = [
            (&*format!("sessions/{session}"), "{}"),
            ("AGENTS.md", "# Build"),
        ];
        assert_eq!(
            detect_folder("backup", &files),
            [SourceName::Codex],
            "{session}"
        );
    }
    assert_eq!(
        detect_folder("backup", &[("memories/memory_summary.md", "v1\n")]),
        [SourceName::Codex]
    );
    assert_eq!(
        detect_folder(".gemini", &[("GEMINI.md", "x")]),
        [SourceName::Gemini]
    );
    assert_eq!(
        detect_folder("backup", &[("tmp/a1/chats/session-1.jsonl", "{}")]),
        [SourceName::Gemini]
    );
    assert_eq!(
        detect_folder(
            "backup",
            &[
                ("tmp/a.txt", "x"),
                ("sessions/a.txt", "x"),
                ("projects/a.md", "x")
            ]
        ),
        []
    );
}

#[test]
fn sessions_are_recognized_by_their_first_lines() {
    let codex = b"{\"timestamp\":\"2026-01-02T03:04:05Z\",\"type\":\"session_meta\",\"payload\":{\"id\":\"1\"}}\n";
    assert_eq!(detect_file("rollout-1.jsonl", codex), [SourceName::Codex]);
    let claude = b"{\"type\":\"summary\",\"summary\":\"x\"}\n{\"type\":\"user\",\"uuid\":\"1\",\"sessionId\":\"2\"}\n";
    assert_eq!(detect_file("1.jsonl", claude), [SourceName::ClaudeSessions]);
    let gemini =
        b"{\"sessionId\":\"1\",\"projectHash\":\"2\",\"startTime\":\"2026-01-02T03:04:05Z\"}\n";
    assert_eq!(detect_file("session-1.jsonl", gemini), [SourceName::Gemini]);
}

#[test]
fn a_bundle_that_states_its_version_is_not_of_basic_memory() {
    let folder = IngestSandbox::new(&[
        ("index.md", "---\nokf_version: \"0.2\"\n---\n"),
        (
            "tea.md",
            "---\ntitle: Tea\npermalink: notes/tea\n---\ngreen\n",
        ),
    ]);
    assert_eq!(SourceName::detect(&folder.path()), [SourceName::Okf]);
}

#[test]
fn notes_with_permalinks_are_of_basic_memory() {
    let note = (
        "notes/Tea.md",
        "---\ntitle: Tea\ntype: note\npermalink: notes/tea\n---\n- [fact] green\n",
    );
    assert_eq!(
        detect_folder("project", &[("a.md", "plain"), note]),
        [SourceName::BasicMemory]
    );
    assert_eq!(
        detect_folder("vault", &[(".obsidian/app.json", "{}"), note]),
        [SourceName::Obsidian]
    );
    let page = (
        "about.md",
        "---\ntitle: About\npermalink: /about/\n---\nA site.\n",
    );
    assert_eq!(detect_folder("site", &[page]), []);
}

#[test]
fn lists_of_memories_are_recognized_without_an_extension() {
    let mem0 = r#"{"results":[{"id":"1","memory":"tea","user_id":"u"}],
        "relations":[{"source":"a","relationship":"likes","target":"tea"}]}"#;
    for name in ["mem0.json", "mem0"] {
        assert_eq!(
            detect_file(name, mem0.as_bytes()),
            [SourceName::Mem0],
            "{name}"
        );
    }
    let graph = br#"{"type":"relation","from":"a","to":"b","relationType":"likes"}"#;
    assert_eq!(detect_file("graph", graph), [SourceName::ServerMemory]);
    assert_eq!(
        detect_file("graph", br#"{"entities":[{"name":"a"}],"relations":[]}"#),
        [SourceName::ServerMemory]
    );
    let own = br#"{"id":"1","content":"tea","content_hash":"0","phase":"inbox","version":1}"#;
    assert_eq!(
        detect_file("memories.json", own),
        [],
        "an export of a home is of no other program"
    );
}

#[test]
fn a_home_folder_leads_to_the_folders_of_the_programs() {
    let home = IngestSandbox::new(&[
        (".codex/sessions/2026/01/02/rollout-1.jsonl", "{}"),
        (".claude/CLAUDE.md", "Answer briefly."),
        ("my-vault/.obsidian/app.json", "{}"),
    ]);
    let found = |source, path| (source, home.path().join(path));
    let expected = [
        found(SourceName::Claude, ".claude"),
        found(SourceName::Obsidian, "my-vault"),
        found(SourceName::Codex, ".codex"),
    ];
    assert_eq!(SourceName::detect(&home.path()), []);
    assert_eq!(SourceName::detect_programs(&home.path()), expected);
    let parts = IngestSandbox::new(&[("readme.txt", "x")]);
    parts.write(
        "takeout-001.zip",
        &zip(&[("Takeout/Keep/Tea.json", NOTE.as_bytes())]),
    );
    parts.write("takeout-002.zip", &zip(&[("Takeout/Photos/a.json", b"{}")]));
    let part = parts.path().join("takeout-001.zip");
    assert_eq!(
        SourceName::detect_within(&parts.path()),
        [(SourceName::Keep, part)]
    );
    let conversations = r#"[{"uuid":"1","name":"Tea","chat_messages":[]}]"#;
    let unzipped = IngestSandbox::new(&[
        ("data-1/conversations.json", conversations),
        ("AGENTS.md", "# Build"),
    ]);
    let inner = (SourceName::ClaudeAi, unzipped.path().join("data-1"));
    assert_eq!(
        (
            SourceName::detect(&unzipped.path()),
            SourceName::detect_within(&unzipped.path())
        ),
        (vec![], vec![inner])
    );
    let project = IngestSandbox::new(&[("README.md", "x"), ("a/AGENTS.md", "# Build")]);
    assert_eq!(
        SourceName::detect_within(&project.path()),
        [(SourceName::Cursor, project.path())]
    );
    assert_eq!(
        SourceName::detect_within(&IngestSandbox::new(&[("a/README.md", "x")]).path()),
        []
    );
}

#[test]
fn each_export_and_vault_below_a_folder_has_its_own_place() {
    let downloads = IngestSandbox::new(&[
        ("readme.md", "x"),
        ("Work.enex", "<en-export></en-export>"),
        ("Home.enex", "<en-export></en-export>"),
        ("Takeout/Keep/Tea.json", NOTE),
        ("Takeout/Photos/a.json", "{}"),
        ("vaults/a/.obsidian/app.json", "{}"),
        ("vaults/b/logseq/config.edn", "{}"),
        ("code/node_modules/x/.obsidian/app.json", "{}"),
    ]);
    downloads.write("Notes.zip", &zip(&[(PAGE, b"# Tea")]));
    downloads.write("b.zip", &zip(&[("Takeout/Keep/Tea.json", NOTE.as_bytes())]));
    let place = |source, path: &str| (source, downloads.path().join(path));
    let expected = [
        (SourceName::Evernote, downloads.path()),
        place(SourceName::Notion, "Notes.zip"),
        place(SourceName::Keep, "Takeout/Keep"),
        place(SourceName::Keep, "b.zip"),
        place(SourceName::Obsidian, "vaults/a"),
        place(SourceName::Logseq, "vaults/b"),
    ];
    assert_eq!(SourceName::detect(&downloads.path()), []);
    assert_eq!(SourceName::detect_within(&downloads.path()), expected);
    let parts = IngestSandbox::new(&[]);
    for name in ["Export-Part-1.zip", "Export-Part-2.zip"] {
        parts.write(name, &zip(&[(PAGE, b"# Tea")]));
    }
    assert_eq!(
        SourceName::detect_within(&parts.path()),
        [(SourceName::Notion, parts.path())]
    );
    // Beside other files, archives without a common file are parts of one export; others are exports of different days.
    let keep = |name: &str| zip(&[(&format!("Takeout/Keep/{name}.json"), NOTE.as_bytes())]);
    for (second, is_joined) in [("Car", true), ("Tea", false)] {
        let mixed = IngestSandbox::new(&[("readme.json", "{}"), ("n.md", "x")]);
        mixed.write("takeout-001.zip", &keep("Tea"));
        mixed.write("takeout-002.zip", &keep(second));
        mixed.write("takeout-003.zip", &zip(&[("Takeout/Drive/a.json", b"{}")]));
        let found = SourceName::detect_within(&mixed.path());
        let places: Vec<_> = found.iter().map(|(_, place)| place.clone()).collect();
        if is_joined {
            assert_eq!(found, [(SourceName::Keep, mixed.path())]);
            assert_eq!(mixed.survey(SourceName::Keep).notes.len(), 2);
        } else {
            let apart = ["takeout-001.zip", "takeout-002.zip"].map(|name| mixed.path().join(name));
            assert_eq!(places, apart);
        }
    }
}

#[test]
fn archives_of_conversations_in_parts_are_read_together_beside_other_files() {
    let chat = |id: &str| format!(r#"[{{"id":"{id}","title":"Tea","mapping":{{}}}}]"#);
    let chats = IngestSandbox::new(&[("readme.md", "x")]);
    for id in ["1", "2"] {
        let files = [("conversations.json", chat(id))];
        let files = files
            .each_ref()
            .map(|(name, text)| (*name, text.as_bytes()));
        chats.write(&format!("chatgpt-{id}.zip"), &zip(&files));
    }
    chats.write("Notes.zip", &zip(&[(PAGE, b"# Tea")]));
    assert_eq!(
        SourceName::detect_within(&chats.path()),
        [
            (SourceName::ChatGpt, chats.path()),
            (SourceName::Notion, chats.path().join("Notes.zip"))
        ]
    );
    let part = |id: &str, name: &str, text: &str| {
        let chats = format!(r#"[{{"uuid":"{id}","name":"Tea","chat_messages":[]}}]"#);
        zip(&[
            ("conversations.json", chats.as_bytes()),
            (name, text.as_bytes()),
        ])
    };
    let projects = r#"[{"uuid":"p","name":"Garden","description":"roses"}]"#;
    let memories = r#"[{"account_uuid":"a","project_memories":{"p":"waters the roses"}}]"#;
    for (second, text, is_joined) in [
        ("memories.json", memories, true),
        ("projects.json", projects, false),
    ] {
        let export = IngestSandbox::new(&[("readme.md", "x")]);
        export.write("batch-0000.zip", &part("1", "projects.json", projects));
        export.write("batch-0001.zip", &part("2", second, text));
        let found = SourceName::detect_within(&export.path());
        if is_joined {
            assert_eq!(found, [(SourceName::ClaudeAi, export.path())]);
            let notes = export.survey(SourceName::ClaudeAi).notes;
            assert!(
                notes
                    .iter()
                    .all(|note| note.draft.scope.to_string() == "project:Garden")
            );
            assert_eq!(notes.len(), 2);
        } else {
            let apart = ["batch-0000.zip", "batch-0001.zip"].map(|name| export.path().join(name));
            assert_eq!(found, apart.map(|path| (SourceName::ClaudeAi, path)));
        }
    }
}

#[test]
fn a_file_of_a_program_leaves_the_others_of_its_folder() {
    const GRAPH: &str = r#"{"type":"entity","name":"a","entityType":"x","observations":["b"]}"#;
    let beside = |files: &[(&str, &str)]| {
        let folder = IngestSandbox::new(files);
        folder.write("Notes.zip", &zip(&[(PAGE, b"# Tea")]));
        let of_folder = SourceName::detect(&folder.path());
        let found = SourceName::detect_beside(&folder.path(), &of_folder);
        let below = |path: std::path::PathBuf| {
            let path = path.strip_prefix(folder.path()).expect("it is below");
            path.to_string_lossy().into_owned()
        };
        let found = found
            .into_iter()
            .map(|(source, path)| (source, below(path)));
        (of_folder, found.collect::<Vec<_>>())
    };
    let notion = (SourceName::Notion, "Notes.zip".to_owned());
    let vault = (SourceName::Obsidian, "V".to_owned());
    let both = vec![notion.clone(), vault.clone()];
    let vault_file = ("V/.obsidian/app.json", "{}");
    let chats = r#"[{"id":"1","title":"Tea","mapping":{}}]"#;
    for (name, text, source) in [
        ("memory.jsonl", GRAPH, SourceName::ServerMemory),
        ("conversations.json", chats, SourceName::ChatGpt),
        ("Tea.json", NOTE, SourceName::Keep),
    ] {
        assert_eq!(
            beside(&[(name, text), vault_file]),
            (vec![source], both.clone()),
            "{name}"
        );
    }
    let other = (SourceName::ServerMemory, "other.jsonl".to_owned());
    assert_eq!(
        beside(&[("memory.jsonl", GRAPH), ("other.jsonl", GRAPH), vault_file]).1,
        [notion, vault, other]
    );
    // A vault and a project are of one program.
    for own in [(".obsidian/app.json", "{}"), (".cursor/rules/a.mdc", "x")] {
        assert_eq!(beside(&[own, ("a/memory.jsonl", GRAPH)]).1, [], "{own:?}");
    }
}

#[test]
fn a_bundle_without_a_version_is_recognized_by_its_types() {
    let concept = |title: &str| format!("---\ntype: Metric\ntitle: {title}\n---\nx\n");
    let (a, b) = (concept("a"), concept("b"));
    let files = [
        ("index.md", "# All\n"),
        ("log.md", "- x"),
        ("a.md", &*a),
        ("sub/b.md", &b),
    ];
    assert_eq!(detect_folder("bundle", &files), [SourceName::Okf]);
    assert_eq!(detect_folder("bundle", &files[2..]), [SourceName::Okf]);
    let packed = files.map(|(name, text)| (name, text.as_bytes()));
    assert_eq!(detect_file("bundle.zip", &zip(&packed)), [SourceName::Okf]);
    for other in ["plain", "---\ntitle: x\n---\n", "---\ntype: \n---\n"] {
        let mut files = files.to_vec();
        files.push(("sub/c.md", other));
        assert_eq!(detect_folder("notes", &files), [], "{other}");
    }
    let vault = [files[2], (".obsidian/app.json", "{}")];
    assert_eq!(detect_folder("vault", &vault), [SourceName::Obsidian]);
    assert_eq!(
        detect_folder("empty", &[("index.md", "x"), ("a.txt", "y")]),
        []
    );
}

#[test]
fn rules_are_recognized_in_each_of_their_folders() {
    use SourceName::{Cline, Cursor, Roo, Windsurf};
    for (path, inner, sources) in [
        (".roo/rules/memory-bank/activeContext.md", "", vec![Roo]),
        (
            ".roo/rules/memory-bank/projectbrief.md",
            ".roo/rules/memory-bank",
            vec![Roo],
        ),
        (".roo/rules/style.md", ".roo", vec![Roo]),
        (".roorules", "", vec![Roo]),
        ("memory-bank/decisionLog.md", "memory-bank", vec![Roo]),
        ("memory-bank/activeContext.md", "", vec![Cline]),
        (".clinerules/style.md", ".clinerules", vec![Cline]),
        (".clinerules", "", vec![Cline]),
        (".cursor/rules/a.mdc", ".cursor/rules", vec![Cursor]),
        (".windsurfrules", "", vec![Windsurf]),
    ] {
        let project = IngestSandbox::new(&[(&*format!("app/{path}"), "Be brief.")]);
        let place = project.path().join("app").join(inner);
        assert_eq!(SourceName::detect(&place), sources, "{path}");
        let found = survey_source(sources[0], &place);
        assert_eq!(found.notes.len(), 1, "{path}");
        assert_eq!(found.skipped, [], "{path}");
        assert_eq!(found.note(path).draft.scope, Scope::Project("app".into()));
    }
}

#[test]
fn a_map_is_suggested_for_records_of_any_program() {
    let suggest = |name: &str, text: &str| {
        let folder = IngestSandbox::new(&[(name, text)]);
        let map = SourceName::suggest_map(&folder.path().join(name))?;
        Some((
            map.keys.join(","),
            map.fields
                .iter()
                .map(|(field, key)| format!("{field}={key}"))
                .collect::<Vec<_>>()
                .join(","),
        ))
    };
    let expected = |keys: &str, fields: &str| Some((keys.to_owned(), fields.to_owned()));
    assert_eq!(
        suggest("a.csv", "when,note\n2026-01-02,green tea\n"),
        expected("when,note", "content=note,created=when")
    );
    assert_eq!(
        suggest("a.tsv", "Remark\tdate\ngreen tea at seven\t2026-01\n"),
        expected("Remark,date", "content=Remark")
    );
    assert_eq!(
        suggest("a.jsonl", "{\"fact\":\"tea\",\"id\":1}\n{\"more\":2}\n"),
        expected("fact,id,more", "content=fact,id=id")
    );
    assert_eq!(
        suggest("a", "[{\"text\":\"tea\"}]"),
        expected("text", "content=text")
    );
    assert_eq!(
        (
            suggest("a.json", "[1, 2]"),
            suggest("a.txt", "tea"),
            suggest("a.csv", "")
        ),
        (None, None, None)
    );
}
