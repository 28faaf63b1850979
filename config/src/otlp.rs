//! Destination of traces.

use quita_ports::trace::{TRACE_SHARE_FORM, TraceShare};
use url::Url;

use super::parse_plain_url;
use super::settings::Settings;

const ENDPOINT_FORM: &str =
    "an http or https URL without user, query or fragment, such as http://127.0.0.1:4318";

/// Destination of traces, and the share that is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtlpConfig {
    /// The collector.
    pub endpoint: Url,
    /// Share of the traces that is recorded.
    pub share: TraceShare,
}

/// Reads both settings; the share alone means nothing. Returns `None` if traces are not sent.
pub(super) fn read(settings: &mut Settings) -> Option<OtlpConfig> {
    let endpoint = settings.read("otlp-endpoint", ENDPOINT_FORM, parse_plain_url);
    let share = settings.read("otlp-sample", TRACE_SHARE_FORM, TraceShare::parse).unwrap_or(TraceShare::ALL);
    Some(OtlpConfig { endpoint: endpoint?, share })
}
