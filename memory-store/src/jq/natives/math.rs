//! Mathematical builtins.

use chrono::DateTime;
use jaq_core::native::{Fun, bome, run, v};
use memory_core::{Clock, SystemClock};

use super::builtin;
use crate::jq::engine::JqTypes;
use crate::jq::error::{JqEvalResult, type_error};
use crate::jq::value::Val;

/// Defines functions of the input.
macro_rules! unary {
    ($($name:literal => $function:expr),* $(,)?) => {
        vec![$(run::<JqTypes>(($name, v(0), |cv| {
            let function: fn(f64) -> f64 = $function;
            bome(number(&cv.1).map(|number| Val::Num(function(number))))
        }))),*]
    };
}

/// Defines functions of two arguments.
macro_rules! binary {
    ($($name:literal => $function:expr),* $(,)?) => {
        vec![$(run::<JqTypes>(($name, v(2), |mut cv| {
            let function: fn(f64, f64) -> f64 = $function;
            let (second, first) = (cv.0.pop_var(), cv.0.pop_var());
            bome(pair(&first, &second).map(|(first, second)| Val::Num(function(first, second))))
        }))),*]
    };
}

pub(super) fn natives() -> Vec<Fun<JqTypes>> {
    let mut natives = vec![
        builtin!("nan", nan),
        builtin!("infinite", infinite),
        builtin!("isnan", is_nan),
        builtin!("isinfinite", is_infinite),
        builtin!("isnormal", is_normal),
        builtin!("now", now),
        builtin!("frexp", frexp),
        builtin!("modf", modf),
        builtin!("lgamma_r", lgamma_r),
        builtin!("abs", abs),
        run(("fma", v(3), |mut cv| {
            let (third, second, first) = (cv.0.pop_var(), cv.0.pop_var(), cv.0.pop_var());
            bome((|| {
                let (first, second) = pair(&first, &second)?;
                Ok(Val::Num(first.mul_add(second, number(&third)?)))
            })())
        })),
    ];
    natives.extend(unary! {
        "floor" => f64::floor, "ceil" => f64::ceil, "round" => f64::round, "trunc" => f64::trunc,
        "rint" => f64::round_ties_even, "nearbyint" => f64::round_ties_even, "fabs" => f64::abs,
        "sqrt" => f64::sqrt, "cbrt" => f64::cbrt,
        "sin" => f64::sin, "cos" => f64::cos, "tan" => f64::tan,
        "asin" => f64::asin, "acos" => f64::acos, "atan" => f64::atan,
        "sinh" => f64::sinh, "cosh" => f64::cosh, "tanh" => f64::tanh,
        "asinh" => f64::asinh, "acosh" => f64::acosh, "atanh" => f64::atanh,
        "exp" => f64::exp, "exp2" => f64::exp2, "exp10" => libm::exp10, "pow10" => libm::exp10, "expm1" => f64::exp_m1,
        "log" => f64::ln, "log2" => f64::log2, "log10" => f64::log10, "log1p" => f64::ln_1p,
        "gamma" => libm::lgamma, "lgamma" => libm::lgamma, "tgamma" => libm::tgamma,
        "j0" => libm::j0, "j1" => libm::j1, "y0" => libm::y0, "y1" => libm::y1,
        "logb" => logb, "significand" => significand,
    });
    natives.extend(binary! {
        "pow" => f64::powf, "atan2" => f64::atan2, "hypot" => f64::hypot, "copysign" => f64::copysign,
        "fmod" => |first, second| first % second,
        "fmin" => f64::min, "fmax" => f64::max, "fdim" => libm::fdim,
        "drem" => libm::remainder, "remainder" => libm::remainder,
        "nextafter" => libm::nextafter, "nexttoward" => libm::nextafter,
        "ldexp" => scaled, "scalb" => scaled, "scalbln" => scaled,
    });
    natives
}

fn number(value: &Val) -> JqEvalResult<f64> {
    value
        .number()
        .ok_or_else(|| type_error(value, "number required"))
}

fn pair(first: &Val, second: &Val) -> JqEvalResult<(f64, f64)> {
    Ok((number(first)?, number(second)?))
}

fn nan(_: Val) -> JqEvalResult {
    Ok(Val::Num(f64::NAN))
}

fn infinite(_: Val) -> JqEvalResult {
    Ok(Val::Num(f64::INFINITY))
}

fn is_nan(value: Val) -> JqEvalResult {
    Ok(Val::Bool(number(&value)?.is_nan()))
}

fn is_infinite(value: Val) -> JqEvalResult {
    Ok(Val::Bool(number(&value)?.is_infinite()))
}

fn is_normal(value: Val) -> JqEvalResult {
    Ok(Val::Bool(number(&value)?.is_normal()))
}

/// Returns the seconds since 1970.
fn now(_: Val) -> JqEvalResult {
    let since = SystemClock.now() - DateTime::UNIX_EPOCH;
    Ok(Val::Num(since.as_seconds_f64()))
}

fn frexp(value: Val) -> JqEvalResult {
    let (mantissa, exponent) = libm::frexp(number(&value)?);
    Ok(Val::array(vec![
        Val::Num(mantissa),
        Val::Num(f64::from(exponent)),
    ]))
}

fn modf(value: Val) -> JqEvalResult {
    let number = number(&value)?;
    let fraction = if number.is_infinite() {
        0.0_f64.copysign(number)
    } else {
        (number - number.trunc()).copysign(number)
    };
    Ok(Val::array(vec![
        Val::Num(fraction),
        Val::Num(number.trunc()),
    ]))
}

fn lgamma_r(value: Val) -> JqEvalResult {
    let (gamma, sign) = libm::lgamma_r(number(&value)?);
    Ok(Val::array(vec![Val::Num(gamma), Val::Num(f64::from(sign))]))
}

fn logb(number: f64) -> f64 {
    match number {
        0.0 => f64::NEG_INFINITY,
        number if number.is_infinite() => f64::INFINITY,
        number if number.is_nan() => number,
        number => f64::from(libm::frexp(number).1 - 1),
    }
}

fn significand(number: f64) -> f64 {
    if number == 0.0 || !number.is_finite() {
        number
    } else {
        libm::frexp(number).0 * 2.0
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "any exponent beyond 32 bits gives zero or infinity as well"
)]
fn scaled(number: f64, exponent: f64) -> f64 {
    libm::scalbn(number, exponent as i32)
}

fn abs(value: Val) -> JqEvalResult {
    match value {
        Val::Num(number) => Ok(Val::Num(if number < 0.0 { -number } else { number })),
        Val::Lit(literal) => Ok(super::collections::absolute(literal)),
        // A value that is not less than 0 is its own absolute value.
        other if other < Val::Num(0.0) => -other,
        other => Ok(other),
    }
}
