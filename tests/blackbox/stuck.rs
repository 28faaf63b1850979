//! An operation that is stuck is ended by the operator.

use serde_json::{Value, json};

use crate::support::{PATIENCE, TestApp, Visitor, eventually, pix};

/// Every route of PIX that development starts with.
const PIX_ROUTES: [&str; 2] = ["sandbox", "sandbox-backup"];

fn direct(operator: &Visitor, directive: &str) {
    for route in PIX_ROUTES {
        let answer = operator.post(&format!("/acquirers/{route}/pix/{directive}"), &[]);
        assert_eq!(answer.status, 303, "{answer}");
    }
}

/// Returns the address to which the page of a payment leads for the operation that can be ended.
#[track_caller]
fn address_of_end(operator: &Visitor, id: &str) -> String {
    eventually(PATIENCE, "the operation is shown as open", || {
        let page = operator.page(&format!("/transactions/{id}"));
        let (_, rest) = page.split_once(&format!("href=\"/transactions/{id}/operations/"))?;
        Some(format!("/transactions/{id}/operations/{}", rest.split('"').next()?))
    })
}

#[test]
fn an_operator_ends_a_cancellation_that_never_left_and_the_payment_goes_on() {
    let app = TestApp::new();
    let client = app.client();
    let operator = Visitor::operator(&app);
    let id = client.create(&pix(10_027))["transactionId"].as_str().unwrap().to_owned();
    let cancel = format!("/pay/payments/{id}/cancel");
    direct(&operator, "drained");
    let path = cancel.clone();
    let asking = app.client();
    let asked = std::thread::spawn(move || asking.post_once(&path, "k", &json!({})));
    let address = address_of_end(&operator, &id);
    client.post_once(&cancel, "other", &json!({})).expect_error(409, "operation_in_progress");
    let page = operator.page(&address);
    assert!(page.contains("value=\"refused\"") && !page.contains("value=\"done\""), "it never left: {page}");
    for (verdict, reason, status) in
        [("", "why", 422), ("refused", "", 422), ("nonsense", "why", 422), ("done", "why", 409)]
    {
        let answer = operator.post(&address, &[("verdict", verdict), ("reason", reason)]);
        assert_eq!(answer.status, status, "{verdict} {reason}: {answer}");
    }
    let ended =
        operator.post(&address, &[("verdict", "refused"), ("reason", "The bank is <gone> for a day.")]);
    assert_eq!(
        (ended.status, ended.header("location")),
        (303, Some(&*format!("/transactions/{id}"))),
        "{ended}"
    );
    let answer = asked.join().unwrap();
    let message = answer.expect_error(409, "refused_by_acquirer")["message"].as_str().unwrap().to_owned();
    assert!(message.contains("resolved_by_operator") && message.contains("pending"), "{message}");
    assert!(message.contains("allowed now: cancel"), "{message}");
    let again = operator.post(&address, &[("verdict", "refused"), ("reason", "why")]);
    assert_eq!((again.status, operator.get(&address).status), (409, 409), "it has ended");
    let log = operator.page("/audit");
    assert!(log.contains("The bank is &#60;gone&#62; for a day.") && log.contains(&id), "{log}");
    direct(&operator, "open");
    let replay = client.post_once(&cancel, "k", &json!({}));
    replay.expect_error(409, "refused_by_acquirer");
    let done = client.post_once(&cancel, "next", &json!({}));
    assert_eq!(done.expect(200)["status"], Value::from("cancelled"));
}

#[test]
fn an_operation_of_nobody_cannot_be_ended() {
    let app = TestApp::new();
    let client = app.client();
    let operator = Visitor::operator(&app);
    let id = client.create(&pix(10_027))["transactionId"].as_str().unwrap().to_owned();
    let nobody = "01900000-0000-7000-8000-000000000000";
    let fields = [("verdict", "refused"), ("reason", "why")];
    for (address, status) in [
        (format!("/transactions/{id}/operations/{nobody}"), 409),
        (format!("/transactions/{nobody}/operations/{nobody}"), 404),
        (format!("/transactions/{id}/operations/x"), 404),
        (format!("/transactions/x/operations/{nobody}"), 404),
    ] {
        let answer = operator.post(&address, &fields);
        assert_eq!(answer.status, status, "{address}: {answer}");
        assert_eq!(operator.get(&address).status, 404, "{address}");
    }
}

#[test]
fn a_charge_that_was_answered_cannot_be_ended() {
    let app = TestApp::new();
    let client = app.client();
    let operator = Visitor::operator(&app);
    let id = client.create(&pix(10_027))["transactionId"].as_str().unwrap().to_owned();
    let nobody = "01900000-0000-7000-8000-000000000000";
    assert!(!operator.page(&format!("/transactions/{id}")).contains("/charges/"));
    for (address, asked, acted) in [
        (format!("/transactions/{id}/charges/1"), 409, 409),
        (format!("/transactions/{id}/charges/9"), 404, 409),
        (format!("/transactions/{id}/charges/0"), 404, 409),
        (format!("/transactions/{nobody}/charges/1"), 404, 404),
        (format!("/transactions/{id}/charges/x"), 404, 404),
        ("/transactions/x/charges/1".to_string(), 404, 404),
    ] {
        let answer = operator.post(&address, &[("verdict", "refused"), ("reason", "why")]);
        assert_eq!(answer.status, acted, "{address}: {answer}");
        assert_eq!(operator.get(&address).status, asked, "{address}");
    }
    let address = format!("/transactions/{id}/charges/1");
    for (verdict, reason) in [("", "why"), ("refused", ""), ("nonsense", "why")] {
        let answer = operator.post(&address, &[("verdict", verdict), ("reason", reason)]);
        assert_eq!(answer.status, 422, "{verdict} {reason}: {answer}");
    }
    assert_eq!(client.payment(&id)["status"], Value::from("pending"));
}
