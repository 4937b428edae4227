//! Tests of the append queue under different thread schedules.

use memory_core::testing::in_any_order;
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::thread;

use super::*;

const APPENDERS: usize = 4;

/// The result of an append.
type AppendResult = Result<Option<()>, InstanceError>;

/// Appends once on each thread, and returns the results.
///
/// `write` receives the number of the write and the batch.
fn append_at_once(
    write: impl Fn(usize, Vec<u8>) -> Result<(), InstanceError> + Send + Sync + 'static,
) -> Vec<AppendResult> {
    let (queues, times, write) = (
        Arc::new(AppendQueues::default()),
        Arc::new(AtomicUsize::new(0)),
        Arc::new(write),
    );
    let append = |number: usize| {
        let (queues, times, write) = (Arc::clone(&queues), Arc::clone(&times), Arc::clone(&write));
        thread::spawn(move || {
            let bytes = format!("{number}\n").into_bytes();
            queues.append("s.jsonl", bytes, |take| {
                let time = times.fetch_add(1, Ordering::SeqCst);
                let batch = take();
                // Other threads may run during the write.
                thread::yield_now();
                write(time, batch)
            })
        })
    };
    let appenders: Vec<_> = (0..APPENDERS).map(append).collect();
    let fared = appenders
        .into_iter()
        .map(|appender| appender.join().unwrap())
        .collect();
    assert!(
        queues.lock().is_empty(),
        "a queue in which nothing waits is not kept"
    );
    fared
}

fn lines(written: &[Vec<u8>]) -> Vec<usize> {
    let mut lines: Vec<usize> = written
        .iter()
        .flat_map(|batch| str::from_utf8(batch).unwrap().lines())
        .map(|line| line.parse().unwrap())
        .collect();
    lines.sort_unstable();
    lines
}

#[test]
fn each_append_is_written_once_by_one_writer_at_a_time() {
    in_any_order(|| {
        let written = Arc::new(Mutex::new(Vec::new()));
        let writers = Arc::new(AtomicUsize::new(0));
        let (own, at_work) = (Arc::clone(&written), Arc::clone(&writers));
        let fared = append_at_once(move |_, batch| {
            assert_eq!(
                at_work.fetch_add(1, Ordering::SeqCst),
                0,
                "two write at once"
            );
            thread::yield_now();
            own.lock().unwrap().push(batch);
            at_work.fetch_sub(1, Ordering::SeqCst);
            Ok(())
        });
        let written = written.lock().unwrap().clone();
        assert_eq!(lines(&written), (0..APPENDERS).collect::<Vec<usize>>());
        let leaders = fared
            .iter()
            .filter(|fared| matches!(fared, Ok(Some(()))))
            .count();
        assert!(
            fared.iter().all(Result::is_ok) && leaders == written.len(),
            "who writes is told so, and nobody else"
        );
    });
}

#[test]
fn who_comes_while_another_writes_shares_the_next_write() {
    in_any_order(|| {
        let queues = Arc::new(AppendQueues::default());
        let append = |number: usize| {
            let queues = Arc::clone(&queues);
            thread::spawn(move || {
                queues
                    .append("s.jsonl", format!("{number}\n").into_bytes(), |take| {
                        Ok(take())
                    })
                    .unwrap()
            })
        };
        let own = Arc::clone(&queues);
        let first = queues.append("s.jsonl", b"0\n".to_vec(), |take| {
            let batch = take();
            let others: Vec<_> = (1..APPENDERS).map(append).collect();
            let queue = Arc::clone(&own.lock()["s.jsonl"]);
            while queue.lock().waiting.len() < others.len() {
                thread::yield_now();
            }
            Ok((batch, others))
        });
        let (batch, others) = first.unwrap().unwrap();
        let written: Vec<Vec<u8>> = others
            .into_iter()
            .filter_map(|other| other.join().unwrap())
            .collect();
        assert_eq!(
            (lines(&[batch]), written.len()),
            (vec![0], 1),
            "all who waited were written at once"
        );
        assert_eq!(lines(&written), (1..APPENDERS).collect::<Vec<usize>>());
    });
}

#[test]
fn a_failure_reaches_everybody_who_was_not_written_and_nobody_else() {
    in_any_order(|| {
        let failed = Arc::new(AtomicUsize::new(0));
        let own = Arc::clone(&failed);
        let fared = append_at_once(move |time, batch| {
            if time % 2 == 0 {
                return Ok(());
            }
            own.fetch_add(lines(&[batch]).len(), Ordering::SeqCst);
            Err(StoreError::Backend {
                action: "x".into(),
                code: Code::DiskFull,
                source: "y".into(),
            }
            .into())
        });
        let errors: Vec<_> = fared.into_iter().filter_map(Result::err).collect();
        assert_eq!(errors.len(), failed.load(Ordering::SeqCst));
        assert!(
            errors
                .iter()
                .all(|error| error.code() == Code::DiskFull
                    && format_error_chain(error).contains('y')),
            "{errors:?}"
        );
    });
}

#[test]
fn who_cannot_write_at_all_fails_for_all_who_wait_and_the_next_begins_anew() {
    in_any_order(|| {
        let queues = Arc::new(AppendQueues::default());
        let append = |_: usize| {
            let queues = Arc::clone(&queues);
            thread::spawn(move || {
                let locked = || -> InstanceError {
                    StoreError::Backend {
                        action: "x".into(),
                        code: Code::Locked,
                        source: "y".into(),
                    }
                    .into()
                };
                queues
                    .append("s.jsonl", b"1\n".to_vec(), |_| Err::<(), _>(locked()))
                    .unwrap_err()
                    .code()
            })
        };
        let appenders: Vec<_> = (0..APPENDERS).map(append).collect();
        for appender in appenders {
            assert_eq!(appender.join().unwrap(), Code::Locked);
        }
        let written = queues.append("s.jsonl", b"2\n".to_vec(), |take| Ok(take()));
        assert_eq!(written.unwrap().unwrap(), b"2\n");
    });
}
