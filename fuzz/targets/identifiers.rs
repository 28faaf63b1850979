//! Short values: documents, phones, places, cards, PIX keys and ids, amounts, API keys, folded text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quita_domain::access::{PresentedKey, Scope};
use quita_domain::card::number::passes_luhn;
use quita_domain::card::{Brand, CardNumber, Cvv, Expiry};
use quita_domain::document::{Document, DocumentType};
use quita_domain::phone::{Phone, PhoneKind};
use quita_domain::pix::amount;
use quita_domain::pix::key::PixKey;
use quita_domain::pix::txid::{DynamicTxid, EndToEndId, RefundId, StaticTxid};
use quita_domain::postal::{Cep, Uf};
use quita_domain::text::fold_ascii;
use quita_fuzz::{split, text, with_one_changed};
use serde::Serialize;
use serde::de::DeserializeOwned;

fuzz_target!(|data: &[u8]| {
    let (choice, rest) = split(data);
    let text = text(rest);
    documents(&text);
    cards(&text, choice);
    phones_and_places(&text);
    pix(&text);
    keys(&text);
    let folded = fold_ascii(&text, usize::from(choice));
    assert!(folded.len() <= usize::from(choice) && folded.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
    assert_eq!(fold_ascii(&folded, usize::from(choice)), folded);
});

/// Checks that an accepted value is stored as its text and read back as the same value.
fn stored<T: Serialize + DeserializeOwned + PartialEq>(value: T, text: &str) {
    let json = serde_json::to_string(&value).expect("a value has a text");
    assert_eq!(json, serde_json::to_string(text).expect("a text has a form"));
    assert!(serde_json::from_str::<T>(&json).is_ok_and(|again| again == value), "{json}");
}

fn documents(text: &str) {
    for kind in [DocumentType::Cpf, DocumentType::Cnpj] {
        if let Ok(document) = Document::parse_formatted(text, kind) {
            assert!(text == document.as_str() || text == document.formatted());
            assert_eq!(Document::parse_formatted(&document.formatted(), kind).as_ref(), Ok(&document));
            assert!(!document.masked().contains(document.as_str()));
        }
        let Ok(document) = Document::parse(text, kind) else { continue };
        let body = &text[..text.len() - 2];
        let right = (0..100).filter(|digits| Document::parse(&format!("{body}{digits:02}"), kind).is_ok());
        assert_eq!(right.count(), 1, "two pairs of check digits for {body}");
        stored(document, text);
    }
    assert!(DocumentType::parse(text).is_err() || matches!(text.len(), 3 | 4));
}

/// Checks that Luhn's check digit detects every changed digit.
fn cards(text: &str, choice: u8) {
    if let Ok(number) = CardNumber::parse(text) {
        assert_eq!(number.expose(), text);
        assert_eq!(Brand::of(text), Some(number.brand()));
        assert!(number.brand().lengths().contains(&text.len()) && passes_luhn(text));
        assert!(number.masked().len() == text.len() && !format!("{number:?}").contains(number.last4()));
        if let Some(changed) = with_one_changed(text, usize::from(choice), b'0' + choice % 10) {
            assert!(CardNumber::parse(&changed).is_err());
        }
    }
    for brand in Brand::ALL {
        assert!(Cvv::parse(text, brand).is_ok_and(|cvv| cvv.expose() == text) || !is_cvv(text, brand));
    }
    if let Ok(expiry) = Expiry::parse(text) {
        assert!((1..=12).contains(&expiry.month()));
        stored(expiry, text);
    }
}

fn is_cvv(text: &str, brand: Brand) -> bool {
    text.len() == brand.cvv_length() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn phones_and_places(text: &str) {
    if let Ok(phone) = Phone::parse(text) {
        assert_eq!(Phone::parse(phone.national()).map(|it| it.e164()), Ok(phone.e164()));
        assert_eq!(phone.kind() == PhoneKind::Mobile, phone.national().len() == 11);
        assert!(!phone.masked().contains(phone.national()));
        stored(phone, text);
    }
    if let Ok(cep) = Cep::parse(text) {
        assert_eq!(cep.formatted().len(), 9);
        stored(cep, text);
    }
    if let Ok(uf) = Uf::parse(text) {
        stored(uf, text);
    }
}

fn pix(text: &str) {
    if let Ok(key) = PixKey::parse(text) {
        assert!(!format!("{key:?}").contains(text));
        stored(key, text);
    }
    let _ids = (
        StaticTxid::parse(text).map(|it| stored(it, text)),
        DynamicTxid::parse(text).map(|it| stored(it, text)),
    );
    let _ids = (
        RefundId::parse(text).map(|it| stored(it, text)),
        EndToEndId::parse(text).map(|it| stored(it, text)),
    );
    if let Some(cents) = amount::from_text(text) {
        let printed = amount::to_text(cents).expect("what was read can be written");
        assert_eq!(printed.trim_start_matches('0'), text.trim_start_matches('0'));
    }
}

fn keys(text: &str) {
    if let Some(key) = PresentedKey::parse(text) {
        assert_eq!(key.reveal(), text);
        assert_eq!(key.secret_hash().len(), 64);
        // The secret itself may contain underscores.
        let secret = text.splitn(4, '_').nth(3).expect("a key has a secret");
        assert!(!format!("{key:?}").contains(secret));
    }
    assert!(Scope::parse(text).is_none_or(|scope| scope.as_str() == text));
}
