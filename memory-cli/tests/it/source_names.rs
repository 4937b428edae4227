//! Tests of names in the sources of the workspace: a type name denotes one type.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

/// Type names that several files may define, with the reason for each. None is needed today.
const SHARED: &[(&str, &str)] = &[];

/// Collects the source files below a folder.
fn source_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            source_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Returns the names of the types that `source` defines at the top level or in an inline module.
///
/// Associated types are names of their trait, so `type` in the body of a trait or an `impl` is no definition.
fn defined_types(source: &str) -> Vec<&str> {
    let pattern = r"(?m)^(?:[ ]{0,8}(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait|union)|(?:pub(?:\([^)]*\))? )?type) ([A-Z]\w*)";
    let pattern = Regex::new(pattern).expect("a pattern");
    pattern
        .captures_iter(source)
        .filter_map(|found| found.get(1))
        .map(|name| name.as_str())
        .collect()
}

#[test]
fn definitions_are_told_from_uses() {
    let source = "pub struct A;\nenum B {}\n    pub(crate) trait C {}\ntype D = A;\nimpl X for A {\n    type E = A;\n}\n// struct F;\nfn g(h: H) {}\n";
    assert_eq!(defined_types(source), ["A", "B", "C", "D"]);
}

#[test]
fn a_type_name_denotes_one_type() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the repository");
    let mut definitions: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for member in fs::read_dir(root).expect("the repository").flatten() {
        let sources = member.path().join("src");
        if !member.file_name().to_string_lossy().starts_with("memory-") || !sources.is_dir() {
            continue;
        }
        let mut files = Vec::new();
        source_files(&sources, &mut files);
        for file in files {
            let source = fs::read_to_string(&file).expect("a source file");
            let place = file
                .strip_prefix(root)
                .expect("a path in the repository")
                .display()
                .to_string();
            for name in defined_types(&source) {
                definitions
                    .entry(name.to_owned())
                    .or_default()
                    .push(place.clone());
            }
        }
    }
    assert!(500 < definitions.len(), "the sources were found");
    definitions.retain(|_, places| 1 < places.len());
    for (name, reason) in SHARED {
        assert!(
            definitions.remove(*name).is_some(),
            "{name} is defined once; remove the exception: {reason}"
        );
    }
    assert!(
        definitions.is_empty(),
        "give each of these types a name of its own: {definitions:#?}"
    );
}
