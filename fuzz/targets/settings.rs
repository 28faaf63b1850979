//! Texts written by hand, by an operator or a third party: store URLs, durations, `Retry-After`.
#![no_main]

#[allow(dead_code, unreachable_pub, reason = "taken whole from the program, which uses more of it")]
#[path = "../../config/src/store_url.rs"]
mod store_url;

#[allow(dead_code, unreachable_pub, reason = "taken whole from the program, which uses more of it")]
#[path = "../../config/src/duration.rs"]
mod duration;

use libfuzzer_sys::fuzz_target;
use quita_domain::retry_after;
use quita_fuzz::samples::START;
use quita_fuzz::{split, text};

fuzz_target!(|data: &[u8]| {
    let (choice, rest) = split(data);
    let whole = text(data);
    if let Some(url) = store_url::StoreUrl::parse(&whole) {
        let printed = url.to_string();
        assert!(whole.starts_with("mongodb") == printed.starts_with("mongodb"), "{printed}");
        assert!(whole.starts_with("mongodb") || store_url::StoreUrl::parse(&printed).is_some(), "{printed}");
    }
    no_password_is_printed(choice, &text(rest));
    if let Some(duration) = duration::parse_duration(&whole) {
        let again = duration::parse_duration(&format!("{}ms", duration.as_millis()));
        assert_eq!(again, Some(duration));
    }
    if let Some(wait_ms) = retry_after::wait_ms(&whole, START) {
        let seconds = whole.trim().parse::<u64>();
        assert!(
            whole.contains(':') || seconds.is_err() || seconds == Ok(wait_ms / 1_000) || wait_ms == u64::MAX
        );
    }
});

fn no_password_is_printed(choice: u8, text: &str) {
    let place = text.char_indices().map(|(place, _)| place).nth(usize::from(choice)).unwrap_or(0);
    let (before, after) = text.split_at(place);
    let url = format!("mongodb://{before}:hunter2{after}@host/quita?replicaSet=rs0");
    // A user or password with these characters must be escaped: such a URL is invalid.
    if before.contains(['/', '?', '#']) || before.contains("hunter2") {
        return;
    }
    if let Some(url) = store_url::StoreUrl::parse(&url) {
        assert!(!url.to_string().contains("hunter2"), "{url}");
        assert!(!format!("{url:?}").contains("hunter2"), "{url:?}");
    }
}
