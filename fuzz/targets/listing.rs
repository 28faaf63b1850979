//! Queries of lists, cursors, and the ids in paths.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quita_domain::delivery::DeliveryId;
use quita_domain::identity::TransactionId;
use quita_domain::listing::query::{DeliveryQuery, MovementQuery, PaymentQuery};
use quita_domain::listing::{Cursor, EntryCursor};
use quita_domain::method::Method;
use quita_domain::request::{Rejection, code};
use quita_domain::status::Status;
use quita_domain::time::Timestamp;
use quita_fuzz::samples::owner;
use quita_fuzz::text;

fuzz_target!(|data: &[u8]| {
    query(data);
    one_value(&text(data));
});

fn query(data: &[u8]) {
    let pairs: Vec<_> = url::form_urlencoded::parse(data).into_owned().collect();
    match PaymentQuery::parse(&owner(), &pairs) {
        Ok(query) => {
            assert!((1..=100).contains(&query.limit.get()));
            assert_eq!((&query.filter.merchant, query.filter.mode), (&owner().merchant, owner().mode));
            let given = pairs.iter().find(|(name, _)| name == "cursor").map(|(_, value)| value.clone());
            assert_eq!(query.cursor.map(|cursor| cursor.to_string()), given, "a cursor that was not ours");
            assert!(query.filter.statuses.is_sorted_by(|one, next| one < next));
        }
        Err(rejection) => check_rejection(&rejection),
    }
    match DeliveryQuery::parse(&owner(), &pairs) {
        Ok(query) => {
            assert!((1..=100).contains(&query.limit.get()));
            let given = pairs.iter().find(|(name, _)| name == "cursor").map(|(_, value)| value.clone());
            assert_eq!(query.cursor.map(|cursor| cursor.to_string()), given, "a cursor that was not ours");
        }
        Err(rejection) => check_rejection(&rejection),
    }
    for read in [MovementQuery::refunds, MovementQuery::disputes] {
        match read(&owner(), &pairs) {
            Ok(query) => {
                assert!((1..=100).contains(&query.limit.get()));
                assert_eq!((&query.filter.merchant, query.filter.mode), (&owner().merchant, owner().mode));
                let given = pairs.iter().find(|(name, _)| name == "cursor").map(|(_, value)| value.clone());
                assert_eq!(
                    query.cursor.map(|cursor| cursor.to_string()),
                    given,
                    "a cursor that was not ours"
                );
            }
            Err(rejection) => check_rejection(&rejection),
        }
    }
}

fn check_rejection(rejection: &Rejection) {
    assert!(!rejection.violations.is_empty());
    assert!(rejection.violations.iter().all(|violation| code::ALL.contains(&violation.code)));
}

/// Checks that a value that is read prints as it was given.
fn one_value(text: &str) {
    for (printed, what) in [
        (Cursor::parse(text).map(|it| it.to_string()), "cursor"),
        (EntryCursor::parse(text).map(|it| it.to_string()), "entry cursor"),
        (DeliveryId::parse(text).map(|it| it.to_string()), "delivery id"),
        (Status::parse(text).map(|it| it.to_string()), "status"),
    ] {
        assert!(printed.is_none_or(|printed| printed == text), "{what}");
    }
    assert!(Method::parse(text).is_none_or(|it| it.as_str().eq_ignore_ascii_case(text)));
    if let Some(id) = TransactionId::parse(text) {
        assert!(id.to_string().eq_ignore_ascii_case(text));
    }
    if let Some(at) = Timestamp::parse(text) {
        let printed = at.to_string();
        // Years of more than four digits are not valid ISO 8601 without agreement.
        let is_usual = printed.len() == "2026-11-21T12:00:00.000Z".len();
        assert!(!is_usual || Timestamp::parse(&printed) == Some(at), "{text} is shown as {printed}");
        let day_end = Timestamp::end_of_sao_paulo_day(at.sao_paulo_date());
        assert!(day_end >= at);
    }
}
