//! What an action answers.

use std::fmt;

use memory_core::ToolError;
use memory_core::instance::InstanceError;
use memory_core::instance::history::Records;

/// A piece has about so many bytes; only one that is a single record may have many more.
const PIECE: usize = 64 * 1024;

/// What an action answers: JSON, of which a long answer is its beginning.
#[derive(Debug)]
pub struct Answer {
    /// The answer, as JSON; or its first piece.
    pub json: String,
    /// Why it may be less than it should be, if it may, as far as that is known by then.
    pub warnings: Vec<String>,
    /// What follows, if that is not all.
    pub more: Option<Pieces>,
}

impl Answer {
    pub(crate) fn of(json: String) -> Self {
        Self { json, warnings: Vec::new(), more: None }
    }

    /// Answers with an array of records, which is in pieces if it is long.
    pub(crate) fn of_records(records: Records) -> Result<Self, ToolError> {
        let mut pieces = Pieces { records: Some(records), is_first: true, warning: None };
        let mut answer = Self::of(String::new());
        while answer.json.is_empty() {
            match pieces.next().transpose()? {
                Some(Piece::Json(json)) => answer.json = json,
                Some(Piece::Warning(warning)) => answer.warnings.push(warning),
                None => break,
            }
        }
        // What is at its end already is whole, and all warnings are known.
        answer.warnings.extend(pieces.warning.take());
        answer.more = pieces.records.is_some().then_some(pieces);
        Ok(answer)
    }

    /// Returns the whole answer and all warnings, however long it is.
    ///
    /// # Errors
    /// When the rest cannot be read.
    pub fn whole(self) -> Result<(String, Vec<String>), ToolError> {
        let Self { mut json, mut warnings, more } = self;
        for piece in more.into_iter().flatten() {
            match piece? {
                Piece::Json(more) => json.push_str(&more),
                Piece::Warning(warning) => warnings.push(warning),
            }
        }
        Ok((json, warnings))
    }
}

/// A part of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// JSON that follows directly, up to the end of an item of the array that is the answer, or to the end of that.
    Json(String),
    /// Why the answer may be less than it should be.
    Warning(String),
}

/// What follows in an answer, piece by piece; behind an error nothing follows, and what came before is no JSON.
pub struct Pieces {
    records: Option<Records>,
    is_first: bool,
    /// What was found out while a piece was gathered.
    warning: Option<String>,
}

impl fmt::Debug for Pieces {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Pieces").field("is_first", &self.is_first).finish_non_exhaustive()
    }
}

impl Iterator for Pieces {
    type Item = Result<Piece, ToolError>;

    fn next(&mut self) -> Option<Result<Piece, ToolError>> {
        if let Some(warning) = self.warning.take() {
            return Some(Ok(Piece::Warning(warning)));
        }
        let records = self.records.as_mut()?;
        let mut json = String::new();
        while json.len() < PIECE {
            match records.next() {
                Some(Ok(record)) => {
                    json.push(if self.is_first { '[' } else { ',' });
                    self.is_first = false;
                    json.push_str(record.text().as_str());
                }
                Some(Err(damaged @ InstanceError::Damaged { .. })) if json.is_empty() => {
                    return Some(Ok(Piece::Warning(damaged.to_string())));
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
        Some(Ok(Piece::Json(json)))
    }
}

#[cfg(test)]
mod tests {
    use memory_core::Code;
    use memory_core::instance::history::Record;
    use proptest::prelude::*;

    use super::*;

    fn record(content: &str) -> Record {
        Record::read(&format!(r#"{{"role":"user","content":"{content}"}}"#)).unwrap()
    }

    fn damaged() -> InstanceError {
        InstanceError::Damaged { place: "s.jsonl".into(), what: "torn".into() }
    }

    #[test]
    fn what_breaks_off_is_an_error_and_no_json() {
        let broken = || InstanceError::TooLarge { what: "the disk is gone".into() };
        let at_once = Answer::of_records(Box::new([Ok(record("1")), Err(broken())].into_iter()));
        assert_eq!(at_once.unwrap_err().code, Code::LimitExceeded, "nothing was answered yet");
        let long = "x".repeat(PIECE);
        let later = Answer::of_records(Box::new(vec![Ok(record(&long)), Ok(record("2")), Err(broken())].into_iter())).unwrap();
        assert!(later.json.starts_with(r#"[{"role":"#) && later.json.ends_with(r#""}"#), "it is not closed");
        let mut more = later.more.unwrap();
        assert_eq!(more.next().unwrap().unwrap_err().code, Code::LimitExceeded);
        assert!(more.next().is_none());
    }

    proptest! {
        #[test]
        fn an_answer_in_pieces_is_the_same_as_a_whole_one(lengths in proptest::collection::vec(proptest::option::of(0..100_000_usize), 0..8)) {
            let records = lengths.clone().into_iter().map(|length| length.map(|length| record(&"x".repeat(length))).ok_or_else(damaged));
            let answer = Answer::of_records(Box::new(records)).unwrap();
            prop_assert!(answer.json.len() < PIECE + 100_100);
            prop_assert_eq!(answer.more.is_none(), answer.json.ends_with(']'));
            let texts: Vec<_> = lengths.iter().flatten().map(|length| record(&"x".repeat(*length)).text().to_string()).collect();
            let (json, warnings) = answer.whole().unwrap();
            prop_assert_eq!(json, format!("[{}]", texts.join(",")));
            prop_assert_eq!(warnings.len(), lengths.iter().filter(|length| length.is_none()).count());
        }
    }
}
