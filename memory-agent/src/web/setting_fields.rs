//! The settings as fields of a form.

/// All settings, in groups, and their file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SettingsOverview {
    /// The path of the file.
    pub file: String,
    /// The keys of the file that the program does not know.
    pub unknown: Vec<String>,
    /// The groups.
    pub groups: Vec<SettingGroup>,
}

impl SettingsOverview {
    /// Returns the value of a key, unless it is empty.
    pub(crate) fn value(&self, key: &str) -> Option<&str> {
        let mut fields = self.groups.iter().flat_map(|group| &group.fields);
        let field = fields.find(|field| field.key == key)?;
        Some(field.value.as_str()).filter(|value| !value.is_empty())
    }
}

/// The settings of one purpose.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SettingGroup {
    /// The title.
    pub title: &'static str,
    /// What the settings are for, as a sentence.
    pub purpose: &'static str,
    /// The settings.
    pub fields: Vec<SettingField>,
}

/// A setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingField {
    /// The key, in dotted form.
    pub key: String,
    /// What it means; code is between backticks.
    pub meaning: String,
    /// The present value as text; empty if there is none or if it is secret.
    pub value: String,
    /// The default, or an example if there is none.
    pub usual: String,
    /// Whether [`Self::usual`] is an example.
    pub is_example: bool,
    /// The kind of value.
    pub kind: SettingKind,
    /// Whether the file sets the value.
    pub is_in_file: bool,
    /// Why the value cannot be changed on the page, if it cannot.
    pub fixed: Option<String>,
    /// Whether the background service uses a new value from its next start.
    pub needs_restart: bool,
}

/// The kind of value of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingKind {
    /// `true` or `false`.
    Switch,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A number.
    Number,
    /// A text.
    Text,
    /// Texts, each on a line.
    List,
    /// A text that is never shown; whether there is one.
    Secret(bool),
}

/// A setting that was changed on the page.
#[derive(Debug, Clone)]
pub(super) struct SavedSetting {
    pub(super) key: String,
    /// The value in the file before; empty if it had none.
    pub(super) former: String,
    /// The value after the change.
    pub(super) value: String,
}
