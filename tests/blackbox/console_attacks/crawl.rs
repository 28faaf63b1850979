//! Every page that a person can click to.

use std::collections::{BTreeSet, VecDeque};

use super::routes::{Needs, Route};
use super::shops::Shops;
use crate::support::Visitor;

/// Returns what is between `<` and `>`, of every element of a page.
fn tags(page: &str) -> Vec<&str> {
    page.split('<').skip(1).map(|rest| rest.split('>').next().unwrap_or_default()).collect()
}

/// An attribute of an element, as a browser reads it.
fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, after) = tag.split_once(&format!(" {name}=\""))?;
    Some(after.split('"').next()?.replace("&#38;", "&").replace("&#61;", "="))
}

/// Follows every link from the first pages; gives how many pages there were.
#[track_caller]
fn crawl(who: &Visitor, most: Needs) -> usize {
    let mut waiting: VecDeque<String> = ["/console/test", "/console/live"].map(String::from).into();
    let mut known: BTreeSet<String> = waiting.iter().cloned().collect();
    let mut pages = 0;
    while let Some(path) = waiting.pop_front() {
        let answer = who.get(&path);
        // Pages without navigation lead to the start, which leads to an overview: of tests, since no acquirer is live.
        if path == "/console/" {
            assert_eq!((answer.status, answer.header("location")), (303, Some("/console/test")), "{answer}");
            continue;
        }
        assert_eq!(answer.status, 200, "{path} is linked: {answer}");
        if answer.header("content-type") != Some("text/html; charset=utf-8") {
            continue;
        }
        pages += 1;
        let page = answer.text();
        for tag in tags(&page) {
            check_is_no_code(&path, tag);
            let followed = check_leads_no_further(&path, tag, most);
            waiting.extend(followed.filter(|link| known.insert(link.clone())));
        }
    }
    pages
}

/// The policy forbids it, so it would not even work.
#[track_caller]
fn check_is_no_code(path: &str, tag: &str) {
    let has_code = tag.split_whitespace().any(|part| {
        let name = part.split_once('=').map(|(name, _)| name).unwrap_or_default();
        name == "style" || (name.starts_with("on") && name.chars().all(|c| c.is_ascii_lowercase()))
    });
    let is_inline = tag == "script" || tag == "style" || tag.contains("javascript:");
    assert!(!has_code && !is_inline, "<{tag}> on {path}");
}

/// Checks that the visitor may go where an element leads. Returns the links that are to be followed.
#[track_caller]
fn check_leads_no_further(path: &str, tag: &str, most: Needs) -> impl Iterator<Item = String> + use<> {
    let method = attribute(tag, "method").unwrap_or_else(|| "get".into()).to_uppercase();
    let links =
        ["href", "src", "action", "data-live"].map(|name| attribute(tag, name).map(|link| (name, link)));
    let links: Vec<_> = links.into_iter().flatten().filter(|(_, link)| link.starts_with('/')).collect();
    for (_, link) in links.iter().filter(|(_, link)| link.starts_with("/console")) {
        let route = Route::of(&method, link.strip_prefix("/console").unwrap());
        let route = route.unwrap_or_else(|| panic!("{path} leads to {method} {link}, which is nowhere"));
        assert!(route.needs <= most, "{path} leads to {method} {link}, which is not for {most:?}");
    }
    let is_followed =
        move |name: &str| name == "href" || name == "src" || (name == "action" && method == "GET");
    links.into_iter().filter(move |(name, _)| is_followed(name)).map(|(_, link)| link)
}

#[test]
fn every_link_of_every_page_leads_somewhere_and_never_beyond_the_role() {
    let shops = Shops::open();
    let viewer = crawl(&shops.viewer, Needs::SignedIn);
    let developer = crawl(&shops.developer, Needs::ManageApplications);
    let owner = crawl(&shops.owner, Needs::ManagePeople);
    assert!(15 < viewer && viewer < developer && developer < owner, "{viewer} {developer} {owner}");
}
