//! The builtins that are written in jq.

use std::collections::{BTreeMap, BTreeSet};

use jaq_core::load::Arena;
use jaq_core::load::parse::Def;

use super::parse::{self, ParsedTerm};

const TEXT: &str = include_str!("definitions.jq");

type FunctionSignature = (String, usize);
type DefinitionMap<'s> = BTreeMap<FunctionSignature, ParsedTerm<Def<&'s str>>>;

/// Returns the definitions that `calls` need, directly or indirectly.
///
/// Each definition follows those that it calls, because it can only refer to earlier ones.
pub(crate) fn required_definitions<'s>(
    calls: &[FunctionSignature],
    arena: &'s Arena,
) -> Vec<Def<&'s str>> {
    let mut known: BTreeMap<FunctionSignature, &str> = signatures()
        .map(|((name, arity), text)| ((name.to_owned(), arity), text))
        .collect();
    let mut wanted: Vec<FunctionSignature> = calls.to_vec();
    let mut found = DefinitionMap::new();
    while let Some(signature) = wanted.pop() {
        let Some(text) = known.remove(&signature) else {
            continue;
        };
        let parsed = parse::definitions(text, arena).expect("the definitions are jq");
        for definition in parsed {
            wanted.extend(definition.calls.iter().cloned());
            found.insert(signature.clone(), definition);
        }
    }
    let mut ordered = Vec::new();
    while let Some((signature, _)) = found.first_key_value() {
        let signature = signature.clone();
        add_with_dependencies(&signature, &mut found, &mut ordered);
    }
    ordered
}

fn add_with_dependencies<'s>(
    signature: &FunctionSignature,
    found: &mut DefinitionMap<'s>,
    ordered: &mut Vec<Def<&'s str>>,
) {
    let Some(definition) = found.remove(signature) else {
        return;
    };
    for call in &definition.calls {
        add_with_dependencies(call, found, ordered);
    }
    ordered.push(definition.term);
}

/// Returns the name and arity of all definitions.
pub(crate) fn names() -> impl Iterator<Item = (String, usize)> {
    let names: BTreeSet<_> = signatures()
        .map(|((name, arity), _)| (name.to_owned(), arity))
        .collect();
    names.into_iter()
}

/// Iterates over the name, arity and text of each definition, without parsing.
///
/// Each definition starts at the start of a line.
fn signatures() -> impl Iterator<Item = ((&'static str, usize), &'static str)> {
    let starts: Vec<usize> = TEXT
        .match_indices("\ndef ")
        .map(|(index, _)| index + 1)
        .collect();
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([TEXT.len()]).collect();
    starts.into_iter().zip(ends).map(|(start, end)| {
        let text = &TEXT[start..end];
        let name_end = 4 + text[4..].find([':', '(']).expect("a definition has a body");
        let arity = if text[name_end..].starts_with('(') {
            let close = text.find(')').expect("arguments are closed");
            1 + text[name_end..close].matches(';').count()
        } else {
            0
        };
        ((&text[4..name_end], arity), text)
    })
}
