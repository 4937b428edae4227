//! What `SECURITY.md` says.

use std::fs;
use std::path::Path;

fn sources(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let (path, kind) = (entry.path(), entry.file_type().expect("a kind"));
        if kind.is_dir() && entry.file_name() != "target" {
            sources(&path, text);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&fs::read_to_string(path).expect("a text"));
        }
    }
}

#[test]
fn every_row_names_tests_that_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository");
    let mut text = String::new();
    for part in fs::read_dir(root).expect("the repository").flatten() {
        if part.file_name().to_string_lossy().starts_with("memory-") {
            sources(&part.path(), &mut text);
        }
    }
    let model = fs::read_to_string(root.join("SECURITY.md")).expect("the threat model");
    let rows: Vec<&str> = model.lines().filter(|line| line.starts_with("| ") && line.matches(" | ").count() == 2).collect();
    let (_, rows) = rows.split_first().expect("a heading");
    assert!(!rows.is_empty());
    for row in rows {
        let tests = row.trim_end_matches(" |").rsplit(" | ").next().expect("a column");
        let mut named: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        named.retain(|name| !text.contains(&format!("fn {name}(")));
        assert_eq!(named, [""; 0], "{row}");
    }
}
