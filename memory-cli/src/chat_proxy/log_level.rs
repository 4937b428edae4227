//! Log levels of a proxy in the foreground.

use std::str::FromStr;
use std::sync::Arc;

use memory_agent::http::{RequestLog, RequestRecord};
use memory_core::{Clock, ParseError};
use memory_store::{EventLog, SystemClock};

/// The minimum severity of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LogLevel {
    /// Each request, with the duration of recall.
    Debug,
    /// Each request.
    Info,
    /// Errors that do not stop the proxy.
    Warning,
    /// Only the error that stops the proxy.
    Error,
}

impl LogLevel {
    /// Returns the name of the level.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl FromStr for LogLevel {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let wanted = text.trim().to_ascii_lowercase();
        let all = [Self::Debug, Self::Info, Self::Warning, Self::Error];
        let found = all.into_iter().find(|level| level.as_str() == wanted || (wanted == "warn" && *level == Self::Warning));
        found.ok_or_else(|| ParseError::new(text, "a log level (debug, info, warning or error)"))
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
        (level <= LogLevel::Info).then(|| Arc::new(Self { log: Arc::clone(log), level }) as Arc<dyn RequestLog>)
    }
}

impl RequestLog for RequestLineLogger {
    fn record(&self, request: &RequestRecord) {
        let recall = request.recall.filter(|_| self.level == LogLevel::Debug);
        let recall = recall.map_or_else(String::new, |recall| format!(" recall_us={}", recall.as_micros()));
        self.log.info(SystemClock.now(), &format!("{request}{recall}"));
    }
}
