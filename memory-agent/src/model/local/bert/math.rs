//! Elementwise and columnwise operations of the network, other than matrix products.
//!
//! Each operation is vectorized and compiled for the instruction set of the processor.
#![expect(
    clippy::inline_always,
    reason = "only what is inlined is compiled for the processor at hand"
)]

use pulp::Arch;

/// The activation function between the two linear halves of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Activation {
    /// `x · Φ(x)`, where Φ is the cumulative normal distribution.
    Gelu,
    /// GELU with the approximation of Φ by the hyperbolic tangent.
    GeluTanh,
    /// Replaces negative numbers by 0.
    Relu,
}

impl Activation {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        match name {
            "gelu" => Some(Self::Gelu),
            "gelu_new" | "gelu_pytorch_tanh" => Some(Self::GeluTanh),
            "relu" => Some(Self::Relu),
            _ => None,
        }
    }

    pub(super) fn apply(self, numbers: &mut [f32]) {
        match self {
            Self::Gelu => for_each_number(numbers, gelu),
            Self::GeluTanh => for_each_number(numbers, gelu_tanh),
            // A comparison with NaN is false, so NaN is preserved.
            Self::Relu => for_each_number(numbers, |x| if x < 0.0 { 0.0 } else { x }),
        }
    }
}

#[inline(always)]
fn for_each_number(numbers: &mut [f32], change: impl Fn(f32) -> f32) {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            for number in numbers.iter_mut() {
                *number = change(*number);
            }
        },
    );
}

/// Normalizes each column to mean 0 and variance 1, then applies the `scale` and `shift` of each row.
pub(super) fn normalise_columns(
    numbers: &mut [f32],
    width: usize,
    scale: &[f32],
    shift: &[f32],
    epsilon: f32,
) {
    let rows = to_f32(scale.len());
    let (mut means, mut factors) = (vec![0.0; width], vec![0.0; width]);
    Arch::new().dispatch(
        #[inline(always)]
        || {
            for row in numbers.chunks_exact(width) {
                for (mean, number) in means.iter_mut().zip(row) {
                    *mean += number;
                }
            }
            for mean in &mut means {
                *mean /= rows;
            }
            for row in numbers.chunks_exact(width) {
                for ((sum, number), mean) in factors.iter_mut().zip(row).zip(&means) {
                    *sum += (number - mean) * (number - mean);
                }
            }
            for factor in &mut factors {
                *factor = 1.0 / (*factor / rows + epsilon).sqrt();
            }
            for ((row, scale), shift) in numbers.chunks_exact_mut(width).zip(scale).zip(shift) {
                for ((number, mean), factor) in row.iter_mut().zip(&means).zip(&factors) {
                    *number = (*number - mean) * factor * scale + shift;
                }
            }
        },
    );
}

/// Applies softmax to each column, so that its numbers are positive and their sum is 1.
pub(super) fn softmax_columns(numbers: &mut [f32], width: usize) {
    let (mut largest, mut sums) = (vec![f32::MIN; width], vec![0.0; width]);
    Arch::new().dispatch(
        #[inline(always)]
        || {
            for row in numbers.chunks_exact(width) {
                for (largest, number) in largest.iter_mut().zip(row) {
                    *largest = if *largest < *number {
                        *number
                    } else {
                        *largest
                    };
                }
            }
            for row in numbers.chunks_exact_mut(width) {
                for ((number, largest), sum) in row.iter_mut().zip(&largest).zip(&mut sums) {
                    *number = exp(*number - largest);
                    *sum += *number;
                }
            }
            for sum in &mut sums {
                *sum = 1.0 / *sum;
            }
            for row in numbers.chunks_exact_mut(width) {
                for (number, factor) in row.iter_mut().zip(&sums) {
                    *number *= factor;
                }
            }
        },
    );
}

/// Converts a count to `f32`. Counts here are far below 2^24, the limit for exact conversion.
#[expect(clippy::cast_precision_loss, reason = "lengths are short")]
pub(super) fn to_f32(count: usize) -> f32 {
    count as f32
}

#[inline(always)]
fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2))
}

#[inline(always)]
fn gelu_tanh(x: f32) -> f32 {
    const FACTOR: f32 = 0.797_884_6; // √(2/π)
    0.5 * x * (1.0 + tanh(FACTOR * (x + 0.044_715 * x * x * x)))
}

#[inline(always)]
fn tanh(x: f32) -> f32 {
    // The result never exceeds 1, because e^−2|x| is between 0 and 1.
    let small = exp(-2.0 * x.abs());
    ((1.0 - small) / (1.0 + small)).copysign(x)
}

/// Returns the error function with an error below 2e-7, by formula 7.1.26 of Abramowitz and Stegun.
#[inline(always)]
fn erf(x: f32) -> f32 {
    let t = 1.0 / (1.0 + 0.327_591_1 * x.abs());
    let series = t
        * (0.254_829_6
            + t * (-0.284_496_72 + t * (1.421_413_8 + t * (-1.453_152_1 + t * 1.061_405_4))));
    (1.0 - series * exp(-x * x)).copysign(x)
}

/// Returns `e^x` with a relative error below 2e-7.
///
/// `x` is clamped to −87..=88; e^−87 is practically 0. NaN stays NaN.
#[inline(always)]
fn exp(x: f32) -> f32 {
    // Adding this constant rounds a number to an integer and moves the integer into the lowest bits.
    const ROUND: f32 = 12_582_912.0;
    // ln 2 as a sum of two constants; the first has few enough digits for exact products.
    const LN_2: (f32, f32) = (0.693_359_4, -2.121_944_4e-4);
    let x = x.clamp(-87.0, 88.0);
    let rounded = x * std::f32::consts::LOG2_E + ROUND;
    let whole = rounded - ROUND;
    let rest = x - whole * LN_2.0 - whole * LN_2.1;
    let power = 1.0
        + rest
            * (1.0
                + rest
                    * (0.5
                        + rest
                            * (1.0 / 6.0
                                + rest
                                    * (1.0 / 24.0 + rest * (1.0 / 120.0 + rest * (1.0 / 720.0))))));
    let exponent = rounded
        .to_bits()
        .wrapping_sub(ROUND.to_bits())
        .wrapping_add(127);
    power * f32::from_bits(exponent << 23)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_not_a_number_stays_so() {
        for of in [exp, erf, tanh, gelu, gelu_tanh] {
            assert!(of(f32::NAN).is_nan());
        }
        let mut numbers = [f32::NAN];
        Activation::Relu.apply(&mut numbers);
        assert!(numbers[0].is_nan());
        let mut columns = [0.0, f32::NAN, 1.0, 0.0];
        softmax_columns(&mut columns, 2);
        assert!(
            columns[1].is_nan()
                && columns[3].is_nan()
                && (columns[0] + columns[2] - 1.0).abs() < 1e-6
        );
    }

    #[test]
    fn the_error_function_is_what_tables_say() {
        for (x, expected) in [
            (0.0, 0.0),
            (0.1, 0.112_462_92),
            (0.5, 0.520_499_9),
            (1.0, 0.842_700_8),
            (2.0, 0.995_322_3),
            (9.0, 1.0),
        ] {
            assert!(
                (erf(x) - expected).abs() < 4e-7 && (erf(-x) + expected).abs() < 4e-7,
                "{x}: {}",
                erf(x)
            );
        }
        assert!(gelu(-20.0).abs() < 1e-6 && (gelu(20.0) - 20.0).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn e_to_the_power_is_right_to_the_last_digits(x in -87_f32..88.0) {
            let expected = f64::from(x).exp();
            prop_assert!((f64::from(exp(x)) / expected - 1.0).abs() < 4e-7, "{}", exp(x));
        }

        #[test]
        fn no_number_is_too_large_or_small(x: f32) {
            prop_assume!(x.is_finite());
            prop_assert!(exp(x).is_finite() && 0.0 < exp(x));
            prop_assert!(erf(x).abs() <= 1.0 + 1e-6 && tanh(x).abs() <= 1.0);
            prop_assert!((f64::from(tanh(x)) - f64::from(x).tanh()).abs() < 1e-6);
        }

        #[test]
        fn columns_come_out_with_mean_0_and_variance_1(column in prop::collection::vec(-1e3_f32..1e3, 2..40)) {
            let mut numbers: Vec<f32> = column.iter().flat_map(|number| [*number, 5.0]).collect();
            let (ones, zeros) = (vec![1.0; column.len()], vec![0.0; column.len()]);
            normalise_columns(&mut numbers, 2, &ones, &zeros, 1e-12);
            let count = to_f32(column.len());
            let first: Vec<f32> = numbers.iter().step_by(2).copied().collect();
            let spread = column.iter().fold(0.0_f32, |spread, number| spread.max((number - column[0]).abs()));
            prop_assume!(0.1 < spread);
            prop_assert!((first.iter().sum::<f32>() / count).abs() < 1e-2);
            prop_assert!((first.iter().map(|number| number * number).sum::<f32>() / count - 1.0).abs() < 1e-2);
            prop_assert!(numbers.iter().skip(1).step_by(2).all(|number| number.abs() < 1e-6), "columns do not see each other");
        }
    }
}
