//! Sample request that creates a payment.

use serde_json::{Map, Value};

/// Amount of the sample, in cents: R$ 100,00.
const AMOUNT_CENTS: u64 = 10_000;

/// Part of the body between the amount and the end: the payer of a PIX payment.
const BODY: &str = "\"currency\":\"BRL\",\"paymentDetails\":{\
    \"firstName\":\"Maria\",\"lastName\":\"Silva\",\"document\":\"52998224725\",\"documentType\":\"CPF\",\
    \"email\":\"maria@example.com\",\"phoneNumber\":\"11987654321\",\"address\":{\"street\":\"Rua Augusta\",\
    \"number\":\"100\",\"neighborhood\":\"Consolação\",\"city\":\"São Paulo\",\"state\":\"SP\",\
    \"zipCode\":\"01304000\"}}";

/// Returns the body, with or without a webhook receiver.
pub(crate) fn body(postback_url: Option<&str>) -> String {
    body_of(AMOUNT_CENTS, postback_url)
}

/// Returns the body with another amount.
pub(crate) fn body_of(amount_cents: u64, postback_url: Option<&str>) -> String {
    let postback = postback_url.map(|url| format!(",\"postbackUrl\":\"{url}\"")).unwrap_or_default();
    format!("{{\"paymentMethod\":\"pix\",\"amount\":{amount_cents},{BODY}{postback}}}")
}

/// Returns the body with terms other than a PIX of R$ 100,00 without a receiver.
pub(crate) fn body_with(terms: Map<String, Value>) -> String {
    let mut body: Map<String, Value> = serde_json::from_str(&body(None)).unwrap_or_default();
    body.extend(terms);
    Value::Object(body).to_string()
}

/// Returns a shell command that can be pasted to send the request.
pub(crate) fn curl(url: &str, key: &str, postback_url: Option<&str>) -> String {
    let body = body(postback_url);
    format!(
        "curl -s {url}/pay/payments -H 'Authorization: Bearer {key}' -H 'Content-Type: application/json' -d '{body}'"
    )
}
