//! Reads, sets and deletes values at a key or a path.

use std::rc::Rc;

use super::error::{JqEvalResult, cannot_index, runtime_error};
use super::value::{Map, Val};

/// The maximum length of a path.
const MAX_STEPS: usize = 10_000;
/// The maximum index of an array element.
const MAX_INDEX: i64 = 536_870_911;

/// Returns `value[key]`.
pub(crate) fn get(value: &Val, key: &Val) -> JqEvalResult {
    Ok(match (value, key) {
        (Val::Obj(map), Val::Str(key)) => map.get(&**key).cloned().unwrap_or_default(),
        (Val::Arr(values), Val::Num(_) | Val::Lit(_)) => index(values.len(), key)
            .and_then(|index| values.get(index).cloned())
            .unwrap_or_default(),
        (Val::Arr(values), Val::Obj(range)) => {
            let (start, end) = slice_bounds(values.len(), range)?;
            Val::array(values[start..end].to_vec())
        }
        (Val::Str(text), Val::Obj(range)) => slice_text(text, range)?,
        (Val::Arr(values), Val::Arr(sought)) => indices(values, sought),
        (Val::Null, Val::Str(_) | Val::Num(_) | Val::Lit(_) | Val::Obj(_)) => Val::Null,
        _ => return Err(cannot_index(value, key)),
    })
}

/// Returns `value` after `value[key] = new`.
pub(crate) fn set(value: Val, key: &Val, new: Val) -> JqEvalResult {
    match (value, key) {
        (Val::Null, Val::Str(_)) => set(Val::object(Map::default()), key, new),
        (Val::Null, Val::Num(_) | Val::Lit(_) | Val::Obj(_)) => {
            set(Val::array(Vec::new()), key, new)
        }
        (Val::Obj(mut map), Val::Str(key)) => {
            Rc::make_mut(&mut map).insert(key.clone(), new);
            Ok(Val::Obj(map))
        }
        (Val::Arr(mut values), Val::Num(_) | Val::Lit(_)) => {
            let index = index_to_set(values.len(), key)?;
            let values_mut = Rc::make_mut(&mut values);
            if values_mut.len() <= index {
                values_mut.resize(index + 1, Val::Null);
            }
            values_mut[index] = new;
            Ok(Val::Arr(values))
        }
        (Val::Arr(mut values), Val::Obj(range)) => {
            let (start, end) = slice_bounds(values.len(), range)?;
            let Val::Arr(new) = new else {
                return Err(runtime_error(
                    "A slice of an array can only be assigned another array",
                ));
            };
            Rc::make_mut(&mut values).splice(start..end, new.iter().cloned());
            Ok(Val::Arr(values))
        }
        (Val::Str(_), Val::Obj(_)) => Err(runtime_error("Cannot update string slices")),
        (value, key) => Err(runtime_error(format!(
            "Cannot update field at {} index of {}",
            key.kind(),
            value.kind()
        ))),
    }
}

/// Returns the value at a path; `null` if it does not exist.
pub(crate) fn get_path(value: &Val, path: &[Val]) -> JqEvalResult {
    check_length(path)?;
    let mut value = value.clone();
    for key in path {
        if matches!(value, Val::Null) {
            return Ok(Val::Null);
        }
        value = get(&value, key)?;
    }
    Ok(value)
}

/// Sets the value at a path, and creates missing objects and arrays on the way.
pub(crate) fn set_path(value: Val, path: &[Val], new: Val) -> JqEvalResult {
    check_length(path)?;
    update_path(value, path, |_| Ok(new))
}

/// Replaces the value at a path by the result of `update`.
///
/// Containers that are not shared are changed in place.
pub(crate) fn update_path<E: From<super::error::JqRuntimeError>>(
    mut value: Val,
    path: &[Val],
    update: impl FnOnce(Val) -> Result<Val, E>,
) -> Result<Val, E> {
    let Some((key, rest)) = path.split_first() else {
        return update(value);
    };
    let child = take(&mut value, key)?;
    let child = update_path(child, rest, update)?;
    Ok(set(value, key, child)?)
}

/// Returns `value[key]`, and leaves `null` in its place if `value` is not shared, which avoids a copy.
fn take(value: &mut Val, key: &Val) -> JqEvalResult {
    match (&mut *value, key) {
        (Val::Obj(map), Val::Str(key)) => {
            if let Some(map) = Rc::get_mut(map) {
                return Ok(map.get_mut(&**key).map(std::mem::take).unwrap_or_default());
            }
        }
        (Val::Arr(values), Val::Num(_) | Val::Lit(_)) => {
            if let Some(values) = Rc::get_mut(values) {
                let child = index(values.len(), key).and_then(|index| values.get_mut(index));
                return Ok(child.map(std::mem::take).unwrap_or_default());
            }
        }
        _ => (),
    }
    get(value, key)
}

/// Deletes the values at all paths, simultaneously.
pub(crate) fn delete_paths(value: Val, paths: &Val) -> JqEvalResult {
    let Val::Arr(paths) = paths else {
        return Err(runtime_error("Paths must be specified as an array"));
    };
    let mut steps = Vec::with_capacity(paths.len());
    for path in paths.iter() {
        let Val::Arr(path) = path else {
            return Err(runtime_error("Path must be specified as an array"));
        };
        check_length(path)?;
        steps.push(path.as_slice());
    }
    steps.sort_by(|left, right| order_paths(left, right));
    delete_sorted(value, &steps)
}

fn order_paths(left: &[Val], right: &[Val]) -> std::cmp::Ordering {
    let unequal = left
        .iter()
        .zip(right)
        .map(|(left, right)| left.order(right))
        .find(|order| order.is_ne());
    unequal.unwrap_or_else(|| left.len().cmp(&right.len()))
}

fn delete_sorted(mut value: Val, paths: &[&[Val]]) -> JqEvalResult {
    if paths.first().is_some_and(|path| path.is_empty()) {
        return Ok(Val::Null);
    }
    let mut whole: Vec<&Val> = Vec::new();
    // Groups are deleted in reverse order, because a deletion in an array shifts the later elements.
    for group in paths
        .chunk_by(|left, right| left[0].order(&right[0]).is_eq())
        .rev()
    {
        let key = &group[0][0];
        if group[0].len() == 1 {
            whole.push(key);
            continue;
        }
        let child = get(&value, key)?;
        if matches!(child, Val::Null) {
            continue;
        }
        drop(child);
        let rest: Vec<&[Val]> = group.iter().map(|path| &path[1..]).collect();
        let child = take(&mut value, key)?;
        value = set(value, key, delete_sorted(child, &rest)?)?;
    }
    delete_keys(value, &whole)
}

/// Deletes all keys simultaneously: each refers to the positions before the call.
fn delete_keys(value: Val, keys: &[&Val]) -> JqEvalResult {
    match value {
        value if keys.is_empty() => Ok(value),
        Val::Null => Ok(Val::Null),
        Val::Arr(mut values) => {
            let mut gone = vec![false; values.len()];
            for key in keys {
                match key {
                    Val::Num(_) | Val::Lit(_) => {
                        if let Some(gone) =
                            index(values.len(), key).and_then(|index| gone.get_mut(index))
                        {
                            *gone = true;
                        }
                    }
                    Val::Obj(range) => {
                        let (start, end) = slice_bounds(values.len(), range)?;
                        gone[start..end].fill(true);
                    }
                    other => {
                        return Err(runtime_error(format!(
                            "Cannot delete {} element of array",
                            other.kind()
                        )));
                    }
                }
            }
            let mut gone = gone.into_iter();
            Rc::make_mut(&mut values).retain(|_| !gone.next().unwrap_or(false));
            Ok(Val::Arr(values))
        }
        Val::Obj(mut map) => {
            let mut names = std::collections::HashSet::new();
            for key in keys {
                match key {
                    Val::Str(name) => names.insert(name),
                    other => {
                        return Err(runtime_error(format!(
                            "Cannot delete {} field of object",
                            other.kind()
                        )));
                    }
                };
            }
            Rc::make_mut(&mut map).retain(|name, _| !names.contains(name));
            Ok(Val::Obj(map))
        }
        other => Err(runtime_error(format!(
            "Cannot delete fields from {}",
            other.kind()
        ))),
    }
}

/// Returns the array index that `key` refers to; `None` if it is before the first element.
#[expect(
    clippy::cast_possible_truncation,
    reason = "what is beyond 64 bits is beyond every array too"
)]
fn index(length: usize, key: &Val) -> Option<usize> {
    let number = key.number().filter(|number| !number.is_nan())?;
    let index = number.trunc() as i64;
    let from_end = if index < 0 {
        i64::try_from(length).ok()?
    } else {
        0
    };
    usize::try_from(index.saturating_add(from_end)).ok()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "what is beyond 64 bits is beyond every array too"
)]
fn index_to_set(length: usize, key: &Val) -> JqEvalResult<usize> {
    let number = key.number().unwrap_or(f64::NAN);
    if number.is_nan() {
        return Err(runtime_error("Cannot set array element at NaN index"));
    }
    if MAX_INDEX < number as i64 {
        return Err(runtime_error("Array index too large"));
    }
    index(length, key).ok_or_else(|| runtime_error("Out of bounds negative array index"))
}

/// Returns the start and end of a slice: the start is rounded down, the end up.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is clamped to the length before"
)]
#[expect(clippy::cast_precision_loss, reason = "no array is longer than 2^53")]
pub(crate) fn slice_bounds(length: usize, range: &Map) -> JqEvalResult<(usize, usize)> {
    let bound = |name: &str, default: f64| match range.get(&name.to_owned()) {
        Some(Val::Null) => Ok(default),
        other => other
            .and_then(Val::number)
            .ok_or_else(|| runtime_error("Array/string slice indices must be integers")),
    };
    let count = length as f64;
    let (start, end) = (bound("start", 0.0)?, bound("end", count)?);
    let start = if start.is_nan() { 0.0 } else { start };
    let start = if start < 0.0 { start + count } else { start }
        .clamp(0.0, count)
        .floor();
    let end = if end.is_nan() { count } else { end };
    let end = if end < 0.0 { end + count } else { end }
        .clamp(0.0, count)
        .ceil();
    Ok((start as usize, end.max(start) as usize))
}

/// Returns a slice of a string, in characters.
pub(crate) fn slice_text(text: &str, range: &Map) -> JqEvalResult {
    if text.is_ascii() {
        let (start, end) = slice_bounds(text.len(), range)?;
        return Ok(Val::str(&text[start..end]));
    }
    let (start, end) = slice_bounds(text.chars().count(), range)?;
    Ok(Val::str(
        text.chars()
            .skip(start)
            .take(end - start)
            .collect::<String>(),
    ))
}

/// Returns the start positions of `sought` in `values`.
fn indices(values: &[Val], sought: &[Val]) -> Val {
    if sought.is_empty() {
        return Val::Null;
    }
    let found = values
        .windows(sought.len())
        .enumerate()
        .filter(|(_, window)| *window == sought);
    found.map(|(index, _)| Val::count(index)).collect()
}

fn check_length(path: &[Val]) -> JqEvalResult<()> {
    if MAX_STEPS < path.len() {
        Err(runtime_error("Path too deep"))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jq::read;

    fn value(text: &str) -> Val {
        read::parse_one(text).expect("it is JSON")
    }

    fn deleted(text: &str, paths: &str) -> String {
        match delete_paths(value(text), &value(paths)) {
            Ok(left) => left.to_string(),
            Err(error) => error.into_val().text().to_string(),
        }
    }

    #[test]
    fn what_is_deleted_is_counted_before_anything_is() {
        assert_eq!(deleted("[0,1,2,3]", "[[0],[-1],[1]]"), "[2]");
        assert_eq!(
            deleted("[0,1,2,3]", r#"[[{"start":1,"end":3}],[3]]"#),
            "[0]"
        );
        assert_eq!(
            deleted(r#"{"a":[1,2],"b":3}"#, r#"[["a",0],["b"],["c","d"]]"#),
            r#"{"a":[2]}"#
        );
        assert_eq!(
            deleted("5", r#"[["a"]]"#),
            "Cannot delete fields from number"
        );
    }

    #[test]
    fn a_slice_is_widened_to_whole_places() {
        let get = |text: &str, key: &str| {
            get(&value(text), &value(key))
                .expect("it is there")
                .to_string()
        };
        assert_eq!(get("[0,1,2,3]", r#"{"start":1.7,"end":2.1}"#), "[1,2]");
        assert_eq!(get("\"äöü\"", r#"{"start":-2,"end":null}"#), "\"öü\"");
        assert_eq!(get("[0,1]", r#"{"start":5,"end":1}"#), "[]");
    }

    #[test]
    fn setting_makes_what_is_missing() {
        let set =
            set_path(Val::Null, &[Val::str("a"), Val::Num(1.0)], Val::Bool(true)).expect("it fits");
        assert_eq!(set.to_string(), r#"{"a":[null,true]}"#);
    }

    #[test]
    fn what_others_hold_stays_as_it_is() {
        let before = value(r#"{"a":[1]}"#);
        let after = set_path(
            before.clone(),
            &[Val::str("a"), Val::Num(0.0)],
            Val::Num(2.0),
        )
        .expect("it fits");
        assert_eq!(
            (before.to_string(), after.to_string()),
            (r#"{"a":[1]}"#.to_owned(), r#"{"a":[2]}"#.to_owned())
        );
    }
}
