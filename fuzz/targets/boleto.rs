//! Bar codes and lines, due-date factors, business days, and the bars themselves.
#![no_main]

use chrono::NaiveDate;
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use quita_domain::boleto::barcode::MAX_AMOUNT_CENTS;
use quita_domain::boleto::{self, Barcode, CollectionAccount, Line, business_day, due_factor, interleaved};
use quita_fuzz::{split, text, with_one_changed};

fuzz_target!(|data: &[u8]| {
    let (choice, rest) = split(data);
    match choice % 4 {
        0 => read(&text(rest)),
        1 => {
            let _ended: Result<()> = digits(&mut Unstructured::new(rest));
        }
        2 => {
            let _ended: Result<()> = composed(&mut Unstructured::new(rest));
        }
        _ => {
            let _ended: Result<()> = days(&mut Unstructured::new(rest));
        }
    }
});

fn read(code: &str) {
    assert!(interleaved::modules(code).is_none_or(|modules| modules.len() == 5 * code.len() + 7));
    if let Ok(line) = Line::parse(code) {
        assert_eq!(line.barcode().line(), line);
        let bare: String = code.chars().filter(char::is_ascii_digit).collect();
        assert_eq!(line.as_str(), bare);
    }
    if let Ok(barcode) = boleto::parse(code) {
        same(&barcode);
    }
}

fn same(barcode: &Barcode) {
    let line = barcode.line();
    assert_eq!(Barcode::parse(barcode.as_str()).as_ref(), Ok(barcode));
    assert_eq!(boleto::parse(line.as_str()).as_ref(), Ok(barcode));
    assert_eq!(boleto::parse(&line.formatted()).as_ref(), Ok(barcode));
    assert!(interleaved::modules(barcode.as_str()).is_some());
    assert!(barcode.amount_cents() <= MAX_AMOUNT_CENTS);
}

/// Checks that one of ten general check digits is right. A changed digit in a field of the line is detected.
fn digits(input: &mut Unstructured<'_>) -> Result<()> {
    let mut digits = [b'0'; 44];
    for digit in &mut digits {
        *digit = b'0' + input.arbitrary::<u8>()? % 10;
    }
    digits[3] = b'9';
    let mut right = Vec::new();
    for general in b'0'..=b'9' {
        digits[4] = general;
        right.extend(Barcode::parse(std::str::from_utf8(&digits).expect("digits")));
    }
    assert_eq!(
        right.len(),
        usize::from(digits[0] != b'8'),
        "one general digit is right, if it is no utility slip"
    );
    for barcode in right {
        same(&barcode);
        let line = barcode.line();
        let place = input.int_in_range(0..=31_usize)?;
        let digit = b'0' + input.arbitrary::<u8>()? % 10;
        if let Some(changed) = with_one_changed(line.as_str(), place, digit) {
            assert!(Line::parse(&changed).is_err(), "{line} was changed to {changed}");
        }
    }
    Ok(())
}

fn composed(input: &mut Unstructured<'_>) -> Result<()> {
    let branch = part(input)?;
    let account = part(input)?;
    let wallet = part(input)?;
    let account = match input.int_in_range(0..=3_u8)? {
        0 => CollectionAccount::itau(&branch, &account, &wallet),
        1 => CollectionAccount::banco_do_brasil(&account, &wallet),
        2 => CollectionAccount::bradesco(&branch, &account, &wallet),
        _ => CollectionAccount::santander(&account, &wallet),
    };
    let Ok(account) = account else { return Ok(()) };
    let _printed = account.beneficiary_code();
    let number = input.arbitrary::<u64>()?;
    let Ok(field) = account.free_field(number >> input.int_in_range(0..=63_u8)?) else { return Ok(()) };
    let due = if input.arbitrary()? { Some(day(input)?) } else { None };
    let cents = input.arbitrary::<u64>()? >> input.int_in_range(0..=63_u8)?;
    match Barcode::compose(due, cents, &field) {
        Ok(barcode) => {
            same(&barcode);
            assert_eq!((barcode.amount_cents(), barcode.free_field()), (cents, field.as_str()));
            assert_eq!(due.and_then(|due| barcode.due_date(due)), due);
        }
        Err(_) => {
            assert!(cents > MAX_AMOUNT_CENTS || due.is_some_and(|due| due_factor::factor(due).is_none()))
        }
    }
    Ok(())
}

/// Returns digits, or sometimes any text.
fn part(input: &mut Unstructured<'_>) -> Result<String> {
    if input.ratio(1, 16)? {
        return input.arbitrary();
    }
    let length = input.int_in_range(0..=8_u32)?;
    Ok((input.arbitrary::<u32>()? % 10_u32.pow(length)).to_string())
}

fn day(input: &mut Unstructured<'_>) -> Result<NaiveDate> {
    let days = if input.ratio(3, 4)? { input.int_in_range(720_000..=780_000)? } else { input.arbitrary()? };
    Ok(NaiveDate::from_num_days_from_ce_opt(days).unwrap_or(NaiveDate::MAX))
}

fn days(input: &mut Unstructured<'_>) -> Result<()> {
    let date = day(input)?;
    let reference = day(input)?;
    let count = input.int_in_range(0..=40_u32)?;
    let rolled = business_day::roll(date);
    assert!(rolled >= date && (business_day::is_business_day(rolled) || rolled == NaiveDate::MAX));
    assert_eq!(business_day::roll(rolled), rolled);
    let later = business_day::add(date, count);
    assert!(later >= date);
    let factor: u16 = input.arbitrary()?;
    if let Some(due) = due_factor::due_date(factor, reference) {
        assert_eq!(due_factor::factor(due), Some(factor));
    }
    if let Some(factor) = due_factor::factor(date) {
        assert_eq!(due_factor::due_date(factor, date), Some(date));
    }
    Ok(())
}
