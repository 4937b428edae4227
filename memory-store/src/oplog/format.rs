//! The lines of an operation log as JSON.

use std::borrow::Cow;

use chrono::SecondsFormat;
use memory_core::{Operation, OperationId, Recorded, parse_rfc3339};
use serde::{Deserialize, Serialize};

use super::LogPayload;

/// A line of an operation log.
#[derive(Debug)]
pub(super) enum LogLine<P> {
    /// An operation.
    Operation(Recorded<P>),
    /// The last line of this operation was not carried out.
    Aborted(OperationId),
}

/// The fields that the lines of all stores share.
#[derive(Debug, Serialize, Deserialize)]
struct WireOperation<'a> {
    #[serde(borrow)]
    operation: Cow<'a, str>,
    at: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "str::is_empty")]
    verb: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "str::is_empty")]
    by: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    undoes: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    aborted: bool,
}

#[derive(Debug, Serialize)]
struct WireLine<'a, P> {
    #[serde(flatten)]
    operation: WireOperation<'a>,
    #[serde(flatten)]
    payload: &'a P,
}

impl<P: LogPayload> LogLine<P> {
    pub(super) fn operation_to_json(record: &Recorded<P>) -> Vec<u8> {
        let mut operation = WireOperation::new(&record.operation);
        operation.verb = Cow::Borrowed(record.operation.verb.as_str());
        operation.by = Cow::Borrowed(&record.operation.by);
        operation.undoes = record.undoes.as_ref().map(|id| Cow::Borrowed(id.as_str()));
        to_json(&WireLine {
            operation,
            payload: &record.subject,
        })
    }

    pub(super) fn abort_to_json(operation: &Operation) -> Vec<u8> {
        to_json(&WireOperation {
            aborted: true,
            ..WireOperation::new(operation)
        })
    }

    /// Parses a line; `None` if it is torn by a crash, or written by a later version.
    pub(super) fn from_json(bytes: &[u8]) -> Option<Self> {
        // The payload is parsed separately, because `flatten` copies every value.
        let wire: WireOperation<'_> = serde_json::from_slice(bytes).ok()?;
        let id: OperationId = wire.operation.parse().ok()?;
        if wire.aborted {
            return Some(Self::Aborted(id));
        }
        let at = parse_rfc3339(&wire.at)?;
        let operation = Operation {
            id,
            verb: wire.verb.parse().ok()?,
            by: wire.by.into_owned(),
            at,
        };
        let undoes = wire.undoes.map(|id| id.parse()).transpose().ok()?;
        let subject = serde_json::from_slice(bytes).ok()?;
        Some(Self::Operation(Recorded {
            operation,
            subject,
            undoes,
            undone_by: None,
        }))
    }
}

impl<'a> WireOperation<'a> {
    fn new(operation: &'a Operation) -> Self {
        Self {
            operation: Cow::Borrowed(operation.id.as_str()),
            at: Cow::Owned(operation.at.to_rfc3339_opts(SecondsFormat::AutoSi, true)),
            verb: Cow::Borrowed(""),
            by: Cow::Borrowed(""),
            undoes: None,
            aborted: false,
        }
    }
}

fn to_json(line: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(line).expect("strings and numbers have a JSON form")
}
