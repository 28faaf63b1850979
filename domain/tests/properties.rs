//! Properties of every input: round trips, and no panic on any text.
#![allow(clippy::unwrap_used, reason = "tests")]

use chrono::{Days, NaiveDate};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use quita_domain::boleto::barcode::MAX_AMOUNT_CENTS;
use quita_domain::boleto::{self, Barcode, CollectionAccount, Line, business_day, due_factor, interleaved};
use quita_domain::card::{Brand, CardNumber, Cvv, Expiry};
use quita_domain::document::{Document, DocumentType};
use quita_domain::phone::Phone;
use quita_domain::pix::amount;
use quita_domain::pix::br_code::{BrCode, DynamicBrCode, StaticBrCode};
use quita_domain::pix::key::PixKey;
use quita_domain::pix::txid::{DynamicTxid, StaticTxid};
use quita_domain::postal::{Cep, Uf};
use quita_domain::text::fold_ascii;

/// Any text, and texts made of what these parsers look for, so that they are led further in.
fn any_text() -> impl Strategy<Value = String> {
    let digit = prop::char::range('0', '9');
    prop_oneof![
        any::<String>(),
        vec(digit, 0..60).prop_map(String::from_iter),
        vec(prop_oneof![Just('é'), Just('+'), Just('@'), Just('.'), Just('-'), Just('0'), Just('1')], 0..60)
            .prop_map(String::from_iter),
        vec((prop::sample::select(vec!["00", "26", "59", "62", "63"]), any_word()), 0..8).prop_map(
            |objects| objects
                .into_iter()
                .map(|(id, value)| format!("{id}{:02}{value}", value.len()))
                .collect()
        ),
    ]
}

fn any_word() -> impl Strategy<Value = String> {
    vec(prop::sample::select("Aé0 *".chars().collect::<Vec<_>>()), 0..40).prop_map(String::from_iter)
}

fn any_key() -> impl Strategy<Value = PixKey> {
    let keys = [
        "11144477735",
        "12ABC34501DE35",
        "+5511987654321",
        "fulano+pix@example.com",
        "123e4567-e12b-12d1-a456-426655440000",
    ];
    prop::sample::select(keys.to_vec()).prop_map(|key| PixKey::parse(key).unwrap())
}

fn any_ascii(max: usize) -> impl Strategy<Value = String> {
    any::<String>()
        .prop_map(move |text| fold_ascii(&format!("É{text}"), max))
        .prop_filter("not empty", |text| !text.is_empty())
}

fn any_due() -> impl Strategy<Value = NaiveDate> {
    (0_u64..30_000).prop_map(|days| NaiveDate::from_ymd_opt(2000, 7, 3).unwrap() + Days::new(days))
}

fn any_account() -> impl Strategy<Value = CollectionAccount> {
    (0_u8..4, 0_u32..10_000, 0_u32..100_000, 0_u32..100).prop_map(|(bank, branch, account, wallet)| {
        let branch = branch.to_string();
        let account = account.to_string();
        let wallet = wallet.to_string();
        match bank {
            0 => CollectionAccount::itau(&branch, &account, &wallet),
            1 => CollectionAccount::banco_do_brasil(&account, &wallet),
            2 => CollectionAccount::bradesco(&branch, &account, &wallet),
            _ => CollectionAccount::santander(&account, &wallet),
        }
        .unwrap()
    })
}

proptest! {
    #[test]
    fn no_text_makes_a_parser_panic_and_what_is_taken_is_kept(text in any_text(), max in 0_usize..80) {
        prop_assert!(fold_ascii(&text, max).len() <= max);
        for kind in [DocumentType::Cpf, DocumentType::Cnpj] {
            prop_assert!(Document::parse(&text, kind).map_or(true, |it| it.as_str() == text));
            let lenient = Document::parse_formatted(&text, kind);
            prop_assert!(lenient.map_or(true, |it| it.as_str() == text || it.formatted() == text));
        }
        prop_assert!(Phone::parse(&text).map_or(true, |it| it.as_str() == text));
        prop_assert!(Cep::parse(&text).map_or(true, |it| it.as_str() == text));
        prop_assert!(Uf::parse(&text).map_or(true, |it| it.as_str() == text));
        prop_assert!(PixKey::parse(&text).map_or(true, |it| it.as_str() == text));
        prop_assert!(DynamicTxid::parse(&text).map_or(true, |it| it.as_str() == text));
        prop_assert!(CardNumber::parse(&text).map_or(true, |it| it.expose() == text));
        prop_assert!(Cvv::parse(&text, Brand::Amex).map_or(true, |it| it.expose() == text));
        prop_assert!(Expiry::parse(&text).map_or(true, |it| it.to_string() == text));
        prop_assert!(Barcode::parse(&text).map_or(true, |it| it.as_str() == text));
        prop_assert!(Line::parse(&text).map_or(true, |it| it.barcode().line() == it));
        prop_assert!(boleto::parse(&text).map_or(true, |it| it.as_str().len() == 44));
        prop_assert!(interleaved::modules(&text).is_none_or(|it| it.len() == 5 * text.len() + 7));
        prop_assert!(amount::from_text(&text).is_none_or(|cents| cents <= amount::MAX_CENTS));
        prop_assert!(BrCode::parse(&text).is_err() || text.contains("6304"));
    }

    #[test]
    fn folding_twice_changes_nothing(text in any::<String>(), max in 0_usize..40) {
        let folded = fold_ascii(&text, max);
        prop_assert_eq!(fold_ascii(&folded, max), folded);
    }

    #[test]
    fn a_static_br_code_is_read_as_it_was_written(
        key in any_key(),
        name in any_ascii(25),
        city in any_ascii(15),
        amount_cents in option::of(1..=amount::MAX_CENTS),
        txid in option::of("[A-Za-z0-9]{1,25}"),
        info in option::of(any_ascii(37)),
        postal_code in option::of("[0-9]{8}"),
    ) {
        let code = StaticBrCode {
            amount_cents,
            txid: txid.map(|txid| StaticTxid::parse(&txid).unwrap()),
            info,
            postal_code: postal_code.map(|cep| Cep::parse(&cep).unwrap()),
            ..StaticBrCode::new(key, name, city)
        };
        let payload = code.build().unwrap();
        prop_assert_eq!(BrCode::parse(&payload), Ok(BrCode::Static(code)));
    }

    #[test]
    fn a_dynamic_br_code_is_read_as_it_was_written(
        url in "[a-z]{1,20}\\.example/[a-zA-Z0-9/]{1,40}",
        name in any_ascii(25),
        city in any_ascii(15),
    ) {
        let code = DynamicBrCode::new(url, name, city);
        prop_assert_eq!(BrCode::parse(&code.build().unwrap()), Ok(BrCode::Dynamic(code)));
    }

    #[test]
    fn a_changed_character_spoils_a_br_code(key in any_key(), place in any::<prop::sample::Index>()) {
        let mut payload = StaticBrCode::new(key, "A".into(), "B".into()).build().unwrap().into_bytes();
        let place = place.index(payload.len());
        let byte = payload.get_mut(place).unwrap();
        *byte = if *byte == b'x' { b'y' } else { b'x' };
        prop_assert!(BrCode::parse(&String::from_utf8(payload).unwrap()).is_err());
    }

    #[test]
    fn barcode_and_line_hold_the_same(
        account in any_account(),
        number in 0_u64..100_000_000,
        due in option::of(any_due()),
        cents in 0..=MAX_AMOUNT_CENTS,
    ) {
        let field = account.free_field(number).unwrap();
        let barcode = Barcode::compose(due, cents, &field).unwrap();
        prop_assert_eq!(Barcode::parse(barcode.as_str()), Ok(barcode.clone()));
        let line = barcode.line();
        prop_assert_eq!(&boleto::parse(line.as_str()), &Ok(barcode.clone()));
        prop_assert_eq!(&boleto::parse(&line.formatted()), &Ok(barcode.clone()));
        prop_assert_eq!(barcode.amount_cents(), cents);
        prop_assert_eq!(barcode.bank(), account.bank().code());
        prop_assert_eq!(barcode.free_field(), field.as_str());
        prop_assert_eq!(due.and_then(|due| barcode.due_date(due)), due);
    }

    #[test]
    fn a_changed_digit_spoils_a_line(
        account in any_account(),
        due in any_due(),
        place in 0_usize..47,
        added in 1_u8..10,
    ) {
        let field = account.free_field(1).unwrap();
        let mut digits = Barcode::compose(Some(due), 100, &field).unwrap().line().as_str().to_owned().into_bytes();
        let digit = digits.get_mut(place).unwrap();
        *digit = b'0' + (*digit - b'0' + added) % 10;
        let parsed = Line::parse(&String::from_utf8(digits).unwrap());
        // Remainders 0, 1 and 10 share the general digit 1, so factor and amount are guarded a little less.
        let shares_a_digit = place >= 33 && parsed.as_ref().is_ok_and(|line| line.as_str().get(32..33) == Some("1"));
        prop_assert!(parsed.is_err() || shares_a_digit);
    }

    #[test]
    fn a_due_date_is_in_the_window_or_the_nearest(factor in 1000_u16..=9999, today in any_due()) {
        let due = due_factor::due_date(factor, today).unwrap();
        let distance = (due - today).num_days();
        let first = NaiveDate::from_ymd_opt(2000, 7, 3).unwrap();
        prop_assert_eq!(due_factor::factor(due), Some(factor));
        prop_assert!((-4500..=5500).contains(&distance) || (due - first).num_days() < 9000);
    }

    #[test]
    fn a_rolled_date_is_a_business_day_and_soon(due in any_due()) {
        let rolled = business_day::roll(due);
        prop_assert!(business_day::is_business_day(rolled));
        prop_assert!((0..=5).contains(&(rolled - due).num_days()));
    }

    #[test]
    fn amounts_are_read_as_they_were_written(cents in 0..=amount::MAX_CENTS) {
        prop_assert_eq!(amount::from_text(&amount::to_text(cents).unwrap()), Some(cents));
    }
}
