//! Parses server-sent events from chunks of any size.

/// Parser of an event stream (`text/event-stream`): takes chunks and emits the data of each event.
#[derive(Debug, Default)]
pub(super) struct EventStreamParser {
    line: Vec<u8>,
    /// The data lines of the current event, if there are any.
    data: Option<Vec<u8>>,
    /// Whether the last line ended with `\r`; a `\n` that follows belongs to the same line break.
    was_return: bool,
    has_begun: bool,
    /// Whether the input is not a valid event stream; further input is ignored.
    is_over: bool,
}

/// Maximum size of an event, in bytes.
const MAX_EVENT: usize = 8 << 20;

impl EventStreamParser {
    /// Parses the next chunk and calls `each` with the data of every event that it completes.
    pub(super) fn push_chunk(&mut self, piece: &[u8], each: &mut dyn FnMut(&[u8])) {
        if self.is_over {
            return;
        }
        for part in piece.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let (text, end) = match part.split_last() {
                Some((end @ (b'\n' | b'\r'), text)) => (text, Some(*end)),
                _ => (part, None),
            };
            if std::mem::take(&mut self.was_return) && text.is_empty() && end == Some(b'\n') {
                continue;
            }
            if MAX_EVENT < self.line.len() + self.data.as_ref().map_or(0, Vec::len) + text.len() {
                self.is_over = true;
                return;
            }
            self.line.extend_from_slice(text);
            if let Some(end) = end {
                self.was_return = end == b'\r';
                self.end_line(each);
            }
        }
    }

    /// Parses the end of the stream: some servers do not terminate the last line.
    pub(super) fn finish(&mut self, each: &mut dyn FnMut(&[u8])) {
        if !self.is_over {
            self.end_line(each);
            self.dispatch(each);
        }
    }

    /// Returns whether the input ends between two events.
    pub(super) fn is_between_events(&self) -> bool {
        self.line.is_empty() && self.data.is_none()
    }

    /// Returns whether parsing has stopped because the input is not a valid event stream.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    fn end_line(&mut self, each: &mut dyn FnMut(&[u8])) {
        let line = std::mem::take(&mut self.line);
        let line = if std::mem::replace(&mut self.has_begun, true) {
            &line
        } else {
            strip_bom(&line)
        };
        if line.is_empty() {
            self.dispatch(each);
        } else if let Some(value) = value(line) {
            match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => self.data = Some(value.to_vec()),
            }
        }
    }

    fn dispatch(&mut self, each: &mut dyn FnMut(&[u8])) {
        if let Some(data) = self.data.take() {
            each(&data);
        }
    }
}

/// Returns the value of a `data` line.
fn value(line: &[u8]) -> Option<&[u8]> {
    let rest = line.strip_prefix(b"data")?;
    if rest.is_empty() {
        return Some(rest);
    }
    let value = rest.strip_prefix(b":")?;
    Some(value.strip_prefix(b" ").unwrap_or(value))
}

/// Strips the byte order mark with which a stream may start.
fn strip_bom(line: &[u8]) -> &[u8] {
    line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse_events(pieces: &[&[u8]]) -> Vec<String> {
        let (mut events, mut all) = (EventStreamParser::default(), Vec::new());
        let mut each = |data: &[u8]| all.push(String::from_utf8_lossy(data).into_owned());
        for piece in pieces {
            events.push_chunk(piece, &mut each);
        }
        events.finish(&mut each);
        all
    }

    const STREAM: &str = "\u{feff}: hello\r\n\r\ndata: {\"a\":1}\r\n\r\nevent: x\ndata:two\ndata:  lines\nid: 3\n\ndata\n\r\
        retry: 5\rdata: 世界\r\rdatum: no\n\ndata: [DONE]";

    #[test]
    fn events_are_heard_whatever_ends_their_lines() {
        assert_eq!(
            parse_events(&[STREAM.as_bytes()]),
            ["{\"a\":1}", "two\n lines", "", "世界", "[DONE]"]
        );
        assert!(parse_events(&[b""]).is_empty() && parse_events(&[b"\n\n\n"]).is_empty());
    }

    #[test]
    fn what_never_ends_is_not_kept() {
        let (mut events, line) = (EventStreamParser::default(), vec![b'x'; 1 << 20]);
        for _ in 0..64 {
            events.push_chunk(&line, &mut |_| ());
        }
        assert!(events.line.len() <= MAX_EVENT);
    }

    proptest! {
        #[test]
        fn it_does_not_matter_where_a_stream_is_cut(cuts in proptest::collection::vec(0..STREAM.len(), 0..12)) {
            let mut cuts = cuts;
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut at = 0;
            for cut in cuts {
                pieces.push(&STREAM.as_bytes()[at..cut]);
                at = cut;
            }
            pieces.push(&STREAM.as_bytes()[at..]);
            prop_assert_eq!(parse_events(&pieces), parse_events(&[STREAM.as_bytes()]));
        }
    }
}
