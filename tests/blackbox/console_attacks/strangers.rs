//! Somebody of another merchant, somebody in the other mode, and somebody who is not signed in.

use super::answers::check_is_sane;
use super::routes::{Example, KEY, Needs, ROUTES, examples};
use super::shops::{APPLICATION, Ids, PAYER, Shops};
use crate::support::{Answer, Client, EventStream, Visitor, form, pix};

/// Placeholders that name something of a merchant in an address.
const NAMES: [&str; 8] =
    ["{application}", "{key}", "{paid}", "{pending}", "{authorised}", "{exhausted}", "{link}", "{login}"];

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
    let rival = &shops.rival;
    let ids = &shops.ids;
    // An export is noted.
    let of_owner = listed(&shops.owner, ids);
    let before = shops.state();
    // An application of the same name is another one.
    assert_eq!(rival.post("/console/test/applications", &[("name", APPLICATION)]).status, 200);
    let strange = [
        &ids.paid,
        &ids.pending,
        &ids.authorised,
        &ids.exhausted,
        &ids.link,
        &ids.key,
        &ids.live_key,
        &ids.login,
    ];
    let of_rival = listed(rival, ids);
    for (text, page) in strange.iter().flat_map(|text| of_rival.iter().map(move |page| (*text, page))) {
        assert!(!without_search(page, text).contains(text), "{text}: {page}");
    }
    for text in strange {
        let is_shown = of_owner.iter().any(|page| without_search(page, text).contains(text));
        assert!(is_shown, "to its owner {text} is shown");
    }
    for query in ["", &format!("q={}", ids.paid)] {
        let shown =
            EventStream::open(&shops.app, rival, &format!("/console/test/payments/stream?{query}")).next();
        let shown = shown.unwrap();
        assert!(strange.iter().all(|text| !shown.contains(*text)), "{shown}");
    }
    let taken = rival.post("/console/test/people", &[("email", &ids.login), ("role", "owner")]);
    assert_eq!(taken.status, 409, "{taken}");
    let redelivered = rival.post("/console/test/deliveries/redeliver", &[("since", "2020-01-01T00:00")]);
    let own = Some("/console/test/deliveries?redelivered=1");
    assert_eq!((redelivered.status, redelivered.header("location")), (303, own), "{redelivered}");
    assert_eq!(shops.state(), before);
}

/// Every list of somebody, searched for these ids too.
#[track_caller]
fn listed(who: &Visitor, ids: &Ids) -> Vec<String> {
    let mut pages = Vec::new();
    for path in [
        "",
        "/payments",
        "/payments?q={paid}",
        "/payments?q={pending}",
        "/payments.csv",
        "/payments.csv?q={paid}",
        "/refunds",
        "/disputes",
        "/links",
        "/deliveries?state=delivered",
        "/deliveries?state=exhausted",
        "/applications",
        "/applications/{application}",
        "/people",
        "/audit",
    ] {
        for mode in ["test", "live"] {
            let answer = who.get(&format!("/console/{mode}{}", ids.fill(path)));
            assert_eq!(answer.status, 200, "{answer}");
            pages.push(answer.text());
        }
    }
    pages
}

/// A search shows what was searched for.
fn without_search(page: &str, text: &str) -> String {
    page.replace(&format!("value=\"{text}\""), "").replace(&format!("q={text}"), "")
}

#[test]
fn what_belongs_to_one_mode_or_application_is_nothing_in_another() {
    let shops = Shops::open();
    assert_eq!(shops.owner.post("/console/test/applications", &[("name", "second")]).status, 200);
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
    let own = shops.owner.form_token();
    let door = "/console/sign-in";
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
fn a_method_that_a_route_does_not_have_is_refused_with_those_it_has() {
    let shops = Shops::open();
    let before = shops.state();
    let token = shops.owner.form_token();
    let body = form(&[("formToken", &token)]);
    let headers = [("Content-Type", "application/x-www-form-urlencoded"), ("X-HTTP-Method-Override", "POST")];
    for (route, example) in
        ROUTES.iter().flat_map(|route| route.examples.iter().map(move |each| (route, each)))
    {
        let path = shops.ids.attempt(route, example).path;
        let here = ROUTES.iter().filter(|other| other.pattern == route.pattern);
        let taken: Vec<_> = here.map(|other| other.method).collect();
        let told = taken.join(", ").replace("GET", "GET, HEAD");
        let methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUITA"];
        for method in methods.into_iter().filter(|method| !taken.contains(method)) {
            let answer = shops.owner.send(method, &path, &headers, body.as_bytes());
            assert_eq!((answer.status, answer.header("allow")), (405, Some(&*told)), "{answer}");
            check_is_sane(&answer);
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
    assert!(EventStream::open(&shops.app, &shops.owner, &older).next().unwrap().contains("No payments"));
    let client = shops.app.client();
    let new = client.create(&pix(10_027))["transactionId"].as_str().unwrap().to_owned();
    for mut list in lists {
        let shown = list.next().unwrap();
        assert!(shown.contains(&new) && shown.contains(&shops.ids.paid), "{shown}");
    }
}

/// All look at the same time, and something happens in each of their worlds.
#[test]
fn a_stream_shows_what_is_new_of_its_own_merchant_and_mode_alone() {
    let shops = Shops::open();
    let in_live = Visitor::signed_in(&shops.app, &shops.viewer_account);
    let open = |who: &Visitor, mode: &str| {
        let path = format!("/console/{mode}/payments/stream");
        let mut stream = EventStream::open(&shops.app, who, &path);
        let first = stream.next().unwrap();
        (stream, first)
    };
    let streams = [&shops.owner, &shops.viewer, &shops.rival].map(|who| open(who, "test").0);
    let (mut live, first) = open(&in_live, "live");
    assert!(first.contains("No payments"), "{first}");
    let create = |client: Client| client.create(&pix(10_027))["transactionId"].as_str().unwrap().to_owned();
    let of_rival = create(shops.app.client_with(&shops.app.create_key(&["--merchant", "rival"])));
    let of_shop = create(shops.app.client());
    for (mut stream, is_rival) in streams.into_iter().zip([false, false, true]) {
        let shown = stream.next().unwrap();
        assert_eq!((shown.contains(&of_shop), shown.contains(&of_rival)), (!is_rival, is_rival), "{shown}");
    }
    // No payment can be made in live mode here: the next that comes is the end.
    assert_eq!(in_live.post("/console/sign-out", &[]).status, 303);
    assert_eq!(live.next(), None);
}

#[test]
fn the_stream_of_a_payment_offers_a_viewer_nothing_to_change() {
    let shops = Shops::open();
    let path = format!("/console/test/payments/{}/stream", shops.ids.paid);
    let refund = format!("/console/test/payments/{}/refund", shops.ids.paid);
    // All of them open at once: what one is shown is shared with no other who may do less.
    let mut streams = [(&shops.owner, true), (&shops.viewer, false), (&shops.developer, true)]
        .map(|(who, may)| (EventStream::open(&shops.app, who, &path), may));
    for (stream, may) in &mut streams {
        let shown = stream.next().unwrap();
        assert_eq!(shown.contains(&refund), *may, "{shown}");
    }
    assert_eq!(shops.owner.post(&refund, &[KEY, ("amount", "1.00")]).status, 303);
    for (stream, may) in &mut streams {
        let shown = stream.next().unwrap();
        assert!(shown.contains("1.00"), "the refund is shown: {shown}");
        assert_eq!(shown.contains(&refund), *may, "{shown}");
    }
}
