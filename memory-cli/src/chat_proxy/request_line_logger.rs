//! One log line for each request to a proxy in the foreground.

use std::sync::Arc;

use memory_agent::http::{RequestLog, RequestRecord};
use memory_core::Clock;
use memory_store::{EventLog, SystemClock};

use crate::config::LogLevel;

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
