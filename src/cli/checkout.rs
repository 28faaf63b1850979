//! `quita checkout`: compares a payment link's page, as payers receive it, with the one that this program serves (PCI
//! DSS 4.0.1, 11.6.1).

mod headers;
mod markup;
mod payment_codes;
mod rules;

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::time::Duration;

use awc::Client;
use awc::http::header::{ACCEPT, ACCEPT_LANGUAGE, HeaderMap, USER_AGENT};
use clap::{Args, Subcommand};
use quita_domain::status::Status;
use quita_paper::qr::QrImage;
use tokio::time::timeout;
use url::Url;

use super::failure::Failure;
use super::http_client::{client, server_url, unreachable};
use super::output;
use crate::http::pages::assets;
use crate::http::{card_script_hashes, card_scripts};
use payment_codes::PaymentCode;
use rules::{PageFindings, judge};

/// Maximum size in bytes of an answer.
const MAX_BYTES: usize = 1024 * 1024;

/// Time limit for an answer and its body: a tampered page may never end.
const TIME_OUT: Duration = Duration::from_secs(30);

/// Time limit for the whole comparison: a tampered page could name many slow addresses.
const MAX_DURATION: Duration = Duration::from_secs(120);

/// Path segment that every page of a link has in its address.
const CHECKOUT: &str = "/checkout/";

/// Path of the hashes of the scripts for other pages.
const HASHES: &str = "/checkout/integrity.json";

/// Languages of the page, as browsers request them.
const LANGUAGES: [&str; 2] = [PORTUGUESE, "en-US,en;q=0.9"];

/// Language in which files are requested.
const PORTUGUESE: &str = "pt-BR,pt;q=0.9,en;q=0.8";

/// User agent of a payer's browser: an attacker may change pages only for payers, and leave them intact for other
/// programs.
const BROWSER: &str = "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 \
     Mobile Safari/537.36";

/// Use of an answer in a browser, which determines the request headers (Fetch Metadata).
#[derive(Debug, Clone, Copy)]
enum Use {
    Page,
    Script,
    Style,
    Picture,
    ScriptOfOtherPage,
    Data,
}

impl Use {
    /// Returns `Accept` and the Fetch Metadata headers: site, mode and destination.
    const fn headers(self) -> (&'static str, [&'static str; 3]) {
        match self {
            Self::Page => (
                "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
                ["none", "navigate", "document"],
            ),
            Self::Script => ("*/*", ["same-origin", "cors", "script"]),
            Self::Style => ("text/css,*/*;q=0.1", ["same-origin", "cors", "style"]),
            Self::Picture => (
                "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8",
                ["same-origin", "no-cors", "image"],
            ),
            Self::ScriptOfOtherPage => ("*/*", ["cross-site", "cors", "script"]),
            Self::Data => ("*/*", ["cross-site", "cors", "empty"]),
        }
    }
}

/// Sentence about a page that waits for a payer without a code to pay.
const NO_CODE: &str = "The page is pending and has no code to pay: check that its text asks for no money.";

/// Commands about the pages of payment links.
#[derive(Debug, Subcommand)]
pub(super) enum CheckoutCommand {
    /// Compare a page's headers and scripts, as payers get them, with what this version serves
    Verify(VerifyPage),
}

/// Page to be compared.
#[derive(Debug, Args)]
pub(super) struct VerifyPage {
    /// Address of the page of a payment link, as payers get it
    #[arg(value_name = "URL", value_parser = server_url)]
    url: Url,
}

pub(super) async fn run(CheckoutCommand::Verify(VerifyPage { url }): CheckoutCommand) -> Result<(), Failure> {
    if !url.path().contains(CHECKOUT) {
        return Err(Failure::usage("the URL must be that of a payment link's page, …/checkout/TOKEN"));
    }
    let sentences = BTreeSet::new();
    let mut check = PageComparison { client: client(), url, differences: Vec::new(), sentences, scripts: 0 };
    let compared = within(MAX_DURATION, check.all()).await;
    for sentence in &check.sentences {
        output::result(&output::printable(sentence))?;
    }
    compared?;
    match check.differences.len() {
        0 => output::result(&format!("Headers and {} scripts match this version.", check.scripts)),
        1 => Err(Failure::failed("1 difference")),
        count => Err(Failure::failed(format!("{count} differences"))),
    }
}

/// Runs a comparison with this time limit.
async fn within(limit: Duration, all: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    timeout(limit, all).await.unwrap_or_else(|_| {
        let seconds = limit.as_secs();
        let why =
            format!("the comparison was not finished within {seconds} s, and the rest was not compared");
        Err(Failure::failed(why))
    })
}

/// Comparison of one page.
struct PageComparison {
    client: Client,
    url: Url,
    differences: Vec<String>,
    /// Sentences about findings that a person must judge.
    sentences: BTreeSet<String>,
    /// Number of compared scripts.
    scripts: usize,
}

/// An answer that was read completely.
struct Fetched {
    status: u16,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl PageComparison {
    /// Compares everything.
    async fn all(&mut self) -> Result<(), Failure> {
        let mut files = BTreeSet::new();
        for language in LANGUAGES {
            let findings = self.page(language).await?;
            let of_host = |host| format!("A payer can continue at {host}: check that it is the shop's.");
            self.sentences.extend(findings.goes_on_at.map(of_host));
            // A PIX or a boleto waits with its code. Without one, a text may tell payers to pay elsewhere.
            if findings.status.as_deref() == Some(Status::Pending.as_str()) && findings.codes.is_empty() {
                self.sentences.insert(NO_CODE.into());
            }
            let of_status = |status| format!("The page's status is {status}: check that it is the link's.");
            self.sentences.extend(findings.status.map(of_status));
            files.extend(findings.files);
            for code in findings.codes {
                self.payment_code(&code).await?;
            }
        }
        self.files(files).await?;
        self.scripts_for_other_pages().await
    }

    /// Prints a difference immediately, and only once even if it occurs in both languages.
    fn differ(&mut self, what: impl Into<String>) -> Result<(), Failure> {
        let what = what.into();
        if self.differences.contains(&what) {
            return Ok(());
        }
        output::result(&output::printable(&what))?;
        self.differences.push(what);
        Ok(())
    }

    /// Fetches an address as a payer's browser does.
    async fn fetch(&self, url: &Url, usage: Use, language: &str) -> Result<Fetched, Failure> {
        let (accept, [site, mode, destination]) = usage.headers();
        let mut request = self
            .client
            .get(url.as_str())
            .insert_header((USER_AGENT, BROWSER))
            .insert_header((ACCEPT, accept))
            .insert_header((ACCEPT_LANGUAGE, language))
            .insert_header(("Sec-Fetch-Site", site))
            .insert_header(("Sec-Fetch-Mode", mode))
            .insert_header(("Sec-Fetch-Dest", destination));
        if matches!(usage, Use::Page) {
            request = request.insert_header(("Sec-Fetch-User", "?1"));
            request = request.insert_header(("Upgrade-Insecure-Requests", "1"));
        }
        let exchange = async {
            let mut answer = request.send().await.map_err(|error| unreachable(url, &error))?;
            let body = answer.body().limit(MAX_BYTES).await;
            let body = body.map_err(|error| format!("{url} can't be read: {error}"))?;
            let status = answer.status().as_u16();
            let headers = answer.headers().clone();
            Ok(Fetched { status, headers, body: body.to_vec() })
        };
        let fetched = timeout(TIME_OUT, exchange).await;
        let unfinished = |_| format!("{url} did not finish its answer within {} s", TIME_OUT.as_secs());
        fetched.map_err(unfinished).flatten().map_err(Failure::failed)
    }

    /// Compares the page: its headers, and each of its tags.
    async fn page(&mut self, language: &str) -> Result<PageFindings, Failure> {
        let page = self.fetch(&self.url, Use::Page, language).await?;
        if page.status == 404 {
            let why = format!(
                "{} answers 404: no link has this page. Copy the address from the link's record.",
                self.url
            );
            return Err(Failure::failed(why));
        }
        if page.status != 200 {
            self.differ(format!("the page answers {} instead of 200", page.status))?;
        }
        for difference in headers::differences(&page.headers) {
            self.differ(difference)?;
        }
        let Ok(html) = String::from_utf8(page.body) else {
            self.differ("the page is not UTF-8")?;
            return Ok(PageFindings::default());
        };
        let findings = judge(&html, &self.url);
        for difference in &findings.differences {
            self.differ(difference)?;
        }
        let with_card = html.contains("<fieldset id=\"card\"").then_some("checkout-card.js");
        for name in ["pages.css", "checkout.css", "checkout.js"].into_iter().chain(with_card) {
            if !findings.files.contains(name) {
                self.differ(format!("{name} is not in the page"))?;
            }
        }
        Ok(findings)
    }

    /// Checks a payment code and its picture. Records the sentence about its receiver.
    async fn payment_code(&mut self, code: &PaymentCode) -> Result<(), Failure> {
        match code.receiver() {
            Ok(receiver) => self.sentences.insert(receiver),
            Err(difference) => return self.differ(difference),
        };
        if let PaymentCode::Pix { code, picture } = code {
            let url = self.url.join(picture).ok().filter(|url| url.origin() == self.url.origin());
            // A picture from elsewhere has already been reported as a difference of the page.
            let Some(url) = url else { return Ok(()) };
            let fetched = self.fetch(&url, Use::Picture, PORTUGUESE).await?;
            let drawn = QrImage::new(code).map(|image| image.svg());
            if fetched.status != 200 || !drawn.is_ok_and(|drawn| fetched.body == drawn.as_bytes()) {
                self.differ(format!("{url} is not the picture of the page's PIX code"))?;
            }
        }
        Ok(())
    }

    /// Compares the files of the page.
    async fn files(&mut self, names: BTreeSet<&'static str>) -> Result<(), Failure> {
        for asset in assets::ALL.iter().filter(|asset| names.contains(asset.name)) {
            let Ok(url) = self.at_home(&format!("/assets/{}", assets::versioned(asset.name))) else {
                continue;
            };
            let usage = if asset.name.ends_with(".js") { Use::Script } else { Use::Style };
            self.contents(&url, usage, asset.body).await?;
        }
        Ok(())
    }

    /// Returns an address at the same service.
    fn at_home(&self, path: &str) -> Result<Url, url::ParseError> {
        let home = self.url.path().split_once(CHECKOUT).map_or("", |(home, _)| home);
        self.url.join(&format!("{home}{path}"))
    }

    async fn contents(&mut self, url: &Url, usage: Use, expected: &str) -> Result<(), Failure> {
        let fetched = self.fetch(url, usage, PORTUGUESE).await?;
        self.scripts = self.scripts.saturating_add(1);
        if fetched.status != 200 {
            self.differ(format!("{url} answers {} instead of 200", fetched.status))?;
        } else if fetched.body != expected.as_bytes() {
            self.differ(format!("{url} has different contents from this version"))?;
        }
        Ok(())
    }

    /// Compares the scripts for merchants' own pages, and their hashes.
    async fn scripts_for_other_pages(&mut self) -> Result<(), Failure> {
        for (path, content) in card_scripts() {
            let Ok(url) = self.at_home(&path) else { continue };
            self.contents(&url, Use::ScriptOfOtherPage, content).await?;
        }
        let Ok(url) = self.at_home(HASHES) else { return Ok(()) };
        let fetched = self.fetch(&url, Use::Data, PORTUGUESE).await?;
        let hashes: Option<BTreeMap<String, String>> = serde_json::from_slice(&fetched.body).ok();
        if fetched.status != 200 || hashes != Some(card_script_hashes()) {
            self.differ(format!("{url} has different hashes from this version"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_comparison_that_never_ends_is_told_as_unfinished() {
        let failure = within(MAX_DURATION, pending()).await.unwrap_err();
        assert!(failure.to_string().contains("not finished within 120 s"), "{failure}");
        assert_eq!(within(MAX_DURATION, async { Ok(()) }).await, Ok(()));
    }
}
