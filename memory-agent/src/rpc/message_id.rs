//! Finds the id of a message that cannot be parsed: it is too long, or not JSON.

use serde_json::Value;

use crate::exact_json;

/// Finds the `id` of a JSON-RPC request while its bytes pass by.
///
/// The id may be at any position of the object, so the whole message is scanned, but only the current name and the id are
/// stored. In bytes that are not JSON, it finds the id that stands where the id of an object would be.
#[derive(Debug, Default, Clone)]
pub(crate) struct MessageIdScanner {
    /// Number of open objects and arrays.
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
    part: MemberPart,
    /// The bytes of the current name or of the current id.
    bytes: Vec<u8>,
    id: Option<Vec<u8>>,
    is_response: bool,
}

/// The part of a member of the message that is being scanned.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum MemberPart {
    #[default]
    Name,
    /// The value of `id`.
    Id,
    OtherValue,
}

/// Maximum number of bytes of a name or of an id that are stored; a longer id is not found.
const MAX_STORED: usize = 1 << 10;

impl MessageIdScanner {
    /// Scans the next bytes of the message.
    pub(crate) fn scan(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.scan_byte(*byte);
        }
    }

    /// Returns the id of a message.
    pub(crate) fn find_id(message: &[u8]) -> Option<Value> {
        let mut scanner = Self::default();
        scanner.scan(message);
        scanner.request_id()
    }

    /// Returns the id, unless the message is a response.
    pub(crate) fn request_id(&self) -> Option<Value> {
        let id = self
            .id
            .as_ref()
            .filter(|id| !self.is_response && id.len() <= MAX_STORED)?;
        exact_json::from_slice(id)
            .ok()
            .filter(|id| !id.is_object() && !id.is_array() && !id.is_null())
    }

    fn scan_byte(&mut self, byte: u8) {
        let was_in_string = self.is_in_string;
        if was_in_string {
            let is_end = byte == b'"' && !self.is_escaped;
            self.is_escaped = byte == b'\\' && !self.is_escaped;
            self.is_in_string = !is_end;
        } else {
            self.is_in_string = byte == b'"';
            match byte {
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            match (byte, self.depth) {
                (b'{', 1) => return self.begin(MemberPart::Name),
                (b':', 1) => return self.end_name(),
                (b',', 1) | (b'}', 0) => return self.end_value(),
                _ => {}
            }
        }
        let is_stored = match self.part {
            MemberPart::Name => self.depth == 1,
            MemberPart::Id => true,
            MemberPart::OtherValue => false,
        };
        // One more byte than the maximum marks the bytes as too long.
        if is_stored && self.bytes.len() <= MAX_STORED {
            self.bytes.push(byte);
        }
    }

    fn begin(&mut self, part: MemberPart) {
        self.part = part;
        self.bytes.clear();
    }

    fn end_name(&mut self) {
        // A name may contain escapes.
        let name = serde_json::from_slice::<String>(&self.bytes).unwrap_or_default();
        self.is_response |= matches!(name.as_str(), "result" | "error");
        self.begin(if name == "id" {
            MemberPart::Id
        } else {
            MemberPart::OtherValue
        });
    }

    fn end_value(&mut self) {
        if self.part == MemberPart::Id {
            self.id = Some(std::mem::take(&mut self.bytes));
        }
        self.begin(MemberPart::Name);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn id_of(message: &[u8], chunk: usize) -> Option<Value> {
        let mut scanner = MessageIdScanner::default();
        message
            .chunks(chunk.max(1))
            .for_each(|bytes| scanner.scan(bytes));
        scanner.request_id()
    }

    #[test]
    fn the_id_is_found_at_any_position_and_only_in_the_message_itself() {
        for (message, expected) in [
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{}}"#,
                Some("7"),
            ),
            (
                r#" { "method" : "m", "params": {"id": 1, "a": ["}", "\\", {"id": 2}]} , "id" : "a\"b,}" } "#,
                Some(r#""a\"b,}""#),
            ),
            (r#"{"\u0069d":1e400,"method":"m"}"#, Some("1e400")),
            (r#"{"params":[{"id":1}],"method":"id"}"#, None),
            (r#"{"id":null,"method":"m"}"#, None),
            (r#"{"id":{"a":1},"method":"m"}"#, None),
            (r#"{"id":1,"result":{"method":"m"}}"#, None),
            (r#"{"id":1,"error":{"code":1}}"#, None),
            (r#"{"id":4}"#, Some("4")),
            (r#"{"id":5,"method":"m","params":{"a":}}"#, Some("5")),
            (r#"{"method":"m","params":{'a':1},"id":6,}"#, Some("6")),
            (r#"{"id":71"#, None),
            (
                r#"{"id":3,"method":"m","params":{"content":"the line ends her"#,
                Some("3"),
            ),
            (r#"[{"id":1,"method":"m"}]"#, None),
            ("", None),
        ] {
            let id = id_of(message.as_bytes(), 3).map(|id| exact_json::to_text(&id));
            assert_eq!(id.as_deref(), expected, "{message}");
        }
        let long = format!(r#"{{"id":"{}","method":"m"}}"#, "a".repeat(2 * MAX_STORED));
        assert_eq!(id_of(long.as_bytes(), 100), None);
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            r#"[a-z"\\{}\[\]:,\n]{0,8}"#.prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(r#"id|method|[a-z"\\]{0,3}"#, inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn it_finds_what_a_parser_finds(
            members in prop::collection::btree_map(r#"id|method|params|result|[a-z"\\]{0,3}"#, json(), 0..6),
            is_pretty: bool,
            chunk in 1_usize..20,
        ) {
            let message = Value::Object(members.into_iter().collect());
            let text = if is_pretty { serde_json::to_string_pretty(&message) } else { serde_json::to_string(&message) };
            let id = message.get("id").filter(|id| message.get("result").is_none() && !id.is_object() && !id.is_array());
            let id = id.filter(|id| !id.is_null()).cloned();
            prop_assert_eq!(id_of(text.expect("JSON").as_bytes(), chunk), id);
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), chunk in 1_usize..20) {
            let _ = id_of(&bytes, chunk);
        }
    }
}
