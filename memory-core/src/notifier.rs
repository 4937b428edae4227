//! A way to a person's attention.

use std::fmt::Debug;

/// Shows short messages to a person.
pub trait Notifier: Debug + Send + Sync {
    /// Shows one message.
    ///
    /// # Errors
    /// When it cannot be shown.
    fn notify(&self, notification: &Notification) -> Result<(), NotifyError>;
}

/// A short message to a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// The first line.
    pub title: String,
    /// The rest.
    pub body: String,
}

/// Why a message was not shown.
#[derive(Debug, thiserror::Error)]
#[error("the notification was not shown: {why}")]
pub struct NotifyError {
    /// Why.
    pub why: String,
}
