//! Order of a link's payment before there is a payer, used to find out what acquirers can take.

use std::sync::Arc;

use chrono::Datelike;

use super::{CardInput, Link, PayerInput};
use crate::method::Method;
use crate::order::Order;
use crate::request::{RequestLimits, parse_of_link};
use crate::secret::Secret;
use crate::time::Timestamp;

impl Link {
    /// Returns the order of a payment that begins now. Unknown parts of the payer are invented. `None` if the result is
    /// not a valid order; the form then shows why.
    pub fn specimen(&self, method: Method, now: Timestamp, limits: &RequestLimits) -> Option<Arc<Order>> {
        let body = self.creation_body(method, &payer(now), now);
        let parsed = parse_of_link(&body, now, limits).ok()?;
        Some(parsed.into_purchase().ok()?.order)
    }
}

fn payer(now: Timestamp) -> PayerInput {
    let next_year = now.sao_paulo_date().year().saturating_add(1);
    let text = |text: &str| Secret::new(text.to_owned());
    PayerInput {
        name: "Maria Silva".into(),
        document: "52998224725".into(),
        email: "maria@example.com".into(),
        phone: "11912345678".into(),
        street: "Rua Augusta".into(),
        number: "100".into(),
        complement: String::new(),
        neighborhood: "Consolação".into(),
        city: "São Paulo".into(),
        state: "SP".into(),
        zip_code: "01304000".into(),
        card: Some(CardInput {
            number: text("4111111111111111"),
            holder_name: text("MARIA SILVA"),
            expiry: Secret::new(format!("12/{next_year}")),
            code: text("123"),
            installments: 1,
        }),
    }
}
