use super::*;
use crate::document::{Document, DocumentType};

fn holds(criterion: &Criterion, change: impl FnOnce(&mut RouteInputs<'_>)) -> bool {
    let merchant = MerchantId::new("loja");
    let metadata = [("channel".to_owned(), "app".to_owned())].into();
    let payer = Document::parse("11144477735", DocumentType::Cpf).unwrap();
    let mut inputs = RouteInputs {
        method: Method::CreditCard,
        amount: Money::from_cents(10_000),
        expires_in_s: None,
        due: None,
        brand: Some(Brand::Elo),
        first_digits: Some("650485"),
        installments: Some(3),
        merchant: &merchant,
        metadata: &metadata,
        payer: &payer,
        weekday: Weekday::Fri,
        minute: 480,
    };
    change(&mut inputs);
    criterion.holds(&inputs)
}

fn as_it_is(criterion: &Criterion) -> bool {
    holds(criterion, |_| {})
}

#[test]
fn each_condition_holds_for_what_it_names_and_for_nothing_else() {
    let cents = Money::from_cents;
    assert!(as_it_is(&Criterion::Method(vec![Method::Pix, Method::CreditCard])));
    assert!(!as_it_is(&Criterion::Method(vec![Method::Pix])));
    assert!(as_it_is(&Criterion::Brand(vec![Brand::Visa, Brand::Elo])));
    assert!(!as_it_is(&Criterion::Brand(vec![Brand::Visa])));
    let bin = |text| Criterion::Bin(vec![Bin::parse(text).unwrap()]);
    assert!(as_it_is(&bin("6504")) && as_it_is(&bin("650485")) && !as_it_is(&bin("650486")));
    assert!(as_it_is(&Criterion::Amount(cents(10_000), cents(10_000))));
    assert!(!as_it_is(&Criterion::Amount(cents(10_001), Money::MAX)));
    assert!(!as_it_is(&Criterion::Amount(cents(1), cents(9_999))));
    assert!(as_it_is(&Criterion::Installments(2, 3)) && !as_it_is(&Criterion::Installments(4, 12)));
    assert!(as_it_is(&Criterion::Merchant(vec![MerchantId::new("loja")])));
    assert!(!as_it_is(&Criterion::Merchant(vec![MerchantId::new("Loja")])));
    assert!(as_it_is(&Criterion::Weekday(vec![Weekday::Fri])));
    assert!(!as_it_is(&Criterion::Weekday(vec![Weekday::Sat])));
    let note = |value: &str| Criterion::Metadata([("channel".to_owned(), value.to_owned())].into());
    assert!(as_it_is(&note("app")) && !as_it_is(&note("web")));
}

#[test]
fn conditions_on_a_card_never_hold_without_one() {
    let without = |criterion: &Criterion| {
        holds(criterion, |inputs| {
            (inputs.brand, inputs.first_digits, inputs.installments) = (None, None, None)
        })
    };
    assert!(!without(&Criterion::Brand(Brand::ALL.to_vec())));
    assert!(!without(&Criterion::Bin(vec![Bin::parse("6504").unwrap()])));
    assert!(!without(&Criterion::Installments(1, 12)));
}

#[test]
fn hours_exclude_their_end_and_pass_midnight() {
    for (hours, inside, outside) in [
        ("08:00-20:00", vec![480, 1_199], vec![479, 1_200, 0]),
        ("22:00-06:00", vec![1_320, 1_439, 0, 359], vec![360, 1_319]),
        ("00:00-24:00", vec![0, 1_439], vec![]),
        ("23:59-00:00", vec![1_439], vec![0, 1_438]),
    ] {
        let criterion = Criterion::Hours(Hours::parse(hours).unwrap());
        let at = |minute: &u16| holds(&criterion, |inputs| inputs.minute = *minute);
        assert!(inside.iter().all(at) && !outside.iter().any(at), "{hours}");
        assert_eq!(Hours::parse(hours).unwrap().to_string(), hours);
    }
    for text in
        ["8:00-20:00", "08:00", "08:00-08:00", "24:00-08:00", "08:60-09:00", "08:00-25:00", "+8:00-09:00", ""]
    {
        assert_eq!(Hours::parse(text), None, "{text}");
    }
}

#[test]
fn a_bin_has_four_to_six_digits() {
    assert!(["4111", "41111", "411111"].iter().all(|text| Bin::parse(text).is_some()));
    assert!(["411", "4111111", "41a1", "", "４１１１"].iter().all(|text| Bin::parse(text).is_none()));
}

#[test]
fn every_condition_has_its_sentence() {
    let cents = Money::from_cents;
    let criteria = Criteria::new(vec![
        Criterion::Method(vec![Method::CreditCard]),
        Criterion::Brand(vec![Brand::Elo, Brand::Visa]),
        Criterion::Bin(vec![Bin::parse("650485").unwrap()]),
        Criterion::Amount(cents(10_000), Money::MAX),
        Criterion::Installments(2, 12),
        Criterion::Merchant(vec![MerchantId::new("loja")]),
        Criterion::Weekday(vec![Weekday::Mon, Weekday::Fri]),
        Criterion::Hours(Hours::parse("08:00-20:00").unwrap()),
        Criterion::Metadata([("channel".to_owned(), "app".to_owned())].into()),
    ]);
    assert_eq!(
        criteria.to_string(),
        "the method is credit_card, and the card is elo or visa, and the card begins with 650485, and the amount \
         is at least 100.00, and it is paid in 2 to 12 instalments, and the merchant is loja, and the day is mon \
         or fri, and the time in Brasília is 08:00-20:00, and the metadata's channel is app"
    );
    assert_eq!(Criteria::default().to_string(), "always");
    for (least, most, sentence) in [
        (1, 1, "it is paid in one instalment"),
        (3, 3, "it is paid in 3 instalments"),
        (1, 6, "it is paid in 1 to 6 instalments"),
    ] {
        assert_eq!(Criterion::Installments(least, most).to_string(), sentence);
    }
}
