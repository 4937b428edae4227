//! The values of jq.

use std::cmp::Ordering;
use std::rc::Rc;

use indexmap::IndexMap;

use super::literal::{self, Literal, ParsedNumber};
use super::number;

/// An object, with its keys in insertion order.
pub(crate) type Map = IndexMap<Rc<String>, Val, foldhash::fast::RandomState>;

/// A JSON value. Clones share strings, arrays and objects.
#[derive(Clone, Debug, Default)]
pub(crate) enum Val {
    #[default]
    Null,
    Bool(bool),
    /// A number that was computed, or that a double represents with all its digits.
    Num(f64),
    /// A number literal with digits that a double would lose.
    Lit(Rc<Literal>),
    Str(Rc<String>),
    Arr(Rc<Vec<Val>>),
    Obj(Rc<Map>),
}

impl Val {
    pub(crate) fn str(text: impl Into<String>) -> Self {
        Self::Str(Rc::new(text.into()))
    }

    /// Parses a number in JSON or in a program.
    pub(crate) fn parse_number(text: &str) -> Option<Self> {
        literal::parse_number(text).map(|number| match number {
            ParsedNumber::Exact(double) => Self::Num(double),
            ParsedNumber::Literal(literal) => Self::Lit(literal.into()),
        })
    }

    pub(crate) fn array(values: Vec<Val>) -> Self {
        Self::Arr(Rc::new(values))
    }

    pub(crate) fn object(map: Map) -> Self {
        Self::Obj(Rc::new(map))
    }

    /// Creates an object from an array of fields.
    pub(crate) fn record<const N: usize>(fields: [(&str, Val); N]) -> Self {
        Self::object(
            fields
                .into_iter()
                .map(|(key, value)| (Rc::new(key.to_owned()), value))
                .collect(),
        )
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "no text and no array is longer than 2^53"
    )]
    pub(crate) fn count(count: usize) -> Self {
        Self::Num(count as f64)
    }

    /// Returns the name of the type, as the builtin `type` does.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Num(_) | Self::Lit(_) => "number",
            Self::Str(_) => "string",
            Self::Arr(_) => "array",
            Self::Obj(_) => "object",
        }
    }

    /// Returns whether the value counts as true: all except `false` and `null`.
    pub(crate) fn truthy(&self) -> bool {
        !matches!(self, Self::Null | Self::Bool(false))
    }

    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Self::Num(number) => Some(*number),
            Self::Lit(literal) => Some(literal.double()),
            _ => None,
        }
    }

    /// Returns the result of `tostring`.
    pub(crate) fn text(self) -> Rc<String> {
        match self {
            Self::Str(text) => text,
            other => Rc::new(other.to_string()),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Bool(false) => 1,
            Self::Bool(true) => 2,
            Self::Num(_) | Self::Lit(_) => 3,
            Self::Str(_) => 4,
            Self::Arr(_) => 5,
            Self::Obj(_) => 6,
        }
    }

    /// Compares two values in jq's sort order. NaN is less than all other numbers.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Lit(left), Self::Lit(right)) => left.compare(right),
            (Self::Str(left), Self::Str(right)) => left.as_bytes().cmp(right.as_bytes()),
            (Self::Arr(left), Self::Arr(right)) => {
                let unequal = left
                    .iter()
                    .zip(right.iter())
                    .map(|(left, right)| left.order(right));
                first_unequal(unequal).unwrap_or_else(|| left.len().cmp(&right.len()))
            }
            (Self::Obj(left), Self::Obj(right)) => order_objects(left, right),
            _ => match (self.number(), other.number()) {
                (Some(left), Some(right)) => number::compare(left, right),
                _ => self.rank().cmp(&other.rank()),
            },
        }
    }

    /// Returns whether the nesting exceeds `limit`.
    ///
    /// The nesting of a scalar is 0, and that of a container is 1 more than that of its deepest element. Levels below `limit` are
    /// not inspected.
    pub(crate) fn deeper_than(&self, limit: usize) -> bool {
        match self {
            Self::Arr(values) => {
                limit == 0 || values.iter().any(|value| value.deeper_than(limit - 1))
            }
            Self::Obj(map) => limit == 0 || map.values().any(|value| value.deeper_than(limit - 1)),
            _ => false,
        }
    }
}

/// Compares two objects by their sorted keys, then by the values in the order of the keys.
fn order_objects(left: &Map, right: &Map) -> Ordering {
    let (left_keys, right_keys) = (sorted_keys(left), sorted_keys(right));
    left_keys.cmp(&right_keys).then_with(|| {
        let values = left_keys.iter().map(|key| left[*key].order(&right[*key]));
        first_unequal(values).unwrap_or(Ordering::Equal)
    })
}

pub(crate) fn sorted_keys(map: &Map) -> Vec<&Rc<String>> {
    let mut keys: Vec<_> = map.keys().collect();
    keys.sort_unstable();
    keys
}

fn first_unequal(mut orders: impl Iterator<Item = Ordering>) -> Option<Ordering> {
    orders.find(|order| order.is_ne())
}

impl PartialEq for Val {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(left), Self::Bool(right)) => left == right,
            (Self::Str(left), Self::Str(right)) => left == right,
            (Self::Arr(left), Self::Arr(right)) => left == right,
            (Self::Obj(left), Self::Obj(right)) => left == right,
            (Self::Lit(left), Self::Lit(right)) => left.compare(right).is_eq(),
            _ => match (self.number(), other.number()) {
                (Some(left), Some(right)) => left == right,
                _ => false,
            },
        }
    }
}

impl PartialOrd for Val {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (self.number(), other.number()) {
            // `nan < nan` is true, because NaN is less than all numbers, including itself.
            (Some(left), Some(right)) if left.is_nan() && right.is_nan() => Some(Ordering::Less),
            _ => Some(self.order(other)),
        }
    }
}

impl From<bool> for Val {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<f64> for Val {
    fn from(value: f64) -> Self {
        Self::Num(value)
    }
}

impl From<isize> for Val {
    #[expect(
        clippy::cast_precision_loss,
        reason = "jq has no other numbers than doubles"
    )]
    fn from(value: isize) -> Self {
        Self::Num(value as f64)
    }
}

impl From<String> for Val {
    fn from(text: String) -> Self {
        Self::str(text)
    }
}

/// Creates the representation of a slice in a path: `{"start": …, "end": …}`.
impl From<std::ops::Range<Option<Val>>> for Val {
    fn from(range: std::ops::Range<Option<Val>>) -> Self {
        Self::record([
            ("start", range.start.unwrap_or_default()),
            ("end", range.end.unwrap_or_default()),
        ])
    }
}

impl FromIterator<Val> for Val {
    fn from_iter<I: IntoIterator<Item = Val>>(values: I) -> Self {
        Self::array(values.into_iter().collect())
    }
}
