//! Payables as they are listed. Source: npm `@pagarme/pagarme-nodejs-sdk` 7.0.2; docs.pagar.me, "Financeiro" (2026-08-28).

use serde_json::Value;

use crate::field::{Object, Unreadable};

/// A page of payables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) lines: Vec<Payable>,
    /// Name of the next page; none at the end.
    pub(super) cursor: Option<String>,
}

/// A payable: what one recipient gets of one instalment, or what is taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Payable {
    pub(super) id: String,
    /// Negative for money that goes back.
    pub(super) amount_cents: i64,
}

impl Page {
    /// Reads `{"data": […], "paging": {"forward_cursor"}}`.
    ///
    /// # Errors
    /// The field that is missing or is not what it has to be.
    pub(super) fn read(body: &[u8]) -> Result<Self, Unreadable> {
        let value = crate::text::json(body).ok_or(Unreadable("JSON"))?;
        let page = Object::of(&value).ok_or(Unreadable("JSON"))?;
        let data = page.get("data").and_then(Value::as_array).ok_or(Unreadable("data"))?;
        let lines = data.iter().map(Payable::of).collect::<Result<_, _>>()?;
        let cursor = page.object("paging").and_then(|paging| paging.text("forward_cursor"));
        Ok(Self { lines, cursor })
    }
}

impl Payable {
    fn of(value: &Value) -> Result<Self, Unreadable> {
        let line = Object::of(value).ok_or(Unreadable("data"))?;
        Ok(Self {
            id: line.text("id").ok_or(Unreadable("payable.id"))?,
            amount_cents: line.get("amount").and_then(Value::as_i64).ok_or(Unreadable("payable.amount"))?,
        })
    }
}
