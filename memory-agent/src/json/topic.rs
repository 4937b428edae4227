//! The JSON of topics.

use memory_core::topic::{
    Topic, TopicHit, TopicListing, TopicName, TopicReadResult, TopicWriteResult, TrashedTopic,
};
use serde::Serialize;
use serde_json::Value;

use super::value;

#[derive(Serialize)]
struct TopicShape<'a> {
    file: &'a str,
    name: &'a str,
    description: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated: Option<String>,
    size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    links: Vec<TopicLinkShape<'a>>,
}

#[derive(Serialize)]
struct TopicLinkShape<'a> {
    link: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
}

#[derive(Serialize)]
struct ListingShape<'a> {
    files: Vec<TopicShape<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    misnamed: Vec<MisnamedShape<'a>>,
}

#[derive(Serialize)]
struct MisnamedShape<'a> {
    file: &'a str,
    problem: &'a str,
}

#[derive(Serialize)]
struct TopicHitShape<'a> {
    topic: TopicShape<'a>,
    score: f64,
    snippet: &'a str,
}

#[derive(Serialize)]
struct IndexShape<'a> {
    index: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<&'a str>,
}

#[derive(Serialize)]
struct RebuiltShape<'a> {
    changed: bool,
    topics: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<&'a str>,
}

#[derive(Serialize)]
struct ContextShape<'a> {
    context: &'a str,
}

#[derive(Serialize)]
struct WrittenShape<'a> {
    file: &'a str,
    created: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
}

#[derive(Serialize)]
struct DeletedShape<'a> {
    file: &'a str,
    deleted: bool,
}

#[derive(Serialize)]
struct TrashShape<'a> {
    path: &'a str,
    trash: &'a str,
    operation: &'a str,
    verb: &'a str,
    at: String,
    size: u64,
    topics: &'a str,
}

impl<'a> TopicShape<'a> {
    fn of(topic: &'a Topic, text: Option<&'a str>) -> Self {
        Self {
            file: topic.name.as_str(),
            name: &topic.title,
            description: &topic.description,
            // The type as written in the file, so that an unknown type is not lost.
            kind: topic.said_kind.as_deref().unwrap_or(topic.kind.as_str()),
            updated: topic.updated.map(|day| day.to_string()),
            size: topic.size,
            problem: topic.problem.as_deref(),
            text,
            links: Vec::new(),
        }
    }
}

/// Returns the JSON of a list of topics.
///
/// `{files: [{file, name, description, type, updated?, size, problem?}], misnamed?: [{file, problem}]}`.
pub fn listing(listing: &TopicListing) -> Value {
    let misnamed = listing
        .misnamed
        .iter()
        .map(|(file, problem)| MisnamedShape { file, problem })
        .collect();
    value(&ListingShape {
        files: listing
            .topics
            .iter()
            .map(|topic| TopicShape::of(topic, None))
            .collect(),
        misnamed,
    })
}

/// Returns the JSON of search results: `{hits: [{topic, score, snippet}], total}`.
///
/// A topic has the shape of [`listing`].
pub fn search_results(hits: &[TopicHit], total: usize) -> Value {
    let hit = |hit: &'_ TopicHit| {
        value(&TopicHitShape {
            topic: TopicShape::of(&hit.topic, None),
            score: f64::from(hit.score),
            snippet: &hit.snippet.text,
        })
    };
    serde_json::json!({ "hits": hits.iter().map(hit).collect::<Vec<_>>(), "total": total })
}

/// Returns the JSON of a topic: as in [`listing`], with its `text` and its wikilinks.
///
/// The links are `links?: [{link, file?}]`, with the file that a link resolves to.
pub fn full_topic(reading: &TopicReadResult) -> Value {
    let links = reading.links.iter().map(|(link, name)| TopicLinkShape {
        link,
        file: name.as_ref().map(TopicName::as_str),
    });
    value(&TopicShape {
        links: links.collect(),
        ..TopicShape::of(&reading.topic, Some(&reading.text))
    })
}

/// Returns the JSON of the index: `{index, warning?}`; the warning explains why it exceeds its limits.
pub fn index(index: &str, warning: Option<&str>) -> Value {
    value(&IndexShape { index, warning })
}

/// Returns the JSON of rebuilding the index: `{changed, topics, warning?}`, with the number of topics.
pub fn rebuild_result(changed: bool, topics: usize, warning: Option<&str>) -> Value {
    value(&RebuiltShape {
        changed,
        topics,
        warning,
    })
}

/// Returns the JSON of the block for a system prompt: `{context}`.
pub fn context(context: &str) -> Value {
    value(&ContextShape { context })
}

/// Returns the JSON of a write: `{file, created, warning?}`.
///
/// The warning explains why the index is outdated or exceeds its limits.
pub fn write_result(written: &TopicWriteResult) -> Value {
    let stale = written
        .stale_index
        .as_ref()
        .map(|why| format!("the index was not updated: {why}"));
    let warnings: Vec<String> = stale
        .into_iter()
        .chain(written.long_index.clone())
        .collect();
    let warning = (!warnings.is_empty()).then(|| warnings.join("; "));
    value(&WrittenShape {
        file: written.name.as_str(),
        created: written.created,
        warning,
    })
}

/// Returns the JSON of a deletion: `{file, deleted: true}`.
pub fn delete_result(name: &TopicName) -> Value {
    value(&DeletedShape {
        file: name.as_str(),
        deleted: true,
    })
}

/// Returns the JSON of a file in the trash of the topics at `place`.
///
/// `{path, trash, operation, verb, at, size, topics}`.
pub fn trashed_file(trashed: &TrashedTopic, place: &str) -> Value {
    let TrashedTopic {
        path,
        trash,
        size,
        operation,
    } = trashed;
    let (id, verb, at) = (
        operation.id.as_str(),
        operation.verb.as_str(),
        super::time::rfc3339(operation.at),
    );
    value(&TrashShape {
        path,
        trash,
        operation: id,
        verb,
        at,
        size: *size,
        topics: place,
    })
}
