//! Converts dates of the Chinese lunisolar calendar.

use chrono::{Days, NaiveDate};

/// The years of the table.
const FIRST_YEAR: i32 = 1970;

/// The years from 1970 to 2100.
///
/// Bits 0 to 4 are the days from 20 January to the first day of the year, bits 5 to 8 the month that a leap month
/// follows, or 0, and the bits from 9 on are set for months of 30 days. The values follow from the rules of the national
/// standard GB/T 33661-2017; three independent programs agree on them, except for two months in 1978 and 2057 whose new
/// moon is within minutes of midnight.
#[rustfmt::skip]
const YEARS: [u32; 131] = [
    0x0016_d211, 0x002e_a4a7, 0x0016_a41a, 0x0016_4a0e, 0x002c_9683, 0x0014_9616, 0x0029_570b, 0x0005_5a1d,
    0x000a_da12, 0x0016_d2c8, 0x001b_521b, 0x001b_2410, 0x003a_4a85, 0x001a_4a18, 0x0034_9b4d, 0x0014_ac1f,
    0x0005_6c14, 0x000b_6ac9, 0x000d_aa1c, 0x001d_5211, 0x003d_24a7, 0x001d_241a, 0x001a_4c0f, 0x0014_ac63,
    0x0014_ae15, 0x0029_ad0b, 0x0006_b41e, 0x000d_aa12, 0x002d_92a8, 0x000e_921b, 0x000d_2610, 0x002a_5684,
    0x000a_5617, 0x0014_b60c, 0x002a_b442, 0x000a_d414, 0x0036_aae9, 0x0017_481d, 0x0016_9212, 0x0035_26a6,
    0x0015_2a19, 0x000a_5a0e, 0x0015_5a83, 0x0015_6a15, 0x002b_552b, 0x000b_a41e, 0x001b_4a13, 0x003a_94c8,
    0x001a_941b, 0x0019_2a10, 0x002a_5c85, 0x000a_ac17, 0x0015_6a0c, 0x002b_6442, 0x000d_a415, 0x001d_4ac9,
    0x000e_4a1c, 0x000c_9611, 0x0019_2ea6, 0x0019_5618, 0x000a_b40e, 0x0015_ac63, 0x0016_d216, 0x002e_a56b,
    0x0016_a41e, 0x0016_4a13, 0x0034_96c8, 0x0014_961a, 0x0009_560f, 0x000a_b6a4, 0x000b_5a17, 0x0016_d40c,
    0x0036_a442, 0x001b_2415, 0x003a_4aea, 0x001a_4a1c, 0x0014_aa11, 0x0029_5aa6, 0x0009_6c19, 0x000b_6a0d,
    0x001b_5463, 0x001d_9216, 0x003d_250c, 0x001d_241e, 0x001a_4c13, 0x0014_acc8, 0x0014_ae1a, 0x000a_ac0f,
    0x000d_aa84, 0x000e_aa17, 0x000e_920d, 0x001d_2661, 0x000d_2614, 0x002a_56e9, 0x000a_561c, 0x0014_b610,
    0x002a_b4a6, 0x000a_d419, 0x0016_ca0e, 0x002e_9483, 0x0016_9416, 0x0035_2b0b, 0x0015_2a1e, 0x000a_5a12,
    0x0015_5ac7, 0x0015_6a1a, 0x000b_5410, 0x0017_4a84, 0x001b_4a17, 0x001a_940d, 0x0039_2a62, 0x0019_2c14,
    0x0032_9ce9, 0x000a_ac1c, 0x0015_6a11, 0x002b_64a6, 0x000d_a419, 0x001d_4a0e, 0x001c_9484, 0x000d_1615,
    0x0019_2f0a, 0x0009_561d, 0x000a_b612, 0x0015_acc7, 0x0016_d41a, 0x000e_a410, 0x002e_4a85, 0x0016_8a17,
    0x0015_160c, 0x0029_3641, 0x0009_5614,
];

/// Returns the date of a day of the lunar calendar; `None` if the month has no such day, or the table no such year.
pub(super) fn lunar_date(year: i32, month: u32, is_leap: bool, day: u32) -> Option<NaiveDate> {
    let bits = YEARS.get(usize::try_from(year - FIRST_YEAR).ok()?)?;
    let leap = bits >> 5 & 0xf;
    if !(1..=12).contains(&month) || is_leap && month != leap {
        return None;
    }
    let is_behind_leap = is_leap || leap != 0 && leap < month;
    let place = month - 1 + u32::from(is_behind_leap);
    let length = |place: u32| 29 + u64::from(bits >> (9 + place) & 1);
    (1..=length(place))
        .contains(&u64::from(day))
        .then_some(())?;
    let before: u64 = (0..place).map(length).sum();
    NaiveDate::from_ymd_opt(year, 1, 20)?.checked_add_days(Days::new(
        u64::from(bits & 0x1f) + before + u64::from(day) - 1,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn years_begin_where_the_last_month_of_the_previous_one_ends() {
        for year in FIRST_YEAR..2100 {
            let last = [30, 29]
                .into_iter()
                .find_map(|day| lunar_date(year, 12, false, day))
                .expect("the last month has at least 29 days");
            assert_eq!(last.succ_opt(), lunar_date(year + 1, 1, false, 1), "{year}");
        }
    }

    #[test]
    fn leap_months_follow_their_month() {
        let date = |year, month, is_leap, day| {
            lunar_date(year, month, is_leap, day).map(|date| date.to_string())
        };
        assert_eq!(date(2025, 6, true, 1).as_deref(), Some("2025-07-25"));
        assert_eq!(date(2025, 7, false, 1).as_deref(), Some("2025-08-23"));
        assert_eq!(date(2025, 5, true, 1), None);
        assert_eq!(date(2033, 11, true, 1).as_deref(), Some("2033-12-22"));
        assert_eq!(date(2100, 12, false, 1).as_deref(), Some("2100-12-31"));
        assert_eq!(date(2101, 1, false, 1), None);
    }
}
