//! Builtins for paths and updates.

use jaq_core::box_iter::box_once;
use jaq_core::native::{Fun, bome, run, v};
use jaq_core::{Bind, Ctx, Error, Exn, Native, ValX, compile::TermId};

use super::builtin;
use crate::jq::engine::JqTypes;
use crate::jq::error::{JqEvalResult, runtime_error};
use crate::jq::json_path;
use crate::jq::value::Val;
use crate::jq::write::excerpt;

pub(super) fn natives() -> Vec<Fun<JqTypes>> {
    let one: Box<[Bind]> = [Bind::Fun(())].into();
    let two: Box<[Bind]> = [Bind::Fun(()), Bind::Fun(())].into();
    let get_path = Native::new(|mut cv| {
        let path = cv.0.pop_var();
        bome(get_path(&cv.1, &path))
    })
    .with_paths(|mut cv| {
        let path = cv.0.pop_var();
        let (value, before) = cv.1;
        let end = get_path(&value, &path).unwrap_or_default();
        let Val::Arr(keys) = path else {
            return box_once(Err(Exn::from(runtime_error(
                "Path must be specified as an array",
            ))));
        };
        box_once(Ok((
            end,
            keys.iter().fold(before, |path, key| path.cons(key.clone())),
        )))
    });
    vec![
        ("getpath", v(1), get_path),
        run(("path", one, |mut cv| {
            let (filter, ctx) = cv.0.pop_fun();
            paths(filter, ctx, cv.1)
        })),
        run(("_modify", two.clone(), |mut cv| {
            let (update, update_ctx) = cv.0.pop_fun();
            let (filter, ctx) = cv.0.pop_fun();
            box_once(modify((filter, ctx), (update, update_ctx), cv.1))
        })),
        run(("_assign", two, |mut cv| {
            let (source, source_ctx) = cv.0.pop_fun();
            let (filter, ctx) = cv.0.pop_fun();
            let input = cv.1.clone();
            Box::new(source.run((source_ctx, cv.1)).map(move |new| {
                let new = new?;
                let mut value = input.clone();
                for path in paths(filter, ctx.clone(), input.clone()) {
                    value = set_path(value, &path?, &new)?;
                }
                Ok(value)
            }))
        })),
        builtin!("setpath", set_path, 2),
        builtin!("delpaths", json_path::delete_paths, 1),
    ]
}

type Closure<'a> = (TermId, Ctx<'a, JqTypes>);

/// Returns the paths of the outputs of `filter`.
fn paths(filter: TermId, ctx: Ctx<'_, JqTypes>, input: Val) -> jaq_core::ValXs<'_, Val> {
    #[expect(
        clippy::default_trait_access,
        reason = "jaq does not tell the name of its list"
    )]
    let start = (input.clone(), Default::default());
    let found = filter.paths((ctx.clone(), start));
    Box::new(found.map(move |found| match found {
        Ok((_, path)) => {
            let mut keys: Vec<Val> = path.iter().cloned().collect();
            keys.reverse();
            Ok(Val::array(keys))
        }
        Err(error) => Err(error.get_err().map_or_else(
            |other| other,
            |error| Exn::from(adapt_path_error(error, filter, ctx.clone(), input.clone())),
        )),
    }))
}

/// Adapts the message for an invalid path: jaq shows the input of the expression, jq its result.
fn adapt_path_error(
    error: Error<Val>,
    filter: TermId,
    ctx: Ctx<'_, JqTypes>,
    input: Val,
) -> Error<Val> {
    let Val::Str(message) = error.clone().into_val() else {
        return error;
    };
    if !message.starts_with("invalid path expression with input ") {
        return error;
    }
    match filter.run((ctx, input)).next() {
        Some(Ok(result)) => runtime_error(format!(
            "Invalid path expression with result {}",
            excerpt(&result)
        )),
        Some(Err(other)) => other.get_err().unwrap_or(error),
        None => error,
    }
}

fn get_path(value: &Val, path: &Val) -> JqEvalResult {
    match path {
        Val::Arr(keys) => json_path::get_path(value, keys),
        _ => Err(runtime_error("Path must be specified as an array")),
    }
}

fn set_path(value: Val, path: &Val, new: &Val) -> JqEvalResult {
    match path {
        Val::Arr(keys) => json_path::set_path(value, keys, new.clone()),
        _ => Err(runtime_error("Path must be specified as an array")),
    }
}

/// Evaluates `filter |= update`.
///
/// The first output of `update` is the new value; without an output the path is deleted.
fn modify<'a>(filter: Closure<'a>, update: Closure<'a>, input: Val) -> ValX<'a, Val> {
    let places: Vec<Val> = paths(filter.0, filter.1, input.clone()).collect::<Result<_, _>>()?;
    let mut value = input;
    let mut gone = Vec::new();
    for path in places {
        let Val::Arr(keys) = &path else { continue };
        let renew = |old: Val| update.0.run((update.1.clone(), old)).next();
        // A missing value is not created if it would be deleted again.
        if matches!(json_path::get_path(&value, keys), Ok(Val::Null)) {
            match renew(Val::Null) {
                Some(new) => value = json_path::set_path(value, keys, new?)?,
                None => gone.push(path),
            }
            continue;
        }
        let mut empty = false;
        value = json_path::update_path::<Exn<'a, Val>>(value, keys, |old| {
            let new = renew(old);
            empty = new.is_none();
            new.unwrap_or(Ok(Val::Null))
        })?;
        if empty {
            gone.push(path);
        }
    }
    Ok(if gone.is_empty() {
        value
    } else {
        json_path::delete_paths(value, &Val::array(gone))?
    })
}
