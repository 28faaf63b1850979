//! `quita checkout`: compares the page of a payment link, as its payers get it, with what this program serves
//! (PCI DSS 4.0.1, 11.6.1).

mod markup;

use awc::Client;
use awc::http::header::{ACCEPT, ACCEPT_LANGUAGE, HeaderMap};
use clap::{Args, Subcommand};
use url::Url;

use super::failure::Failure;
use super::http_client::{client, server_url};
use super::output;
use crate::http::pages::assets;
use crate::http::{PAGE_HEADERS, card_scripts};
use markup::{Tag, tags};

/// Largest answer that is read.
const MAX_BYTES: usize = 1024 * 1024;

/// Part of the address of every page of a link.
const CHECKOUT: &str = "/checkout/";

/// Elements that load or run what the page never has.
const FOREIGN: [&str; 6] = ["iframe", "frame", "object", "embed", "applet", "base"];

/// Commands about the pages of payment links.
#[derive(Debug, Subcommand)]
pub(super) enum CheckoutCommand {
    /// Compare a page's headers and scripts, as payers get them, with what this version serves
    Verify(Verify),
}

/// Page to be compared.
#[derive(Debug, Args)]
pub(super) struct Verify {
    /// Address of the page of a payment link, as payers get it
    #[arg(value_name = "URL", value_parser = server_url)]
    url: Url,
}

pub(super) async fn run(CheckoutCommand::Verify(Verify { url }): CheckoutCommand) -> Result<(), Failure> {
    if !url.path().contains(CHECKOUT) {
        return Err(Failure::usage("the URL must be that of a payment link's page, …/checkout/TOKEN"));
    }
    let mut check = Check { client: client(), url, differences: Vec::new(), scripts: 0 };
    check.page().await?;
    check.scripts_for_other_pages().await?;
    for difference in &check.differences {
        output::result(&output::printable(difference))?;
    }
    match check.differences.len() {
        0 => {
            output::result(&format!("Headers and {} scripts are as this version serves them.", check.scripts))
        }
        1 => Err(Failure::failed("1 difference")),
        count => Err(Failure::failed(format!("{count} differences"))),
    }
}

/// Comparison of one page.
struct Check {
    client: Client,
    url: Url,
    differences: Vec<String>,
    /// Number of compared scripts.
    scripts: usize,
}

/// An answer, read whole.
struct Fetched {
    status: u16,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Check {
    fn differ(&mut self, what: impl Into<String>) {
        self.differences.push(what.into());
    }

    /// Fetches an address as a browser does.
    async fn fetch(&self, url: &Url) -> Result<Fetched, Failure> {
        let request = self.client.get(url.as_str()).insert_header((ACCEPT, "text/html,*/*;q=0.8"));
        let sent = request.insert_header((ACCEPT_LANGUAGE, "pt-BR")).send().await;
        let mut answer = sent.map_err(|error| Failure::failed(format!("{url} can't be reached: {error}")))?;
        let body = answer.body().limit(MAX_BYTES).await;
        let body = body.map_err(|error| Failure::failed(format!("{url} can't be read: {error}")))?;
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        Ok(Fetched { status, headers, body: body.to_vec() })
    }

    /// Compares the page: its headers, and everything that it runs or loads.
    async fn page(&mut self) -> Result<(), Failure> {
        let page = self.fetch(&self.url).await?;
        if page.status != 200 {
            self.differ(format!("the page answers {}, and not 200", page.status));
        }
        self.differences.extend(header_differences(&page.headers));
        let html = String::from_utf8_lossy(&page.body).into_owned();
        let tags = tags(&html);
        self.differences.extend(tag_differences(&tags));
        let mut expected = vec!["checkout.js"];
        if tags.iter().any(|tag| tag.attribute("id") == Some("card")) {
            expected.push("checkout-card.js");
        }
        for tag in &tags {
            let is_style =
                tag.name == "link" && tag.attribute("rel").is_some_and(|rel| rel.contains("style"));
            let attribute = match tag.name.as_str() {
                "script" => "src",
                "link" if is_style => "href",
                _ => continue,
            };
            let Some(address) = tag.attribute(attribute) else { continue };
            if let Some(name) = self.file(tag, address).await? {
                expected.retain(|known| *known != name);
            }
        }
        for missing in expected {
            self.differ(format!("{missing} is not in the page"));
        }
        Ok(())
    }

    /// Compares a file of the page, and returns its name if it is one of ours.
    async fn file(&mut self, tag: &Tag, address: &str) -> Result<Option<&'static str>, Failure> {
        let Ok(url) = self.url.join(address) else {
            self.differ(format!("{} has an address that can't be read: {address}", tag.name));
            return Ok(None);
        };
        if url.origin() != self.url.origin() {
            self.differ(format!("{} comes from elsewhere: {url}", tag.name));
            return Ok(None);
        }
        let name = url.path().rsplit('/').next().unwrap_or_default();
        let Some(asset) = assets::find(name).filter(|_| url.path().ends_with(&format!("/assets/{name}")))
        else {
            self.differ(format!("{} is none of this version: {url}", tag.name));
            return Ok(None);
        };
        if tag.attribute("integrity") != Some(assets::integrity_of(asset.name).as_str()) {
            self.differ(format!("the page states another hash of {name} than this version"));
        }
        self.contents(&url, asset.body).await?;
        Ok(Some(asset.name))
    }

    async fn contents(&mut self, url: &Url, expected: &str) -> Result<(), Failure> {
        let fetched = self.fetch(url).await?;
        self.scripts = self.scripts.saturating_add(1);
        if fetched.status != 200 {
            self.differ(format!("{url} answers {}, and not 200", fetched.status));
        } else if fetched.body != expected.as_bytes() {
            self.differ(format!("{url} has other contents than in this version"));
        }
        Ok(())
    }

    /// Compares the scripts that are served to pages of a merchant's own.
    async fn scripts_for_other_pages(&mut self) -> Result<(), Failure> {
        let Some((before, _)) = self.url.path().split_once(CHECKOUT) else { return Ok(()) };
        let home = before.to_owned();
        for (path, content) in card_scripts() {
            let mut url = self.url.clone();
            url.set_query(None);
            url.set_fragment(None);
            url.set_path(&format!("{home}{path}"));
            self.contents(&url, content).await?;
        }
        Ok(())
    }
}

/// Returns the differences in headers.
fn header_differences(headers: &HeaderMap) -> Vec<String> {
    let mut differences = Vec::new();
    for (name, expected) in PAGE_HEADERS {
        let values: Vec<_> = headers.get_all(&name).map(|value| value.to_str().unwrap_or("?")).collect();
        match values.join(", ") {
            found if found == expected => {}
            found if found.is_empty() => differences.push(format!("header {name} is missing")),
            found => differences.push(format!("header {name} is {found:?}, and not {expected:?}")),
        }
    }
    differences
}

/// Returns the differences in tags that need no request.
fn tag_differences(tags: &[Tag]) -> Vec<String> {
    let mut differences = Vec::new();
    for tag in tags {
        if tag.name == "script" && tag.attribute("src").is_none() {
            differences.push("the page has a script within itself".to_owned());
        }
        if FOREIGN.contains(&tag.name.as_str()) {
            differences.push(format!("the page has the element {}", tag.name));
        }
        if tag.has_script_url() {
            differences.push(format!("{} leads to a script", tag.name));
        }
        differences.extend(tag.handlers().map(|name| format!("{} has the script {name}", tag.name)));
        let sent_to = ["action", "formaction"].into_iter().find_map(|name| tag.attribute(name));
        if sent_to.is_some_and(|address| !address.starts_with('/') || address.starts_with("//")) {
            differences.push(format!("{} sends its fields elsewhere", tag.name));
        }
    }
    differences
}

#[cfg(test)]
mod tests {
    use awc::http::header::{HeaderName, HeaderValue};

    use super::*;

    fn headers() -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in PAGE_HEADERS {
            headers.insert(name, HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn a_header_that_is_missing_changed_or_there_twice_is_told() {
        assert_eq!(header_differences(&headers()), Vec::<String>::new());
        let name = HeaderName::from_static("x-frame-options");
        let mut other = headers();
        other.remove(&name);
        assert_eq!(header_differences(&other), ["header x-frame-options is missing"]);
        other.insert(name.clone(), HeaderValue::from_static("SAMEORIGIN"));
        assert_eq!(
            header_differences(&other),
            ["header x-frame-options is \"SAMEORIGIN\", and not \"DENY\""]
        );
        let mut twice = headers();
        twice.append(name, HeaderValue::from_static("DENY"));
        assert_eq!(header_differences(&twice).len(), 1);
    }

    #[test]
    fn what_the_page_never_has_is_told() {
        for (html, expected) in [
            ("<script src=/a.js></script><form action=\"/checkout/x\">", 0),
            ("<script>alert(1)</script>", 1),
            ("<base href=//evil.example>", 1),
            ("<iframe src=/x>", 1),
            ("<img src=x onerror=alert(1)>", 1),
            ("<a href=javascript:alert(1)>", 1),
            ("<form action=https://evil.example/>", 1),
            ("<button formaction=//evil.example/>", 1),
        ] {
            assert_eq!(tag_differences(&tags(html)).len(), expected, "{html}");
        }
    }
}
