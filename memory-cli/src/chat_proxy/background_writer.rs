//! Lines that are written beside the work that they are about.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

/// So many lines wait at most; more are left out, and counted.
const LINES: usize = 4096;

/// At the end, the last lines have this time to be written.
const FLUSH: Duration = Duration::from_secs(1);

/// Writes lines to an output on a thread of its own, so that an output that nobody reads, such as a full pipe, holds up nobody.
pub(crate) struct BackgroundWriter {
    sender: SyncSender<Message>,
    left_out: Arc<AtomicUsize>,
}

/// Waits for the lines of a [`BackgroundWriter`].
pub(crate) struct Flush(SyncSender<Message>);

enum Message {
    Line(Vec<u8>),
    /// All before it is written.
    Flush(SyncSender<()>),
}

impl BackgroundWriter {
    /// Begins to write to `output`. Each write is one line, or several whole ones.
    pub(crate) fn begin(output: impl Write + Send + 'static) -> (Self, Flush) {
        let (sender, receiver) = sync_channel(LINES);
        let left_out = Arc::<AtomicUsize>::default();
        let theirs = Arc::clone(&left_out);
        thread::spawn(move || write_all(output, &receiver, &theirs));
        (Self { sender: sender.clone(), left_out }, Flush(sender))
    }
}

impl Write for BackgroundWriter {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.sender.try_send(Message::Line(line.to_owned())).is_err() {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Flush {
    /// Waits until all lines are written that were given before, for a short time.
    pub(crate) fn wait(self) {
        let (done, ended) = sync_channel(1);
        // Where there is no room, nobody reads them.
        if self.0.try_send(Message::Flush(done)).is_ok() {
            let _ = ended.recv_timeout(FLUSH);
        }
    }
}

fn write_all(mut output: impl Write, receiver: &Receiver<Message>, left_out: &AtomicUsize) {
    for message in receiver {
        let lost = left_out.swap(0, Ordering::Relaxed);
        // What cannot be written is lost: a server does not fail because nobody reads its log.
        if 0 < lost {
            let _ = writeln!(output, "{lost} lines were left out: nobody read them");
        }
        match message {
            Message::Line(line) => drop(output.write_all(&line).and_then(|()| output.flush())),
            Message::Flush(done) => drop(done.send(())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::mpsc::channel;

    use super::*;

    /// An output that takes each write only once it is let.
    struct Gated(Receiver<()>, Arc<Mutex<Vec<u8>>>);

    impl Write for Gated {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            // Once nobody is there to let it, it takes all.
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
        let (mut writer, flush) = BackgroundWriter::begin(Gated(gate, Arc::clone(&written)));
        let count = LINES + 1000;
        for number in 0..count {
            writer.write_all(format!("{number}\n").as_bytes()).expect("it is taken");
        }
        drop(open);
        // There may be no room to wait in until some are written.
        let (done, ended) = sync_channel(1);
        flush.0.send(Message::Flush(done)).expect("it writes");
        ended.recv().expect("it wrote all");
        let text = String::from_utf8(written.lock().expect("nobody panics here").clone()).expect("text");
        let lines: Vec<&str> = text.lines().filter(|line| !line.contains("left out")).collect();
        let lost: usize = text.lines().filter_map(|line| line.split_once(" lines were left out")?.0.parse::<usize>().ok()).sum();
        assert_eq!(lines.len() + lost, count);
        assert!((LINES..count).contains(&lines.len()), "{}", lines.len());
        assert!(lines.iter().enumerate().all(|(number, line)| *line == number.to_string()), "they are in order");
    }

    #[test]
    fn all_lines_are_written_at_the_end() {
        let (open, gate) = channel();
        drop(open);
        let written = Arc::<Mutex<Vec<u8>>>::default();
        let (mut writer, flush) = BackgroundWriter::begin(Gated(gate, Arc::clone(&written)));
        writer.write_all(b"one\n").and_then(|()| writer.write_all(b"two\n")).expect("they are taken");
        flush.wait();
        assert_eq!(*written.lock().expect("nobody panics here"), b"one\ntwo\n");
    }
}
