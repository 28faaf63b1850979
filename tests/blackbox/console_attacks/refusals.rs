//! Strangers who guess passwords, and what the audit log says of them.

use std::time::Duration;

use quita_domain::audit::{AuditAction, AuditEntry};

use crate::audit::meddling::Meddler;
use crate::support::{Account, TestApp, Visitor};

/// Guesses of one stranger.
const MANY: u64 = 120;

/// For how many attempts entries stand.
fn total(entries: &[&AuditEntry]) -> u64 {
    let of = |entry: &&AuditEntry| {
        let after = entry.after.as_deref().unwrap();
        after.strip_suffix(" more within a minute").map_or(1, |count| count.parse().unwrap())
    };
    entries.iter().map(of).sum()
}

#[test]
fn who_guesses_a_password_is_in_the_log_and_a_flood_of_them_does_not_fill_it() {
    let mut app = TestApp::new();
    let ana = Account::create(&app, "shop", "ana@shop.example", "owner");
    let owner = Visitor::signed_in(&app, &ana);
    let stranger = Visitor::new(&app);
    assert_eq!(stranger.sign_in("my-password-in-the-wrong-field", "", "").status, 422);
    for _ in 0..MANY {
        let answer = stranger.sign_in(" Ana@Shop.example ", "what might it be", "");
        assert!([422, 429].contains(&answer.status), "{answer}");
    }
    let page = owner.page("/console/test/audit");
    for told in ["failed to sign in", "wrong password or account", "127.0.0.1"] {
        assert!(page.contains(told), "{told}: {page}");
    }
    assert!(!page.contains("what might it be") && !page.contains("wrong-field"), "{page}");
    for (place, bytes) in app.store_bytes() {
        assert!(!bytes.windows(11).any(|part| part == b"wrong-field"), "{place}");
    }
    assert!(app.terminate(Duration::from_secs(20)).success());
    let log = Meddler::of(app.store_url()).log();
    let (own, others): (Vec<_>, Vec<_>) = log
        .iter()
        .filter(|entry| entry.action == AuditAction::SignInRefused)
        .partition(|entry| entry.merchant.is_some());
    assert!(own.iter().all(|entry| entry.who == ana.email && entry.from == "127.0.0.1"), "{own:?}");
    // A minute may have ended on the way.
    assert!((6..=18).contains(&own.len()), "{}", own.len());
    assert_eq!(total(&own), MANY);
    assert_eq!((total(&others), others[0].who.as_str()), (1, "no address, 30 characters"));
    let verified = app.quita(&["audit", "verify"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
}
