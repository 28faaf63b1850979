//! Reading and verifying a BR Code.

use super::object::{Lengths, Objects};
use super::{
    BrCode, BrCodeError, DynamicBrCode, GUI, MAX_LENGTH, PointOfInitiation, RecurrenceBrCode, StaticBrCode,
    is_location,
};
use crate::pix::key::PixKey;
use crate::pix::txid::StaticTxid;
use crate::pix::{amount, crc16};
use crate::postal::Cep;

pub(super) fn read(payload: &str) -> Result<BrCode, BrCodeError> {
    if payload.chars().count() > MAX_LENGTH {
        return Err(BrCodeError::TooLong);
    }
    read_counting(payload, Lengths::OfCharacters).or_else(|error| {
        // Banks that keep accents in a name may count its bytes, and payers' apps accept that.
        if payload.is_ascii() {
            Err(error)
        } else {
            read_counting(payload, Lengths::OfBytes).map_err(|_| error)
        }
    })
}

fn read_counting(payload: &str, lengths: Lengths) -> Result<BrCode, BrCodeError> {
    let objects = Objects::parse(payload, lengths)?;
    check_checksum(payload, &objects)?;
    check_frame(&objects)?;
    let account = account(&objects)?;
    match (account.get("01"), account.get("25")) {
        (Some(_), Some(_)) => Err(BrCodeError::KeyOrLocation),
        (Some(key), None) => read_static(&objects, &account, key).map(BrCode::Static),
        (None, Some(url)) => read_dynamic(&objects, url).map(BrCode::Dynamic),
        (None, None) => read_recurrence(&objects).map(BrCode::Recurrence),
    }
}

pub(super) fn stated_amount(payload: &str) -> Result<Option<u64>, BrCodeError> {
    let objects = Objects::parse(payload, Lengths::OfCharacters)
        .or_else(|_| Objects::parse(payload, Lengths::OfBytes))?;
    let text = objects.get("54");
    text.map(|text| amount::from_any_text(text).ok_or(BrCodeError::Amount)).transpose()
}

fn amount_cents(objects: &Objects<'_>) -> Result<Option<u64>, BrCodeError> {
    let text = objects.get("54");
    text.map(|text| amount::from_text(text).ok_or(BrCodeError::Amount)).transpose()
}

fn check_checksum(payload: &str, objects: &Objects<'_>) -> Result<(), BrCodeError> {
    let Some(("63", given)) = objects.last() else { return Err(BrCodeError::Checksum) };
    let covered = payload.strip_suffix(given).ok_or(BrCodeError::Checksum)?;
    let is_right = crc16::checksum_text(covered).eq_ignore_ascii_case(given);
    if is_right { Ok(()) } else { Err(BrCodeError::Checksum) }
}

/// Checks the objects that every BR Code of Pix must have, besides its account template.
fn check_frame(objects: &Objects<'_>) -> Result<(), BrCodeError> {
    if objects.first() != Some(("00", "01")) {
        return Err(BrCodeError::Format);
    }
    for id in ["52", "59", "60"] {
        objects.require(id)?;
    }
    if objects.require("53")? != "986" {
        return Err(BrCodeError::Currency);
    }
    if objects.require("58")? != "BR" {
        return Err(BrCodeError::Country);
    }
    Ok(())
}

/// Returns the one template from 26 to 51 whose GUI is Pix; there may be templates of other arrangements.
fn account<'a>(objects: &Objects<'a>) -> Result<Objects<'a>, BrCodeError> {
    let mut found = None;
    for (_, value) in objects.iter().filter(|(id, _)| ("26"..="51").contains(id)) {
        let template = Objects::parse(value, objects.lengths())?;
        if is_pix(&template) && found.replace(template).is_some() {
            return Err(BrCodeError::Repeated);
        }
    }
    found.ok_or(BrCodeError::NotPix)
}

fn is_pix(template: &Objects<'_>) -> bool {
    // Codes that have it in capitals are in use, and must be accepted.
    template.get("00").is_some_and(|gui| gui.eq_ignore_ascii_case(GUI))
}

fn read_static(objects: &Objects<'_>, account: &Objects<'_>, key: &str) -> Result<StaticBrCode, BrCodeError> {
    let amount_cents = amount_cents(objects)?;
    Ok(StaticBrCode {
        key: PixKey::parse(key).map_err(|_| BrCodeError::Key)?,
        merchant_name: objects.require("59")?.to_owned(),
        merchant_city: objects.require("60")?.to_owned(),
        amount_cents,
        txid: txid(objects)?,
        info: account.get("02").map(str::to_owned),
        // The payment does not depend on it, so a postal code in another form is no reason to refuse the code.
        postal_code: objects.get("61").and_then(|cep| Cep::parse(cep).ok()),
        point_of_initiation: point_of_initiation(objects)?,
    })
}

fn read_dynamic(objects: &Objects<'_>, url: &str) -> Result<DynamicBrCode, BrCodeError> {
    if !is_location(url) {
        return Err(BrCodeError::Location);
    }
    Ok(DynamicBrCode {
        url: url.to_owned(),
        merchant_name: objects.require("59")?.to_owned(),
        merchant_city: objects.require("60")?.to_owned(),
        point_of_initiation: point_of_initiation(objects)?,
    })
}

fn read_recurrence(objects: &Objects<'_>) -> Result<RecurrenceBrCode, BrCodeError> {
    let url = objects
        .iter()
        .filter(|(id, _)| ("80"..="99").contains(id))
        .filter_map(|(_, value)| Objects::parse(value, objects.lengths()).ok())
        .find(is_pix)
        .and_then(|template| template.get("25"))
        .ok_or(BrCodeError::KeyOrLocation)?;
    if !is_location(url) {
        return Err(BrCodeError::Location);
    }
    Ok(RecurrenceBrCode {
        url: url.to_owned(),
        merchant_name: objects.require("59")?.to_owned(),
        merchant_city: objects.require("60")?.to_owned(),
    })
}

fn txid(objects: &Objects<'_>) -> Result<Option<StaticTxid>, BrCodeError> {
    let Some(additional) = objects.get("62") else { return Ok(None) };
    match Objects::parse(additional, objects.lengths())?.get("05") {
        None | Some("***") => Ok(None),
        Some(txid) => StaticTxid::parse(txid).map(Some).map_err(|_| BrCodeError::Txid),
    }
}

fn point_of_initiation(objects: &Objects<'_>) -> Result<Option<PointOfInitiation>, BrCodeError> {
    match objects.get("01") {
        None => Ok(None),
        Some("11") => Ok(Some(PointOfInitiation::Reusable)),
        Some("12") => Ok(Some(PointOfInitiation::SingleUse)),
        Some(_) => Err(BrCodeError::PointOfInitiation),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRONT: &str = "000201";
    const PIX: &str = "26330014br.gov.bcb.pix011111144477735";
    const BACK: &str = "5204000053039865802BR5901A6001B62070503***";

    fn closed(parts: &[&str]) -> String {
        let open = format!("{}6304", parts.concat());
        let checksum = crc16::checksum_text(&open);
        open + &checksum
    }

    fn check_refused(parts: &[&str], error: BrCodeError) {
        assert_eq!(read(&closed(parts)), Err(error), "{parts:?}");
    }

    #[test]
    fn the_pix_template_may_stand_at_any_place_beside_others() {
        let other = "26160012br.com.other";
        let pix = PIX.replacen("26", "51", 1);
        let unknown = "7003abc";
        assert!(matches!(read(&closed(&[FRONT, other, &pix, BACK, unknown])), Ok(BrCode::Static(_))));
    }

    #[test]
    fn a_frame_that_is_not_of_a_brazilian_pix_is_refused() {
        check_refused(&[PIX, FRONT, BACK], BrCodeError::Format);
        check_refused(&[FRONT, BACK], BrCodeError::NotPix);
        check_refused(&[FRONT, PIX, &PIX.replacen("26", "27", 1), BACK], BrCodeError::Repeated);
        check_refused(&[FRONT, PIX, &BACK.replace("52040000", "")], BrCodeError::Missing("52"));
        check_refused(&[FRONT, PIX, &BACK.replace("5303986", "")], BrCodeError::Missing("53"));
        check_refused(&[FRONT, PIX, &BACK.replace("5802BR", "")], BrCodeError::Missing("58"));
        check_refused(&[FRONT, "010213", PIX, BACK], BrCodeError::PointOfInitiation);
    }

    #[test]
    fn an_account_with_both_or_neither_is_refused() {
        let both = "26480014br.gov.bcb.pix0111111444777352511pix.example";
        check_refused(&[FRONT, both, BACK], BrCodeError::KeyOrLocation);
        let scheme = "26430014br.gov.bcb.pix2521https://pix.example/a";
        check_refused(&[FRONT, scheme, BACK], BrCodeError::Location);
        let key = PIX.replace("11144477735", "11144477736");
        check_refused(&[FRONT, &key, BACK], BrCodeError::Key);
    }

    #[test]
    fn a_recurrence_alone_is_recognised() {
        let account = "26180014br.gov.bcb.pix";
        let recurrence = "80370014br.gov.bcb.pix2515pix.example/rec";
        let read = read(&closed(&[FRONT, account, BACK, recurrence]));
        assert!(matches!(read, Ok(BrCode::Recurrence(code)) if code.url == "pix.example/rec"));
    }

    #[test]
    fn amounts_and_txids_of_static_codes_must_be_well_formed() {
        check_refused(&[FRONT, PIX, "54041,00", BACK], BrCodeError::Amount);
        check_refused(&[FRONT, PIX, &BACK.replace("62070503***", "62070503A-1")], BrCodeError::Txid);
    }

    #[test]
    fn a_code_may_state_an_amount() {
        for (object, stated) in [
            ("", Ok(None)),
            ("540510.00", Ok(Some(1_000))),
            ("540410.0", Ok(Some(1_000))),
            ("540210", Ok(Some(1_000))),
            ("540510,00", Err(BrCodeError::Amount)),
            ("540610.000", Err(BrCodeError::Amount)),
        ] {
            assert_eq!(stated_amount(&closed(&[FRONT, PIX, object, BACK])), stated, "{object}");
        }
    }

    #[test]
    fn a_checksum_may_be_of_small_letters_and_must_be_the_last_object() {
        let right = closed(&[FRONT, PIX, BACK]);
        assert!(read(&right).is_ok());
        let (front, checksum) = right.split_at(right.len() - 4);
        assert_eq!(read(&format!("{front}{}", checksum.to_lowercase())), read(&right));
        assert_eq!(read(&format!("{right}6401A")), Err(BrCodeError::Checksum));
        let other_id = format!("{}6404", [FRONT, PIX, BACK].concat());
        let closed = format!("{other_id}{}", crc16::checksum_text(&other_id));
        assert_eq!(read(&closed), Err(BrCodeError::Checksum));
    }

    #[test]
    fn lengths_may_count_bytes_where_there_are_accents() {
        let name = |length| BACK.replace("5901A", &format!("59{length:02}José & Cia"));
        for length in ["José & Cia".chars().count(), "José & Cia".len()] {
            let Ok(BrCode::Static(code)) = read(&closed(&[FRONT, PIX, &name(length)])) else {
                panic!("{length}")
            };
            assert_eq!(code.merchant_name, "José & Cia");
        }
        check_refused(&[FRONT, PIX, &name(12)], BrCodeError::Malformed);
        let state_it = closed(&[FRONT, PIX, "540510.00", &name(11)]);
        assert_eq!(stated_amount(&state_it), Ok(Some(1_000)));
    }

    #[test]
    fn a_payload_beyond_the_limit_is_refused_before_it_is_read() {
        assert_eq!(read(&"0".repeat(513)), Err(BrCodeError::TooLong));
    }
}
