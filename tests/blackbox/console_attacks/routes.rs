//! Every route of the merchants' console, with requests that fit it.

use Needs::{ChangePayments, ManageApplications, ManagePeople, Nothing, SignedIn, Visit};

use crate::support::declared;

/// Source in which the routes are declared.
const DECLARED: &str = include_str!("../../../src/console/merchant/routes.rs");

/// A name for a wish that has not been made.
pub(super) const KEY: (&str, &str) = ("key", "01980000-0000-7000-8000-000000000001");

/// One route, and requests for it.
pub(super) struct Route {
    pub(super) method: &'static str,
    /// As it is declared, below `/console`.
    pub(super) pattern: &'static str,
    pub(super) needs: Needs,
    pub(super) examples: &'static [Example],
}

/// A request that does what the route is for. `{payment}` and the like stand for ids; fields are a form's.
pub(super) struct Example {
    pub(super) path: &'static str,
    pub(super) fields: &'static [(&'static str, &'static str)],
}

/// Condition that somebody must meet to be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Needs {
    /// Anybody is.
    Nothing,
    /// Anybody who was shown the form for signing in.
    Visit,
    /// Anybody who is signed in.
    SignedIn,
    /// Owners and developers.
    ChangePayments,
    /// Owners and developers.
    ManageApplications,
    /// Owners.
    ManagePeople,
}

/// All of them, in the order in which they are declared.
pub(super) const ROUTES: &[Route] = &[
    get("/assets/{name:.*}", Nothing, &[at("/assets/console.css")]),
    get("/outage", Nothing, &[at("/outage")]),
    get("", SignedIn, &[at("")]),
    get("/", SignedIn, &[at("/")]),
    get("/sign-in", Nothing, &[at("/sign-in")]),
    post("/sign-in", Visit, &[with("/sign-in", &[("email", "{login}"), ("password", "wrong")])]),
    get("/sign-in/code", SignedIn, &[at("/sign-in/code")]),
    post("/sign-in/code", SignedIn, &[with("/sign-in/code", &[("code", "123456")])]),
    get("/sign-in/password", SignedIn, &[at("/sign-in/password")]),
    post(
        "/sign-in/password",
        SignedIn,
        &[with("/sign-in/password", &[("new", "a password of somebody else")])],
    ),
    get("/factor", SignedIn, &[at("/factor")]),
    post(
        "/factor",
        SignedIn,
        &[with("/factor", &[("secret", "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"), ("code", "123456")])],
    ),
    post("/sign-out", SignedIn, &[at("/sign-out")]),
    post("/language", Visit, &[with("/language", &[("language", "en")])]),
    get("/{mode}", SignedIn, &[at("/test")]),
    get("/{mode}/refunds", SignedIn, &[at("/test/refunds")]),
    get("/{mode}/disputes", SignedIn, &[at("/test/disputes")]),
    get("/{mode}/requests", SignedIn, &[at("/test/requests")]),
    get("/{mode}/people", ManagePeople, &[at("/test/people")]),
    post(
        "/{mode}/people",
        ManagePeople,
        &[with("/test/people", &[("email", "eve@evil.example"), ("role", "owner")])],
    ),
    post(
        "/{mode}/people/policy",
        ManagePeople,
        &[with("/test/people/policy", &[("confirmRefundsAbove", "1.00")])],
    ),
    post(
        "/{mode}/people/profile",
        ManagePeople,
        &[with("/test/people/profile", &[("displayName", "Evil"), ("contact", "eve@evil.example")])],
    ),
    get(
        "/{mode}/people/{login}/{verb}",
        ManagePeople,
        &[at("/test/people/{login}/reset"), at("/test/people/{login}/remove")],
    ),
    post(
        "/{mode}/people/{login}/{verb}",
        ManagePeople,
        &[
            at("/test/people/{login}/reset"),
            with("/test/people/{login}/role", &[("role", "owner")]),
            at("/test/people/{login}/remove"),
        ],
    ),
    get("/{mode}/audit", ManagePeople, &[at("/test/audit")]),
    get("/{mode}/account", SignedIn, &[at("/test/account")]),
    post(
        "/{mode}/account/password",
        SignedIn,
        &[with(
            "/test/account/password",
            &[("current", "{password}"), ("new", "a password of somebody else")],
        )],
    ),
    post("/{mode}/account/mail", SignedIn, &[with("/test/account/mail", &[("mail", "off")])]),
    post("/{mode}/account/webhook", SignedIn, &[with("/test/account/webhook", &[("url", "")])]),
    post("/{mode}/account/recovery-codes", SignedIn, &[at("/test/account/recovery-codes")]),
    post("/{mode}/account/factor/remove", SignedIn, &[at("/test/account/factor/remove")]),
    post("/{mode}/account/sessions/end-others", SignedIn, &[at("/test/account/sessions/end-others")]),
    post(
        "/{mode}/account/sessions/{id}/end",
        SignedIn,
        &[at("/test/account/sessions/0123456789abcdef0123456789abcdef/end")],
    ),
    get("/{mode}/payments", SignedIn, &[at("/test/payments")]),
    get("/{mode}/payments.csv", ChangePayments, &[at("/test/payments.csv")]),
    get("/{mode}/payments/stream", SignedIn, &[at("/test/payments/stream")]),
    get("/{mode}/payments/{id}", SignedIn, &[at("/test/payments/{paid}"), at("/test/payments/{pending}")]),
    get("/{mode}/payments/{id}/stream", SignedIn, &[at("/test/payments/{paid}/stream")]),
    post("/{mode}/test-payment", ChangePayments, &[at("/test/test-payment")]),
    get(
        "/{mode}/payments/{id}/sandbox/{action}",
        ChangePayments,
        &[at("/test/payments/{pending}/sandbox/pay"), at("/test/payments/{paid}/sandbox/chargeback")],
    ),
    post(
        "/{mode}/payments/{id}/sandbox/{action}",
        ChangePayments,
        &[at("/test/payments/{pending}/sandbox/expire"), at("/test/payments/{paid}/sandbox/chargeback")],
    ),
    post("/{mode}/payments/{id}/payer", SignedIn, &[at("/test/payments/{paid}/payer")]),
    get(
        "/{mode}/payments/{id}/{verb}",
        ChangePayments,
        &[
            at("/test/payments/{paid}/refund"),
            at("/test/payments/{pending}/cancel"),
            at("/test/payments/{authorised}/capture"),
        ],
    ),
    post(
        "/{mode}/payments/{id}/{verb}",
        ChangePayments,
        &[
            with("/test/payments/{paid}/refund", &[KEY, ("amount", "1.00")]),
            with("/test/payments/{pending}/cancel", &[KEY]),
            with("/test/payments/{authorised}/capture", &[KEY, ("amount", "1.00")]),
        ],
    ),
    get(
        "/{mode}/payments/{id}/deliveries/{index}/redeliver",
        ChangePayments,
        &[at("/test/payments/{paid}/deliveries/0/redeliver")],
    ),
    post(
        "/{mode}/payments/{id}/deliveries/{index}/redeliver",
        ChangePayments,
        &[at("/test/payments/{paid}/deliveries/0/redeliver")],
    ),
    get("/{mode}/links", SignedIn, &[at("/test/links")]),
    get("/{mode}/links/new", ChangePayments, &[at("/test/links/new")]),
    post(
        "/{mode}/links/new",
        ChangePayments,
        &[with("/test/links/new", &[KEY, ("title", "Evil"), ("amount", "1.00"), ("method", "pix")])],
    ),
    get("/{mode}/links/{id}", SignedIn, &[at("/test/links/{link}")]),
    get("/{mode}/links/{id}/close", ChangePayments, &[at("/test/links/{link}/close")]),
    post(
        "/{mode}/links/{id}/close",
        ChangePayments,
        &[at("/test/links/{link}/close"), with("/test/links/{link}/close", &[("cancelPending", "true")])],
    ),
    get("/{mode}/deliveries", SignedIn, &[at("/test/deliveries")]),
    get("/{mode}/deliveries/redeliver", ChangePayments, &[at("/test/deliveries/redeliver")]),
    post(
        "/{mode}/deliveries/redeliver",
        ChangePayments,
        &[with("/test/deliveries/redeliver", &[("since", "2026-01-01T00:00")])],
    ),
    get("/{mode}/applications", SignedIn, &[at("/test/applications")]),
    post("/{mode}/applications", ManageApplications, &[with("/test/applications", &[("name", "evil")])]),
    get("/{mode}/applications/{name}", SignedIn, &[at("/test/applications/{application}")]),
    post(
        "/{mode}/applications/{name}/rename",
        ManageApplications,
        &[with("/test/applications/{application}/rename", &[("title", "evil")])],
    ),
    post(
        "/{mode}/applications/{name}/endpoint",
        ManageApplications,
        &[with("/test/applications/{application}/endpoint", &[("url", "{receiver}")])],
    ),
    post(
        "/{mode}/applications/{name}/origins",
        ManageApplications,
        &[with("/test/applications/{application}/origins", &[("origins", "https://evil.example")])],
    ),
    post(
        "/{mode}/applications/{name}/keys",
        ManageApplications,
        &[with("/test/applications/{application}/keys", &[("scope", "payments:write")])],
    ),
    get(
        "/{mode}/applications/{name}/keys/{id}/{verb}",
        ManageApplications,
        &[
            at("/test/applications/{application}/keys/{key}/rotate"),
            at("/test/applications/{application}/keys/{key}/revoke"),
        ],
    ),
    post(
        "/{mode}/applications/{name}/keys/{id}/{verb}",
        ManageApplications,
        &[
            at("/test/applications/{application}/keys/{key}/rotate"),
            at("/test/applications/{application}/keys/{key}/revoke"),
        ],
    ),
    get(
        "/{mode}/applications/{name}/secret/rotate",
        ManageApplications,
        &[at("/test/applications/{application}/secret/rotate")],
    ),
    post(
        "/{mode}/applications/{name}/secret/rotate",
        ManageApplications,
        &[at("/test/applications/{application}/secret/rotate")],
    ),
    post(
        "/{mode}/applications/{name}/test-event",
        ManageApplications,
        &[with("/test/applications/{application}/test-event", &[("url", "{receiver}")])],
    ),
];

const fn get(pattern: &'static str, needs: Needs, examples: &'static [Example]) -> Route {
    Route { method: "GET", pattern, needs, examples }
}

const fn post(pattern: &'static str, needs: Needs, examples: &'static [Example]) -> Route {
    Route { method: "POST", pattern, needs, examples }
}

const fn at(path: &'static str) -> Example {
    with(path, &[])
}

const fn with(path: &'static str, fields: &'static [(&'static str, &'static str)]) -> Example {
    Example { path, fields }
}

impl Route {
    /// The route that answers a path below `/console`.
    pub(super) fn of(method: &str, path: &str) -> Option<&'static Self> {
        let path = path.split('?').next().unwrap_or_default();
        ROUTES.iter().find(|route| route.method == method && route.fits(path))
    }

    fn fits(&self, path: &str) -> bool {
        if let Some((before, _)) = self.pattern.split_once("{name:.*}") {
            return path.starts_with(before);
        }
        let (wanted, given) =
            (self.pattern.split('/').collect::<Vec<_>>(), path.split('/').collect::<Vec<_>>());
        let is_mode = |part: &str| ["test", "live", "{mode}"].contains(&part);
        let fits = |(wanted, given): (&&str, &&str)| match *wanted {
            "{mode}" => is_mode(given),
            _ => wanted.starts_with('{') || wanted == given,
        };
        wanted.len() == given.len() && wanted.iter().zip(&given).all(fits)
    }

    /// Returns true if its answer is a stream, which goes on and on.
    pub(super) fn is_stream(&self) -> bool {
        self.pattern.ends_with("/stream")
    }
}

/// Every route and example of a method.
pub(super) fn examples(method: &'static str) -> impl Iterator<Item = (&'static Route, &'static Example)> {
    let routes = ROUTES.iter().filter(move |route| route.method == method);
    routes.flat_map(|route| route.examples.iter().map(move |example| (route, example)))
}

#[test]
fn the_table_holds_every_route_that_the_console_has() {
    let known: Vec<_> =
        ROUTES.iter().map(|route| (route.method.to_owned(), route.pattern.to_owned())).collect();
    let (outside, in_a_mode) = DECLARED.split_once("fn in_a_mode(").unwrap();
    let outside = declared(outside).into_iter().map(|(method, pattern)| (method, pattern.to_owned()));
    let in_a_mode =
        declared(in_a_mode).into_iter().map(|(method, pattern)| (method, format!("/{{mode}}{pattern}")));
    let declared: Vec<_> = outside.chain(in_a_mode).collect();
    assert_eq!(known, declared, "a route was added or removed: say here what it needs, with examples");
}

#[test]
fn every_route_has_examples_that_reach_it() {
    for route in ROUTES {
        assert!(!route.examples.is_empty(), "{} {}", route.method, route.pattern);
        for example in route.examples {
            let reached = Route::of(route.method, example.path).map(|route| route.pattern);
            assert_eq!(reached, Some(route.pattern), "{} {}", route.method, example.path);
        }
    }
}
