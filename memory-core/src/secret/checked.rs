//! The proof that content was checked for credentials.

use std::borrow::Cow;
use std::ops::Deref;

use super::{reject_added_secrets, reject_secrets};
use crate::commit::operation_texts;
use crate::conversation::EntryChange;
use crate::instance::history::SessionRecord;
use crate::json::{JsonText, unescape_strings};
use crate::topic::{TopicDraft, TopicPath};
use crate::{ChangeSet, SecretPolicy, StoreError};

/// Content that was checked for credentials, or in which they are allowed.
///
/// All store traits take the content of a write in this form, and only the functions of this type create it. No use case, and no program
/// that calls a store directly, can therefore forget the check.
///
/// # Examples
/// ```
/// use memory_core::SecretPolicy;
/// use memory_core::secret::Checked;
///
/// assert_eq!(*Checked::new("tea", ["a key"], SecretPolicy::Refuse)?, "tea");
/// let token = format!("ghp_{}", "a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r8");
/// assert!(Checked::new(token.as_str(), [], SecretPolicy::Refuse).is_err());
/// # Ok::<(), memory_core::StoreError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checked<T>(T);

impl<T: CheckableContent> Checked<T> {
    /// Checks content and the names under which it is stored.
    ///
    /// # Errors
    /// [`StoreError::Secret`] if one of them contains a credential and `secrets` refuses them.
    pub fn new<'n>(
        content: T,
        names: impl IntoIterator<Item = &'n str>,
        secrets: SecretPolicy,
    ) -> Result<Self, StoreError> {
        if secrets == SecretPolicy::Refuse {
            let texts = content.texts();
            let mut all: Vec<&str> = texts.iter().map(Cow::as_ref).collect();
            for name in names {
                all.push(name);
            }
            reject_secrets(all)?;
        }
        Ok(Self(content))
    }

    /// Checks changed content; credentials that its previous version `former` contains are accepted.
    ///
    /// # Errors
    /// [`StoreError::Secret`] if it contains another credential and `secrets` refuses them.
    pub fn new_version(
        content: T,
        former: Option<&T>,
        secrets: SecretPolicy,
    ) -> Result<Self, StoreError> {
        if secrets == SecretPolicy::Refuse {
            let former = former
                .map(|former| former.texts().concat())
                .unwrap_or_default();
            content
                .texts()
                .iter()
                .try_for_each(|text| reject_added_secrets(&former, text))?;
        }
        Ok(Self(content))
    }
}

impl<T> Checked<T> {
    /// Allows credentials in content: a person allowed them, they are redacted already, or they were stored before.
    pub fn allowed(content: T) -> Self {
        Self(content)
    }

    /// Returns the content.
    pub fn into_inner(self) -> T {
        self.0
    }

    /// Converts the content to a form with no other text, except for text that was stored before.
    pub(crate) fn map<U>(self, convert: impl FnOnce(T) -> U) -> Checked<U> {
        Checked(convert(self.0))
    }
}

impl<T> Deref for Checked<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// Content that a store writes.
pub trait CheckableContent {
    /// Returns its texts, as a reader of the stored content sees them.
    fn texts(&self) -> Vec<Cow<'_, str>>;
}

impl CheckableContent for &str {
    fn texts(&self) -> Vec<Cow<'_, str>> {
        vec![Cow::Borrowed(self)]
    }
}

impl CheckableContent for String {
    fn texts(&self) -> Vec<Cow<'_, str>> {
        vec![Cow::Borrowed(self)]
    }
}

impl CheckableContent for JsonText {
    fn texts(&self) -> Vec<Cow<'_, str>> {
        vec![unescape_strings(self.as_str())]
    }
}

impl CheckableContent for &ChangeSet {
    fn texts(&self) -> Vec<Cow<'_, str>> {
        operation_texts(self).map(Cow::Borrowed).collect()
    }
}

impl CheckableContent for &[SessionRecord] {
    fn texts(&self) -> Vec<Cow<'_, str>> {
        self.iter()
            .map(|record| unescape_strings(record.text().as_str()))
            .collect()
    }
}

impl CheckableContent for &[EntryChange] {
    fn texts(&self) -> Vec<Cow<'_, str>> {
        let added = self.iter().filter_map(|change| {
            if let EntryChange::Add(entry) = change {
                Some(entry)
            } else {
                None
            }
        });
        added
            .map(|entry| Cow::Borrowed(entry.content.as_str()))
            .collect()
    }
}

impl CheckableContent for &TopicPath {
    fn texts(&self) -> Vec<Cow<'_, str>> {
        vec![Cow::Borrowed(self.as_str())]
    }
}

impl CheckableContent for TopicDraft {
    fn texts(&self) -> Vec<Cow<'_, str>> {
        let texts = [
            Some(&self.title),
            Some(&self.description),
            self.content.as_ref(),
        ];
        texts
            .into_iter()
            .flatten()
            .map(|text| Cow::Borrowed(text.as_str()))
            .collect()
    }
}
