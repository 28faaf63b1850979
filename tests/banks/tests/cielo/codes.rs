use quita_banks::cielo::{Config, Plan, WrongCode};
use serde_json::Value;

use crate::shop::{Shop, boleto, pix};

fn planned(wrong: WrongCode, sale: &Value) -> Value {
    let mut shop = Shop::open();
    shop.cielo.plan("A1", Plan { wrong_code: Some(wrong), ..Plan::default() });
    shop.sell(sale).body["Payment"].clone()
}

/// A second reading of the rule: sum of digits by weights 2 to 9 from the right.
fn general_digit_fits(bar_code: &str) -> bool {
    let digits: Vec<u32> = bar_code.chars().map(|digit| digit.to_digit(10).unwrap()).collect();
    let mut weights = (2..=9).cycle();
    let positions = (0..44).rev().filter(|at| *at != 4);
    let sum: u32 = positions.map(|at| digits[at] * weights.next().unwrap()).sum();
    let digit = 11 - sum % 11;
    digits[4] == if digit > 9 || digit == 1 { 1 } else { digit }
}

#[test]
fn a_boleto_has_a_bar_code_of_its_amount_day_and_bank() {
    let payment = Shop::open().sell(&boleto("A1")).body["Payment"].clone();
    let bar_code = payment["BarCodeNumber"].as_str().unwrap();
    assert_eq!((bar_code.len(), &bar_code[..4], &bar_code[5..19]), (44, "2379", "16470000010000"));
    assert!(general_digit_fits(bar_code));
}

#[test]
fn a_pix_has_a_code_that_states_its_amount() {
    let payment = Shop::open().sell(&pix("A1")).body["Payment"].clone();
    let code = payment["QrCodeString"].as_str().unwrap();
    assert!(code.starts_with("000201010212") && code.contains("5406100.00"), "{code}");
    let mut shop = Shop::at(Config { pix_code_states_amount: false, ..Config::default() });
    let code = shop.sell(&pix("A1")).body["Payment"]["QrCodeString"].to_string();
    assert!(!code.contains("100.00"), "{code}");
}

#[test]
fn codes_may_be_of_another_amount_or_day() {
    assert!(
        planned(WrongCode::OtherAmount, &pix("A1"))["QrCodeString"].as_str().unwrap().contains("5406100.01")
    );
    let amount = planned(WrongCode::OtherAmount, &boleto("A1"))["BarCodeNumber"].clone();
    assert_eq!(&amount.as_str().unwrap()[5..19], "16470000010001");
    assert!(general_digit_fits(amount.as_str().unwrap()));
    let day = planned(WrongCode::OtherDay, &boleto("A1"))["BarCodeNumber"].clone();
    assert_eq!(&day.as_str().unwrap()[5..19], "16480000010000");
}

#[test]
fn codes_may_be_wrong_in_themselves_garbage_or_missing() {
    let bar_code = planned(WrongCode::WrongCheck, &boleto("A1"))["BarCodeNumber"].clone();
    assert!(!general_digit_fits(bar_code.as_str().unwrap()));
    let right = Shop::open().sell(&pix("A1")).body["Payment"]["QrCodeString"].clone();
    let wrong = planned(WrongCode::WrongCheck, &pix("A1"))["QrCodeString"].clone();
    assert_ne!(right, wrong);
    assert_eq!(planned(WrongCode::Garbage, &pix("A1"))["QrCodeString"], "codigo indisponivel");
    assert!(planned(WrongCode::Missing, &pix("A1")).get("QrCodeString").is_none());
    assert!(planned(WrongCode::Missing, &boleto("A1")).get("BarCodeNumber").is_none());
}

#[test]
fn wrong_codes_are_drawn_as_often_as_was_asked_for() {
    let mut shop = Shop::at(Config { wrong_codes_permille: 300, ..Config::default() });
    let wrong = |payment: &Value| {
        let bar_code = payment["BarCodeNumber"].as_str();
        !bar_code.is_some_and(|code| {
            code.len() == 44 && &code[5..19] == "16470000010000" && general_digit_fits(code)
        })
    };
    let count = (0..300).filter(|_| wrong(&shop.sell(&boleto("A1")).body["Payment"])).count();
    assert!((60..120).contains(&count), "{count}");
}
