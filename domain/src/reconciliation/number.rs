//! Numbers of boletos, by which a file's line finds its payment.

use crate::method::Method;
use crate::payment::Payment;
use crate::slip::document_number_of;

/// Name of the nosso número among an acquirer's ids of a charge.
const OUR_NUMBER: &str = "ourNumber";

/// A boleto's number without the parts that files and slips spell differently: blanks, punctuation, leading zeros,
/// small letters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SlipNumber {
    /// The bank's number (nosso número), with its digit.
    Ours(String),
    /// The beneficiary's number (nº do documento).
    Document(String),
}

impl SlipNumber {
    /// Reads the bank's number, if it is not empty.
    pub fn ours(text: &str) -> Option<Self> {
        bare(text).map(Self::Ours)
    }

    /// Reads the beneficiary's number, if it is not empty.
    pub fn document(text: &str) -> Option<Self> {
        bare(text).map(Self::Document)
    }

    /// Returns the bare number.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Ours(number) | Self::Document(number) => number,
        }
    }
}

fn bare(text: &str) -> Option<String> {
    let kept = text.chars().filter(|character| character.is_ascii_alphanumeric());
    let bare: String = kept.skip_while(|character| *character == '0').collect();
    (!bare.is_empty()).then(|| bare.to_ascii_uppercase())
}

/// Returns the numbers by which a boleto is found: the bank's, once it is known, and the beneficiary's. Other methods
/// have none.
pub fn slip_numbers_of(payment: &Payment) -> (Option<SlipNumber>, Option<SlipNumber>) {
    match payment.method() {
        Method::Boleto => {
            let last = payment.state.attempts.last();
            let ours = last.and_then(|attempt| attempt.reference.get(OUR_NUMBER)).and_then(SlipNumber::ours);
            (ours, SlipNumber::document(&document_number_of(payment)))
        }
        Method::Pix | Method::CreditCard => (None, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_differently_is_the_same_number() {
        for text in ["00000000233P", "233-p", " 0233/P "] {
            assert_eq!(SlipNumber::ours(text), Some(SlipNumber::Ours("233P".into())), "{text}");
        }
        for text in ["", "000", "-/ "] {
            assert_eq!(SlipNumber::document(text), None, "{text}");
        }
        assert_ne!(SlipNumber::ours("7"), SlipNumber::document("7"));
    }
}
