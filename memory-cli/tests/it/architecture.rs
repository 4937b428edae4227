//! Tests of the links in the documents and the book.

use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

#[test]
fn every_link_to_a_file_leads_to_one() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the repository");
    let link = Regex::new(r"\]\(([^)#\s]+)(?:#[^)]*)?\)").expect("a pattern");
    let block = Regex::new(r"(?s)```.*?```").expect("a pattern");
    let pages = fs::read_dir(root.join("docs/src")).expect("the book");
    let mut documents: Vec<PathBuf> = pages.map(|page| page.expect("a page").path()).collect();
    documents.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    for document in ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"] {
        documents.push(root.join(document));
    }
    let mut links = 0;
    for document in documents {
        let text = fs::read_to_string(&document).expect("a document");
        let text = block.replace_all(&text, "");
        let local: Vec<&str> = link
            .captures_iter(&text)
            .filter_map(|found| found.get(1))
            .map(|it| it.as_str())
            .filter(|target| !target.contains("://"))
            .collect();
        links += local.len();
        let folder = document.parent().expect("a folder");
        let dead: Vec<&str> = local
            .into_iter()
            .filter(|target| !folder.join(target).exists())
            .collect();
        assert!(
            dead.is_empty(),
            "{} links to files that do not exist: {dead:?}",
            document.display()
        );
    }
    assert!(100 < links, "the links were found: {links}");
}

#[test]
fn each_step_of_a_write_and_a_search_names_a_function_of_its_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the repository");
    let text = fs::read_to_string(root.join("ARCHITECTURE.md")).expect("a document");
    let function = Regex::new(r"\]\(([^)]+\.rs)\),\s+`(?:\w+::)?([a-z_]+)`").expect("a pattern");
    let named: Vec<(&str, &str)> = function
        .captures_iter(&text)
        .map(|found| found.extract::<2>().1.into())
        .collect();
    assert!(15 < named.len(), "the steps name functions: {named:?}");
    for (file, name) in named {
        let source = fs::read_to_string(root.join(file)).expect("a source file");
        let is_defined = [format!("fn {name}("), format!("fn {name}<")]
            .iter()
            .any(|definition| source.contains(definition));
        assert!(
            is_defined,
            "ARCHITECTURE.md names the function {name} of {file}, which has none"
        );
    }
}

#[test]
fn the_documents_for_newcomers_stay_short() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the repository");
    for document in ["ARCHITECTURE.md", "README.md"] {
        let lines = fs::read_to_string(root.join(document))
            .expect("a document")
            .lines()
            .count();
        assert!(
            lines <= 250,
            "{document} has {lines} lines; move details to the book or to the docs of modules"
        );
    }
}
