//! Tests of the format of new files.

use memory_core::{Category, Draft, MemoryId, Origin, Phase, Tags};
use proptest::prelude::*;
use uuid::Uuid;

use super::memories::memory;
use super::{modified, read};
use crate::markdown::encode;

#[test]
fn a_file_looks_as_the_specification_says() {
    let id = MemoryId::from(Uuid::from_u128(0x550e_8400_e29b_41d4_a716_4466_5544_0000));
    let mut memory = Draft::new("user prefers dark mode")
        .into_memory(id, "2026-05-07T10:00:00Z".parse().unwrap());
    memory.phase = Phase::Organized;
    memory.category = Category::Preferences;
    memory.tags = ["preference", "ui"].into_iter().collect();
    memory.source = "claude".into();
    memory.access_count = 3;
    memory.links = vec![id];
    insta::assert_snapshot!(encode(&memory, ""), @r"
    ---
    id: 550e8400-e29b-41d4-a716-446655440000
    content_hash: 058e6f30768bdcc4b10c6310b0b3084eaee94c6ba986b8bfef1df175b2af2058
    phase: organized
    category: preferences
    scope: global
    tags:
      - preference
      - ui
    source: claude
    created_at: 2026-05-07T10:00:00Z
    updated_at: 2026-05-07T10:00:00Z
    expires_at: null
    access_count: 3
    links:
      - 550e8400-e29b-41d4-a716-446655440000
    version: 1
    ---
    user prefers dark mode
    ");

    memory.tags = Tags::default();
    memory.links.clear();
    memory.updated_at = "2026-05-07T10:00:00.25Z".parse().unwrap();
    memory.title = Some("Dark: always".into());
    memory.aliases = vec!["yes".into(), "Hello, world".into()];
    memory.origin = Some(Origin {
        source: "obsidian".into(),
        root: "/vault".into(),
        path: "a b.md#2".into(),
        hash: Some(memory.content_hash()),
    });
    insta::assert_snapshot!(encode(&memory, "# by hand\nversion: 1.10\nmood: good"), @r#"
    ---
    id: 550e8400-e29b-41d4-a716-446655440000
    content_hash: 058e6f30768bdcc4b10c6310b0b3084eaee94c6ba986b8bfef1df175b2af2058
    phase: organized
    category: preferences
    scope: global
    tags: []
    source: claude
    created_at: 2026-05-07T10:00:00Z
    updated_at: 2026-05-07T10:00:00.250Z
    expires_at: null
    access_count: 3
    links: []
    version: 1
    title: "Dark: always"
    aliases:
      - "yes"
      - Hello, world
    origin:
      source: obsidian
      root: /vault
      path: a b.md#2
      hash: 058e6f30768bdcc4b10c6310b0b3084eaee94c6ba986b8bfef1df175b2af2058
    # by hand
    # version: 1.10
    mood: good
    ---
    user prefers dark mode
    "#);
    assert_eq!(read("x.md", encode(&memory, "- no\n- map\n")), memory);
    assert_eq!(read("x.md", encode(&memory, "a: |\n  b\n---\n")), memory);
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(memory in memory()) {
        let file = encode(&memory, "");
        let parsed = crate::markdown::decode("note.md", file.as_bytes(), modified());
        prop_assert_eq!(parsed.problem, None, "{}", file);
        prop_assert_eq!(parsed.memory, memory, "{}", file);
    }
}
