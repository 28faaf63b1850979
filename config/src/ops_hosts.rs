//! Host names that serve the operator's pages.

use toml::Value;

use super::settings::{Given, Settings};

const FORM: &str = "host names or addresses, such as ops.example.com, with commas between them";

/// Reads a list of names: an array, or a text with commas.
pub(super) fn read(settings: &mut Settings) -> Vec<String> {
    let Some(Given { value, origin }) = settings.given("ops-hosts") else { return Vec::new() };
    let origin = origin.clone();
    let names: Option<Vec<String>> = match value {
        Value::String(text) => text.split(',').map(host).collect(),
        Value::Array(values) => values.iter().map(|value| host(value.as_str()?)).collect(),
        Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) | Value::Table(_) => {
            None
        }
    };
    if names.is_none() {
        settings.refuse("ops-hosts", format!("it can't be understood ({origin}); allowed: {FORM}"));
    }
    names.unwrap_or_default()
}

/// Returns a host without its port.
pub fn name_of(host: &str) -> &str {
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    match host.rsplit_once(':') {
        Some((name, port)) if is_port(port) && (name.ends_with(']') || !name.contains(':')) => name,
        Some(_) | None => host,
    }
}

/// Returns a name in lower case; its port is ignored, because any port is allowed.
fn host(text: &str) -> Option<String> {
    let name = name_of(text.trim()).to_ascii_lowercase();
    let is_name =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b':' | b'[' | b']');
    (!name.is_empty() && name.bytes().all(is_name)).then_some(name)
}
