//! Payments as the text that a store keeps.

use quita_domain::payment::Payment;

/// Reads a payment from its text.
///
/// # Errors
/// The text is no payment.
// In one place: each copy of the code that reads a payment adds a quarter of a minute to the build.
pub fn read(text: &str) -> serde_json::Result<Payment> {
    serde_json::from_str(text)
}

/// Writes a payment as its text.
///
/// # Panics
/// The payment has no text: never.
pub fn written(payment: &Payment) -> String {
    serde_json::to_string(payment).expect("a payment has a text")
}
