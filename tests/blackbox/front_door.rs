//! What somebody sees who has only the address: the front page, the guides, and what programs read instead.

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
