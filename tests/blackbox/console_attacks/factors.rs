//! Getting past the second factor, or a session that should be over.

use std::time::{Duration, Instant};

use crate::support::{
    Account, Answer, Authenticator, EventStream, PATIENCE, TestApp, Visitor, eventually, form_token_in,
    is_mongodb, pause,
};

/// An account whose password alone opens nothing.
struct Guarded {
    account: Account,
    secret: String,
    recovery_codes: Vec<String>,
    authenticator: Authenticator,
}

impl Guarded {
    fn new(app: &TestApp) -> Option<Self> {
        let authenticator = Authenticator::open()?;
        let account = Account::create(app, "shop", "ana@shop.example", "owner");
        let owner = Visitor::signed_in(app, &account);
        let (secret, recovery_codes) = owner.set_up_factor(|secret| authenticator.code(secret, 0));
        Some(Self { account, secret, recovery_codes, authenticator })
    }

    /// Somebody who has given the password, and nothing else.
    #[track_caller]
    fn half(&self, app: &TestApp) -> Visitor {
        let visitor = Visitor::new(app);
        let answer = visitor.sign_in(&self.account.email, &self.account.password, "");
        assert_eq!(
            (answer.status, answer.header("location")),
            (303, Some("/console/sign-in/code?next=%2Fconsole%2F")),
            "{answer}"
        );
        visitor
    }

    /// The next code: that of now was taken when the factor was set up.
    fn code(&self) -> String {
        self.authenticator.code(&self.secret, 1)
    }

    /// Six digits that are no code near now.
    fn wrong_code(&self) -> String {
        let near: Vec<_> = (-2..=3).map(|steps| self.authenticator.code(&self.secret, steps)).collect();
        (0..).map(|number| format!("{number:06}")).find(|code| !near.contains(code)).unwrap()
    }
}

#[track_caller]
fn check_is_out(visitor: &Visitor) {
    for page in ["/console/test", "/console/test/account", "/console/factor", "/console/sign-in/password"] {
        let answer = visitor.get(page);
        let location = answer.header("location").unwrap_or_default();
        assert!(answer.status == 303 && location.starts_with("/console/sign-in?"), "{page}: {answer}");
    }
    let stream = visitor.get("/console/test/payments/stream");
    assert_eq!(stream.status, 303, "{stream}");
}

#[test]
fn the_password_alone_opens_no_page_and_the_code_does() {
    let app = TestApp::new();
    let Some(guarded) = Guarded::new(&app) else { return };
    let half = guarded.half(&app);
    check_is_out(&half);
    let token = half.cookie("quita_console").unwrap();
    let whole = half.give_code(&guarded.code(), "https://evil.example/");
    assert_eq!((whole.status, whole.header("location")), (303, Some("/console/")), "{whole}");
    assert_eq!(half.get("/console/test/account").status, 200);
    assert_ne!(half.cookie("quita_console").unwrap(), token, "the cookie of before opens nothing");
    let before = Visitor::new(&app);
    before.set_cookie("quita_console", &token);
    check_is_out(&before);
}

#[test]
fn a_code_that_somebody_saw_opens_nothing_a_second_time() {
    let app = TestApp::new();
    let Some(guarded) = Guarded::new(&app) else { return };
    let code = guarded.code();
    assert_eq!(guarded.half(&app).give_code(&code, "").status, 303);
    let again = guarded.half(&app);
    let answer = again.give_code(&code, "");
    assert!(answer.status == 422 && answer.text().contains("already been used"), "{answer}");
    check_is_out(&again);
    assert_eq!(again.give_code(&guarded.recovery_codes[0], "").status, 303);
    let third = guarded.half(&app);
    assert_eq!(third.give_code(&guarded.recovery_codes[0], "").status, 422, "nor does a recovery code");
    assert_eq!(third.give_code(&guarded.recovery_codes[1].to_uppercase(), "").status, 303);
}

#[test]
fn guesses_at_codes_end_and_keep_nobody_out_who_has_a_recovery_code() {
    let app = TestApp::new();
    let Some(guarded) = Guarded::new(&app) else { return };
    let half = guarded.half(&app);
    let wrong = guarded.wrong_code();
    for _ in 0..4 {
        assert_eq!(half.give_code(&wrong, "").status, 422);
    }
    let fifth = half.give_code(&wrong, "");
    assert_eq!((fifth.status, fifth.header("location")), (303, Some("/console/sign-in")), "{fifth}");
    assert_eq!(half.get("/console/sign-in/code").status, 303, "the password is asked for again");
    let half = guarded.half(&app);
    let right = half.give_code(&guarded.code(), "");
    assert!(right.status == 422 && right.text().contains("Too many wrong codes"), "{right}");
    assert_eq!(half.give_code(&guarded.recovery_codes[0], "").status, 303);
}

#[test]
fn nodes_share_codes_guesses_and_sessions() {
    if !is_mongodb() {
        println!("skipped: two nodes need MongoDB; scripts/test runs it again with it");
        return;
    }
    let app = TestApp::new();
    let other = TestApp::builder().store(app.store_url()).start();
    let Some(guarded) = Guarded::new(&app) else { return };
    let here = guarded.half(&app);
    let there = guarded.half(&other);
    let code = guarded.code();
    assert_eq!(here.give_code(&code, "").status, 303);
    assert_eq!(there.give_code(&code, "").status, 422, "it was used on the other node");
    let elsewhere = Visitor::new(&other);
    elsewhere.set_cookie("quita_console", &here.cookie("quita_console").unwrap());
    assert_eq!(elsewhere.get("/console/test/account").status, 200);
    assert_eq!(here.post("/console/sign-out", &[]).status, 303);
    check_is_out(&elsewhere);
    let wrong = guarded.wrong_code();
    for _ in 0..3 {
        assert_eq!(there.give_code(&wrong, "").status, 422);
    }
    let half = guarded.half(&app);
    assert_eq!(half.give_code(&wrong, "").status, 303, "the fifth on both together ends it");
    let waits = guarded.half(&app).give_code(&guarded.code(), "");
    assert!(waits.status == 422 && waits.text().contains("Too many wrong codes"), "{waits}");
}

#[test]
fn a_password_that_somebody_else_made_opens_nothing_but_its_change() {
    let app = TestApp::new();
    let email = "dora@shop.example";
    let given = app.quita(&["users", "create", "--merchant", "shop", "--email", email]).output();
    let dora = Visitor::new(&app);
    assert_eq!(dora.sign_in(email, &given, "").status, 303);
    for page in
        ["/console/test", "/console/test/people", "/console/live/payments", "/console/test/payments/stream"]
    {
        let answer = dora.get(page);
        let location = answer.header("location").unwrap_or_default();
        assert!(answer.status == 303 && location.starts_with("/console/sign-in/password?next="), "{answer}");
    }
    let maker = Visitor::new(&app);
    assert_eq!(maker.sign_in(email, &given, "").status, 303);
    for weak in [&given, "short", "aaaaaaaaaaaaaaaaaaaa", "dora@shop.example", "passwordpassword1"] {
        let page = dora.page("/console/sign-in/password");
        let token = crate::support::form_token_in(&page);
        let fields = [("formToken", &*token), ("new", weak)];
        let refused = dora.post_with("/console/sign-in/password", &[], &fields);
        assert!(refused.status == 422 && refused.text().contains("role=\"alert\""), "{weak}: {refused}");
    }
    dora.choose_password("um céu de cada vez, devagar");
    assert_eq!(dora.get("/console/test").status, 200);
    check_is_out(&maker);
    assert_eq!(maker.sign_in(email, &given, "").status, 422);
}

/// Sent to where a second factor is set up, and nowhere else.
#[track_caller]
fn check_sets_up(answer: &Answer) {
    let location = answer.header("location").unwrap_or_default();
    assert!(answer.status == 303 && location.starts_with("/console/factor"), "{answer}");
}

#[test]
fn who_must_have_a_second_factor_does_nothing_before() {
    let app = TestApp::new();
    let Some(guarded) = Guarded::new(&app) else { return };
    let hired = Account::create(&app, "shop", "vera@shop.example", "owner");
    let vera = Visitor::signed_in(&app, &hired);
    let owner = guarded.half(&app);
    assert_eq!(owner.give_code(&guarded.code(), "").status, 303);
    let fields = [("secondFactorRequired", "true")];
    assert_eq!(owner.post("/console/test/people/policy", &fields).status, 303);
    for page in [
        "",
        "/payments.csv",
        "/payments/stream",
        "/refunds",
        "/disputes",
        "/links/new",
        "/deliveries",
        "/applications",
        "/people",
        "/audit",
    ] {
        check_sets_up(&vera.get(&format!("/console/test{page}")));
    }
    let changes: [(&str, &[(&str, &str)]); 3] = [
        ("/applications/default/keys", &[("scope", "payments:read")]),
        ("/people/policy", &[("secondFactorRequired", "")]),
        ("/people/ana@shop.example/reset", &[]),
    ];
    let token = form_token_in(&vera.page("/console/factor"));
    for (path, fields) in changes {
        let fields = [fields, &[("formToken", &*token)]].concat();
        check_sets_up(&vera.post_with(&format!("/console/test{path}"), &[], &fields));
    }
    let stopped = vera.get("/console/test/payments");
    let factor = "/console/factor?next=%2Fconsole%2Ftest%2Fpayments";
    assert_eq!((stopped.status, stopped.header("location")), (303, Some(factor)), "{stopped}");
    let (secret, codes) = vera.set_up_factor(|secret| guarded.authenticator.code(secret, 0));
    assert_eq!(vera.get("/console/test/payments").status, 200);
    let answer = vera.post("/console/test/account/factor/remove", &[("confirm", &codes[0])]);
    assert!(answer.status == 409, "it is required: {answer}");
    let again = Visitor::new(&app);
    assert_eq!(again.sign_in(&hired.email, &hired.password, "").status, 303);
    assert_eq!(again.give_code(&guarded.authenticator.code(&secret, 1), "").status, 303);
    let log = owner.page("/console/test/audit");
    for line in ["set up the second factor of", "changed the access rules of", "second factor required"] {
        assert!(log.contains(line), "{line}: {log}");
    }
}

#[test]
fn a_second_factor_is_turned_off_with_itself_alone() {
    let app = TestApp::new();
    let Some(guarded) = Guarded::new(&app) else { return };
    let owner = guarded.half(&app);
    let used = guarded.code();
    assert_eq!(owner.give_code(&used, "").status, 303);
    let remove = "/console/test/account/factor/remove";
    let asked = owner.post(remove, &[]);
    assert!(asked.status == 403 && asked.text().contains("name=\"confirm\""), "{asked}");
    for wrong in [&*guarded.account.password, &used, "nonsense"] {
        assert_eq!(owner.post(remove, &[("confirm", wrong)]).status, 403, "{wrong}");
    }
    assert_eq!(owner.post(remove, &[("confirm", &guarded.recovery_codes[0])]).status, 303);
    let visitor = Visitor::signed_in(&app, &guarded.account);
    assert_eq!(visitor.get("/console/test").status, 200, "the password is enough again");
}

#[test]
fn an_owner_resets_the_second_factor_of_who_lost_it_and_so_does_a_command() {
    let app = TestApp::new();
    let Some(guarded) = Guarded::new(&app) else { return };
    let boss = Account::create(&app, "shop", "bia@shop.example", "owner");
    let boss = Visitor::signed_in(&app, &boss);
    assert!(boss.page("/console/test/people").contains("Reset second factor"));
    assert_eq!(boss.post("/console/test/people/ana@shop.example/factor", &[]).status, 303);
    let ana = Visitor::signed_in(&app, &guarded.account);
    let (_, _) = ana.set_up_factor(|secret| guarded.authenticator.code(secret, 0));
    assert!(app.quita(&["users", "list", "--merchant", "shop"]).output().contains("\tsecond factor\t"));
    assert_eq!(app.quita(&["users", "reset-factor", "ana@shop.example"]).code, Some(0));
    assert_eq!(Visitor::signed_in(&app, &guarded.account).get("/console/test").status, 200);
    let again = app.quita(&["users", "reset-factor", "ana@shop.example"]);
    assert_eq!(again.code, Some(1), "{again:?}");
}

/// A session that was used for longer than one lasts in which nothing is done; `None` if a request came too late,
/// because the machine is busy.
fn stays_signed_in(app: &TestApp, account: &Account, idle: Duration) -> Option<Visitor> {
    let mut last = Instant::now();
    let busy = Visitor::signed_in(app, account);
    for _ in 0..6 {
        pause(idle / 4);
        let begun = Instant::now();
        let status = busy.get("/console/test").status;
        if last.elapsed() >= idle {
            return None;
        }
        assert_eq!(status, 200);
        last = begun;
    }
    Some(busy)
}

#[test]
fn a_session_ends_when_nothing_is_done_in_it_and_a_live_page_keeps_none_alive() {
    let idle = Duration::from_secs(4);
    let app = TestApp::builder().arg("--session-idle", "4s").start();
    let account = Account::create(&app, "shop", "ana@shop.example", "owner");
    let watching = Visitor::signed_in(&app, &account);
    let mut stream = EventStream::open(&app, &watching, "/console/test/payments/stream");
    let busy =
        (0..20).find_map(|_| stays_signed_in(&app, &account, idle)).expect("a machine that asks in time");
    check_is_out(&watching);
    while stream.next().is_some() {}
    pause(idle);
    check_is_out(&busy);
}

#[test]
fn people_end_their_own_sessions_and_those_of_nobody_else() {
    let app = TestApp::new();
    let ana = Account::create(&app, "shop", "ana@shop.example", "owner");
    let bia = Account::create(&app, "shop", "bia@shop.example", "owner");
    let (desk, phone, others) =
        (Visitor::signed_in(&app, &ana), Visitor::signed_in(&app, &ana), Visitor::signed_in(&app, &bia));
    let end_in = |visitor: &Visitor| {
        let page = visitor.page("/console/test/account");
        let (_, after) = page.split_once("/account/sessions/").expect("another session is listed");
        after.split('/').next().unwrap().to_owned()
    };
    let of_phone = end_in(&desk);
    let stolen = others.post(&format!("/console/test/account/sessions/{of_phone}/end"), &[]);
    assert_eq!(stolen.status, 404, "{stolen}");
    assert_eq!(phone.get("/console/test").status, 200);
    assert_eq!(desk.post(&format!("/console/test/account/sessions/{of_phone}/end"), &[]).status, 303);
    check_is_out(&phone);
    let phone = Visitor::signed_in(&app, &ana);
    assert_eq!(desk.post("/console/test/account/sessions/end-others", &[]).status, 303);
    check_is_out(&phone);
    assert_eq!((desk.get("/console/test").status, others.get("/console/test").status), (200, 200));
    eventually(PATIENCE, "it stands in the audit log", || {
        desk.page("/console/test/audit").contains("ended sessions of").then_some(())
    });
}
