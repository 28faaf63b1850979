//! Card data in texts that are kept: what is found, and what only looks like it.

use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use quita_domain::card::{Brand, CardNumber, holds_card_number, number::passes_luhn};
use quita_domain::document::{Document, DocumentType};
use serde_json::{Value, json};

use super::bodies::{CARD_NUMBER, card, check, full, pix, with};

/// The vectors of Brazil's payment rails that hold texts with many digits.
const VECTORS: [&str; 14] = [
    "boleto_due",
    "boleto_factor",
    "boleto_generate",
    "boleto_validate",
    "brcode_build",
    "brcode_parse",
    "cep_uf",
    "crc16",
    "documents",
    "itf",
    "phones",
    "pix_ids",
    "pix_keys",
    "text_ascii",
];

fn vectors(name: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors").join(format!("{name}.json"));
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn texts_in<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(entries) => entries.iter().for_each(|entry| texts_in(entry, found)),
        Value::Object(members) => members.values().for_each(|member| texts_in(member, found)),
        _ => {}
    }
}

#[test]
fn nothing_of_the_payment_rails_but_cards_is_a_card_number() {
    let mut looked_at = 0;
    for name in VECTORS {
        let vectors = vectors(name);
        let mut texts = Vec::new();
        vectors.iter().for_each(|vector| texts_in(vector, &mut texts));
        for text in &texts {
            assert!(!holds_card_number(text), "{name}: {text}");
        }
        looked_at += texts.len();
    }
    assert!(looked_at > 500, "{looked_at}");
}

#[test]
fn every_card_of_the_vectors_is_found_in_its_usual_groups() {
    let mut found = 0;
    let mut passed = 0;
    for vector in vectors("cards") {
        // Some of the vectors are written with hyphens, which the field itself does not take.
        let number = vector["input"]["number"].as_str().unwrap().replace(['-', ' '], "");
        let number = number.as_str();
        let is_card = CardNumber::parse(number).is_ok();
        let groups: Vec<_> =
            number.as_bytes().chunks(4).map(|group| String::from_utf8_lossy(group)).collect();
        for text in
            [number.to_owned(), groups.join(" "), groups.join("-"), format!("cartao:{number};cvv 123")]
        {
            assert_eq!(holds_card_number(&text), is_card, "{text}");
        }
        *if is_card { &mut found } else { &mut passed } += 1;
    }
    assert!(found > 10 && passed > 3, "{found} {passed}");
}

/// Texts of shops that hold many digits and no card.
const HARMLESS: [&str; 18] = [
    "34191.79001 01043.510047 91020.150008 5 00000000026000",
    "23793381286000782713695000063305975520000370000",
    "84670000001-7 43590024020-9 02405000243-5 84221010811-9",
    "846700000017435900240209024050002435842210108119",
    "529.982.247-25",
    "CPF 52998224725 / RG 12.345.678-9",
    "11.222.333/0001-81",
    "CNPJ 38.520.000/0023-16, IE 110.042.490.114",
    "+55 11 98765-4321",
    "5511987654321",
    "(41) 4002-8922 / (41) 4002-8923",
    "41 4002-8922 / 41 4002-8923 / 41 99876-5432",
    "018f3b1a-7c00-7000-8000-000000000007",
    "41111111-1111-4111-8111-111111111111",
    "E1823612020260710150012345678901",
    "pedido 4242424242424241",
    "nota 4000 1234 5678 9011",
    "35260711222333000181550010000012341000012345",
];

#[test]
fn harmless_texts_pass_wherever_a_text_is_kept() {
    for text in HARMLESS {
        assert!(!holds_card_number(text), "{text}");
        for pointer in ["/externalReference", "/metadata/color", "/items/0/name", "/UTMTerm"] {
            let body = with(full(), pointer, json!(text));
            super::bodies::accept(&body);
        }
    }
}

#[test]
fn a_card_number_is_refused_in_every_text_of_every_method() {
    let other = "5555 5555-5555.4444";
    for (pointer, field) in [
        ("/creditCard/holderName", "creditCard.holderName"),
        ("/paymentDetails/firstName", "paymentDetails.firstName"),
        ("/paymentDetails/address/complement", "paymentDetails.address.complement"),
        ("/items/0/name", "items[0].name"),
        ("/splits/0/recipientId", "splits[0].recipientId"),
        ("/UTMTerm", "UTMTerm"),
        ("/externalReference", "externalReference"),
        ("/metadata/color", "metadata.color"),
    ] {
        check(&with(full(), pointer, json!(other)), &[&format!("{field} card_number")]);
    }
    for pointer in ["/externalReference", "/note", "/UTMSource"] {
        let field = pointer.trim_start_matches('/');
        check(&with(pix(), pointer, json!(CARD_NUMBER)), &[&format!("{field} card_number")]);
    }
}

#[test]
fn a_card_number_is_refused_in_fields_that_nobody_knows_and_in_their_names() {
    let nested = json!([{ "deep": ["fine", format!("x {CARD_NUMBER}")] }]);
    check(&with(pix(), "/extra", nested), &["extra[0].deep[1] card_number"]);
    check(&with(pix(), "/card4242424242424242", json!(1)), &["… card_number"]);
    check(&with(card(), "/creditCard/pan", json!(CARD_NUMBER)), &["creditCard.pan card_number"]);
}

#[test]
fn no_name_that_reads_like_the_place_of_card_data_hides_a_card_number() {
    check(&with(pix(), "/creditCard.number", json!(CARD_NUMBER)), &["… card_number"]);
    check(&with(card(), "/creditCard/numbers", json!(CARD_NUMBER)), &["creditCard.numbers card_number"]);
    let deeper = json!({ "number": CARD_NUMBER });
    check(&with(pix(), "/extra", json!({ "creditCard": deeper })), &["extra.creditCard.number card_number"]);
}

#[test]
fn metadata_has_no_names_of_card_data_in_any_spelling() {
    for name in [
        "cvv",
        "CVV",
        "c.v.v",
        "cvc",
        "Cvc2",
        "pan",
        "PAN",
        "cardNumber",
        "card_number",
        "Card Number",
        "cárd-number",
    ] {
        check(&with(full(), "/metadata", json!({ name: "x" })), &["metadata card_number"]);
        super::bodies::accept(&with(full(), "/metadata", json!({ name: null })));
    }
    for name in ["japan", "pane", "cvvs", "card", "number", "cardNumbers", "panCake", "company"] {
        super::bodies::accept(&with(full(), "/metadata", json!({ name: "x" })));
    }
}

/// A number of some brand that passes Luhn.
fn card_number() -> impl Strategy<Value = String> {
    let prefix = prop_oneof![
        "4",
        "5[1-5]",
        "222[1-9]",
        "3[47]",
        "36",
        "30[0-5]",
        "6011",
        "65",
        "35[3-8][0-9]",
        "50",
        "606282"
    ];
    (prefix, any::<prop::sample::Index>(), vec(0..10_u8, 19)).prop_filter_map(
        "a brand",
        |(prefix, length, rest)| {
            let brand = Brand::of(&format!("{prefix}00000000"))?;
            let length = *length.get(brand.lengths());
            let body: String = prefix
                .chars()
                .chain(rest.iter().map(|digit| char::from(b'0' + digit)))
                .take(length - 1)
                .collect();
            let number = (0..10).map(|digit| format!("{body}{digit}")).find(|number| passes_luhn(number))?;
            CardNumber::parse(&number).is_ok().then_some(number)
        },
    )
}

/// Digits with separators between some of them.
fn spread(digits: &str, gaps: &[String]) -> String {
    digits
        .chars()
        .zip(gaps)
        .flat_map(|(digit, gap)| std::iter::once(digit).chain(gap.chars()))
        .collect::<String>()
        .trim_end_matches([' ', '.', '/', '-'])
        .to_owned()
}

fn cpf(body: &[u8]) -> Option<Document> {
    let body: String = body.iter().map(|digit| char::from(b'0' + digit)).collect();
    (0..100).find_map(|check| Document::parse(&format!("{body}{check:02}"), DocumentType::Cpf).ok())
}

fn cnpj(body: &[u8]) -> Option<Document> {
    let body: String = body.iter().map(|digit| char::from(b'0' + digit)).collect();
    (0..100).find_map(|check| Document::parse(&format!("{body}{check:02}"), DocumentType::Cnpj).ok())
}

proptest! {
    #[test]
    fn a_card_number_is_found_whatever_separates_its_digits(
        number in card_number(), gaps in vec("[ ./-]{0,2}", 19), before in "[a-z:;,]{0,5}", after in "[a-z:;,]{0,5}",
    ) {
        let text = format!("{before}{}{after}", spread(&number, &gaps));
        // A CNPJ that has fourteen digits and passes Luhn is a CNPJ.
        let is_cnpj = Document::parse(&number, DocumentType::Cnpj).is_ok();
        prop_assert!(is_cnpj || holds_card_number(&text), "{}", text);
    }

    #[test]
    fn groups_of_other_numbers_beside_it_hide_no_card(
        number in card_number(), before in "[0-9]{1,6}", after in "[0-9]{1,4}",
    ) {
        let is_cnpj = Document::parse(&number, DocumentType::Cnpj).is_ok();
        let text = format!("{before} {number}/{after}");
        prop_assert!(is_cnpj || holds_card_number(&text), "{}", text);
    }

    #[test]
    fn documents_pass_bare_and_masked_alone_and_in_a_row(
        person in vec(0..10_u8, 9), company in vec(0..10_u8, 12), word in "[a-z ]{0,4}",
    ) {
        let (Some(person), Some(company)) = (cpf(&person), cnpj(&company)) else { return Ok(()) };
        for text in [
            person.as_str().to_owned(),
            company.as_str().to_owned(),
            company.formatted(),
            format!("{word}{} {}", person.formatted(), company.formatted()),
            format!("{} / {} - {}", person.as_str(), company.as_str(), person.formatted()),
        ] {
            prop_assert!(!holds_card_number(&text), "{}", text);
        }
    }

    #[test]
    fn ids_and_hashes_pass(bits in any::<u128>(), more in any::<u128>()) {
        // Thirteen decimal digits in a row may be a card's, before the d that separates the fields of a magnetic track.
        let hash = format!("{bits:032x}{more:032x}");
        prop_assume!(hash.split(|it: char| !it.is_ascii_digit()).all(|run| run.len() < 13));
        let id = uuid::Uuid::from_u128(bits);
        for text in [
            id.to_string(), id.simple().to_string(), format!("order:{id}"), id.to_string().to_uppercase(),
            format!("{bits:032x}{more:032x}"),
        ] {
            prop_assert!(!holds_card_number(&text), "{}", text);
        }
    }

    #[test]
    fn numbers_that_fail_luhn_or_have_another_length_pass(number in card_number(), by in 1..10_u8) {
        let (head, last) = number.split_at(number.len() - 1);
        let wrong = (last.as_bytes()[0] - b'0' + by) % 10;
        let wrong = format!("{head}{wrong}");
        prop_assert!(!holds_card_number(&wrong), "{}", wrong);
        let long = format!("{number}{}", "0".repeat(20 - number.len()));
        prop_assert!(!holds_card_number(&long), "{}", long);
    }

    #[test]
    fn any_text_is_looked_through(text in any::<String>(), digits in "[0-9 ./é-]{0,80}") {
        let _either = holds_card_number(&text) | holds_card_number(&digits);
    }
}
