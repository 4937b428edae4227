//! The definition of an instance.

use memory_core::instance::{InstanceError, InstanceName};
use serde_yaml::{Mapping, Value};

use super::seal;

/// The definition of an instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstanceDefinition {
    /// The type of the instance.
    pub backend: InstanceName,
    /// The name of the instance.
    pub name: InstanceName,
    /// The fields, in the order of the file.
    pub fields: Vec<(String, FieldValue)>,
}

/// The value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldValue {
    /// A text that is not secret.
    Plain(String),
    /// A sealed text, as the file contains it.
    Sealed(String),
}

impl InstanceDefinition {
    /// Returns the value of a field.
    pub fn field(&self, name: &str) -> Option<&FieldValue> {
        self.fields
            .iter()
            .find(|(own, _)| own == name)
            .map(|(_, value)| value)
    }

    /// Returns the path of the file in the folder of definitions.
    pub(super) fn path(backend: &InstanceName, name: &InstanceName) -> String {
        format!("{backend}/{name}.yaml")
    }

    /// Returns the purpose to which the sealed value of a field is bound.
    pub(super) fn purpose(backend: &InstanceName, name: &InstanceName, field: &str) -> String {
        format!("{backend}/{name}/{field}")
    }

    /// Parses a file.
    pub(super) fn parse(
        backend: &InstanceName,
        name: &InstanceName,
        bytes: &[u8],
    ) -> Result<Self, InstanceError> {
        let damaged = |what: String| InstanceError::Damaged {
            place: Self::path(backend, name),
            what,
        };
        let text = str::from_utf8(bytes).map_err(|_| damaged("it is not UTF-8".into()))?;
        let yaml: Value = serde_yaml::from_str(text).map_err(|error| damaged(error.to_string()))?;
        let mapping = match yaml {
            Value::Null => Mapping::new(),
            Value::Mapping(mapping) => mapping,
            _ => return Err(damaged("it is not a mapping of fields".into())),
        };
        let mut fields = Vec::with_capacity(mapping.len());
        for (key, value) in mapping {
            let Value::String(key) = key else {
                return Err(damaged("a field name is not a string".into()));
            };
            let value = match value {
                Value::String(text) if seal::is_sealed(&text) => FieldValue::Sealed(text),
                Value::String(text) => FieldValue::Plain(text),
                Value::Number(number) => FieldValue::Plain(number.to_string()),
                Value::Bool(flag) => FieldValue::Plain(flag.to_string()),
                // A field without a value is ignored.
                Value::Null => continue,
                _ => return Err(damaged(format!("the field {key} is not a string"))),
            };
            fields.push((key, value));
        }
        Ok(Self {
            backend: backend.clone(),
            name: name.clone(),
            fields,
        })
    }

    /// Returns the content of the file.
    pub(super) fn to_yaml(&self) -> String {
        let entry = |(key, value): &(String, FieldValue)| {
            let (FieldValue::Plain(text) | FieldValue::Sealed(text)) = value;
            (Value::from(key.as_str()), Value::from(text.as_str()))
        };
        let mapping: Mapping = self.fields.iter().map(entry).collect();
        if mapping.is_empty() {
            return String::new();
        }
        serde_yaml::to_string(&mapping).expect("texts have a YAML form")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_is_read_as_it_is_written_and_as_people_write_it() {
        let (backend, name): (InstanceName, InstanceName) =
            ("kv".parse().unwrap(), "scratch".parse().unwrap());
        let plain = |text: &str| FieldValue::Plain(text.into());
        let sealed = FieldValue::Sealed("secretbox:AAAA".into());
        let fields = vec![
            ("driver".into(), plain("file")),
            ("dir".into(), plain("~/no: #深")),
            ("dsn".into(), sealed),
        ];
        let definition = InstanceDefinition {
            backend: backend.clone(),
            name: name.clone(),
            fields,
        };
        assert_eq!(
            InstanceDefinition::parse(&backend, &name, definition.to_yaml().as_bytes()).unwrap(),
            definition
        );
        let by_hand =
            InstanceDefinition::parse(&backend, &name, b"# mine\ndriver: file\npool: 5\nempty:\n")
                .unwrap();
        assert_eq!(
            by_hand.fields,
            [
                ("driver".into(), plain("file")),
                ("pool".into(), plain("5"))
            ]
        );
        assert_eq!(
            InstanceDefinition::parse(&backend, &name, b"")
                .unwrap()
                .fields,
            []
        );
        for wrong in [b"- a".as_slice(), b"a: [1]", b"a: {", b"\xff", b"1: a"] {
            let error = InstanceDefinition::parse(&backend, &name, wrong).unwrap_err();
            assert_eq!(error.code(), memory_core::Code::FileDamaged);
        }
    }
}
