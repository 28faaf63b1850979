//! Signatures of webhooks, checked twice: by a few lines here and by somebody else's library.

use std::io::Write;
use std::process::{Command, Stdio};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::receiver::Received;

/// The signature that a request must carry.
pub(crate) fn signature_of(request: &Received, secret: &str) -> String {
    let timestamp = request.header("webhook-timestamp").expect("a webhook has a timestamp");
    sign(secret, &request.webhook_id(), timestamp, &request.body)
}

/// Signs as Standard Webhooks says: `v1,…`.
pub(crate) fn sign(secret: &str, id: &str, timestamp: &str, body: &[u8]) -> String {
    let key = STANDARD.decode(secret.strip_prefix("whsec_").expect("a secret begins with whsec_")).unwrap();
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
    mac.update(format!("{id}.{timestamp}.").as_bytes());
    mac.update(body);
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}

/// Checks a request with the Python package `standardwebhooks`; says "skipped" where no Python is named.
///
/// # Panics
/// If the package refuses the request or is not there.
#[track_caller]
pub(crate) fn check_with_standard_webhooks(request: &Received, secret: &str) {
    const SCRIPT: &str = "import json, sys\n\
        from standardwebhooks.webhooks import Webhook\n\
        given = json.load(sys.stdin)\n\
        Webhook(given['secret']).verify(given['body'], given['headers'])\n\
        print('verified')";
    let Ok(python) = std::env::var("QUITA_TEST_PYTHON") else {
        println!("skipped: QUITA_TEST_PYTHON is not set; scripts/test sets it");
        return;
    };
    let headers: serde_json::Map<_, _> = request
        .headers
        .iter()
        .map(|(name, value)| (name.to_ascii_lowercase(), value.clone().into()))
        .collect();
    let body = String::from_utf8(request.body.clone()).unwrap();
    let given = serde_json::json!({"secret": secret, "body": body, "headers": headers}).to_string();
    let mut child = Command::new(&python)
        .args(["-c", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("QUITA_TEST_PYTHON={python} does not start: {error}"));
    child.stdin.take().unwrap().write_all(given.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && output.stdout.starts_with(b"verified"),
        "standardwebhooks did not verify the request (is it installed? scripts/lib/test-requirements.txt): {errors}"
    );
}
