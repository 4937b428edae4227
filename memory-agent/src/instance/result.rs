//! The result of an action, as a complete JSON text or as a stream of chunks.

use std::fmt;

use memory_core::ToolError;
use memory_core::instance::InstanceError;
use memory_core::instance::history::SessionRecords;

/// Target size of a chunk, in bytes; a chunk with a single record may be larger.
const CHUNK_SIZE: usize = 64 * 1024;

/// The result of an action: a JSON text, or the first chunk of a long one.
#[derive(Debug)]
pub struct ActionResult {
    /// The result as JSON, or its first chunk.
    pub json: String,
    /// Warnings that the result may be incomplete, as far as they are known so far.
    pub warnings: Vec<String>,
    /// The remaining chunks, if there are any.
    pub more: Option<ResultChunks>,
}

impl ActionResult {
    pub(crate) fn of(json: String) -> Self {
        Self {
            json,
            warnings: Vec::new(),
            more: None,
        }
    }

    /// Creates a result with an array of records, in chunks if it is long.
    pub(crate) fn from_records(records: SessionRecords) -> Result<Self, ToolError> {
        let mut pieces = ResultChunks {
            records: Some(records),
            is_first: true,
            warning: None,
        };
        let mut answer = Self::of(String::new());
        while answer.json.is_empty() {
            match pieces.next().transpose()? {
                Some(ResultChunk::Json(json)) => answer.json = json,
                Some(ResultChunk::Warning(warning)) => answer.warnings.push(warning),
                None => break,
            }
        }
        // If all records fit into the first chunk, all warnings are known.
        answer.warnings.extend(pieces.warning.take());
        answer.more = pieces.records.is_some().then_some(pieces);
        Ok(answer)
    }

    /// Collects the complete result and all warnings.
    ///
    /// # Errors
    /// If the remaining chunks cannot be read.
    pub fn into_whole(self) -> Result<(String, Vec<String>), ToolError> {
        let Self {
            mut json,
            mut warnings,
            more,
        } = self;
        for piece in more.into_iter().flatten() {
            match piece? {
                ResultChunk::Json(more) => json.push_str(&more),
                ResultChunk::Warning(warning) => warnings.push(warning),
            }
        }
        Ok((json, warnings))
    }
}

/// A part of a streamed result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResultChunk {
    /// JSON that continues the text, up to the end of an array item or of the array.
    Json(String),
    /// A warning that the result may be incomplete.
    Warning(String),
}

/// The remaining chunks of a result. After an error it ends, and the text so far is not valid JSON.
pub struct ResultChunks {
    records: Option<SessionRecords>,
    is_first: bool,
    /// A warning found while the current chunk was collected.
    warning: Option<String>,
}

impl fmt::Debug for ResultChunks {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Pieces")
            .field("is_first", &self.is_first)
            .finish_non_exhaustive()
    }
}

impl Iterator for ResultChunks {
    type Item = Result<ResultChunk, ToolError>;

    fn next(&mut self) -> Option<Result<ResultChunk, ToolError>> {
        if let Some(warning) = self.warning.take() {
            return Some(Ok(ResultChunk::Warning(warning)));
        }
        let records = self.records.as_mut()?;
        let mut json = String::new();
        while json.len() < CHUNK_SIZE {
            match records.next() {
                Some(Ok(record)) => {
                    json.push(if self.is_first { '[' } else { ',' });
                    self.is_first = false;
                    json.push_str(record.text().as_str());
                }
                Some(Err(damaged @ InstanceError::Damaged { .. })) if json.is_empty() => {
                    return Some(Ok(ResultChunk::Warning(damaged.to_string())));
                }
                Some(Err(damaged @ InstanceError::Damaged { .. })) => {
                    self.warning = Some(damaged.to_string());
                    break;
                }
                Some(Err(error)) => {
                    self.records = None;
                    return Some(Err(error.into()));
                }
                None => {
                    json.push_str(if self.is_first { "[]" } else { "]" });
                    self.records = None;
                    break;
                }
            }
        }
        Some(Ok(ResultChunk::Json(json)))
    }
}

#[cfg(test)]
mod tests {
    use memory_core::Code;
    use memory_core::instance::history::SessionRecord;
    use proptest::prelude::*;

    use super::*;

    fn record(content: &str) -> SessionRecord {
        SessionRecord::parse(&format!(r#"{{"role":"user","content":"{content}"}}"#)).unwrap()
    }

    fn damaged() -> InstanceError {
        InstanceError::Damaged {
            place: "s.jsonl".into(),
            what: "torn".into(),
        }
    }

    #[test]
    fn what_breaks_off_is_an_error_and_no_json() {
        let broken = || InstanceError::TooLarge {
            what: "the disk is gone".into(),
        };
        let at_once =
            ActionResult::from_records(Box::new([Ok(record("1")), Err(broken())].into_iter()));
        assert_eq!(
            at_once.unwrap_err().code,
            Code::LimitExceeded,
            "nothing was answered yet"
        );
        let long = "x".repeat(CHUNK_SIZE);
        let later = ActionResult::from_records(Box::new(
            vec![Ok(record(&long)), Ok(record("2")), Err(broken())].into_iter(),
        ))
        .unwrap();
        assert!(
            later.json.starts_with(r#"[{"role":"#) && later.json.ends_with(r#""}"#),
            "it is not closed"
        );
        let mut more = later.more.unwrap();
        assert_eq!(more.next().unwrap().unwrap_err().code, Code::LimitExceeded);
        assert!(more.next().is_none());
    }

    proptest! {
        #[test]
        fn an_answer_in_pieces_is_the_same_as_a_whole_one(lengths in proptest::collection::vec(proptest::option::of(0..100_000_usize), 0..8)) {
            let records = lengths.clone().into_iter().map(|length| length.map(|length| record(&"x".repeat(length))).ok_or_else(damaged));
            let answer = ActionResult::from_records(Box::new(records)).unwrap();
            prop_assert!(answer.json.len() < CHUNK_SIZE + 100_100);
            prop_assert_eq!(answer.more.is_none(), answer.json.ends_with(']'));
            let texts: Vec<_> = lengths.iter().flatten().map(|length| record(&"x".repeat(*length)).text().to_string()).collect();
            let (json, warnings) = answer.into_whole().unwrap();
            prop_assert_eq!(json, format!("[{}]", texts.join(",")));
            prop_assert_eq!(warnings.len(), lengths.iter().filter(|length| length.is_none()).count());
        }
    }
}
