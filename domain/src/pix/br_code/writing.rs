//! Composing a BR Code.

use super::object::push;
use super::{BrCodeError, DynamicBrCode, GUI, MAX_LENGTH, PointOfInitiation, StaticBrCode, is_location};
use crate::pix::{amount, crc16};
use crate::text::fold_ascii;

pub(super) fn write_static(code: &StaticBrCode) -> Result<String, BrCodeError> {
    let mut account = String::new();
    push(&mut account, "00", GUI);
    push(&mut account, "01", code.key.as_str());
    let info = code.info.as_deref().map(|info| fold_ascii(info, code.info_room()));
    if let Some(info) = info.filter(|info| !info.is_empty()) {
        push(&mut account, "02", &info);
    }
    let amount = code.amount_cents.map(amount_text).transpose()?;
    let merchant = Merchant {
        name: &code.merchant_name,
        city: &code.merchant_city,
        postal_code: code.postal_code.as_ref().map(|cep| cep.as_str()),
        txid: code.txid.as_ref().map_or("***", |txid| txid.as_str()),
    };
    write(code.point_of_initiation, &account, amount.as_deref(), &merchant)
}

pub(super) fn write_dynamic(code: &DynamicBrCode) -> Result<String, BrCodeError> {
    if !is_location(&code.url) {
        return Err(BrCodeError::Location);
    }
    let mut account = String::new();
    push(&mut account, "00", GUI);
    push(&mut account, "25", &code.url);
    let merchant =
        // Always asterisks in a dynamic code: readers ignore the identifier there.
        Merchant { name: &code.merchant_name, city: &code.merchant_city, postal_code: None, txid: "***" };
    write(Some(PointOfInitiation::SingleUse), &account, None, &merchant)
}

/// Length of an object's id and length.
const OBJECT_HEAD: usize = 4;
/// Length of the object of the checksum.
const CHECKSUM: usize = 8;

struct Merchant<'a> {
    name: &'a str,
    city: &'a str,
    postal_code: Option<&'a str>,
    txid: &'a str,
}

fn write(
    point_of_initiation: Option<PointOfInitiation>,
    account: &str,
    amount: Option<&str>,
    merchant: &Merchant<'_>,
) -> Result<String, BrCodeError> {
    let name = fold_ascii(merchant.name, 25);
    if name.is_empty() {
        return Err(BrCodeError::MerchantName);
    }
    let city = fold_ascii(merchant.city, 15);
    if city.is_empty() {
        return Err(BrCodeError::MerchantCity);
    }
    let mut additional = String::new();
    push(&mut additional, "05", merchant.txid);

    let objects = [
        ("00", Some("01")),
        ("01", point_of_initiation.map(PointOfInitiation::as_str)),
        ("26", Some(account)),
        // No merchant category, and the real (ISO 4217).
        ("52", Some("0000")),
        ("53", Some("986")),
        ("54", amount),
        ("58", Some("BR")),
        ("59", Some(name.as_str())),
        ("60", Some(city.as_str())),
        ("61", merchant.postal_code),
        ("62", Some(additional.as_str())),
    ];
    // Payments keep the text for as long as they are in memory, so it has no room to spare.
    let lengths = objects.iter().filter_map(|(_, value)| value.map(|value| OBJECT_HEAD + value.len()));
    let mut payload = String::with_capacity(lengths.sum::<usize>() + CHECKSUM);
    for (id, value) in objects {
        if let Some(value) = value {
            push(&mut payload, id, value);
        }
    }
    // The checksum covers its own id and length as well (BR Code manual).
    payload.push_str("6304");
    payload.push_str(&crc16::checksum_text(&payload));
    if payload.len() > MAX_LENGTH { Err(BrCodeError::TooLong) } else { Ok(payload) }
}

fn amount_text(cents: u64) -> Result<String, BrCodeError> {
    if cents == 0 {
        return Err(BrCodeError::Amount);
    }
    amount::to_text(cents).ok_or(BrCodeError::Amount)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pix::key::PixKey;

    fn code() -> StaticBrCode {
        StaticBrCode::new(PixKey::parse("11144477735").unwrap(), "Élida".into(), "São Paulo".into())
    }

    #[test]
    fn a_name_that_begins_with_an_accent_is_folded() {
        assert!(code().build().unwrap().contains("5905Elida6009Sao Paulo"));
    }

    #[test]
    fn information_is_cut_to_the_room_beside_the_key() {
        let long = "x".repeat(80);
        let with_info = StaticBrCode { info: Some(long.clone()), ..code() };
        assert_eq!(with_info.info_room(), 62);
        assert!(with_info.build().unwrap().contains(&format!("0262{}52", "x".repeat(62))));

        let key = PixKey::parse(&format!("{}@example.com", "a".repeat(65))).unwrap();
        let without_room = StaticBrCode { key, info: Some(long), ..code() };
        assert!(without_room.build().unwrap().contains("@example.com5204"));
    }

    #[test]
    fn what_cannot_be_written_is_refused() {
        let name = StaticBrCode { merchant_name: "漢字".into(), ..code() };
        assert_eq!(name.build(), Err(BrCodeError::MerchantName));
        let city = StaticBrCode { merchant_city: " ".into(), ..code() };
        assert_eq!(city.build(), Err(BrCodeError::MerchantCity));
        for cents in [0, amount::MAX_CENTS + 1] {
            let amount = StaticBrCode { amount_cents: Some(cents), ..code() };
            assert_eq!(amount.build(), Err(BrCodeError::Amount), "{cents}");
        }
        for url in ["", "https://pix.example.com/a", "pix.example.com/a b", "/a", &"a".repeat(78)] {
            let dynamic = DynamicBrCode::new(url.into(), "A".into(), "B".into());
            assert_eq!(dynamic.build(), Err(BrCodeError::Location), "{url}");
        }
    }

    #[test]
    fn a_location_of_77_characters_fits() {
        let url = format!("a.example/{}", "b".repeat(67));
        let built = DynamicBrCode::new(url, "A".into(), "B".into()).build().unwrap();
        assert!(built.starts_with("0002010102122699"));
    }
}
