//! The proof that content was checked for credentials.

use std::borrow::Cow;
use std::ops::Deref;

use super::{reject_added_secrets, reject_secrets};
use crate::commit::operation_texts;
use crate::conversation::EntryChange;
use crate::instance::history::SessionRecord;
use crate::json::{JsonText, unescape_strings};
use crate::topic::{TopicDraft, TopicPath};
use crate::{Change, ChangeSet, Memory, SecretPolicy, StoreError};

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
            let names: Vec<&str> = names.into_iter().collect();
            reject_secrets(texts.iter().map(Cow::as_ref).chain(names.iter().copied()))?;
            for name in names {
                for text in &texts {
                    reject_secrets([named_text(name, text).as_str()])?;
                }
            }
        }
        Ok(Self(content))
    }

    /// Checks changed content and its names; credentials that its previous version `former` contains are accepted.
    ///
    /// # Errors
    /// [`StoreError::Secret`] if it contains another credential and `secrets` refuses them.
    pub fn new_version<'n>(
        content: T,
        former: Option<&T>,
        names: impl IntoIterator<Item = &'n str>,
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
            for name in names {
                let former = named_text(name, &former);
                content
                    .texts()
                    .iter()
                    .try_for_each(|text| reject_added_secrets(&former, &named_text(name, text)))?;
            }
        }
        Ok(Self(content))
    }
}

/// Returns the start of a memory with its title, as in an assignment.
pub(crate) fn titled_text(memory: &Memory) -> Option<String> {
    let title = memory.title.as_deref()?;
    Some(named_text(title, &memory.content))
}

/// Returns the start of a text with the name under which it is stored, as in an assignment: a password may be without
/// a name in the text itself.
pub(super) fn named_text(name: &str, text: &str) -> String {
    format!("{name}: {}", &text[..text.floor_char_boundary(512)])
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
        let titled = self.changes.iter().filter_map(|change| match change {
            Change::Create { memory, .. } | Change::Replace { memory, .. } => {
                titled_text(memory).map(Cow::Owned)
            }
            Change::Remove { .. } => None,
        });
        operation_texts(self)
            .map(Cow::Borrowed)
            .chain(titled)
            .collect()
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
        let titled = self
            .content
            .as_ref()
            .map(|content| Cow::Owned(named_text(self.title.as_str(), content.as_str())));
        texts
            .into_iter()
            .flatten()
            .map(|text| Cow::Borrowed(text.as_str()))
            .chain(titled)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_refused_under_its_name() {
        let value = ["tR7x", "Qz9m", "Lk2v", "Bn4w"].concat();
        let check = |name, text: &str| Checked::new(text, [name], SecretPolicy::Refuse).is_err();
        for name in [
            "db_password",
            "prod/password",
            "Passwort",
            "API key",
            "密码",
        ] {
            assert!(check(name, &value), "{name}");
            assert!(check(name, &format!("{value}\nrotate it")), "{name}");
        }
        for name in ["password_policy", "tokenizer", "notes"] {
            assert!(!check(name, &value), "{name}");
        }
        assert!(!check("db_password", "see the vault"));
    }

    #[test]
    fn a_former_value_is_accepted_under_its_name() {
        let values = ["tR7xQz9mLk2vBn4w", "k3Jd8sLq0ZpX2vNb"].map(str::to_owned);
        let check = |former: &String, value: &String| {
            Checked::new_version(
                value.clone(),
                Some(former),
                ["db_password"],
                SecretPolicy::Refuse,
            )
        };
        check(&values[0], &values[0]).unwrap();
        check(&values[0], &values[1]).unwrap_err();
    }
}
