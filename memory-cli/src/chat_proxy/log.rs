//! The log of a proxy in the foreground.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use memory_agent::http::{RequestLog, RequestRecord};
use memory_core::Clock;
use memory_store::{EventLog, SystemClock};

use crate::config::LogLevel;

/// Maximum number of queued lines; further lines are dropped and counted.
const MAX_QUEUED_LINES: usize = 4096;

/// Maximum time to write the remaining lines at the end.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// A writer that writes lines on its own thread, so that a blocked output does not block its callers.
pub(crate) struct BackgroundWriter {
    sender: SyncSender<WriterMessage>,
    left_out: Arc<AtomicUsize>,
}

/// A handle to flush a [`BackgroundWriter`].
pub(crate) struct FlushHandle(SyncSender<WriterMessage>);

enum WriterMessage {
    Line(Vec<u8>),
    /// A request to confirm that all earlier lines are written.
    Flush(SyncSender<()>),
}

impl BackgroundWriter {
    /// Starts a thread that writes to `output`. Each write must consist of complete lines.
    pub(crate) fn spawn(output: impl Write + Send + 'static) -> (Self, FlushHandle) {
        let (sender, receiver) = sync_channel(MAX_QUEUED_LINES);
        let left_out = Arc::<AtomicUsize>::default();
        let theirs = Arc::clone(&left_out);
        thread::spawn(move || write_all(output, &receiver, &theirs));
        (
            Self {
                sender: sender.clone(),
                left_out,
            },
            FlushHandle(sender),
        )
    }
}

impl Write for BackgroundWriter {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self
            .sender
            .try_send(WriterMessage::Line(line.to_owned()))
            .is_err()
        {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl FlushHandle {
    /// Waits a short time until all earlier lines are written.
    pub(crate) fn wait(self) {
        let (done, ended) = sync_channel(1);
        // If the queue is full, the output is blocked.
        if self.0.try_send(WriterMessage::Flush(done)).is_ok() {
            let _ = ended.recv_timeout(FLUSH_TIMEOUT);
        }
    }
}

fn write_all(mut output: impl Write, receiver: &Receiver<WriterMessage>, left_out: &AtomicUsize) {
    for message in receiver {
        let lost = left_out.swap(0, Ordering::Relaxed);
        // Write errors are ignored: a server must not fail because its log is not read.
        if 0 < lost {
            let _ = writeln!(
                output,
                "{lost} lines were dropped: standard error is blocked"
            );
        }
        match message {
            WriterMessage::Line(line) => {
                drop(output.write_all(&line).and_then(|()| output.flush()));
            }
            WriterMessage::Flush(done) => drop(done.send(())),
        }
    }
}

/// A logger that writes one line for each request.
pub(crate) struct RequestLineLogger {
    log: Arc<EventLog>,
    level: LogLevel,
}

impl RequestLineLogger {
    /// Returns the logger for requests at `level`, or `None` if the level excludes requests.
    pub(crate) fn for_level(level: LogLevel, log: &Arc<EventLog>) -> Option<Arc<dyn RequestLog>> {
        (level <= LogLevel::Info).then(|| {
            Arc::new(Self {
                log: Arc::clone(log),
                level,
            }) as Arc<dyn RequestLog>
        })
    }
}

impl RequestLog for RequestLineLogger {
    fn record(&self, request: &RequestRecord) {
        let recall = request.recall.filter(|_| self.level == LogLevel::Debug);
        let recall = recall.map_or_else(String::new, |recall| {
            format!(" recall_us={}", recall.as_micros())
        });
        self.log
            .info(SystemClock.now(), &format!("{request}{recall}"));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::mpsc::channel;

    use super::*;

    /// An output that blocks each write until a message on the channel.
    struct GatedOutput(Receiver<()>, Arc<Mutex<Vec<u8>>>);

    impl Write for GatedOutput {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            // After the sender is dropped, writes do not block.
            let _ = self.0.recv();
            self.1.lock().expect("nobody panics here").write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_output_that_nobody_reads_holds_up_nobody_and_what_was_left_out_is_counted() {
        let (open, gate) = channel();
        let written = Arc::<Mutex<Vec<u8>>>::default();
        let (mut writer, flush) = BackgroundWriter::spawn(GatedOutput(gate, Arc::clone(&written)));
        let count = MAX_QUEUED_LINES + 1000;
        for number in 0..count {
            writer
                .write_all(format!("{number}\n").as_bytes())
                .expect("it is taken");
        }
        drop(open);
        // The queue may be full until some lines are written.
        let (done, ended) = sync_channel(1);
        flush.0.send(WriterMessage::Flush(done)).expect("it writes");
        ended.recv().expect("it wrote all");
        let text =
            String::from_utf8(written.lock().expect("nobody panics here").clone()).expect("text");
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| !line.contains("were dropped"))
            .collect();
        let lost: usize = text
            .lines()
            .filter_map(|line| {
                line.split_once(" lines were dropped")?
                    .0
                    .parse::<usize>()
                    .ok()
            })
            .sum();
        assert_eq!(lines.len() + lost, count);
        assert!(
            (MAX_QUEUED_LINES..count).contains(&lines.len()),
            "{}",
            lines.len()
        );
        // The writer may have taken a line from the queue between two that were dropped.
        let numbers: Vec<usize> = lines
            .iter()
            .map(|line| line.parse().expect("a number"))
            .collect();
        assert!(
            numbers.is_sorted_by(|one, next| one < next),
            "they are in order"
        );
    }

    #[test]
    fn all_lines_are_written_at_the_end() {
        let (open, gate) = channel();
        drop(open);
        let written = Arc::<Mutex<Vec<u8>>>::default();
        let (mut writer, flush) = BackgroundWriter::spawn(GatedOutput(gate, Arc::clone(&written)));
        writer
            .write_all(b"one\n")
            .and_then(|()| writer.write_all(b"two\n"))
            .expect("they are taken");
        flush.wait();
        assert_eq!(*written.lock().expect("nobody panics here"), b"one\ntwo\n");
    }
}
