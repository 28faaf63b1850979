//! Pages, pictures and the PDF that a payer opens.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Answer, Client, Edit, TestApp, boleto, pix};

/// The path of the payment's page.
fn page_of(app: &TestApp, record: &Value) -> String {
    let url = if record["pix"].is_object() { &record["pix"]["qrCode"] } else { &record["boleto"]["url"] };
    let path = url.as_str().unwrap().strip_prefix(&app.url()).unwrap();
    path.trim_end_matches(".png").to_owned()
}

#[track_caller]
fn check_page(public: &Client, path: &str, kind: &str) -> Answer {
    let answer = public.get(path);
    assert_eq!(answer.status, 200, "{answer}");
    assert!(answer.header("content-type").is_some_and(|found| found.starts_with(kind)), "{answer}");
    answer
}

#[test]
fn the_pix_page_shows_the_code_and_the_amount() {
    let app = TestApp::new();
    let record = app.client().create(&pix(1_234_527));
    let public = app.client_without_key();
    let path = page_of(&app, &record);
    let page = check_page(&public, &path, "text/html");
    for part in [record["pix"]["code"].as_str().unwrap(), "12.345,27", "Aguardando pagamento", "pt-BR"] {
        assert!(page.text().contains(part), "{part}: {page}");
    }
    assert!(!page.text().contains("52998224725") && !page.text().contains("maria.silva"), "no payer's data");
    assert!(page.header("content-security-policy").is_some(), "{page}");
    let svg = check_page(&public, &format!("{path}.svg"), "image/svg+xml");
    assert!(svg.text().contains("<svg"), "{svg}");
    let png = check_page(&public, &format!("{path}.png"), "image/png");
    assert_eq!(&png.body[..8], b"\x89PNG\r\n\x1a\n");
    let status = public.get(&format!("{path}/status")).expect(200);
    assert_eq!((&status["status"], &status["expiresAt"]), (&json!("pending"), &record["pix"]["expiresAt"]));
}

#[test]
fn the_pix_page_follows_the_status() {
    let app = TestApp::new();
    let client = app.client();
    let record = client.create(&pix(10_000));
    client.wait_for_status(record["transactionId"].as_str().unwrap(), "paid");
    let public = app.client_without_key();
    let path = page_of(&app, &record);
    assert_eq!(public.get(&format!("{path}/status")).expect(200)["status"], "paid");
    let page = check_page(&public, &path, "text/html").text();
    assert!(page.contains("data-status=\"paid\"") && page.contains("Pago"), "{page}");
    assert!(!page.contains(record["pix"]["code"].as_str().unwrap()), "nothing is left to pay");
}

#[test]
fn the_boleto_page_shows_the_line_and_has_a_pdf() {
    let app = TestApp::new();
    let record = app.client().create(&boleto(1_234_527));
    let public = app.client_without_key();
    let path = page_of(&app, &record);
    let page = check_page(&public, &path, "text/html");
    let digits: String = page.text().chars().filter(char::is_ascii_digit).collect();
    assert!(digits.contains(record["boleto"]["digitableLine"].as_str().unwrap()), "{page}");
    assert!(page.text().contains("12.345,27"), "{page}");
    let pdf = check_page(&public, &format!("{path}.pdf"), "application/pdf");
    assert!(pdf.body.starts_with(b"%PDF-"), "{}", pdf.request);
}

#[test]
fn once_a_boleto_is_over_its_page_hides_who_pays_and_its_pdf_is_gone() {
    let app = TestApp::new();
    let client = app.client();
    let public = app.client_without_key();
    let shown = ["529.982.247-25", "Rua Augusta", "01304-000"];
    // Paid after a moment, expired at once, and cancelled by the merchant.
    for (cents, status) in [(10_000, "paid"), (10_017, "expired"), (10_027, "cancelled")] {
        let record = client.create(&boleto(cents));
        let path = page_of(&app, &record);
        let id = record["transactionId"].as_str().unwrap();
        if status == "cancelled" {
            let page = check_page(&public, &path, "text/html").text();
            assert!(shown.iter().all(|part| page.contains(part)), "while it can be paid: {page}");
            client.post(&format!("/pay/payments/{id}/cancel"), &json!({})).expect(200);
        }
        client.wait_for_status(id, status);
        let page = check_page(&public, &path, "text/html").text();
        let found: Vec<_> = shown.iter().filter(|part| page.contains(**part)).collect();
        assert_eq!(found, Vec::<&&str>::new(), "{status}: {page}");
        assert!(page.contains("***.982.247-**") && page.contains("Maria da Silva"), "{status}: {page}");
        public.get(&format!("{path}.pdf")).expect_error(410, "gone");
    }
}

#[test]
fn everything_that_a_page_needs_comes_from_this_service() {
    let app = TestApp::new();
    let public = app.client_without_key();
    for record in [app.client().create(&pix(10_027)), app.client().create(&boleto(10_027))] {
        let page = public.get(&page_of(&app, &record)).text();
        let linked = ["src=\"", "href=\""].map(|name| {
            page.split(name)
                .skip(1)
                .map(|rest| rest.split('"').next().unwrap().to_owned())
                .collect::<Vec<_>>()
        });
        let linked: Vec<_> = linked
            .concat()
            .into_iter()
            .filter(|link| !link.starts_with("data:") && !link.starts_with('#'))
            .collect();
        assert!(linked.len() >= 2, "{page}");
        for link in linked {
            assert!(link.starts_with('/') && !link.starts_with("//"), "{link} is not ours");
            assert_eq!(public.get(&link).status, 200, "{link}");
        }
    }
}

#[test]
fn a_token_that_was_not_made_here_is_404() {
    let app = TestApp::new();
    let client = app.client();
    let public = app.client_without_key();
    let pix = client.create(&pix(10_027));
    let boleto = client.create(&boleto(10_027));
    let pix_page = page_of(&app, &pix);
    let boleto_page = page_of(&app, &boleto);
    let last = pix_page.chars().last().unwrap();
    let changed = format!("{}{}", &pix_page[..pix_page.len() - 1], if last == 'A' { 'B' } else { 'A' });
    let id = pix["transactionId"].as_str().unwrap();
    let crossed = [pix_page.replace("/pix/", "/boletos/"), boleto_page.replace("/boletos/", "/pix/")];
    let guessed =
        ["/pix/x".to_owned(), "/boletos/x".into(), format!("/pix/{id}"), "/pix/.png".into(), changed];
    for path in crossed.into_iter().chain(guessed) {
        for ending in ["", ".png", ".pdf", "/status"] {
            // The status of a payment is answered under either name.
            if ending == "/status"
                && (path.starts_with(&boleto_page.replace("/boletos/", "/pix/"))
                    || path.starts_with(&pix_page.replace("/pix/", "/boletos/")))
            {
                continue;
            }
            // So is the QR code of a boleto that PIX pays as well.
            if ending == ".png" && path.starts_with(&boleto_page.replace("/boletos/", "/pix/")) {
                continue;
            }
            let answer = public.get(&format!("{path}{ending}"));
            assert_eq!(answer.status, 404, "{answer}");
            answer.expect_error_shape();
        }
    }
    assert_eq!(public.get(&format!("{pix_page}.gif")).status, 404);
}

#[test]
fn pages_open_again_after_a_restart() {
    let mut app = TestApp::new();
    let record = app.client().create(&pix(10_027));
    let path = page_of(&app, &record);
    app.kill();
    app.restart();
    check_page(&app.client_without_key(), &path, "text/html");
}

#[test]
fn a_text_from_the_merchant_cannot_be_markup() {
    let app = TestApp::new();
    let request = boleto(10_027).with("paymentDetails.firstName", json!("<script>alert(1)</script>"));
    let record = app.client().create(&request.with("externalReference", json!("\"><b>7</b>")));
    let page = app.client_without_key().get(&page_of(&app, &record)).text();
    assert!(!page.contains("<script>alert") && !page.contains("<b>7"), "{page}");
}

/// Runs a program of the system and gives its output.
fn run(program: &str, package: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{program} does not run ({error}): install {package}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?} failed: {said}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_reader_finds_the_pix_code_in_the_picture() {
    let app = TestApp::new();
    for cents in [27, 1_234_567_827] {
        let record = app.client().create(&pix(cents));
        let picture = app.directory().join("qr.png");
        let url = record["pix"]["qrCode"].as_str().unwrap();
        std::fs::write(&picture, app.client_without_key().get(url).body).unwrap();
        let found = run("zbarimg", "zbar-tools", &["--quiet", "--raw", picture.to_str().unwrap()]);
        assert_eq!(found.trim_end(), record["pix"]["code"]);
    }
}

#[test]
fn a_reader_finds_the_bar_code_in_the_pdf() {
    let app = TestApp::new();
    let record = app.client().create(&boleto(12_327));
    let path = |name: &str| app.directory().join(name).to_str().unwrap().to_owned();
    let url = format!("{}.pdf", record["boleto"]["url"].as_str().unwrap());
    std::fs::write(path("boleto.pdf"), app.client_without_key().get(&url).body).unwrap();
    run(
        "pdftoppm",
        "poppler-utils",
        &["-r", "200", "-png", "-singlefile", &path("boleto.pdf"), &path("boleto")],
    );
    let only = ["--quiet", "--raw", "--set", "*.enable=0", "--set", "i25.enable=1"];
    let found = run("zbarimg", "zbar-tools", &[&only[..], &[&path("boleto.png")]].concat());
    let code = record["boleto"]["code"].as_str().unwrap();
    assert!(found.lines().count() >= 1 && found.lines().all(|line| line == code), "{found}");
    let text = run("pdftotext", "poppler-utils", &["-layout", &path("boleto.pdf"), "-"]);
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    assert!(digits.contains(record["boleto"]["digitableLine"].as_str().unwrap()), "{text}");
}
