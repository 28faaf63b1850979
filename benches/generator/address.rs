//! Address of the service under test, and the form of a request to it.

use std::net::SocketAddr;

use clap::Args;
use uuid::Uuid;

/// Beginning of a request that reads a payment, up to the id.
const BEFORE_ID: &[u8] = b"GET /pay/payments/";
/// Length of an id, in bytes.
const ID: usize = 36;

/// The service that is asked.
#[derive(Args, Clone)]
pub(crate) struct Target {
    /// Its address.
    #[arg(long)]
    pub(crate) target: SocketAddr,
    /// An API key.
    #[arg(long, default_value = "")]
    key: String,
}

impl Target {
    /// Returns a request that creates a payment.
    pub(crate) fn creation(&self, body: &[u8]) -> Vec<u8> {
        let Self { target, key } = self;
        let length = body.len();
        let mut request = format!(
            "POST /pay/payments HTTP/1.1\r\nHost: {target}\r\nAuthorization: Bearer {key}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        )
        .into_bytes();
        request.extend_from_slice(body);
        request
    }

    /// Returns a request that reads a payment.
    pub(crate) fn reading(&self) -> Reading {
        let Self { target, key } = self;
        let mut request = BEFORE_ID.to_vec();
        request.extend_from_slice(&[b'0'; ID]);
        request.extend_from_slice(
            format!(" HTTP/1.1\r\nHost: {target}\r\nAuthorization: Bearer {key}\r\n\r\n").as_bytes(),
        );
        Reading { request }
    }
}

/// A request that reads one payment after the other.
pub(crate) struct Reading {
    request: Vec<u8>,
}

impl Reading {
    /// Returns the request for this payment.
    pub(crate) fn of(&mut self, id: Uuid) -> &[u8] {
        if let Some(place) = self.request.get_mut(BEFORE_ID.len()..BEFORE_ID.len() + ID) {
            id.hyphenated().encode_lower(place);
        }
        &self.request
    }
}
