//! A request that creates a payment, for people to try.

/// The body of the request: a PIX payment of R$ 100,00, its payer and no receiver of webhooks.
pub(crate) const BODY: &str = "{\"paymentMethod\":\"pix\",\"amount\":10000,\"currency\":\"BRL\",\"paymentDetails\":{\
    \"firstName\":\"Maria\",\"lastName\":\"Silva\",\"document\":\"52998224725\",\"documentType\":\"CPF\",\
    \"email\":\"maria@example.com\",\"phoneNumber\":\"11987654321\",\"address\":{\"street\":\"Rua Augusta\",\
    \"number\":\"100\",\"neighborhood\":\"Consolação\",\"city\":\"São Paulo\",\"state\":\"SP\",\
    \"zipCode\":\"01304000\"}}}";

/// A line for the terminal that sends it.
pub(crate) fn curl(url: &str, key: &str) -> String {
    format!(
        "curl -s {url}/pay/payments -H 'Authorization: Bearer {key}' -H 'Content-Type: application/json' -d '{BODY}'"
    )
}
