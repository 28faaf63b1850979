//! Views for somebody who has only the address: the front page, the guides, and texts for programs.

use crate::support::TestApp;

const GUIDES: [&str; 8] =
    ["quickstart", "links", "cards-on-your-page", "webhooks", "refunds", "errors", "routing", "going-live"];

#[test]
fn the_front_page_has_three_doors_that_open() {
    let app = TestApp::new();
    let client = app.client_without_key();
    let page = client.send("GET", "/", &[("Accept-Language", "en")], b"");
    let text = page.text();
    assert_eq!((page.status, page.header("content-language")), (200, Some("en")));
    let main = text.split("<main").nth(1).unwrap();
    let doors: Vec<_> = main.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert_eq!(doors, ["/docs/en/quickstart", "/docs", "/console/"]);
    for door in doors {
        let opened = client.get(door);
        assert!([200, 303].contains(&opened.status), "{door}: {}", opened.status);
    }
    let portuguese = client.get("/");
    assert_eq!(portuguese.header("content-language"), Some("pt-BR"));
    assert!(portuguese.text().contains("Primeiros") || portuguese.text().contains("Guias"));
}

#[test]
fn guides_are_there_in_both_languages_and_name_each_other() {
    let app = TestApp::new();
    let client = app.client_without_key();
    for (language, other) in [("en", "pt"), ("pt", "en")] {
        for guide in GUIDES {
            let page = client.get(&format!("/docs/{language}/{guide}"));
            let text = page.text();
            assert_eq!(page.status, 200, "{language} {guide}");
            assert!(text.contains(&format!("href=\"/docs/{other}/{guide}\"")), "{language} {guide}");
            let policy = page.header("content-security-policy").unwrap();
            assert!(policy.contains("default-src 'none'") && !policy.contains("script-src"), "{policy}");
        }
    }
    for nowhere in ["/docs/en/nothing", "/docs/fr/quickstart"] {
        client.get(nowhere).expect_error(404, "not_found");
    }
}

#[test]
fn an_unknown_guide_is_a_page_with_the_guides_for_a_browser_and_a_pointer_for_a_program() {
    let app = TestApp::new();
    let client = app.client_without_key();
    let open = |path: &str, language: &str| {
        let headers = [("Accept", "text/html,*/*;q=0.8"), ("Accept-Language", language)];
        client.send("GET", path, &headers, b"")
    };
    for (path, language, tag, meant) in [
        ("/docs/en/link", "pt-BR", "en", Some("/docs/en/links")),
        ("/docs/pt/devolucoes", "en", "pt-BR", Some("/docs/pt/refunds")),
        ("/docs/en/nothing", "en", "en", None),
        ("/docs/fr/webhook", "en", "en", Some("/docs/en/webhooks")),
        ("/docs/webhooks", "pt-BR", "pt-BR", Some("/docs/pt/webhooks")),
        ("/docs/en/a/b", "en", "en", None),
        ("/docs/errors/not_fund", "en", "en", Some("/docs/errors/not_found")),
        ("/docs/en/%3Cb%3Ex", "en", "en", None),
    ] {
        let page = open(path, language);
        assert_eq!(page.status, 404, "{page}");
        assert_eq!(page.header("content-language"), Some(tag), "{page}");
        assert!(page.header("content-type").unwrap().starts_with("text/html"), "{page}");
        assert!(page.header("content-security-policy").unwrap().contains("default-src 'none'"), "{page}");
        let text = page.text();
        let short = &tag[..2];
        for guide in GUIDES {
            assert!(text.contains(&format!("<li><a href=\"/docs/{short}/{guide}\">")), "{guide}: {page}");
        }
        assert_eq!(text.contains("Did you mean") || text.contains("Seria"), meant.is_some(), "{page}");
        if let Some(address) = meant {
            assert!(
                text.contains(&format!(
                    "<p>{} <a href=\"{address}\">",
                    if tag == "en" { "Did you mean" } else { "Seria" }
                )),
                "{page}"
            );
            assert_eq!(client.get(address).status, 200);
        }
        assert!(!text.contains("<script") && !text.contains("<b>"), "{page}");
    }
    let told =
        |path: &str| client.get(path).expect_error(404, "not_found")["message"].as_str().unwrap().to_owned();
    for path in ["/docs/en/link", "/docs/link"] {
        let message = told(path);
        assert!(message.contains("did you mean /docs/en/links?"), "{message}");
        assert!(GUIDES.iter().all(|guide| message.contains(guide)), "{message}");
    }
    let message = told("/docs/en/nothing");
    assert!(message.contains("/docs/en: quickstart, ") && !message.contains("did you mean"), "{message}");
}

#[test]
fn a_slash_at_the_end_leads_to_the_page_without_it() {
    let app = TestApp::new();
    let client = app.client_without_key();
    let guides = ["pt", "en"]
        .into_iter()
        .flat_map(|language| GUIDES.into_iter().map(move |guide| format!("/docs/{language}/{guide}")));
    let others = ["/docs", "/docs/errors", "/docs/errors/not_found"].map(str::to_owned);
    for page in others.into_iter().chain(guides) {
        let moved = client.get(&format!("{page}/"));
        assert_eq!((moved.status, moved.header("location")), (308, Some(page.as_str())), "{page}");
        assert_eq!(client.get(&page).status, 200, "{page}");
    }
    for language in ["pt", "en"] {
        let begun = client.get(&format!("/docs/{language}"));
        let first = format!("/docs/{language}/quickstart");
        assert_eq!((begun.status, begun.header("location")), (307, Some(first.as_str())));
    }
    for nowhere in ["/docs//", "/docs//example.com/", "/docs/%2Fexample.com/", "/docs/a/b/c/"] {
        client.get(nowhere).expect_error(404, "not_found");
    }
    client.send("POST", "/docs/", &[], b"").expect_error(405, "method_not_allowed");
}

#[test]
fn what_programs_read_instead_leads_to_the_same_places() {
    let app = TestApp::new();
    let client = app.client_without_key();
    let text = client.get("/llms.txt").text();
    let links: Vec<_> = text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()).collect();
    assert_eq!(links.len(), GUIDES.len() + 1);
    for link in links {
        assert_eq!(client.get(&format!("/{link}")).status, 200, "{link}");
    }
}
