//! Each target passes on each input of its corpus.

use std::collections::BTreeSet;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

/// Declares a test for each target, and the list of the targets.
macro_rules! replay {
    ($($target:ident),* $(,)?) => {
        const TARGETS: &[&str] = &[$(stringify!($target)),*];

        mod every_input_of_the_corpus_passes {
            $(#[test]
            fn $target() {
                super::replay_corpus(stringify!($target), memory_fuzz::$target);
            })*
        }
    };
}

replay!(
    agent_sessions,
    bank,
    clock,
    encoder,
    export,
    front_matter,
    import,
    jq,
    json_rpc,
    logseq,
    markdown_notes,
    mcp,
    notebooks,
    obsidian,
    query,
    records,
    sealed,
    sse,
    time,
    wikilinks,
);

/// Returns the entries of a folder of this package.
fn entries(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", folder.display()));
    entries
        .map(|entry| entry.expect("an entry").path())
        .collect()
}

fn replay_corpus(target: &str, check: fn(&[u8])) {
    let inputs = entries(&format!("corpus/{target}"));
    assert!(!inputs.is_empty(), "the corpus of {target} is empty");
    for input in inputs {
        let bytes = fs::read(&input).expect("an input");
        for (place, long) in std::iter::once((0, 0)).chain(places(bytes.len())) {
            let bytes = with_long_text(&bytes, place, long);
            assert!(
                catch_unwind(|| check(&bytes)).is_ok(),
                "{target} fails on {} with {long} letters at {place}",
                input.display()
            );
        }
    }
}

/// Returns up to 9 places of an input, each with the length of a text.
fn places(len: usize) -> impl Iterator<Item = (usize, usize)> {
    let step = len / 9 + 1;
    (0..=len)
        .step_by(step)
        .zip([1, 90, 6_000].into_iter().cycle())
}

/// Inserts letters of two bytes, so that limits by length and slices by byte are reached in each part of an input.
fn with_long_text(bytes: &[u8], place: usize, long: usize) -> Vec<u8> {
    let text = "\u{e9}".repeat(long);
    [&bytes[..place], text.as_bytes(), &bytes[place..]].concat()
}

#[test]
fn each_target_has_a_program_and_a_corpus_and_a_test() {
    let targets: BTreeSet<String> = TARGETS.iter().map(|target| (*target).to_owned()).collect();
    for folder in ["corpus", "fuzz_targets"] {
        let names: BTreeSet<String> = entries(folder)
            .iter()
            .map(|path| {
                path.file_stem()
                    .expect("a name")
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        assert_eq!(names, targets, "{folder}");
    }
}

/// The child process of the target `jq`. On its own it does nothing.
#[test]
fn jq_child() {
    memory_fuzz::serve_jq_child();
}
