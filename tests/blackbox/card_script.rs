//! Addresses to which the script for pages of a merchant's own sends a card.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::TestApp;

const TEST: &str = "qk_pub_test_x";
const LIVE: &str = "qk_pub_live_x";

/// Runs the newest script in pages, and returns what each of them sent, or the error.
fn run(cases: &[Value]) -> Option<Vec<Value>> {
    let Ok(node) = std::env::var("QUITA_TEST_NODE") else {
        println!("skipped: QUITA_TEST_NODE is not set; scripts/test sets it");
        return None;
    };
    let app = TestApp::new();
    let script = app.directory().join("v1.js");
    std::fs::write(&script, app.client_without_key().get("/checkout/v1.js").text()).unwrap();
    let runner = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/blackbox/card_script.js");
    let output = Command::new(node).arg(runner).arg(script).arg(json!(cases).to_string()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    let outcomes: Vec<_> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(outcomes.len(), cases.len(), "{printed}");
    Some(outcomes)
}

fn loaded_from(address: &str) -> Value {
    json!({"tagName": "SCRIPT", "src": address})
}

#[test]
fn a_card_goes_to_the_home_of_the_script_or_to_the_address_that_the_page_names() {
    let cases = [
        (loaded_from("https://pay.example/checkout/v1.js"), LIVE, Value::Null, "https://pay.example/"),
        (
            loaded_from("https://pay.example/q/checkout/v1.3.js?a=b"),
            LIVE,
            Value::Null,
            "https://pay.example/q/",
        ),
        (loaded_from("http://127.0.0.1:8080/checkout/v1.js"), TEST, Value::Null, "http://127.0.0.1:8080/"),
        (loaded_from("http://[::1]/checkout/v1.js"), TEST, Value::Null, "http://[::1]/"),
        (Value::Null, LIVE, json!({"url": "https://pay.example/q"}), "https://pay.example/q/"),
        (Value::Null, TEST, json!({"url": "http://localhost:8080/"}), "http://localhost:8080/"),
    ];
    let sent: Vec<_> = cases.iter().map(|(script, key, options, _)| json!([script, key, options])).collect();
    let Some(outcomes) = run(&sent) else { return };
    for ((.., home), outcome) in cases.iter().zip(&outcomes) {
        let expected = json!([{"url": format!("{home}pay/tokens"), "redirect": "error"}]);
        assert_eq!(outcome["sent"], expected, "{home}: {outcome}");
    }
}

#[test]
fn without_a_known_address_or_by_http_no_card_is_sent_and_the_error_says_why() {
    let unknown = "does not know its address";
    let https = "by https: only";
    let cases = [
        (Value::Null, TEST, Value::Null, unknown),
        (json!({"tagName": "SCRIPT", "src": ""}), LIVE, Value::Null, unknown),
        (loaded_from("https://shop.example/bundle/app.js"), LIVE, Value::Null, unknown),
        (loaded_from("https://shop.example/evil-checkout/v1.js"), LIVE, Value::Null, unknown),
        (json!({"tagName": "IMG", "src": "https://evil.example/checkout/v1.js"}), LIVE, Value::Null, unknown),
        (Value::Null, LIVE, json!({"url": "/quita"}), unknown),
        (loaded_from("http://pay.example/checkout/v1.js"), LIVE, Value::Null, https),
        (loaded_from("http://127.0.0.1/checkout/v1.js"), LIVE, Value::Null, https),
        (loaded_from("http://127.0.0.1.evil.example/checkout/v1.js"), TEST, Value::Null, https),
        (Value::Null, LIVE, json!({"url": "http://pay.example"}), https),
        (Value::Null, TEST, json!({"url": "ftp://localhost"}), https),
    ];
    let sent: Vec<_> = cases.iter().map(|(script, key, options, _)| json!([script, key, options])).collect();
    let Some(outcomes) = run(&sent) else { return };
    for ((script, key, options, expected), outcome) in cases.iter().zip(&outcomes) {
        let case = format!("{script} {key} {options}: {outcome}");
        assert_eq!(outcome["sent"], json!([]), "{case}");
        assert!(outcome["error"].as_str().is_some_and(|error| error.contains(expected)), "{case}");
    }
}
