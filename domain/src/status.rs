//! The states of a payment and THE transition table.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The state of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Stored, not yet answered by an acquirer.
    Initial,
    /// Waiting for the payer.
    Pending,
    /// A card's limit is held; nothing was charged yet.
    Approved,
    /// Refused by the issuer or by every acquirer.
    Declined,
    /// The full amount was given back.
    Refund,
    /// The holder or the payer's bank took the money back.
    Chargeback,
    /// The time to pay has passed.
    Expired,
    /// Paid.
    Paid,
    /// Withdrawn before payment, or an authorisation that was voided.
    Cancelled,
}

impl Status {
    /// Every status, in the order of the specification.
    pub const ALL: [Self; 9] = [
        Self::Initial,
        Self::Pending,
        Self::Approved,
        Self::Declined,
        Self::Refund,
        Self::Chargeback,
        Self::Expired,
        Self::Paid,
        Self::Cancelled,
    ];

    /// Returns the statuses that this one may become: THE transition table. `docs/STATUS.md` is printed from it.
    pub const fn may_become(self) -> &'static [Self] {
        match self {
            Self::Initial => &[Self::Pending, Self::Approved, Self::Declined, Self::Paid, Self::Cancelled],
            Self::Pending => &[Self::Approved, Self::Paid, Self::Declined, Self::Expired, Self::Cancelled],
            Self::Approved => &[Self::Paid, Self::Declined, Self::Cancelled, Self::Refund, Self::Chargeback],
            Self::Paid => &[Self::Refund, Self::Chargeback],
            Self::Chargeback => &[Self::Paid, Self::Refund],
            Self::Expired => &[Self::Paid, Self::Cancelled],
            Self::Cancelled => &[Self::Paid],
            Self::Declined | Self::Refund => &[],
        }
    }

    /// Returns true if the table has an edge from here to `next`.
    pub fn allows(self, next: Self) -> bool {
        self.may_become().contains(&next)
    }

    /// Returns the meaning of the status, in one sentence.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Initial => "stored, not yet answered by an acquirer",
            Self::Pending => "waiting for the payer",
            Self::Approved => "a card's limit is held, nothing was charged yet",
            Self::Declined => "refused by the issuer, or by every acquirer",
            Self::Refund => "all that was paid was given back",
            Self::Chargeback => "the holder or the payer's bank took the money back",
            Self::Expired => {
                "the time to pay went by; money that still arrives is accepted, and a boleto can be withdrawn"
            }
            Self::Paid => "paid",
            Self::Cancelled => "withdrawn before it was paid, or an authorisation that was voided",
        }
    }

    /// Returns the API's spelling.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Initial => "initial",
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Declined => "declined",
            Self::Refund => "refund",
            Self::Chargeback => "chargeback",
            Self::Expired => "expired",
            Self::Paid => "paid",
            Self::Cancelled => "cancelled",
        }
    }

    /// Reads the API's spelling.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Returns the page `docs/STATUS.md`, printed from the table.
pub fn status_page() -> String {
    let mut page = String::from(
        "# States of a payment\n\nPrinted from the table in `domain/src/status.rs`; a test fails when this page is stale.\n\n\
         | status | meaning | may become |\n|---|---|---|\n",
    );
    for status in Status::ALL {
        let next: Vec<_> = status.may_become().iter().map(|next| next.as_str()).collect();
        let next = if next.is_empty() { String::from("nothing") } else { next.join(", ") };
        page.push_str(&format!("| `{status}` | {} | {next} |\n", status.meaning()));
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_the_contracts() {
        let edges = [
            ("initial", "pending approved declined paid cancelled"),
            ("pending", "approved paid declined expired cancelled"),
            ("approved", "paid declined cancelled refund chargeback"),
            ("declined", ""),
            ("refund", ""),
            ("chargeback", "paid refund"),
            ("expired", "paid cancelled"),
            ("paid", "refund chargeback"),
            ("cancelled", "paid"),
        ];
        for (from, to) in edges {
            let from = Status::parse(from).unwrap();
            for next in Status::ALL {
                let expected = to.split(' ').any(|name| name == next.as_str());
                assert_eq!(from.allows(next), expected, "{from} -> {next}");
            }
        }
    }

    #[test]
    fn the_status_page_is_fresh() {
        let stored = include_str!("../../docs/STATUS.md");
        assert_eq!(stored, status_page(), "cargo run -p quita-domain --example status_page > docs/STATUS.md");
    }
}
