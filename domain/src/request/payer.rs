//! `paymentDetails`: the payer.

use super::email;
use super::fields::Fields;
use super::violation::{Broken, code};
use super::wordings;
use crate::document::{Document, DocumentType};
use crate::link::KnownPayer;
use crate::order::{Address, Payer};
use crate::phone::Phone;
use crate::postal::{Cep, Uf};

/// Reads the payer, with or without an address.
pub(super) fn read(payer: &Fields<'_>, needs_address: bool) -> Option<Payer> {
    let first_name = payer.required("firstName").trimmed_text_of(1..=60);
    let last_name = payer.required("lastName").trimmed_text_of(1..=60);
    let document = document(payer);
    let email = payer.required("email").parsed(|text| email::check(text).map(|()| text.to_owned()));
    let phone = payer.required("phoneNumber").parsed(|text| Ok(Phone::parse(text)?));
    let sent = if needs_address { payer.required("address") } else { payer.optional("address") };
    let address = sent.object().and_then(|fields| address(&fields));
    if needs_address || sent.is_present() {
        address.as_ref()?;
    }
    Some(Payer {
        first_name: first_name?,
        last_name: last_name?,
        document: document?,
        email: email?,
        phone: phone?,
        address,
    })
}

/// Reads the parts of a payer that are known, each by the same rules.
pub(super) fn read_known(payer: &Fields<'_>) -> KnownPayer {
    let document = payer.optional("document").is_present();
    let of_any_kind = |text: &str| Document::try_from(text.to_owned()).map_err(Broken::from);
    KnownPayer {
        first_name: payer.optional("firstName").trimmed_text_of(1..=60),
        last_name: payer.optional("lastName").trimmed_text_of(1..=60),
        document: match payer.optional("documentType").is_present() {
            true if document => self::document(payer),
            true => {
                payer.optional("documentType").parsed(|text| Ok(DocumentType::parse(text)?));
                None
            }
            false => payer.optional("document").parsed(of_any_kind),
        },
        email: payer.optional("email").parsed(|text| email::check(text).map(|()| text.to_owned())),
        phone: payer.optional("phoneNumber").parsed(|text| Ok(Phone::parse(text)?)),
        address: payer.optional("address").object().and_then(|fields| address(&fields)),
    }
}

/// Reads the document and checks it against its type; a correct one of the other type is a mismatch.
fn document(payer: &Fields<'_>) -> Option<Document> {
    let value = payer.required("document").text();
    let kind = payer.required("documentType").parsed(|text| Ok(DocumentType::parse(text)?));
    let value = value?;
    let Some(kind) = kind else {
        // The digits are checked even without a kind, so that one answer contains both violations.
        let of_any_kind = Document::try_from(value.to_owned());
        return payer.keep("document", of_any_kind.map_err(Broken::from));
    };
    let other = match kind {
        DocumentType::Cpf => DocumentType::Cnpj,
        DocumentType::Cnpj => DocumentType::Cpf,
    };
    if Document::parse(value, other).is_ok() {
        payer.refuse("documentType", Broken::new(code::MISMATCH, wordings::other_document_type()));
        return None;
    }
    payer.keep("document", Document::parse(value, kind).map_err(Broken::from))
}

fn address(fields: &Fields<'_>) -> Option<Address> {
    let street = fields.required("street").text_of(1..=200);
    let number = fields.required("number").text_of(1..=20);
    let complement = fields.optional("complement").text_of(0..=200);
    let neighborhood = fields.required("neighborhood").text_of(1..=200);
    let city = fields.required("city").text_of(1..=200);
    let state = fields.required("state").parsed(|text| Ok(Uf::parse(&text.to_ascii_uppercase())?));
    let zip_code = fields.required("zipCode").parsed(|text| Ok(Cep::parse(text)?));
    fields.optional("country").parsed(|text| {
        let is_brazil = text.eq_ignore_ascii_case("BR");
        is_brazil.then_some(()).ok_or_else(|| Broken::new(code::UNKNOWN_VALUE, wordings::no_brazil()))
    });
    Some(Address {
        street: street?,
        number: number?,
        complement: complement.filter(|text| !text.trim().is_empty()),
        neighborhood: neighborhood?,
        city: city?,
        state: state?,
        zip_code: zip_code?,
    })
}
