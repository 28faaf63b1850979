//! A visitor of a console by plain HTTP: cookies are kept, and forms are sent as a browser sends them.

use std::cell::RefCell;
use std::collections::BTreeMap;

use url::form_urlencoded;

use super::{Account, Answer, Client, TestApp};

/// Password that development on a loopback address takes to make the first operator, if none is set.
pub(crate) const SETUP_PASSWORD: &str = "quita-operator-development";
/// Login of the first operator of tests.
pub(crate) const OPERATOR: &str = "olga@ops.example";
/// Own password of that operator.
pub(crate) const OPERATOR_PASSWORD: &str = "sete barcos azuis no quintal";

const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");

/// Somebody with a jar of cookies, who reads English.
pub(crate) struct Visitor {
    client: Client,
    /// Prefix of the addresses of this console.
    root: &'static str,
    cookies: RefCell<BTreeMap<String, String>>,
}

impl Visitor {
    /// Somebody who has never been here.
    pub(crate) fn new(app: &TestApp) -> Self {
        Self { client: app.client_without_key(), root: "/console", cookies: RefCell::default() }
    }

    /// The same, where the console is reached by this public address.
    pub(crate) fn of(public_url: &str) -> Self {
        Self { client: Client::new(public_url, None), root: "/console", cookies: RefCell::default() }
    }

    /// Somebody at the operator's console.
    pub(crate) fn at_ops(app: &TestApp) -> Self {
        Self { client: app.ops(), root: "", cookies: RefCell::default() }
    }

    /// The first operator, who is signed in; made if there is none.
    #[track_caller]
    pub(crate) fn operator(app: &TestApp) -> Self {
        let operator = Self::at_ops(app);
        let answer = match operator.page("/sign-in").contains("action=\"/first-operator\"") {
            true => operator.make_first(SETUP_PASSWORD, OPERATOR, OPERATOR_PASSWORD),
            false => operator.sign_in(OPERATOR, OPERATOR_PASSWORD, ""),
        };
        assert_eq!((answer.status, answer.header("location")), (303, Some("/")), "{answer}");
        operator
    }

    /// Somebody whom the first operator made, signed in with a password of the own.
    #[track_caller]
    pub(crate) fn at_ops_as(app: &TestApp, email: &str, role: &str) -> Self {
        drop(Self::operator(app));
        let made = app.quita(&["users", "operators", "create", "--email", email, "--role", role]);
        let person = Self::at_ops(app);
        assert_eq!(person.sign_in(email, &made.output(), "").status, 303);
        let token = form_token_in(&person.page("/sign-in/password"));
        let fields = [("formToken", &*token), ("new", OPERATOR_PASSWORD)];
        let changed = person.post_with("/sign-in/password", &[], &fields);
        assert_eq!((changed.status, changed.header("location")), (303, Some("/")), "{changed}");
        person
    }

    /// Opens the form that makes the first operator, and sends it.
    #[track_caller]
    pub(crate) fn make_first(&self, setup: &str, email: &str, password: &str) -> Answer {
        let token = form_token_in(&self.page("/sign-in"));
        let fields = [("formToken", &*token), ("setup", setup), ("email", email), ("password", password)];
        self.post_with("/first-operator", &[], &fields)
    }

    /// Somebody who is signed in.
    #[track_caller]
    pub(crate) fn signed_in(app: &TestApp, account: &Account) -> Self {
        let visitor = Self::new(app);
        let answer = visitor.sign_in(&account.email, &account.password, "");
        assert_eq!(answer.status, 303, "{answer}");
        visitor
    }

    /// Opens the form for signing in and sends it.
    #[track_caller]
    pub(crate) fn sign_in(&self, email: &str, password: &str, next: &str) -> Answer {
        let path = format!("{}/sign-in", self.root);
        let token = form_token_in(&self.page(&path));
        let fields = [("formToken", &*token), ("email", email), ("password", password), ("next", next)];
        self.send("POST", &path, &[FORM], form(&fields).as_bytes())
    }

    /// Chooses a password in place of one that somebody else made, where nothing else may be done.
    #[track_caller]
    pub(crate) fn choose_password(&self, own: &str) {
        let path = format!("{}/sign-in/password", self.root);
        let token = form_token_in(&self.page(&path));
        let answer = self.post_with(&path, &[], &[("formToken", &*token), ("new", own), ("next", "")]);
        assert_eq!(answer.status, 303, "{answer}");
    }

    /// Gives a code after the password.
    #[track_caller]
    pub(crate) fn give_code(&self, code: &str, next: &str) -> Answer {
        let path = format!("{}/sign-in/code", self.root);
        let token = form_token_in(&self.page(&path));
        self.post_with(&path, &[], &[("formToken", &*token), ("code", code), ("next", next)])
    }

    /// Sets a second factor up; returns its secret and the recovery codes.
    #[track_caller]
    pub(crate) fn set_up_factor(&self, code: impl Fn(&str) -> String) -> (String, Vec<String>) {
        let path = format!("{}/factor", self.root);
        let page = self.page(&path);
        let (_, after) = page.split_once("name=\"secret\" value=\"").expect("it shows a secret");
        let secret = after.split('"').next().unwrap();
        let token = form_token_in(&page);
        let fields = [("formToken", &*token), ("secret", secret), ("code", &code(secret)), ("next", "")];
        let answer = self.post_with(&path, &[], &fields);
        assert_eq!(answer.status, 200, "{answer}");
        let page = answer.text();
        let (_, after) = page.split_once("id=\"codes\"").expect("it shows recovery codes");
        let (_, codes) = after.split_once('>').unwrap();
        let codes = codes.split('<').next().unwrap().lines().map(str::to_owned).collect();
        (secret.to_owned(), codes)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], b"")
    }

    /// A page that is there.
    #[track_caller]
    pub(crate) fn page(&self, path: &str) -> String {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{answer}");
        let kind = answer.header("content-type");
        assert_eq!(kind, Some("text/html; charset=utf-8"), "{answer}");
        answer.text()
    }

    /// The token that forms of this session carry.
    #[track_caller]
    pub(crate) fn form_token(&self) -> String {
        let page = if self.root.is_empty() { "/exceptions" } else { "/console/test/account" };
        form_token_in(&self.page(page))
    }

    /// Sends a form of this session.
    #[track_caller]
    pub(crate) fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let token = self.form_token();
        self.post_with(path, &[], &[&[("formToken", &*token)], fields].concat())
    }

    /// Sends these fields and no other.
    pub(crate) fn post_with(&self, path: &str, headers: &[(&str, &str)], fields: &[(&str, &str)]) -> Answer {
        self.send("POST", path, &[&[FORM], headers].concat(), form(fields).as_bytes())
    }

    /// Any request, with the cookies that were set before.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let cookies = self.cookie_header();
        let mut all = vec![("Accept-Language", "en")];
        if !cookies.is_empty() {
            all.push(("Cookie", &cookies));
        }
        all.extend(headers);
        let answer = self.client.send(method, path, &all, body);
        for (name, set) in &answer.headers {
            if name.eq_ignore_ascii_case("set-cookie") {
                self.keep(set);
            }
        }
        answer
    }

    /// The cookies as a request carries them.
    pub(crate) fn cookie_header(&self) -> String {
        let cookies = self.cookies.borrow();
        cookies.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ")
    }

    pub(crate) fn cookie(&self, name: &str) -> Option<String> {
        self.cookies.borrow().get(name).cloned()
    }

    pub(crate) fn set_cookie(&self, name: &str, value: &str) {
        self.cookies.borrow_mut().insert(name.into(), value.into());
    }

    /// Keeps a cookie, or forgets it if its life is over.
    fn keep(&self, set: &str) {
        let (pair, attributes) = set.split_once(';').unwrap_or((set, ""));
        let (name, value) = pair.split_once('=').unwrap();
        if attributes.contains("Max-Age=0") {
            self.cookies.borrow_mut().remove(name);
        } else {
            self.set_cookie(name, value);
        }
    }
}

/// The token in the first form of a page.
#[track_caller]
pub(crate) fn form_token_in(page: &str) -> String {
    let (_, after) = page.split_once("name=\"formToken\" value=\"").expect("the page has a form");
    after.split('"').next().unwrap().to_owned()
}

/// Fields as a browser sends them.
pub(crate) fn form(fields: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}
