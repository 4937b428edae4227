//! Tests of the links in the documents for contributors.

use std::fs;
use std::path::Path;

use regex::Regex;

#[test]
fn every_link_to_a_file_leads_to_one() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository");
    let link = Regex::new(r"\]\(([^)#\s]+)(?:#[^)]*)?\)").expect("a pattern");
    for document in ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"] {
        let text = fs::read_to_string(root.join(document)).expect("a document");
        let targets: Vec<&str> = link.captures_iter(&text).filter_map(|found| found.get(1)).map(|it| it.as_str()).collect();
        let local: Vec<&str> = targets.into_iter().filter(|target| !target.contains("://")).collect();
        assert!(!local.is_empty(), "{document} links to files");
        let dead: Vec<&str> = local.into_iter().filter(|target| !root.join(target).exists()).collect();
        assert!(dead.is_empty(), "{document} links to files that do not exist: {dead:?}");
    }
}

#[test]
fn the_documents_for_newcomers_stay_short() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository");
    for document in ["ARCHITECTURE.md", "README.md"] {
        let lines = fs::read_to_string(root.join(document)).expect("a document").lines().count();
        assert!(lines <= 250, "{document} has {lines} lines; move details to the book or to the docs of modules");
    }
}
