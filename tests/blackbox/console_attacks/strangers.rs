//! Somebody of another merchant, somebody in the other mode, and somebody who is not signed in.

use super::routes::{Example, Needs, ROUTES, Route, examples};
use super::shops::{APPLICATION, Ids, PAYER, Shops};
use crate::support::{Answer, EventStream, Visitor, form, pix};

/// What names something of a merchant in an address.
const NAMES: [&str; 6] = ["{application}", "{key}", "{paid}", "{pending}", "{authorised}", "{login}"];

fn names_something(example: &Example) -> bool {
    NAMES.iter().any(|name| example.path.contains(name))
}

/// Payments and keys are of one mode; applications and people are of both.
fn has_a_mode(path: &str) -> bool {
    !path.contains("{login}") && (!path.contains("{application}") || path.contains("{key}"))
}

/// Tries every example that names something, with these ids, and expects that there is nothing.
#[track_caller]
fn check_that_there_is_nothing(who: &Visitor, ids: &Ids, mode: &str, is_tried: impl Fn(&str) -> bool) {
    let token = who.form_token();
    for route in ROUTES {
        for example in
            route.examples.iter().filter(|example| names_something(example) && is_tried(example.path))
        {
            check_is_nothing(&ids.attempt(route, example).in_mode(mode).by(who, &token));
        }
    }
}

/// The page that says so, the same for what is another's and for what never was.
#[track_caller]
fn check_is_nothing(answer: &Answer) {
    assert_eq!(answer.status, 404, "{answer}");
    assert!(answer.text().contains("There is nothing here") && !answer.text().contains(PAYER), "{answer}");
}

#[test]
fn what_is_another_merchants_is_nothing_by_every_route_and_stays_as_it_is() {
    let shops = Shops::open();
    let before = shops.state();
    check_that_there_is_nothing(&shops.rival, &shops.ids, "test", |_| true);
    // Another's key below an application of one's own, another's payment beside one's own.
    let mixed = Ids { application: shops.rival_ids.application.clone(), ..shops.ids.clone() };
    check_that_there_is_nothing(&shops.rival, &mixed, "test", has_a_mode);
    let invented = Ids {
        application: "nowhere".into(),
        key: "0123456789abcdef".into(),
        paid: "01980000-0000-7000-8000-000000000000".into(),
        login: "nobody@nowhere.example".into(),
        ..shops.ids.clone()
    };
    check_that_there_is_nothing(&shops.rival, &invented, "test", |_| true);
    assert_eq!(shops.state(), before);
}

#[test]
fn lists_and_searches_hold_nothing_of_another_merchant() {
    let shops = Shops::open();
    let before = shops.state();
    let (rival, ids) = (&shops.rival, &shops.ids);
    // An application of the same name is another one.
    assert_eq!(rival.post("/console/test/applications", &[("name", APPLICATION)]).status, 303);
    let strange = [&ids.paid, &ids.pending, &ids.authorised, &ids.key, &ids.live_key, &ids.login];
    for path in [
        "",
        "/payments",
        "/payments?q={paid}",
        "/payments?q={pending}",
        "/payments.csv",
        "/payments.csv?q={paid}",
        "/deliveries?state=delivered",
        "/applications",
        "/applications/{application}",
        "/people",
        "/audit",
    ] {
        for mode in ["test", "live"] {
            let answer = rival.get(&format!("/console/{mode}{}", ids.fill(path)));
            assert_eq!(answer.status, 200, "{answer}");
            for text in strange {
                // A search shows what was searched for.
                let page =
                    answer.text().replace(&format!("value=\"{text}\""), "").replace(&format!("q={text}"), "");
                assert!(!page.contains(text), "{text}: {answer}");
            }
        }
    }
    for query in ["", &format!("q={}", ids.paid)] {
        let shown =
            EventStream::open(&shops.app, rival, &format!("/console/test/payments/stream?{query}")).next();
        let shown = shown.unwrap();
        assert!(strange.iter().all(|text| !shown.contains(*text)), "{shown}");
    }
    let taken = rival.post("/console/test/people", &[("email", &ids.login), ("role", "owner")]);
    assert_eq!(taken.status, 409, "{taken}");
    assert_eq!(
        rival.post("/console/test/deliveries/redeliver", &[("since", "2020-01-01T00:00")]).status,
        303
    );
    assert_eq!(shops.state(), before);
}

#[test]
fn what_belongs_to_one_mode_or_application_is_nothing_in_another() {
    let shops = Shops::open();
    assert_eq!(shops.owner.post("/console/test/applications", &[("name", "second")]).status, 303);
    let before = shops.state();
    check_that_there_is_nothing(&shops.owner, &shops.ids, "live", has_a_mode);
    let live = Ids { key: shops.ids.live_key.clone(), ..shops.ids.clone() };
    check_that_there_is_nothing(&shops.owner, &live, "test", |path| path.contains("{key}"));
    let second = Ids { application: "second".into(), ..shops.ids.clone() };
    check_that_there_is_nothing(&shops.owner, &second, "test", |path| path.contains("{key}"));
    for mode in ["TEST", "Test", "prod", "%74est/..", "test%2f"] {
        check_that_there_is_nothing(&shops.owner, &shops.ids, mode, |path| path.contains("{paid}"));
    }
    let page = shops.owner.page("/console/live/payments");
    assert!(!page.contains(&shops.ids.paid), "{page}");
    assert_eq!(shops.state(), before);
}

#[test]
fn who_is_not_signed_in_is_sent_to_the_door_and_nothing_is_done() {
    let shops = Shops::open();
    let before = shops.state();
    let (own, door) = (shops.owner.form_token(), "/console/sign-in");
    let (stranger, visited, forged) =
        (Visitor::new(&shops.app), Visitor::new(&shops.app), Visitor::new(&shops.app));
    visited.page(door);
    forged.set_cookie("quita_console", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
    for who in [&stranger, &visited, &forged] {
        for (route, example) in examples("GET").filter(|(route, _)| route.needs > Needs::Nothing) {
            let attempt = shops.ids.attempt(route, example);
            check_is_sent_to_the_door(&attempt.by(who, ""), Some(&attempt.path));
        }
        for (route, example) in examples("POST").filter(|(route, _)| route.needs > Needs::Visit) {
            check_is_sent_to_the_door(&shops.ids.attempt(route, example).by(who, &own), None);
        }
    }
    assert_eq!(shops.state(), before);
}

#[track_caller]
fn check_is_sent_to_the_door(answer: &Answer, next: Option<&str>) {
    let next = next.map(|path| form(&[("next", path)]));
    let door = next.map_or("/console/sign-in".to_owned(), |next| format!("/console/sign-in?{next}"));
    assert_eq!((answer.status, answer.header("location")), (303, Some(&*door)), "{answer}");
    assert!(answer.body.is_empty(), "{answer}");
}

#[test]
fn a_method_that_a_route_does_not_have_is_nothing() {
    let shops = Shops::open();
    let before = shops.state();
    let token = shops.owner.form_token();
    let body = form(&[("formToken", &token)]);
    let headers = [("Content-Type", "application/x-www-form-urlencoded"), ("X-HTTP-Method-Override", "POST")];
    for (route, example) in
        ROUTES.iter().flat_map(|route| route.examples.iter().map(move |each| (route, each)))
    {
        let path = shops.ids.attempt(route, example).path;
        let lacks = |method: &&str| Route::of(method, path.strip_prefix("/console").unwrap()).is_none();
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUITA"].into_iter().filter(lacks)
        {
            let answer = shops.owner.send(method, &path, &headers, body.as_bytes());
            assert_eq!(answer.status, 404, "{answer}");
        }
    }
    assert_eq!(shops.state(), before);
}

/// Pages that show the same share what they saw; what one visitor asks for must not become what others are shown.
#[test]
fn who_watches_an_older_page_changes_nothing_for_who_watches_the_newest() {
    let shops = Shops::open();
    let mut lists: Vec<EventStream> = (0..2)
        .map(|_| EventStream::open(&shops.app, &shops.owner, "/console/test/payments/stream"))
        .collect();
    let newest: Vec<_> = lists.iter_mut().map(|list| list.next().unwrap()).collect();
    assert_eq!(newest[0], newest[1]);
    let before_all = "LTEuMDE5ODAwMDAtMDAwMC03MDAwLTgwMDAtMDAwMDAwMDAwMDAw";
    let older = format!("/console/test/payments/stream?cursor={before_all}");
    assert!(EventStream::open(&shops.app, &shops.owner, &older).next().unwrap().contains("No payment"));
    let client = shops.app.client();
    let new = client.create(&pix(10_027))["transactionId"].as_str().unwrap().to_owned();
    for mut list in lists {
        let shown = list.next().unwrap();
        assert!(shown.contains(&new) && shown.contains(&shops.ids.paid), "{shown}");
    }
}
