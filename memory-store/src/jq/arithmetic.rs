//! The operators `+ - * / %` on values.

use std::ops::{Add, Div, Mul, Neg, Rem, Sub};
use std::rc::Rc;

use super::error::{JqEvalResult, pair_error, runtime_error, type_error};
use super::value::{Map, Val};

/// The maximum nesting of objects in a merge.
const MAX_DEPTH: usize = 10_000;
/// The maximum length in bytes of a repeated string.
const MAX_BYTES: usize = (1 << 31) - 1;

impl Add for Val {
    type Output = JqEvalResult;

    fn add(self, other: Self) -> JqEvalResult {
        Ok(match (self, other) {
            (Val::Null, value) | (value, Val::Null) => value,
            (Val::Str(mut left), Val::Str(right)) => {
                Rc::make_mut(&mut left).push_str(&right);
                Val::Str(left)
            }
            (Val::Arr(mut left), Val::Arr(right)) => {
                let values = Rc::make_mut(&mut left);
                match Rc::try_unwrap(right) {
                    Ok(mut right) => values.append(&mut right),
                    Err(right) => values.extend(right.iter().cloned()),
                }
                Val::Arr(left)
            }
            (Val::Obj(mut left), Val::Obj(right)) => {
                let map = Rc::make_mut(&mut left);
                match Rc::try_unwrap(right) {
                    Ok(right) => map.extend(right),
                    Err(right) => map.extend(
                        right
                            .iter()
                            .map(|(key, value)| (key.clone(), value.clone())),
                    ),
                }
                Val::Obj(left)
            }
            (left, right) => match (left.number(), right.number()) {
                (Some(left), Some(right)) => Val::Num(left + right),
                _ => return Err(pair_error(&left, &right, "cannot be added")),
            },
        })
    }
}

impl Sub for Val {
    type Output = JqEvalResult;

    fn sub(self, other: Self) -> JqEvalResult {
        Ok(match (self, other) {
            (Val::Arr(mut left), Val::Arr(right)) => {
                Rc::make_mut(&mut left).retain(|value| !right.contains(value));
                Val::Arr(left)
            }
            (left, right) => match (left.number(), right.number()) {
                (Some(left), Some(right)) => Val::Num(left - right),
                _ => return Err(pair_error(&left, &right, "cannot be subtracted")),
            },
        })
    }
}

impl Mul for Val {
    type Output = JqEvalResult;

    fn mul(self, other: Self) -> JqEvalResult {
        match (self, other) {
            (Val::Str(text), number @ (Val::Num(_) | Val::Lit(_)))
            | (number @ (Val::Num(_) | Val::Lit(_)), Val::Str(text)) => {
                repeat(&text, number.number().unwrap_or(f64::NAN))
            }
            (Val::Obj(left), Val::Obj(right)) => merge(left, &right, 0).map(Val::Obj),
            (left, right) => match (left.number(), right.number()) {
                (Some(left), Some(right)) => Ok(Val::Num(left * right)),
                _ => Err(pair_error(&left, &right, "cannot be multiplied")),
            },
        }
    }
}

impl Div for Val {
    type Output = JqEvalResult;

    fn div(self, other: Self) -> JqEvalResult {
        match (&self, &other) {
            (Val::Str(text), Val::Str(separator)) => Ok(split(text, separator)),
            (left, right) => match (left.number(), right.number()) {
                (Some(_), Some(0.0)) => Err(pair_error(
                    left,
                    right,
                    "cannot be divided because the divisor is zero",
                )),
                (Some(left), Some(right)) => Ok(Val::Num(left / right)),
                _ => Err(pair_error(left, right, "cannot be divided")),
            },
        }
    }
}

impl Rem for Val {
    type Output = JqEvalResult;

    /// Returns the remainder of the integer parts; fractions are discarded.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a number beyond 64 bits counts as the greatest within"
    )]
    #[expect(
        clippy::cast_precision_loss,
        reason = "a double is all that there is to answer with"
    )]
    fn rem(self, other: Self) -> JqEvalResult {
        let (Some(left), Some(right)) = (self.number(), other.number()) else {
            return Err(pair_error(&self, &other, "cannot be divided (remainder)"));
        };
        if left.is_nan() || right.is_nan() {
            return Ok(Val::Num(f64::NAN));
        }
        match right as i64 {
            0 => Err(pair_error(
                &self,
                &other,
                "cannot be divided (remainder) because the divisor is zero",
            )),
            right => Ok(Val::Num((left as i64).wrapping_rem(right) as f64)),
        }
    }
}

impl Neg for Val {
    type Output = JqEvalResult;

    fn neg(self) -> JqEvalResult {
        match self {
            Val::Num(number) => Ok(Val::Num(-number)),
            Val::Lit(literal) => Ok(Val::Lit(Rc::new(literal.negate()))),
            other => Err(type_error(&other, "cannot be negated")),
        }
    }
}

/// Splits a string at `separator`, or into its characters if `separator` is empty.
pub(crate) fn split(text: &str, separator: &str) -> Val {
    if text.is_empty() {
        Val::array(Vec::new())
    } else if separator.is_empty() {
        text.chars().map(Val::str).collect()
    } else {
        text.split(separator).map(Val::str).collect()
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is not negative, and bounded below"
)]
fn repeat(text: &str, times: f64) -> JqEvalResult {
    if times < 0.0 || times.is_nan() {
        return Ok(Val::Null);
    }
    let times = if text.is_empty() { 0 } else { times as usize };
    if MAX_BYTES <= text.len().saturating_mul(times) {
        return Err(runtime_error("Repeat string result too long"));
    }
    Ok(Val::str(text.repeat(times)))
}

/// Merges two objects recursively; for other values the right one is used.
fn merge(mut left: Rc<Map>, right: &Rc<Map>, depth: usize) -> JqEvalResult<Rc<Map>> {
    if MAX_DEPTH < depth {
        return Err(runtime_error("Object merge too deep"));
    }
    let map = Rc::make_mut(&mut left);
    for (key, value) in right.iter() {
        let merged = match (map.get_mut(key).map(std::mem::take), value) {
            (Some(Val::Obj(left)), Val::Obj(right)) => Val::Obj(merge(left, right, depth + 1)?),
            _ => value.clone(),
        };
        map.insert(key.clone(), merged);
    }
    Ok(left)
}
