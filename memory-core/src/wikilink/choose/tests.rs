use uuid::Uuid;

use super::{
    WikilinkCandidate, WikilinkNameKind, WikilinkRule, WikilinkTarget, choose_target, lookup_keys,
    memory_keys,
};
use crate::{Draft, MemoryId, Origin};

fn candidate(number: u128, path: &str, by: WikilinkNameKind) -> WikilinkCandidate {
    WikilinkCandidate {
        target: WikilinkTarget::Memory(MemoryId::from(Uuid::from_u128(number))),
        path: path.into(),
        by,
    }
}

fn paths(target: &str, from: &str, files: &[&str]) -> Option<String> {
    let candidates: Vec<_> = (1..)
        .zip(files)
        .map(|(number, path)| candidate(number, path, WikilinkNameKind::Path))
        .collect();
    choose_target(target, Some(from), &candidates, WikilinkRule::Paths)
        .map(|candidate| candidate.path.clone())
}

#[test]
fn the_whole_path_comes_first_then_the_own_folder_then_the_shortest_path() {
    let files = ["x/y/z/a.md", "b/a.md", "c/d/a.md"];
    assert_eq!(
        paths("a", "x/y/n.md", &files).as_deref(),
        Some("x/y/z/a.md")
    );
    assert_eq!(paths("a", "q/n.md", &files).as_deref(), Some("b/a.md"));
    assert_eq!(
        paths("a", "x/y/n.md", &["x/y/z/a.md", "a.md"]).as_deref(),
        Some("a.md")
    );
}

#[test]
fn a_path_part_must_end_the_path_at_a_folder_border() {
    let files = ["ab/a.md", "x/b/a.md"];
    assert_eq!(paths("b/a", "n.md", &files).as_deref(), Some("x/b/a.md"));
    assert_eq!(paths("B/A.md", "n.md", &files).as_deref(), Some("x/b/a.md"));
    assert_eq!(paths("c/a", "n.md", &files), None);
    assert_eq!(paths("/b/a", "n.md", &files), None);
    assert_eq!(paths("/ab/a", "n.md", &files).as_deref(), Some("ab/a.md"));
    assert_eq!(
        paths("./a", "x/b/n.md", &files).as_deref(),
        Some("x/b/a.md")
    );
    assert_eq!(
        paths("../b/a", "x/c/n.md", &files).as_deref(),
        Some("x/b/a.md")
    );
    assert_eq!(paths("../../../a", "x/c/n.md", &files), None);
}

#[test]
fn a_file_named_with_its_extension_comes_before_a_note_of_that_name() {
    assert_eq!(
        paths("a.png", "n.md", &["a.png.md", "x/a.png"]).as_deref(),
        Some("x/a.png")
    );
}

#[test]
fn names_fold_case_form_and_blanks() {
    assert_eq!(
        paths("Cafe\u{301}\u{a0}x", "n.md", &["é/CAFÉ x.md"]).as_deref(),
        Some("é/CAFÉ x.md")
    );
    assert_eq!(lookup_keys(" Cafe\u{301}.md"), lookup_keys("CAFÉ.MD"));
    assert_eq!(lookup_keys("a/"), ["a/"]);
    assert!(lookup_keys(" ").is_empty());
}

#[test]
fn an_id_is_stronger_than_a_path_than_a_title_than_an_alias_than_the_id_of_what_is_gone() {
    let mut candidates = vec![
        candidate(6, "0.md", WikilinkNameKind::Former),
        candidate(1, "1.md", WikilinkNameKind::Alias),
        candidate(2, "long/2.md", WikilinkNameKind::Title),
        candidate(3, "2.md", WikilinkNameKind::Title),
        candidate(4, "a.md", WikilinkNameKind::Path),
        candidate(5, "5.md", WikilinkNameKind::Id),
    ];
    for path in ["5.md", "a.md", "2.md", "long/2.md", "1.md", "0.md"] {
        let chosen = choose_target("a", None, &candidates, WikilinkRule::Paths)
            .expect("one is left")
            .path
            .clone();
        assert_eq!(chosen, path);
        candidates.retain(|candidate| candidate.path != path);
    }
    assert_eq!(choose_target("a", None, &[], WikilinkRule::Pages), None);
}

#[test]
fn a_memory_answers_to_its_file_its_origin_its_title_and_its_aliases() {
    let origin = Origin {
        source: "logseq".into(),
        root: "/g".into(),
        path: "pages/My Page.org".into(),
        hash: None,
    };
    let draft = Draft {
        title: Some("My/Page".into()),
        aliases: vec!["MP".into(), "mp".into()],
        origin: Some(origin),
        ..Draft::new("text")
    };
    let id = MemoryId::from(Uuid::from_u128(1));
    let memory = draft.into_memory(id, chrono::DateTime::UNIX_EPOCH);
    let names = memory_keys(&memory, "categories/inbox/my-page-00000000.md");
    assert_eq!(
        names,
        [
            "my-page-00000000",
            "my page.org",
            "my page",
            "my/page",
            "mp"
        ]
    );
}
