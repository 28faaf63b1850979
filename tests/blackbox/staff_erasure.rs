//! `quita privacy erase` for people who signed in once, and for what strangers typed: out of the audit log, which stays
//! whole.

use quita_domain::audit::AuditAction;

use crate::audit::meddling::Meddler;
use crate::support::{Account, TestApp, Visitor};

const ANA: &str = "ana.that.left@shop.example";

fn holds(app: &TestApp, text: &str) -> Vec<String> {
    let found = |bytes: &[u8]| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    let places = app.store_bytes();
    places.into_iter().filter(|(_, bytes)| found(bytes)).map(|(place, _)| place).collect()
}

#[track_caller]
fn check_is_whole(app: &TestApp) {
    let verified = app.quita(&["audit", "verify"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
}

#[test]
fn somebody_who_left_is_taken_out_of_the_audit_log_and_of_the_sessions() {
    let app = TestApp::new();
    let boss = Account::create(&app, "shop", "bia@shop.example", "owner");
    let boss = Visitor::signed_in(&app, &boss);
    let ana = Account::create(&app, "shop", ANA, "owner");
    let visitor = Visitor::signed_in(&app, &ana);
    assert_eq!(visitor.post("/console/test/people/policy", &[("confirmRefundsAbove", "9.00")]).status, 303);
    assert_eq!(Visitor::new(&app).sign_in(ANA, "what might it be", "").status, 422);
    let erase = |more: &[&str]| app.quita(&[&["privacy", "erase", "--login", ANA], more].concat());
    let early = erase(&[]);
    assert!(early.code == Some(1) && early.stderr.contains("quita users remove"), "{early:?}");
    assert_eq!(boss.post(&format!("/console/test/people/{ANA}/remove"), &[]).status, 303);
    let counted = erase(&["--dry-run"]);
    assert!(counted.code == Some(0) && counted.stdout.starts_with("erased "), "{counted:?}");
    assert!(!holds(&app, ANA).is_empty(), "nothing was changed yet");
    let done = erase(&[]);
    assert_eq!((done.code, &done.stdout), (Some(0), &counted.stdout), "{done:?}");
    assert_eq!(holds(&app, ANA), Vec::<String>::new());
    check_is_whole(&app);
    let log = boss.page("/console/test/audit");
    assert!(log.contains("erased") && log.contains("changed the access rules of"), "{log}");
    let entries = Meddler::of(app.store_url()).log();
    assert!(entries.iter().any(|entry| entry.action == AuditAction::StaffErased), "{entries:?}");
    let again = erase(&[]);
    assert_eq!(again.stdout.trim(), "erased 0 parts of the audit log and 0 sessions", "{again:?}");
}

#[test]
fn an_operator_who_left_is_erased_too_and_the_last_one_is_not() {
    let app = TestApp::new();
    let operator = Visitor::operator(&app);
    let eva = "eva.that.left@ops.example";
    let visitor = Visitor::at_ops_as(&app, eva, "operator");
    assert_eq!(visitor.post("/acquirers/sandbox/pix/paused", &[]).status, 303);
    let erase = |who: &str| app.quita(&["privacy", "erase", "--login", who]);
    let refused = erase(crate::support::OPERATOR);
    assert!(refused.code == Some(1) && refused.stderr.contains("operators remove"), "{refused:?}");
    assert_eq!(operator.post("/people/eva.that.left%40ops.example/remove", &[]).status, 303);
    assert_eq!(erase(eva).code, Some(0));
    assert_eq!(holds(&app, eva), Vec::<String>::new());
    check_is_whole(&app);
}

#[test]
fn what_was_typed_in_refused_sign_ins_is_erased_by_their_places_alone() {
    let app = TestApp::new();
    let owner = Account::create(&app, "shop", "bia@shop.example", "owner");
    drop(Visitor::signed_in(&app, &owner));
    let typed = "my.password@is.example";
    for _ in 0..2 {
        assert_eq!(Visitor::new(&app).sign_in(typed, "x", "").status, 422);
    }
    let log = Meddler::of(app.store_url()).log();
    let place = |action: AuditAction| {
        let at = log.iter().position(|entry| entry.action == action).unwrap();
        (at + 1).to_string()
    };
    let erase = |place: &str| app.quita(&["privacy", "erase", "--refused-at", place]);
    let other = erase(&place(AuditAction::SignedIn));
    assert!(other.code == Some(1) && other.stderr.contains("not a refused sign-in"), "{other:?}");
    assert_eq!(erase("9999").code, Some(1));
    let done = erase(&place(AuditAction::SignInRefused));
    assert_eq!(done.stdout.trim(), "erased 2 parts of the audit log and 0 sessions", "{done:?}");
    assert_eq!(holds(&app, typed), Vec::<String>::new());
    assert!(!holds(&app, "bia@shop.example").is_empty());
    check_is_whole(&app);
}
