//! A timeout for reranking models.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use memory_core::{RerankError, Reranker};

/// A reranking model with a timeout.
///
/// A call that exceeds the timeout continues on a detached thread. Until that thread ends, further calls fail at once.
#[derive(Debug)]
pub struct TimeoutReranker<R> {
    model: Arc<R>,
    patience: Duration,
    /// Upgradable as long as the thread of a timed-out call runs.
    late: Mutex<Weak<()>>,
}

impl<R: Reranker> TimeoutReranker<R> {
    /// Creates a reranker that waits at most `patience` for `model`.
    pub fn new(model: R, patience: Duration) -> Self {
        Self {
            model: Arc::new(model),
            patience,
            late: Mutex::default(),
        }
    }
}

impl<R: Reranker + 'static> Reranker for TimeoutReranker<R> {
    fn identity(&self) -> &str {
        self.model.identity()
    }

    fn score(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>, RerankError> {
        let late = || self.late.lock().unwrap_or_else(PoisonError::into_inner);
        if late().upgrade().is_some() {
            return Err(rerank_error(
                "it is still processing an earlier request",
                None,
            ));
        }
        let (model, query) = (Arc::clone(&self.model), query.to_owned());
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let (sender, scores) = sync_channel(1);
        let busy = Arc::new(());
        let at_work = Arc::downgrade(&busy);
        let work = move || {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            // The receiver may have timed out.
            let _ = sender.send(model.score(&query, &texts));
            drop(busy);
        };
        let spawned = thread::Builder::new().name("reranking".into()).spawn(work);
        spawned.map_err(|error| {
            rerank_error(&format!("cannot start a thread for it: {error}"), None)
        })?;
        match scores.recv_timeout(self.patience) {
            Ok(scores) => scores,
            Err(RecvTimeoutError::Disconnected) => {
                Err(rerank_error("it failed unexpectedly", None))
            }
            Err(RecvTimeoutError::Timeout) => {
                *late() = at_work;
                let why = format!("it took longer than {} s", self.patience.as_secs_f32());
                Err(rerank_error(
                    &why,
                    Some("rerank fewer or shorter texts, or increase the timeout"),
                ))
            }
        }
    }
}

fn rerank_error(why: &str, hint: Option<&str>) -> RerankError {
    RerankError {
        why: why.into(),
        hint: hint.map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use memory_core::testing::wait_until;

    use super::*;

    /// A model that scores after a message on `go`; it panics for the query "panic".
    #[derive(Debug)]
    struct BlockedReranker {
        go: Mutex<Receiver<()>>,
        done: Sender<()>,
    }

    impl Reranker for BlockedReranker {
        fn identity(&self) -> &'static str {
            "slow"
        }

        fn score(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>, RerankError> {
            self.go
                .lock()
                .expect("nobody panics while it is held")
                .recv()
                .expect("it is told");
            assert_ne!(query, "panic");
            self.done.send(()).expect("the test listens");
            Ok(vec![1.0; texts.len()])
        }
    }

    fn blocked_reranker(
        patience: Duration,
    ) -> (TimeoutReranker<BlockedReranker>, Sender<()>, Receiver<()>) {
        let ((go, told), (done, heard)) = (channel(), channel());
        (
            TimeoutReranker::new(
                BlockedReranker {
                    go: Mutex::new(told),
                    done,
                },
                patience,
            ),
            go,
            heard,
        )
    }

    #[test]
    fn who_answers_in_time_is_heard() {
        let (patient, go, _heard) = blocked_reranker(Duration::from_mins(10));
        go.send(()).expect("it listens");
        assert_eq!(
            patient.score("question", &["one", "two"]).expect("scores"),
            [1.0, 1.0]
        );
        assert_eq!(patient.identity(), "slow");
    }

    #[test]
    fn who_is_late_is_not_waited_for_nor_asked_again_before_it_is_done() {
        let (patient, go, heard) = blocked_reranker(Duration::from_millis(1));
        let why = |patient: &TimeoutReranker<BlockedReranker>| {
            patient
                .score("question", &["text"])
                .expect_err("it is late")
                .why
        };
        assert_eq!(why(&patient), "it took longer than 0.001 s");
        assert_eq!(why(&patient), "it is still processing an earlier request");
        go.send(()).expect("it listens");
        heard.recv().expect("it is done");
        wait_until("its thread has ended", || {
            let late = patient.late.lock().expect("nobody panics");
            late.upgrade().is_none()
        });
        assert_eq!(
            why(&patient),
            "it took longer than 0.001 s",
            "it is asked again"
        );
        go.send(()).expect("it listens");
    }

    #[test]
    fn a_model_that_breaks_down_is_an_error() {
        let (patient, go, _heard) = blocked_reranker(Duration::from_mins(10));
        go.send(()).expect("it listens");
        assert_eq!(
            patient
                .score("panic", &["text"])
                .expect_err("it panics")
                .why,
            "it failed unexpectedly"
        );
    }
}
