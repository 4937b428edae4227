//! Parsers for argument values.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use memory_core::{Category, ListOrder, Phase};
use memory_ingest::SourceName;

use crate::install::Client;

/// Returns a parser that accepts `words`, for shell completion, and converts them with `parse`.
fn one_of_parser<T: Clone + Send + Sync + 'static>(
    words: impl IntoIterator<Item = &'static str>,
    parse: impl Fn(&str) -> Option<T> + Clone + Send + Sync + 'static,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(words).map(move |word| parse(&word).expect("every word of the list has a meaning"))
}

/// Returns a parser for a number from 0 to 1.
pub(crate) fn share_parser() -> impl TypedValueParser<Value = f32> {
    let parse = |text: &str| text.parse::<f32>().ok().filter(|share| (0.0..=1.0).contains(share));
    clap::builder::StringValueParser::new().try_map(move |text| parse(&text).ok_or("not a number from 0 to 1"))
}

/// Returns a parser for a category.
pub(crate) fn category_parser() -> impl TypedValueParser<Value = Category> {
    one_of_parser(Category::ALL.map(Category::as_str), |word| word.parse().ok())
}

/// Returns a parser for a phase.
pub(crate) fn phase_parser() -> impl TypedValueParser<Value = Phase> {
    one_of_parser([Phase::Inbox, Phase::Organized].map(Phase::as_str), |word| word.parse().ok())
}

/// Returns a parser for the order of a list.
pub(crate) fn order_parser() -> impl TypedValueParser<Value = ListOrder> {
    const ORDERS: [(&str, ListOrder); 4] = [
        ("created", ListOrder::Created),
        ("updated", ListOrder::Updated),
        ("accessed", ListOrder::Accessed),
        ("title", ListOrder::Title),
    ];
    one_of_parser(ORDERS.map(|(word, _)| word), |word| ORDERS.into_iter().find(|(own, _)| *own == word).map(|(_, order)| order))
}

/// Returns a parser for the name of a client.
pub(crate) fn client_parser() -> impl TypedValueParser<Value = &'static Client> {
    one_of_parser(Client::ALL.map(|client| client.name), Client::named)
}

/// One source of notes, or all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SourceSelection {
    /// All sources.
    All,
    /// One source.
    One(SourceName),
}

/// Returns a parser for the name of a source of notes, or `all`.
pub(crate) fn sources_parser() -> impl TypedValueParser<Value = SourceSelection> {
    let words = SourceName::ALL.map(SourceName::as_str).into_iter().chain(["all"]);
    one_of_parser(
        words,
        |word| if word == "all" { Some(SourceSelection::All) } else { word.parse().ok().map(SourceSelection::One) },
    )
}
