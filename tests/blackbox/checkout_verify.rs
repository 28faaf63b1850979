//! `quita checkout verify`: the page as payers get it against what the program serves.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use crate::checkout::{Payer, link, make};
use crate::support::{Edit, Reply, TestApp, TestReceiver};

/// Change that somebody between the service and its payers makes.
type Change = fn(&str, &mut Reply);

/// Verifies the page of a link by way of somebody who changes answers. Returns the exit code and what was printed.
fn verify(app: &TestApp, change: Change) -> (Option<i32>, String) {
    let made = make(app, &link());
    let url = made["url"].as_str().unwrap();
    verify_page(app, url.strip_prefix(&app.url()).unwrap(), change)
}

/// Verifies a page like [`verify`].
fn verify_page(app: &TestApp, path: &str, change: Change) -> (Option<i32>, String) {
    let between = TestReceiver::start();
    let origin = between.url().trim_end_matches("/webhooks").to_owned();
    let client = app.client_without_key();
    between.answer_with(move |request| {
        let header = |name: &str| request.header(name).unwrap_or_default();
        let is_browser =
            header("user-agent").starts_with("Mozilla/5.0 (") && !header("sec-fetch-dest").is_empty();
        assert!(is_browser, "a program is told from a payer: {}", request.path);
        let language = [("Accept-Language", header("accept-language"))];
        let answer = client.send("GET", &request.path, &language, b"");
        let mut reply = Reply::status(answer.status).body(&answer.text());
        for (name, value) in &answer.headers {
            let is_of_connection = ["content-length", "transfer-encoding", "connection", "date"];
            if !is_of_connection.contains(&name.as_str()) {
                reply = reply.header(name, value);
            }
        }
        change(&request.path, &mut reply);
        reply
    });
    let verified = app.program(&["checkout", "verify", &format!("{origin}{path}")]).run();
    (verified.code, verified.said())
}

#[test]
fn a_page_that_nobody_changed_is_as_this_version_serves_it() {
    let app = TestApp::new();
    let made = make(&app, &link());
    let direct = app.quita(&["checkout", "verify", made["url"].as_str().unwrap()]).output();
    assert!(direct.contains("match this version"), "{direct}");
    let (code, printed) = verify(&app, |_, _| {});
    assert_eq!(code, Some(0), "{printed}");
}

#[test]
fn the_page_of_a_payment_is_as_this_version_serves_it() {
    let app = TestApp::new();
    let offer =
        link().with("uses", json!(5)).with("successUrl", json!("https://loja.example.com/ok?a=b%20c&d#e"));
    let made = make(&app, &offer);
    let verify = |payer: &Payer| {
        let verified = app.program(&["checkout", "verify", &format!("{}{}", app.url(), payer.path)]).run();
        assert_eq!(verified.code, Some(0), "{}: {}", payer.path, verified.said());
        verified.said()
    };
    for method in ["pix", "boleto"] {
        let mut payer = Payer::at(&app, &made);
        payer.begin_and_go(method);
        payer.check("pending");
        let receiver = if method == "pix" { "A payer's PIX goes to" } else { "A payer's boleto is of bank" };
        assert!(verify(&payer).contains(receiver), "{method}");
        app.client().post_empty(&format!("/sandbox/payments/{}/pay", payer.transaction())).expect(200);
        payer.check("paid");
        let said = verify(&payer);
        assert!(said.contains("A payer can continue at loja.example.com"), "{said}");
    }
}

#[test]
fn a_page_whose_code_became_a_text_is_for_a_person_to_judge() {
    let app = TestApp::new();
    let made = make(&app, &link());
    let mut payer = Payer::at(&app, &made);
    payer.begin_and_go("pix");
    payer.check("pending");
    let (_, said) = verify_page(&app, &payer.path, |_, reply| {
        for (start, end) in [("<img ", ">"), ("<textarea ", "</textarea>")] {
            let Some((before, rest)) = reply.body.split_once(start) else { return };
            let (_, after) = rest.split_once(end).unwrap();
            reply.body = format!("{before}<p>Pague a chave ladrao@evil.example</p>{after}");
        }
    });
    assert!(said.contains("is pending and has no code to pay"), "{said}");
}

#[test]
fn every_change_of_headers_and_scripts_is_told() {
    let app = TestApp::new();
    let changes: [(&str, Change); 12] = [
        ("the page has an inline script", |path, reply| {
            if path.starts_with("/checkout/") && !path.ends_with(".js") {
                reply.body = reply.body.replace("</head>", "<script>send()</script></head>");
            }
        }),
        ("does not write: <SCRIPT src=//evil.example/a.js>", |path, reply| {
            if !path.ends_with(".js") {
                reply.body =
                    reply.body.replace("</head>", "<SCRIPT src=//evil.example/a.js></SCRIPT></head>");
            }
        }),
        ("does not write: <!--><script src=", |_, reply| {
            let added = "<!--><script src=\"/evil.js\"></script><!-- --></head>";
            reply.body = reply.body.replace("</head>", added);
        }),
        ("header refresh is not sent by this version", |_, reply| {
            reply.headers.push(("refresh".to_owned(), "0; url=https://evil.example/".to_owned()));
        }),
        ("header content-security-policy is", |_, reply| {
            reply.headers.push(("content-security-policy".to_owned(), "default-src *".to_owned()));
        }),
        ("/checkout/integrity.json has different hashes", |path, reply| {
            if path.ends_with("/integrity.json") {
                "{}".clone_into(&mut reply.body);
            }
        }),
        ("the page has the element style", |_, reply| {
            if reply.body.contains("<html lang=\"en\">") {
                reply.body = reply.body.replace("</head>", "<style></style></head>");
            }
        }),
        ("has different contents from this version", |path, reply| {
            if path.contains("checkout-card.js") {
                reply.body.push_str("send();");
            }
        }),
        ("the page states a different hash of checkout-card.js", |_, reply| {
            reply.body = reply.body.replace("integrity=\"sha384-", "integrity=\"sha384-A");
        }),
        ("header content-security-policy is missing", |_, reply| {
            reply.headers.retain(|(name, _)| name != "content-security-policy");
        }),
        ("header x-frame-options is \"SAMEORIGIN\"", |_, reply| {
            for (name, value) in &mut reply.headers {
                if name == "x-frame-options" {
                    "SAMEORIGIN".clone_into(value);
                }
            }
        }),
        ("/checkout/v1.js has different contents", |path, reply| {
            if path == "/checkout/v1.js" {
                reply.body.push(' ');
            }
        }),
    ];
    for (told, change) in changes {
        let (code, printed) = verify(&app, change);
        assert_eq!(code, Some(1), "{told}: {printed}");
        assert!(printed.contains(told), "{told}: {printed}");
    }
}

#[test]
fn a_code_that_pays_somebody_else_is_told() {
    /// Printed in the central bank's manual.
    const OTHER: &str = "00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR\
                         5913Fulano de Tal6008BRASILIA62070503***63041D3D";
    fn replace_code(reply: &mut Reply, other: &str) {
        if let Some((before, after)) = reply.body.split_once("aria-labelledby=\"code-title\">000201") {
            let (_, after) = after.split_once('<').unwrap();
            reply.body = format!("{before}aria-labelledby=\"code-title\">{other}<{after}");
        }
    }
    let app = TestApp::new();
    let mut payer = Payer::at(&app, &make(&app, &link()));
    payer.begin_and_go("pix");
    let (code, printed) = verify_page(&app, &payer.path, |_, _| {});
    assert_eq!(code, Some(0), "{printed}");
    let (code, printed) = verify_page(&app, &payer.path, |_, reply| replace_code(reply, OTHER));
    assert!(
        code == Some(1) && printed.contains(".svg is not the picture of the page's PIX code"),
        "{printed}"
    );
    let receiver = "goes to the key 123e4567-e12b-12d1-a456-426655440000, Fulano de Tal in BRASILIA";
    assert!(printed.contains(receiver), "{printed}");
    let (code, printed) = verify_page(&app, &payer.path, |_, reply| {
        if let Some((before, after)) = reply.body.split_once("<section class=\"copy\"") {
            let (_, after) = after.split_once("</section>").unwrap();
            reply.body = format!("{before}{after}");
        }
    });
    assert!(code == Some(1) && printed.contains("the page has 0 PIX codes and 1 pictures"), "{printed}");
    let (code, printed) = verify_page(&app, &payer.path, |_, reply| replace_code(reply, "00020126"));
    assert!(code == Some(1) && printed.contains("the PIX code is invalid"), "{printed}");
}

#[test]
fn of_many_payment_codes_on_a_page_one_is_checked_and_all_are_told() {
    static PICTURES: AtomicUsize = AtomicUsize::new(0);
    let app = TestApp::new();
    let mut payer = Payer::at(&app, &make(&app, &link()));
    payer.begin_and_go("pix");
    let (code, printed) = verify_page(&app, &payer.path, |path, reply| {
        if path.ends_with(".svg") {
            PICTURES.fetch_add(1, Ordering::Relaxed);
        }
        if let Some((before, rest)) = reply.body.split_once("<textarea id=\"code\"") {
            let (inner, after) = rest.split_once("</textarea>").unwrap();
            let codes = format!("<textarea id=\"code\"{inner}</textarea>").repeat(1_000);
            reply.body = format!("{before}{codes}{after}");
        }
    });
    let told = "the page has 1000 PIX codes and 1 pictures";
    assert!(code == Some(1) && printed.contains(told), "{printed}");
    assert_eq!(PICTURES.load(Ordering::Relaxed), 2, "one in each language");
}

#[test]
fn differences_are_told_before_the_comparison_fails() {
    let app = TestApp::new();
    let (code, printed) = verify(&app, |path, reply| {
        reply.body = reply.body.replace("</head>", "<style></style></head>");
        // Beyond what is read.
        if path.contains("/assets/") {
            reply.body = " ".repeat(2 * 1024 * 1024);
        }
    });
    assert!(code == Some(1) && printed.contains("can't be read"), "{printed}");
    assert!(printed.contains("the page has the element style"), "{printed}");
}

#[test]
fn a_form_that_is_gone_or_asks_for_something_else_is_told() {
    let app = TestApp::new();
    let changes: [(&str, Change); 3] = [
        ("the page is open and has 0 forms", |_, reply| {
            if let Some((before, rest)) = reply.body.split_once("<form ") {
                let (_, after) = rest.split_once("</form>").unwrap();
                reply.body = format!("{before}<p>Pague por transferencia: banco 999 conta 1</p>{after}");
            }
        }),
        ("the page has a different label for \"street\": Número do cartão", |_, reply| {
            reply.body = reply.body.replace(">Rua</label>", ">Número do cartão</label>");
        }),
        ("the page has different texts for the card", |_, reply| {
            reply.body = reply.body.replace("data-code=\"Code (CVV)\"", "data-code=\"PIN of the card\"");
        }),
    ];
    for (told, change) in changes {
        let (code, printed) = verify(&app, change);
        assert!(code == Some(1) && printed.contains(told), "{told}: {printed}");
    }
}

#[test]
fn an_address_that_is_no_page_of_a_link_is_wrong_usage() {
    let app = TestApp::new();
    let verified = app.program(&["checkout", "verify", &app.url()]).run();
    assert_eq!(verified.code, Some(2), "{}", verified.stderr);
    let nothing = app.program(&["checkout", "verify", &format!("{}/checkout/nothing", app.url())]).run();
    let told = "answers 404: no link has this page";
    assert!(nothing.code == Some(1) && nothing.stderr.contains(told), "{nothing:?}");
}
