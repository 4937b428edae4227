//! Builtins for arrays and objects.

use std::cmp::Ordering;
use std::rc::Rc;

use jaq_core::native::{Fun, run, v};

use super::builtin;
use crate::jq::engine::JqTypes;
use crate::jq::error::{JqEvalResult, pair_error, runtime_error, type_error};
use crate::jq::json_path;
use crate::jq::literal::Literal;
use crate::jq::value::{Val, sorted_keys};

/// The maximum nesting for comparisons.
const MAX_DEPTH: usize = 10_000;

pub(super) fn natives() -> Vec<Fun<JqTypes>> {
    vec![
        builtin!("length", length),
        builtin!("keys", keys),
        builtin!("keys_unsorted", keys_unsorted),
        builtin!("has", has, 1),
        builtin!("contains", contains, 1),
        builtin!("add", add),
        builtin!("reverse", reverse),
        builtin!("sort", sort),
        builtin!("unique", unique),
        builtin!("type", type_name),
        builtin!("_sort_by", sort_by, 1),
        builtin!("_group_by", group_by, 1),
        builtin!("_unique_by", unique_by, 1),
        builtin!("_min_by", min_by, 1),
        builtin!("_max_by", max_by, 1),
        builtin!("_flatten", flatten, 1),
        builtin!("bsearch", bsearch, 1),
        run(("tostream", v(0), |cv| {
            let mut events = Vec::new();
            stream(&cv.1, &mut Vec::new(), &mut events);
            Box::new(events.into_iter().map(Ok))
        })),
    ]
}

fn type_name(value: Val) -> JqEvalResult {
    Ok(Val::str(value.kind()))
}

pub(super) fn length(value: Val) -> JqEvalResult {
    Ok(match value {
        Val::Null => Val::Num(0.0),
        Val::Bool(_) => return Err(type_error(&value, "has no length")),
        Val::Num(number) => Val::Num(number.abs()),
        Val::Lit(literal) => absolute(literal),
        Val::Str(text) => Val::count(text.chars().count()),
        Val::Arr(values) => Val::count(values.len()),
        Val::Obj(map) => Val::count(map.len()),
    })
}

pub(super) fn absolute(literal: Rc<Literal>) -> Val {
    if literal.double().is_sign_negative() {
        Val::Lit(Rc::new(literal.negate()))
    } else {
        Val::Lit(literal)
    }
}

fn keys(value: Val) -> JqEvalResult {
    match &value {
        Val::Obj(map) => Ok(sorted_keys(map)
            .into_iter()
            .cloned()
            .map(Val::Str)
            .collect()),
        _ => keys_unsorted(value),
    }
}

fn keys_unsorted(value: Val) -> JqEvalResult {
    match &value {
        Val::Obj(map) => Ok(map.keys().cloned().map(Val::Str).collect()),
        Val::Arr(values) => Ok((0..values.len()).map(Val::count).collect()),
        _ => Err(type_error(&value, "has no keys")),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "what is beyond 64 bits is beyond every array too"
)]
fn has(value: Val, key: &Val) -> JqEvalResult {
    Ok(Val::Bool(match (&value, key) {
        (Val::Null, _) => false,
        (Val::Obj(map), Val::Str(key)) => map.contains_key(&**key),
        (Val::Arr(values), Val::Num(_) | Val::Lit(_)) => {
            let index = key.number().filter(|index| !index.is_nan());
            index.is_some_and(|index| {
                usize::try_from(index as i64).is_ok_and(|index| index < values.len())
            })
        }
        _ => {
            let message = format!(
                "Cannot check whether {} has a {} key",
                value.kind(),
                key.kind()
            );
            return Err(runtime_error(message));
        }
    }))
}

fn contains(value: Val, part: &Val) -> JqEvalResult {
    if value.deeper_than(MAX_DEPTH) && part.deeper_than(MAX_DEPTH) {
        return Err(runtime_error("Containment check too deep"));
    }
    if value.kind() == part.kind() {
        Ok(Val::Bool(contains_part(&value, part)))
    } else {
        Err(pair_error(
            &value,
            part,
            "cannot have their containment checked",
        ))
    }
}

fn contains_part(value: &Val, part: &Val) -> bool {
    match (value, part) {
        (Val::Obj(map), Val::Obj(part)) => part
            .iter()
            .all(|(key, part)| map.get(key).is_some_and(|value| contains_part(value, part))),
        (Val::Arr(values), Val::Arr(parts)) => parts
            .iter()
            .all(|part| values.iter().any(|value| contains_part(value, part))),
        (Val::Str(text), Val::Str(part)) => text.contains(&***part),
        _ => value == part,
    }
}

fn add(value: Val) -> JqEvalResult {
    let values: Vec<Val> = jaq_core::ValT::values(value).collect::<Result<_, _>>()?;
    values
        .into_iter()
        .try_fold(Val::Null, |sum, value| sum + value)
}

/// Reverses a string or an array; other values must have a length below 1.
fn reverse(value: Val) -> JqEvalResult {
    match value {
        Val::Str(text) => Ok(Val::str(text.chars().rev().collect::<String>())),
        Val::Arr(mut values) => {
            Rc::make_mut(&mut values).reverse();
            Ok(Val::Arr(values))
        }
        other => {
            let last = (length(other.clone())? - Val::Num(1.0))?;
            if last < Val::Num(0.0) {
                Ok(Val::array(Vec::new()))
            } else {
                json_path::get(&other, &last)
            }
        }
    }
}

fn sort(value: Val) -> JqEvalResult {
    let mut values = sortable(value)?;
    Rc::make_mut(&mut values).sort_by(Val::order);
    Ok(Val::Arr(values))
}

fn unique(value: Val) -> JqEvalResult {
    let mut values = sortable(value)?;
    let sorted = Rc::make_mut(&mut values);
    sorted.sort_by(Val::order);
    sorted.dedup_by(|right, left| left.order(right).is_eq());
    Ok(Val::Arr(values))
}

fn sortable(value: Val) -> JqEvalResult<Rc<Vec<Val>>> {
    match value {
        Val::Arr(values) if values.iter().any(|value| value.deeper_than(MAX_DEPTH)) => {
            Err(runtime_error("Comparison too deep"))
        }
        Val::Arr(values) => Ok(values),
        other => Err(type_error(
            &other,
            "cannot be sorted, as it is not an array",
        )),
    }
}

/// Returns each value with the key at the same index, sorted by the keys; the sort is stable.
fn sort_with_keys(value: Val, keys: &Val) -> JqEvalResult<Vec<(Val, Val)>> {
    let (Val::Arr(values), Val::Arr(keys)) = (&value, keys) else {
        return Err(pair_error(
            &value,
            keys,
            "cannot be sorted, as they are not both arrays",
        ));
    };
    let mut pairs: Vec<(Val, Val)> = keys.iter().cloned().zip(values.iter().cloned()).collect();
    pairs.sort_by(|(left, _), (right, _)| left.order(right));
    Ok(pairs)
}

fn sort_by(value: Val, keys: &Val) -> JqEvalResult {
    Ok(sort_with_keys(value, keys)?
        .into_iter()
        .map(|(_, value)| value)
        .collect())
}

fn group_by(value: Val, keys: &Val) -> JqEvalResult {
    let pairs = sort_with_keys(value, keys)?;
    let groups = pairs.chunk_by(|(left, _), (right, _)| left.order(right).is_eq());
    Ok(groups
        .map(|group| group.iter().map(|(_, value)| value.clone()).collect())
        .collect())
}

fn unique_by(value: Val, keys: &Val) -> JqEvalResult {
    let pairs = sort_with_keys(value, keys)?;
    let groups = pairs.chunk_by(|(left, _), (right, _)| left.order(right).is_eq());
    Ok(groups.map(|group| group[0].1.clone()).collect())
}

fn min_by(value: Val, keys: &Val) -> JqEvalResult {
    extreme(&value, keys, Ordering::is_lt)
}

fn max_by(value: Val, keys: &Val) -> JqEvalResult {
    extreme(&value, keys, Ordering::is_ge)
}

/// Returns the value with the best key: a key replaces the best one so far if it is `better`.
fn extreme(value: &Val, keys: &Val, better: fn(Ordering) -> bool) -> JqEvalResult {
    let (Val::Arr(values), Val::Arr(keys)) = (value, keys) else {
        return Err(pair_error(value, keys, "cannot be iterated over"));
    };
    let mut pairs = keys.iter().zip(values.iter());
    let Some(mut best) = pairs.next() else {
        return Ok(Val::Null);
    };
    for pair in pairs {
        if better(pair.0.order(best.0)) {
            best = pair;
        }
    }
    Ok(best.1.clone())
}

fn flatten(value: Val, depth: &Val) -> JqEvalResult {
    fn flatten_into(values: impl IntoIterator<Item = Val>, depth: f64, flat: &mut Vec<Val>) {
        for value in values {
            match value {
                Val::Arr(values) if depth != 0.0 => {
                    flatten_into(values.iter().cloned(), depth - 1.0, flat);
                }
                other => flat.push(other),
            }
        }
    }
    let depth = depth.number().unwrap_or(f64::INFINITY);
    let values: Vec<Val> = jaq_core::ValT::values(value).collect::<Result<_, _>>()?;
    let mut flat = Vec::new();
    flatten_into(values, depth, &mut flat);
    Ok(Val::array(flat))
}

/// Returns the index of a value in a sorted array, or `-1 - index` of its insertion point.
fn bsearch(value: Val, sought: &Val) -> JqEvalResult {
    let Val::Arr(values) = &value else {
        return Err(type_error(&value, "cannot be searched from"));
    };
    Ok(match values.binary_search_by(|value| value.order(sought)) {
        Ok(_) => Val::count(values.partition_point(|value| value.order(sought).is_lt())),
        Err(index) => (Val::Num(-1.0) - Val::count(index))?,
    })
}

/// Collects the events of `tostream`.
///
/// These are each leaf with its path, and after each container the path of its last child.
fn stream(value: &Val, path: &mut Vec<Val>, events: &mut Vec<Val>) {
    let children: Vec<(Val, &Val)> = match value {
        Val::Arr(values) => values
            .iter()
            .enumerate()
            .map(|(index, value)| (Val::count(index), value))
            .collect(),
        Val::Obj(map) => map
            .iter()
            .map(|(key, value)| (Val::Str(key.clone()), value))
            .collect(),
        _ => Vec::new(),
    };
    let Some((last, _)) = children.last().cloned() else {
        events.push(Val::array(vec![Val::array(path.clone()), value.clone()]));
        return;
    };
    for (key, child) in children {
        path.push(key);
        stream(child, path, events);
        path.pop();
    }
    path.push(last);
    events.push(Val::array(vec![Val::array(path.clone())]));
    path.pop();
}
