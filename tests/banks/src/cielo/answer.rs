//! Answers before they are encoded, and Cielo's refusals.

use serde_json::{Value, json};

/// An answer of one call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Option<Value>,
}

impl Answer {
    pub(crate) fn new(status: u16, body: Value) -> Self {
        Self { status, body: Some(body) }
    }
}

/// One entry of the array in a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refusal {
    code: &'static str,
    message: &'static str,
}

macro_rules! refusals {
    ($($name:ident = $code:literal $message:literal),* $(,)?) => {
        $(pub(crate) const $name: Refusal = Refusal { code: $code, message: $message };)*
    };
}

// The codes of the manual's table "Erros de integração".
refusals! {
    UNREADABLE = "0" "Internal error",
    MERCHANT_ID_MISSING = "101" "MerchantId is required",
    TYPE_MISSING = "102" "Payment Type is required",
    IDENTITY_MISSING = "104" "Customer Identity is required",
    NAME_INVALID = "105" "Customer Name is required",
    ORDER_ID_INVALID = "107" "MerchantOrderId is invalid or does not exist",
    AMOUNT_INVALID = "108" "Amount must be greater or equal to zero",
    MERCHANT_ID_FORMAT = "114" "The provided MerchantId is not in correct format",
    MERCHANT_ID_UNKNOWN = "115" "The provided MerchantId was not found",
    HOLDER_MISSING = "117" "Credit Card Holder is required",
    CARD_NUMBER_MISSING = "118" "Credit Card Number is required",
    PAYMENT_MISSING = "119" "At least one Payment is required",
    ORDER_ID_MISSING = "122" "MerchantOrderId is required",
    INSTALMENTS_INVALID = "123" "Installments must be greater or equal to one",
    EXPIRY_INVALID = "126" "Credit Card Expiration Date is invalid",
    CARD_NUMBER_LONG = "128" "Card Number length exceeded",
    MERCHANT_KEY_MISSING = "131" "MerchantKey is required",
    MERCHANT_KEY_INVALID = "132" "MerchantKey is invalid",
    PROVIDER_UNSUPPORTED = "133" "Provider is not supported for this Payment Type",
    SECURITY_CODE_LONG = "146" "SecurityCode length exceeded",
    BRAND_MISSING = "182" "Brand is required",
    BRAND_UNSUPPORTED = "185" "Brand not supported for selected provider",
    ORDER_ID_USED = "302" "Duplicate MerchantOrderId",
    NOT_FOUND = "307" "Transaction not found",
    CANNOT_CAPTURE = "308" "Transaction not available to capture",
    CANNOT_VOID = "309" "Transaction not available to void",
    NOT_SUPPORTED = "310" "Payment method does not support this operation",
    CANNOT_REFUND = "312" "Transaction not available to refund",
    ZERO_AUTH_OFF = "322" "Zero Dollar Auth is not enabled",
    PIX_REFUSED = "422" "Pix request is not valid",
    ADDRESS_INVALID = "BP901" "Invalid data",
}

/// Returns a refusal with one entry or several.
pub(crate) fn refused(status: u16, refusals: &[Refusal]) -> Answer {
    let line = |refusal: &Refusal| {
        let code = refusal.code.parse::<u64>().map_or_else(|_| json!(refusal.code), Value::from);
        json!({ "Code": code, "Message": refusal.message })
    };
    Answer::new(status, refusals.iter().map(line).collect())
}

/// Returns a bad request with one entry.
pub(crate) fn bad(refusal: Refusal) -> Answer {
    refused(400, &[refusal])
}

/// Returns a "not found".
pub(crate) fn not_found() -> Answer {
    refused(404, &[NOT_FOUND])
}
