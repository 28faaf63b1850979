//! Violations of a request.

use std::fmt;

use super::unknown_names::UnknownName;
use super::wordings;
use crate::card::CardError;
use crate::document::{DocumentError, UnknownDocumentType};
use crate::phone::PhoneError;
use crate::postal::PostalError;
use crate::wording::Wording;

/// Every code of a [`Violation`]. The codes are part of the API, so none ever changes its meaning.
pub mod code {
    /// A required field is missing or `null` (400).
    pub const REQUIRED: &str = "required";
    /// The JSON type is wrong, or an integer has a fraction or exponent (400).
    pub const TYPE: &str = "type";
    /// The body is not JSON, not UTF-8, or nested too deeply (400).
    pub const SYNTAX: &str = "syntax";
    /// Two members of one object, or two parameters of a query, have the same name (400). Two entries of a list are the
    /// same (422).
    pub const DUPLICATE: &str = "duplicate";
    /// A parameter of a query that the address does not have (400).
    pub const UNKNOWN_PARAMETER: &str = "unknown_parameter";
    /// A cursor that this service did not issue (400).
    pub const CURSOR: &str = "cursor";
    /// Too few or too many characters.
    pub const LENGTH: &str = "length";
    /// More entries than the list or object may have.
    pub const TOO_MANY: &str = "too_many";
    /// Fewer entries than the list must have.
    pub const TOO_FEW: &str = "too_few";
    /// Below or above the allowed range; also a date outside its window.
    pub const RANGE: &str = "range";
    /// A character that the field can't have, such as a control character.
    pub const CHARACTER: &str = "character";
    /// Wrong format of a date, a UUID, a URL, an e-mail address.
    pub const FORMAT: &str = "format";
    /// Not one of the values that the field may have.
    pub const UNKNOWN_VALUE: &str = "unknown_value";
    /// Contradicts another field.
    pub const MISMATCH: &str = "mismatch";
    /// Shares by amount and by percentage in one request, or both in one share.
    pub const MIXED: &str = "mixed";
    /// Entries of a list that must rise or fall do not.
    pub const ORDER: &str = "order";
    /// The shares exceed the amount.
    pub const EXCEEDS_AMOUNT: &str = "exceeds_amount";
    /// Belongs to another payment method (422) or operation (400).
    pub const NOT_APPLICABLE: &str = "not_applicable";
    /// A card number, or a name of card data, in a place where none is allowed.
    pub const CARD_NUMBER: &str = "card_number";
    /// The card's last month has passed.
    pub const EXPIRED: &str = "expired";
    /// The URL may not be called: not `https`, or no public address.
    pub const NOT_PUBLIC: &str = "not_public";
    /// A document whose digits are all equal, such as 111.111.111-11. The check digits of such a CPF are right, but it is
    /// never issued.
    pub const REPEATED: &str = "repeated";
    /// The check digits do not follow from the others.
    pub const CHECK_DIGIT: &str = "check_digit";
    /// A phone number of 12 or 13 digits that does not begin with 55.
    pub const COUNTRY: &str = "country";
    /// An area code that does not exist.
    pub const AREA_CODE: &str = "area_code";
    /// Neither a mobile nor a landline number.
    pub const SUBSCRIBER: &str = "subscriber";
    /// The card's brand is unknown.
    pub const UNKNOWN_BRAND: &str = "unknown_brand";
    /// No acquirer of this payment method in the mode of the key is configured, or accepts the terms.
    pub const METHOD_UNAVAILABLE: &str = "method_unavailable";
    /// No acquirer of this payment method in the mode of the key accepts the amount.
    pub const AMOUNT_NOT_ACCEPTED: &str = "amount_not_accepted";
    /// The card's brand has no numbers of this length.
    pub const BRAND_LENGTH: &str = "brand_length";

    /// The card token has expired.
    pub const TOKEN_EXPIRED: &str = "token_expired";
    /// Another payment has used the card token.
    pub const TOKEN_USED: &str = "token_used";
    /// No token of this merchant and mode, or its secret key is gone.
    pub const TOKEN_UNKNOWN: &str = "token_unknown";

    /// All codes.
    pub const ALL: [&str; 33] = [
        REQUIRED,
        TYPE,
        SYNTAX,
        DUPLICATE,
        UNKNOWN_PARAMETER,
        CURSOR,
        LENGTH,
        TOO_MANY,
        TOO_FEW,
        RANGE,
        CHARACTER,
        FORMAT,
        UNKNOWN_VALUE,
        MISMATCH,
        MIXED,
        ORDER,
        EXCEEDS_AMOUNT,
        NOT_APPLICABLE,
        CARD_NUMBER,
        EXPIRED,
        NOT_PUBLIC,
        REPEATED,
        CHECK_DIGIT,
        COUNTRY,
        AREA_CODE,
        SUBSCRIBER,
        UNKNOWN_BRAND,
        METHOD_UNAVAILABLE,
        AMOUNT_NOT_ACCEPTED,
        BRAND_LENGTH,
        TOKEN_EXPIRED,
        TOKEN_USED,
        TOKEN_UNKNOWN,
    ];
}

/// One violation. Contains no value that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Path: `items[0].price`; empty for the body as a whole.
    pub field: String,
    /// Code, for programs: one of [`code::ALL`].
    pub code: &'static str,
    /// Message, for people: a sentence that follows the field's name.
    pub message: Wording,
}

/// A refused request, with all its violations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// Shape or rules.
    pub kind: RejectionKind,
    /// Violations, in the order of the contract's table; never empty.
    pub violations: Vec<Violation>,
    /// Unknown names in the body, one of which may be the reason that a field is missing.
    pub unknown: Vec<UnknownName>,
}

/// Kind of refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RejectionKind {
    /// Not JSON, a required field missing, a wrong type: 400.
    Malformed,
    /// Well-formed, but breaks a rule: 422.
    Unprocessable,
}

impl Rejection {
    /// Refuses a request because of its shape.
    pub(crate) fn malformed(violations: Vec<Violation>) -> Self {
        Self { kind: RejectionKind::Malformed, violations, unknown: Vec::new() }
    }

    /// Refuses a request because of rules.
    pub fn unprocessable(violations: Vec<Violation>) -> Self {
        Self { kind: RejectionKind::Unprocessable, violations, unknown: Vec::new() }
    }

    /// Refuses a request whose header contains a card number.
    pub fn card_number_in(header: &str) -> Self {
        let message = wordings::card_number();
        Self::unprocessable(vec![Violation { field: header.to_owned(), code: code::CARD_NUMBER, message }])
    }

    /// Refuses a body that could not be read at all.
    pub(super) fn unreadable(field: String, code: &'static str, message: Wording) -> Self {
        Self::malformed(vec![Violation { field, code, message }])
    }

    /// Adds the unknown names of the body. If one was probably meant as a missing field, the message says so: a header
    /// alone is easily overlooked.
    pub(super) fn with_unknown(self, unknown: Vec<UnknownName>) -> Self {
        let mut violations = self.violations;
        for missing in violations.iter_mut().filter(|violation| violation.code == code::REQUIRED) {
            if let Some(name) = unknown.iter().find(|name| name.is_meant_as(&missing.field)) {
                missing.message = missing.message.then(&wordings::has_unknown(&name.path));
            } else if let Some((name, meant)) = meant_in(&unknown, &missing.field) {
                missing.message = missing.message.then(&wordings::has_unknown_meant(&name.path, meant));
            }
        }
        Self { violations, unknown, ..self }
    }

    /// Returns the first violation with its field, and the number of further ones.
    pub fn message(&self) -> Wording {
        let Some(first) = self.violations.first() else { return Wording::fixed("", "") };
        wordings::at(&first.field, &first.message).then(&wordings::rest_of(self.violations.len()))
    }
}

/// Returns the only unknown name in the object at this path that seems to mean a name of that object, and that name. With
/// several, none is the likely reason that the object lacks something.
fn meant_in<'u>(unknown: &'u [UnknownName], object: &str) -> Option<(&'u UnknownName, &'u str)> {
    let mut meant = unknown.iter().filter_map(|name| Some((name, name.meant_in(object)?)));
    let only = meant.next()?;
    meant.next().is_none().then_some(only)
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

impl std::error::Error for Rejection {}

/// A broken rule: a [`Violation`] without its field.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    pub(super) code: &'static str,
    pub(super) message: Wording,
}

impl Broken {
    pub(super) const fn new(code: &'static str, message: Wording) -> Self {
        Self { code, message }
    }
}

impl From<DocumentError> for Broken {
    fn from(error: DocumentError) -> Self {
        Self::new(error.code(), wordings::document(error))
    }
}

impl From<UnknownDocumentType> for Broken {
    fn from(UnknownDocumentType: UnknownDocumentType) -> Self {
        Self::new(code::UNKNOWN_VALUE, wordings::unknown_document_type())
    }
}

impl From<PhoneError> for Broken {
    fn from(error: PhoneError) -> Self {
        Self::new(error.code(), wordings::phone(error))
    }
}

impl From<PostalError> for Broken {
    fn from(error: PostalError) -> Self {
        let code = match error {
            PostalError::Cep => code::FORMAT,
            PostalError::Uf => code::UNKNOWN_VALUE,
        };
        Self::new(code, wordings::place(error))
    }
}

impl From<CardError> for Broken {
    fn from(error: CardError) -> Self {
        let code = match error {
            CardError::Month | CardError::Year => code::RANGE,
            CardError::Character
            | CardError::Length
            | CardError::CheckDigit
            | CardError::UnknownBrand
            | CardError::BrandLength
            | CardError::ExpiryForm => error.code(),
        };
        Self::new(code, wordings::card(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codes_of_documents_phones_places_and_cards_are_on_the_list() {
        use CardError as C;
        use DocumentError as D;
        use PhoneError as P;
        let documents = [D::Character, D::Length, D::Repeated, D::CheckDigit].map(Broken::from);
        let phones = [P::Character, P::Length, P::Country, P::AreaCode, P::Subscriber].map(Broken::from);
        let places = [PostalError::Cep, PostalError::Uf].map(Broken::from);
        let cards =
            [C::Character, C::Length, C::CheckDigit, C::UnknownBrand, C::BrandLength, C::Month, C::Year];
        let cards = cards.map(Broken::from);
        let all = documents.into_iter().chain(phones).chain(places).chain(cards);
        for broken in all.chain([C::ExpiryForm.into(), UnknownDocumentType.into()]) {
            assert!(code::ALL.contains(&broken.code), "{}", broken.code);
        }
    }

    #[test]
    fn a_rejection_tells_the_first_violation_and_how_many_there_are() {
        let violation = |field: &str| Violation {
            field: field.to_owned(),
            code: code::REQUIRED,
            message: wordings::is_required(),
        };
        for (fields, english, portuguese) in [
            (&["amount"][..], "amount: is required", "amount: é obrigatório"),
            (&["amount", "b"], "amount: is required; and 1 more", "amount: é obrigatório; e mais 1"),
            (&["", "b", "c"], "is required; and 2 more", "é obrigatório; e mais 2"),
        ] {
            let rejection = Rejection::malformed(fields.iter().map(|field| violation(field)).collect());
            let message = rejection.message();
            assert_eq!((message.english(), message.portuguese()), (english, portuguese));
            assert_eq!(rejection.to_string(), english);
        }
    }

    #[test]
    fn a_missing_field_is_told_with_the_unknown_name_that_it_was_probably_sent_as() {
        let violation =
            |field: &str, code| Violation { field: field.to_owned(), code, message: wordings::is_required() };
        let missing = ["amount", "paymentDetails.email", "paymentDetails.document", "currency"];
        let violations = missing.map(|field| violation(field, code::REQUIRED)).into();
        let unknown = |path: &str, meant: &str| UnknownName { path: path.into(), meant: Some(meant.into()) };
        let rejection = Rejection::malformed(violations).with_unknown(vec![
            unknown("amout", "amount"),
            unknown("paymentDetails.e_mail", "email"),
            unknown("email", "paymentDetails.document"),
            unknown("paymentDetails.…", "currency"),
        ]);
        let told = rejection.violations.iter().map(|violation| violation.message.english());
        assert_eq!(
            told.collect::<Vec<_>>(),
            [
                "is required; the request has amout, which is unknown",
                "is required; the request has paymentDetails.e_mail, which is unknown",
                "is required; the request has email, which is unknown",
                "is required",
            ]
        );
        let wrong = Rejection::malformed(vec![violation("amount", code::TYPE)]);
        let wrong = wrong.with_unknown(vec![unknown("amout", "amount")]);
        assert_eq!(wrong.violations[0].message, wordings::is_required(), "the field itself was sent");
    }

    #[test]
    fn no_code_stands_twice_on_the_list() {
        let distinct: std::collections::BTreeSet<_> = code::ALL.into_iter().collect();
        assert_eq!(distinct.len(), code::ALL.len());
    }
}
