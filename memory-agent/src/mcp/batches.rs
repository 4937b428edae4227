//! Batches of messages, each of which receives one list of responses.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

/// The batches of a client whose responses are not complete.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenBatches(Arc<Mutex<Vec<OpenBatch>>>);

#[derive(Debug, Default)]
struct OpenBatch {
    /// The ids of the requests without a response.
    pending: Vec<Value>,
    responses: Vec<String>,
}

/// What becomes of a response.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BatchResponse {
    /// Its request was sent on its own.
    Single,
    /// Others of its batch are missing.
    Incomplete,
    /// The responses of the batch.
    Complete(String),
}

impl OpenBatches {
    /// Opens a batch with the ids of its requests and the responses to its invalid messages; returns the responses if that is all.
    pub(super) fn open(&self, pending: Vec<Value>, responses: Vec<String>) -> Option<String> {
        if pending.is_empty() {
            return (!responses.is_empty()).then(|| list(&responses));
        }
        self.with(|open| open.push(OpenBatch { pending, responses }));
        None
    }

    /// Returns whether a request of a batch has this id and no response yet.
    pub(super) fn is_pending(&self, id: &Value) -> bool {
        self.with(|open| open.iter().any(|batch| batch.pending.contains(id)))
    }

    /// Takes the response to a request.
    pub(super) fn take(&self, id: &Value, response: &str) -> BatchResponse {
        self.settle(id, Some(response))
    }

    /// Removes a request that the client has cancelled, which may never get a response.
    pub(super) fn cancel(&self, id: &Value) -> BatchResponse {
        self.settle(id, None)
    }

    fn settle(&self, id: &Value, response: Option<&str>) -> BatchResponse {
        self.with(|open| {
            let place = open.iter().enumerate().find_map(|(batch, own)| {
                Some((batch, own.pending.iter().position(|pending| pending == id)?))
            });
            let Some((batch, request)) = place else {
                return BatchResponse::Single;
            };
            open[batch].pending.swap_remove(request);
            open[batch].responses.extend(response.map(str::to_owned));
            if !open[batch].pending.is_empty() {
                return BatchResponse::Incomplete;
            }
            let OpenBatch { responses, .. } = open.remove(batch);
            if responses.is_empty() {
                BatchResponse::Incomplete
            } else {
                BatchResponse::Complete(list(&responses))
            }
        })
    }

    fn with<T>(&self, work: impl FnOnce(&mut Vec<OpenBatch>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn list(responses: &[String]) -> String {
    format!("[{}]", responses.join(","))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{BatchResponse, OpenBatches};

    #[test]
    fn the_responses_of_a_batch_are_one_list() {
        let batches = OpenBatches::default();
        assert_eq!(
            batches.open(vec![json!(1), json!("1"), json!(2)], vec!["e".into()]),
            None
        );
        assert!(batches.is_pending(&json!(1)) && !batches.is_pending(&json!(3)));
        assert_eq!(batches.take(&json!(3), "c"), BatchResponse::Single);
        assert_eq!(batches.take(&json!("1"), "a"), BatchResponse::Incomplete);
        assert_eq!(batches.cancel(&json!(2)), BatchResponse::Incomplete);
        let complete = BatchResponse::Complete("[e,a,b]".into());
        assert_eq!(batches.take(&json!(1), "b"), complete);
        assert_eq!(batches.take(&json!(1), "b"), BatchResponse::Single);
        // Notifications have no response.
        assert_eq!(batches.open(Vec::new(), Vec::new()), None);
        assert_eq!(
            batches.open(Vec::new(), vec!["e".into()]).as_deref(),
            Some("[e]")
        );
    }
}
