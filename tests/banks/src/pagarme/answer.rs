//! Answers before they are encoded, and the wording of Pagar.me's refusals.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// Answer to one call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Answer {
    pub(crate) const fn new(status: u16, body: Value) -> Self {
        Self { status, body }
    }

    pub(crate) const fn ok(body: Value) -> Self {
        Self::new(200, body)
    }

    fn message(status: u16, message: &str) -> Self {
        Self::new(status, json!({ "message": message }))
    }
}

/// Faults of a request, by field.
#[derive(Debug, Default)]
pub(crate) struct Faulty(BTreeMap<String, Vec<String>>);

impl Faulty {
    /// Records an error of this field unless it is right.
    pub(crate) fn unless(&mut self, is_right: bool, field: &str, message: &str) {
        if !is_right {
            self.0.entry(field.to_owned()).or_default().push(message.to_owned());
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn answer(&self) -> Answer {
        Answer::new(422, json!({ "message": "The request is invalid.", "errors": self.0 }))
    }
}

pub(crate) fn unreadable() -> Answer {
    Answer::message(400, "The request is invalid.")
}

pub(crate) fn stranger() -> Answer {
    Answer::message(401, "Authorization has been denied for this request.")
}

pub(crate) fn not_found(what: &str) -> Answer {
    Answer::message(404, &format!("{what} not found."))
}

pub(crate) fn not_now(why: &str) -> Answer {
    Answer::message(412, why)
}

pub(crate) fn failed(status: u16) -> Answer {
    Answer::message(status, "An error has occurred.")
}
