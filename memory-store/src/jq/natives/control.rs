//! Builtins for constants, errors, ranges, inputs and termination.

use jaq_core::box_iter::box_once;
use jaq_core::native::{Fun, bome, run, v};
use jaq_core::{Bind, Exn, Native};

use super::builtin;
use crate::jq::definitions;
use crate::jq::engine::JqTypes;
use crate::jq::error::{JqEvalResult, JqRuntimeError, runtime_error, type_error};
use crate::jq::value::Val;

pub(super) fn natives() -> Vec<Fun<JqTypes>> {
    let nothing =
        Native::new(|_| Box::new(std::iter::empty())).with_paths(|_| Box::new(std::iter::empty()));
    let error = Native::new(|cv| bome(Err(JqRuntimeError::new(cv.1))))
        .with_paths(|cv| box_once(Err(Exn::from(JqRuntimeError::new(cv.1.0)))));
    let identity = || Native::new(|cv| box_once(Ok(cv.1))).with_paths(|cv| box_once(Ok(cv.1)));
    let mut natives = vec![
        ("empty", v(0), nothing),
        ("error", v(0), error),
        ("debug", v(0), identity()),
        ("stderr", v(0), identity()),
        builtin!("true", always_true),
        builtin!("false", always_false),
        builtin!("null", null),
        builtin!("not", not),
        builtin!("builtins", builtins),
        run(("range", v(2), |mut cv| {
            let (end, start) = (cv.0.pop_var(), cv.0.pop_var());
            range(&start, &end, &Val::Num(1.0))
        })),
        run(("range", v(3), |mut cv| {
            let (step, end, start) = (cv.0.pop_var(), cv.0.pop_var(), cv.0.pop_var());
            range(&start, &end, &step)
        })),
        run(("input", v(0), |cv| {
            bome(match cv.0.data().shared().next() {
                Some(Ok(value)) => Ok(value),
                Some(Err(flaw)) => Err(runtime_error(flaw.to_string())),
                None => Err(runtime_error("No more inputs")),
            })
        })),
        run(("halt", v(0), |_| box_once(Err(Exn::halt(0))))),
        run(("halt_error", v(1), |mut cv| {
            let code = cv.0.pop_var();
            let Some(code) = code.number() else {
                return bome(Err(type_error(&code, "halt_error/1: number required")));
            };
            *cv.0.data().shared().halted.borrow_mut() = Some(cv.1);
            #[expect(clippy::cast_possible_truncation, reason = "an exit code is small")]
            box_once(Err(Exn::halt(code as i32)))
        })),
    ];
    let renamed = jaq_core::funs::<JqTypes>().filter_map(|(name, args, native)| {
        let name = match name {
            "first" if args.len() == 1 => "first",
            "last" if args.len() == 1 => "last",
            "limit" => "_limit",
            "skip" => "_skip",
            _ => return None,
        };
        Some((name, args, native))
    });
    natives.extend(renamed);
    let function: Box<[Bind]> = [Bind::Fun(())].into();
    let last_or_null = Native::new(|mut cv| {
        let (filter, ctx) = cv.0.pop_fun();
        box_once(
            filter
                .run((ctx, cv.1))
                .try_fold(Val::Null, |_, value| value),
        )
    })
    .with_paths(|mut cv| {
        let (filter, ctx) = cv.0.pop_fun();
        let path = cv.1.1.clone();
        box_once(
            filter
                .paths((ctx, cv.1))
                .try_fold((Val::Null, path), |_, value| value),
        )
    });
    natives.push(("_last_or_null", function, last_or_null));
    natives.push(builtin!("_last_of_round", last_of_round));
    natives
}

type JqValueStream<'a> = jaq_core::ValXs<'a, Val>;

fn range<'a>(start: &Val, end: &Val, step: &Val) -> JqValueStream<'a> {
    let (Some(start), Some(end), Some(step)) = (start.number(), end.number(), step.number()) else {
        return bome(Err(runtime_error("Range bounds must be numeric")));
    };
    let mut next = start;
    Box::new(std::iter::from_fn(move || {
        let within = if 0.0 < step {
            next < end
        } else {
            step < 0.0 && end < next
        };
        within.then(|| {
            let this = next;
            next += step;
            Ok(Val::Num(this))
        })
    }))
}

fn always_true(_: Val) -> JqEvalResult {
    Ok(Val::Bool(true))
}

fn always_false(_: Val) -> JqEvalResult {
    Ok(Val::Bool(false))
}

fn null(_: Val) -> JqEvalResult {
    Ok(Val::Null)
}

fn not(value: Val) -> JqEvalResult {
    Ok(Val::Bool(!value.truthy()))
}

/// Returns the last output of the previous round of `foreach`.
fn last_of_round(outputs: Val) -> JqEvalResult {
    Ok(match outputs {
        Val::Arr(outputs) => outputs.last().cloned().unwrap_or_default(),
        _ => Val::Null,
    })
}

/// Returns `name/arity` of all builtins that a program may call.
fn builtins(_: Val) -> JqEvalResult {
    let natives = super::all()
        .into_iter()
        .map(|(name, args, _)| (name.to_owned(), args.len()));
    let names = natives
        .chain(definitions::names())
        .filter(|(name, _)| !name.starts_with('_'));
    let mut names: Vec<String> = names
        .map(|(name, arity)| format!("{name}/{arity}"))
        .collect();
    names.sort();
    names.dedup();
    Ok(names.into_iter().map(Val::str).collect())
}
