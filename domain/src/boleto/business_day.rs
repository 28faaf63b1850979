//! x
use chrono::NaiveDate;
/// r
pub fn roll(date: NaiveDate) -> NaiveDate {
    date
}
/// a
pub fn add(date: NaiveDate, _n: u32) -> NaiveDate {
    date
}
