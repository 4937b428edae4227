//! A minimal full-text search with tantivy, as a baseline: `bare-tantivy INDEX WORD…`.
//!
//! It prints the score and the address of the ten best documents.

use std::{env, error::Error};

use memory_core::text::{TokenKind, query_terms};
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{Index, ReloadPolicy, Term};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let index = Index::open_in_dir(arguments.next().ok_or("usage: bare-tantivy INDEX WORD…")?)?;
    let words = arguments.collect::<Vec<_>>().join(" ");
    let (text, characters) = (
        index.schema().get_field("text")?,
        index.schema().get_field("characters")?,
    );
    let terms = query_terms(&words).into_iter().map(|term| {
        let field = if term.kind == TokenKind::Character {
            characters
        } else {
            text
        };
        let query: Box<dyn Query> = Box::new(TermQuery::new(
            Term::from_field_text(field, &term.text),
            IndexRecordOption::WithFreqs,
        ));
        (Occur::Should, query)
    });
    let query = BooleanQuery::new(terms.collect());
    let searcher = index
        .reader_builder()
        .reload_policy(ReloadPolicy::Manual)
        .try_into()?
        .searcher();
    for (score, document) in searcher.search(&query, &TopDocs::with_limit(10).order_by_score())? {
        println!("{score}\t{}:{}", document.segment_ord, document.doc_id);
    }
    Ok(())
}
