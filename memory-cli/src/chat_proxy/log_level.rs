//! What a proxy in the foreground writes to the standard error.

use std::str::FromStr;
use std::sync::Arc;

use memory_agent::http::{RequestLog, RequestRecord};
use memory_core::{Clock, ParseError};
use memory_store::{Log, SystemClock};

/// What is logged: this and all that is worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LogLevel {
    /// With each request, also how long memories were looked for.
    Debug,
    /// Each request.
    Info,
    /// What went wrong without ending the proxy.
    Warning,
    /// Nothing but why the proxy ended.
    Error,
}

impl LogLevel {
    /// Returns the word for it.
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
        found.ok_or_else(|| ParseError::new(text, "a level (debug, info, warning or error)"))
    }
}

/// Logs each request as one line.
pub(crate) struct RequestLines {
    log: Arc<Log>,
    level: LogLevel,
}

impl RequestLines {
    /// Returns what logs requests at a level, if any are logged there.
    pub(crate) fn at(level: LogLevel, log: &Arc<Log>) -> Option<Arc<dyn RequestLog>> {
        (level <= LogLevel::Info).then(|| Arc::new(Self { log: Arc::clone(log), level }) as Arc<dyn RequestLog>)
    }
}

impl RequestLog for RequestLines {
    fn record(&self, request: &RequestRecord) {
        let recall = request.recall.filter(|_| self.level == LogLevel::Debug);
        let recall = recall.map_or_else(String::new, |recall| format!(" recall_us={}", recall.as_micros()));
        self.log.info(SystemClock.now(), &format!("{request}{recall}"));
    }
}
