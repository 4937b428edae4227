//! The interface of desktop notifications.

use std::fmt::Debug;

/// A channel that shows short messages to the user.
pub trait Notifier: Debug + Send + Sync {
    /// Shows one message.
    ///
    /// # Errors
    /// If the message cannot be shown.
    fn notify(&self, notification: &Notification) -> Result<(), NotifyError>;
}

/// A short message to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// The title line.
    pub title: String,
    /// The text below the title.
    pub body: String,
}

/// The error that a message was not shown.
#[derive(Debug, thiserror::Error)]
#[error("the notification was not shown: {why}")]
pub struct NotifyError {
    /// The reason.
    pub why: String,
}
