//! Fuzzes memory files: any bytes are decoded, and a rewrite leaves the rest of the file unchanged.

use chrono::{DateTime, Utc};
use memory_store::markdown::{decode, encode, rewrite};

const PATH: &str = "categories/ideas/note-01234567.md";

/// Decodes and rewrites the file of a memory.
pub fn front_matter(bytes: &[u8]) {
    let modified: DateTime<Utc> =
        DateTime::from_timestamp(1_580_608_922, 0).expect("it is a moment");
    let read = decode(PATH, bytes, modified);
    if read.problem.is_some() {
        assert!(
            rewrite(PATH, bytes, &read.memory).is_err(),
            "a file that cannot be read is never changed"
        );
        return;
    }
    let again = decode(PATH, encode(&read.memory, "").as_bytes(), modified);
    assert_eq!(
        (&again.memory, again.problem),
        (&read.memory, None),
        "what is written is what was read"
    );
    // A rewritten file contains its id and dates.
    let Ok(ours) = rewrite(PATH, bytes, &read.memory) else {
        return;
    };
    assert_eq!(decode(PATH, &ours, modified).memory, read.memory);
    assert_eq!(
        rewrite(PATH, &ours, &read.memory).as_ref(),
        Ok(&ours),
        "what is read and written back is the same bytes"
    );
    let mut changed = read.memory.clone();
    changed.tags = changed
        .tags
        .iter()
        .cloned()
        .chain(["of the fuzzer".to_owned()])
        .collect();
    changed.title = Some("as: \"the\" fuzzer says".to_owned());
    let Ok(after) = rewrite(PATH, &ours, &changed) else {
        return;
    };
    let read = decode(PATH, &after, modified);
    assert_eq!((read.memory, read.problem), (changed.clone(), None));
    let text = String::from_utf8_lossy(&after);
    assert!(
        text.trim_end_matches(['\r', '\n'])
            .ends_with(changed.content.trim_end_matches(['\r', '\n'])),
        "the text stays"
    );
}
