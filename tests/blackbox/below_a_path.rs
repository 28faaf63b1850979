//! Quita below a path of a host that others use too, behind a proxy that takes the path away.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, OnceLock};
use std::thread;

use serde_json::Value;

use crate::support::{Account, Answer, Client, Edit, TestApp, Visitor, boleto, form_token_in, pix};

const PATH: &str = "/quita";

/// A reverse proxy for one path. Whatever is not below it belongs to the shop, which answers 418.
struct PathProxy {
    address: SocketAddr,
    target: Arc<OnceLock<String>>,
}

impl PathProxy {
    fn open() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let target = Arc::new(OnceLock::<String>::new());
        let served = Arc::clone(&target);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let target = served.get().unwrap().clone();
                thread::spawn(move || drop(pass_on(stream, &target)));
            }
        });
        Self { address, target }
    }

    fn public_url(&self) -> String {
        format!("{}{PATH}", self.host())
    }

    fn host(&self) -> String {
        format!("http://{}", self.address)
    }
}

/// Passes one request on, and its answer back; then the connection ends.
fn pass_on(mut here: TcpStream, target: &str) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 16 * 1024];
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        let length = here.read(&mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        bytes.extend(&buffer[..length]);
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let (first, headers) = head.split_once("\r\n").unwrap();
    let (method, rest) = first.split_once(' ').unwrap();
    let below = rest.strip_prefix(PATH).filter(|rest| rest.starts_with(['/', ' ', '?']));
    let Some(below) = below else {
        return here
            .write_all(b"HTTP/1.1 418 I'm a teapot\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    };
    let slash = if below.starts_with('/') { "" } else { "/" };
    let kept: Vec<_> =
        headers.split("\r\n").filter(|line| !line.to_ascii_lowercase().starts_with("connection:")).collect();
    let mut there = TcpStream::connect(target)?;
    write!(there, "{method} {slash}{below}\r\n{}\r\nConnection: close\r\n\r\n", kept.join("\r\n"))?;
    there.write_all(&bytes[end + 4..])?;
    let mut from = here.try_clone()?;
    let mut to = there.try_clone()?;
    let sending = thread::spawn(move || std::io::copy(&mut from, &mut to));
    std::io::copy(&mut there, &mut here)?;
    here.shutdown(std::net::Shutdown::Both)?;
    drop(sending.join());
    Ok(())
}

/// A service that is seen below the path.
fn start() -> (TestApp, PathProxy) {
    let proxy = PathProxy::open();
    let app = TestApp::builder().arg("--public-url", &proxy.public_url()).start();
    proxy.target.set(app.address().to_owned()).unwrap();
    (app, proxy)
}

/// Every address in a page that a browser would ask for, or send a form to.
fn addresses(page: &str) -> BTreeSet<String> {
    let attributes = ["href", "src", "action", "formaction", "data-live", "data-status-url", "data-samples"];
    let of = |name: &str| {
        let marker = format!(" {name}=\"");
        let found =
            page.split(&marker).skip(1).map(|rest| rest.split('"').next().unwrap().replace("&#38;", "&"));
        found.collect::<Vec<_>>()
    };
    let all = attributes.iter().flat_map(|name| of(name));
    all.filter(|address| !address.starts_with('#') && !address.starts_with("data:")).collect()
}

/// The address as a browser would resolve it, on the host of the proxy.
#[track_caller]
fn on_host(proxy: &PathProxy, page: &str, address: &str) -> String {
    let base = ureq::http::Uri::try_from(page).unwrap();
    let full = match address {
        absolute if absolute.starts_with("http") => absolute.to_owned(),
        rooted if rooted.starts_with('/') => format!("{}{rooted}", proxy.host()),
        relative => format!("{}{}/{relative}", proxy.host(), base.path().rsplit_once('/').unwrap().0),
    };
    assert!(
        full.starts_with(&format!("{}/", proxy.public_url())) || full == proxy.public_url(),
        "{page}: {address}"
    );
    full
}

#[track_caller]
fn check_page(proxy: &PathProxy, client: &Client, page: &str) -> String {
    let answer = client.get(page);
    assert_eq!(answer.status, 200, "{answer}");
    let text = answer.text();
    for address in addresses(&text) {
        let found = client.get(&on_host(proxy, page, &address));
        assert!(found.status == 200, "{page} refers to {address}: {}", found.status);
    }
    text
}

#[test]
fn payers_pages_and_the_documentation_find_all_that_they_need() {
    let (app, proxy) = start();
    let public = proxy.public_url();
    let client = Client::new(&public, Some(app.key()));
    let created = client.post("/pay/payments", &pix(10_027));
    let location = created.header("location").unwrap().to_owned();
    assert!(location.starts_with(&format!("{public}/pay/payments/")), "{location}");
    assert_eq!(client.get(&location).status, 200);
    let picture = created.json()["pix"]["qrCode"].as_str().unwrap().to_owned();
    assert!(picture.starts_with(&format!("{public}/pix/")), "{picture}");
    assert!(client.get(&picture).body.starts_with(b"\x89PNG"));
    let slip = client.create(&boleto(10_027))["boleto"]["url"].as_str().unwrap().to_owned();
    for page in [picture.trim_end_matches(".png"), &slip] {
        let text = check_page(&proxy, &client, page);
        assert!(addresses(&text).len() >= 4, "{text}");
    }
    check_page(&proxy, &client, &format!("{public}/docs"));
    check_page(&proxy, &client, &format!("{public}/docs/errors"));
    let refused = client.get("/v1/payments").expect_error(404, "not_found");
    let message = refused["message"].as_str().unwrap();
    assert!(message.contains(&format!("did you mean {PATH}/pay/payments?")), "{message}");
    check_page(&proxy, &client, refused["docUrl"].as_str().unwrap());
    let script = client.get("/docs.js").text();
    assert!(
        script.contains("fetch(\"openapi.json\")") && !script.contains("fetch(\"/"),
        "it asks beside the page"
    );
    let document = client.get("/openapi.json").expect(200);
    assert_eq!(document["servers"][0]["url"], PATH);
    let lasts = client.get("/docs").header("strict-transport-security").unwrap().to_owned();
    assert_eq!(lasts, "max-age=31536000", "the subdomains are the shop's");
}

/// Address to which an answer sends the browser, which must be below the path.
#[track_caller]
fn sent_to(answer: &Answer) -> String {
    assert_eq!(answer.status, 303, "{answer}");
    let location = answer.header("location").unwrap();
    assert!(location.starts_with("/quita/console"), "{answer}");
    location.to_owned()
}

#[test]
fn the_console_works_from_the_first_page_to_the_last() {
    let (app, proxy) = start();
    let api = Client::new(&proxy.public_url(), Some(app.key()));
    let record = api.create(&pix(10_027).with("externalReference", "one".into()));
    let other = api.create(&boleto(10_027));
    let account = Account::create(&app, "shop", "ana@shop.example", "owner");
    let visitor = Visitor::of(&proxy.public_url());
    let first = visitor.get("/console/test/payments?status=pending");
    let location = sent_to(&first);
    assert!(
        location.starts_with("/quita/console/sign-in?next=%2Fquita%2Fconsole%2Ftest%2Fpayments"),
        "{location}"
    );
    let next = "/quita/console/test/payments?status=pending";
    let signed_in = visitor.sign_in(&account.email, &account.password, next);
    assert_eq!(sent_to(&signed_in), next);
    let cookies: Vec<_> =
        signed_in.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie")).collect();
    assert!(
        !cookies.is_empty() && cookies.iter().all(|(_, set)| set.contains("; Path=/quita;")),
        "{signed_in}"
    );
    let foreign = Visitor::of(&proxy.public_url());
    let elsewhere = foreign.sign_in(&account.email, &account.password, "/console/test");
    assert_eq!(sent_to(&elsewhere), "/quita/console/", "that page is the shop's");
    let start = sent_to(&visitor.get("/console/"));
    let id = |record: &Value| record["transactionId"].as_str().unwrap().to_owned();
    let mut seen = BTreeSet::new();
    let payments =
        ["/quita/console/test/payments".to_owned(), format!("/quita/console/test/payments/{}", id(&other))];
    let mut open: Vec<_> = payments
        .into_iter()
        .chain([start, format!("/quita/console/test/payments/{}", id(&record))])
        .collect();
    while let Some(path) = open.pop() {
        if !seen.insert(path.clone()) || seen.len() > 80 {
            continue;
        }
        let url = format!("{}{path}", proxy.host());
        // What goes on for ever shows by its head that it is there.
        let method = if path.ends_with("/stream") || path.contains("/stream?") { "HEAD" } else { "GET" };
        let answer = visitor.send(method, &url, &[], b"");
        // The form that changes a role has no page of its own.
        let is_form = path.ends_with("/role") && answer.status == 404;
        assert!(is_form || [200, 303, 405].contains(&answer.status), "{path}: {answer}");
        let is_page = answer.header("content-type").is_some_and(|kind| kind.starts_with("text/html"));
        if !is_page || answer.status != 200 {
            continue;
        }
        for address in addresses(&answer.text()) {
            if address.starts_with('?') {
                continue;
            }
            let full = on_host(&proxy, &url, &address);
            open.push(full.strip_prefix(&proxy.host()).unwrap().to_owned());
        }
    }
    assert!(seen.len() > 30, "{seen:?}");
    for part in
        ["/people", "/account", "/audit", "/applications/default", "/deliveries", "payments.csv", "/cancel"]
    {
        assert!(seen.iter().any(|path| path.contains(part)), "{part}: {seen:?}");
    }
}

#[test]
fn forms_of_the_console_lead_back_below_the_path() {
    let (app, proxy) = start();
    let api = Client::new(&proxy.public_url(), Some(app.key()));
    let id = api.create(&pix(10_027))["transactionId"].as_str().unwrap().to_owned();
    let account = Account::create(&app, "shop", "ana@shop.example", "owner");
    let visitor = Visitor::of(&proxy.public_url());
    sent_to(&visitor.sign_in(&account.email, &account.password, ""));
    let asked = visitor.page(&format!("/console/test/payments/{id}/cancel"));
    let action = format!("/quita/console/test/payments/{id}/cancel");
    assert!(asked.contains(&format!("action=\"{action}\"")), "{asked}");
    let key = asked.split("name=\"key\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let token = form_token_in(&asked);
    let done = visitor.post_with(
        &format!("{}{action}", proxy.host()),
        &[],
        &[("formToken", &*token), ("key", &*key)],
    );
    assert!(sent_to(&done).starts_with(&format!("/quita/console/test/payments/{id}?done=")), "{done}");
    let referer = format!("{}/console/test/audit?x=1", proxy.public_url());
    let fields = [("formToken", &*visitor.form_token()), ("language", "pt-BR")];
    let chosen = visitor.post_with("/console/language", &[("Referer", &referer)], &fields);
    assert_eq!(sent_to(&chosen), "/quita/console/test/audit?x=1");
    let made = visitor.post("/console/test/applications", &[("name", "loja")]);
    assert_eq!(made.status, 200, "{made}");
    let page = format!("{}/console/test/applications", proxy.public_url());
    let back = addresses(&made.text()).into_iter().find(|address| address.ends_with("/applications/loja"));
    on_host(&proxy, &page, &back.expect("it leads to the new application"));
    let out = visitor.post("/console/sign-out", &[]);
    assert_eq!(sent_to(&out), "/quita/console/sign-in");
}
