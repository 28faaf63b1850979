//! The front page and the integration guides, in both languages.
//!
//! A guide is Markdown in `docs/guides/`. The programs in it are those of `examples/`, which the tests run.

use std::sync::LazyLock;

use actix_web::http::header::{CACHE_CONTROL, CONTENT_LANGUAGE, CONTENT_SECURITY_POLICY, VARY};
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd, html};

use super::edge::Edge;
use super::errors::ApiError;
use super::mount::Mount;
use super::unknown_guide;
use crate::console::Language;

/// Content security policy of these pages: our own style sheet, and no scripts.
pub(super) const POLICY: &str = "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

/// Program in one language: the language's name, and the files.
type Program = (&'static str, &'static [(&'static str, &'static str)]);

/// Reads files of a folder below `examples/`.
macro_rules! program {
    ($language:literal, $folder:literal, $($file:literal),*) => {
        ($language, &[$(($file, include_str!(concat!("../../examples/", $folder, "/", $file)))),*])
    };
}

/// Placeholders in the guides, with the program in each language.
const PROGRAMS: [(&str, [Program; 4]); 3] = [
    (
        "{{create}}",
        [
            program!("Python", "python", "create.py", "quita.py"),
            program!("Node.js", "node", "create.mjs", "quita.mjs"),
            program!("PHP", "php", "create.php", "quita.php"),
            program!("Go", "go", "create/main.go", "quita/quita.go"),
        ],
    ),
    (
        "{{webhook}}",
        [
            program!("Python", "python", "webhook.py"),
            program!("Node.js", "node", "webhook.mjs"),
            program!("PHP", "php", "webhook.php"),
            program!("Go", "go", "webhook/main.go"),
        ],
    ),
    (
        "{{refund}}",
        [
            program!("Python", "python", "refund.py", "quita.py"),
            program!("Node.js", "node", "refund.mjs", "quita.mjs"),
            program!("PHP", "php", "refund.php", "quita.php"),
            program!("Go", "go", "refund/main.go", "quita/quita.go"),
        ],
    ),
];

/// Declares the guides, in the order of the navigation.
macro_rules! guides {
    ($($name:ident = $slug:literal, $portuguese:literal, $english:literal;)*) => {
        /// A guide.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Guide {
            $($name,)*
        }

        impl Guide {
            /// Every guide.
            pub(crate) const ALL: &[Self] = &[$(Self::$name,)*];

            /// Returns the last part of its address.
            pub(crate) const fn slug(self) -> &'static str {
                match self { $(Self::$name => $slug,)* }
            }

            /// Returns its name in the navigation.
            pub(crate) const fn title(self, language: Language) -> &'static str {
                match self { $(Self::$name => language.pick($portuguese, $english),)* }
            }

            const fn markdown(self, language: Language) -> &'static str {
                match self {
                    $(Self::$name => language.pick(
                        include_str!(concat!("../../docs/guides/pt/", $slug, ".md")),
                        include_str!(concat!("../../docs/guides/en/", $slug, ".md")),
                    ),)*
                }
            }
        }
    };
}

guides! {
    Quickstart = "quickstart", "Primeiros passos", "Quickstart";
    Links = "links", "Links de pagamento", "Payment links";
    CardsOnYourPage = "cards-on-your-page", "Cartões na sua página", "Cards on your own page";
    Webhooks = "webhooks", "Webhooks", "Webhooks";
    Refunds = "refunds", "Devoluções", "Refunds";
    Errors = "errors", "Erros", "Errors";
    Routing = "routing", "Roteamento", "Routing";
    GoingLive = "going-live", "Entrar em produção", "Going live";
}

impl Language {
    /// Returns the code that the address of a guide has.
    pub(crate) const fn short(self) -> &'static str {
        self.pick("pt", "en")
    }

    const fn other(self) -> Self {
        match self {
            Self::Portuguese => Self::English,
            Self::English => Self::Portuguese,
        }
    }
}

/// The guides as HTML.
static RENDERED: LazyLock<Vec<(Guide, Language, String)>> = LazyLock::new(|| {
    let all = Guide::ALL.iter().flat_map(|guide| Language::ALL.map(|language| (*guide, language)));
    all.map(|(guide, language)| (guide, language, render(guide.markdown(language)))).collect()
});

fn render(markdown: &str) -> String {
    // HTML in a guide is shown as text.
    let events = Parser::new_ext(markdown, Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS).map(|event| {
        if let Event::Html(text) | Event::InlineHtml(text) = event { Event::Text(text) } else { event }
    });
    let mut events: Vec<_> = events.collect();
    name_headings(&mut events);
    let mut text = String::new();
    html::push_html(&mut text, events.into_iter());
    PROGRAMS
        .iter()
        .fold(text, |text, (place, programs)| text.replace(&format!("<p>{place}</p>"), &shown(programs)))
}

/// Gives every heading the id that forges give it, so that links work both on a forge and here.
fn name_headings(events: &mut [Event<'_>]) {
    let mut words = String::new();
    // The text of a heading comes after its beginning.
    for event in events.iter_mut().rev() {
        if let Event::End(TagEnd::Heading(_)) = event {
            words.clear();
        } else if let Event::Text(text) | Event::Code(text) = event {
            words.insert_str(0, text);
        } else if let Event::Start(Tag::Heading { id, .. }) = event {
            *id = Some(anchor(&words).into());
        }
    }
}

fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|one| one.is_alphanumeric() || matches!(one, ' ' | '-' | '_'));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// Renders programs as collapsible blocks, the first of them open.
fn shown(programs: &[Program]) -> String {
    let one = |(place, (language, files)): (usize, &Program)| {
        let open = if place == 0 { " open" } else { "" };
        let files = files.iter().map(|(name, code)| {
            format!("<h4>{name}</h4><pre tabindex=\"0\"><code>{}</code></pre>", escaped(code))
        });
        format!("<details{open}><summary>{language}</summary>{}</details>", files.collect::<String>())
    };
    programs.iter().enumerate().map(one).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[derive(Template)]
#[template(path = "docs/front.html")]
struct FrontPage {
    mount: Mount,
    language: Language,
}

#[derive(Template)]
#[template(path = "docs/guide.html")]
struct GuidePage {
    mount: Mount,
    language: Language,
    other: Language,
    slug: &'static str,
    title: &'static str,
    navigation: Vec<GuideEntry>,
    text: &'static str,
}

/// Entry of the navigation.
struct GuideEntry {
    slug: &'static str,
    title: &'static str,
    is_here: bool,
}

/// `GET /`: the front page.
pub(crate) async fn front(edge: Data<Edge>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let language = Language::of(&request);
    page(&FrontPage { mount: edge.mount, language }, language)
}

/// `GET /docs/{language}/{guide}`
pub(crate) async fn show(
    edge: Data<Edge>,
    path: Path<(String, String)>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let (short, slug) = path.into_inner();
    let wanted =
        |(guide, language, _): &&(Guide, Language, String)| guide.slug() == slug && language.short() == short;
    let (guide, language, text) =
        RENDERED.iter().find(wanted).ok_or_else(|| unknown_guide::error(request.path()))?;
    let guide = *guide;
    let language = *language;
    let entry =
        |each: &Guide| GuideEntry { slug: each.slug(), title: each.title(language), is_here: *each == guide };
    let page_of_guide = GuidePage {
        mount: edge.mount,
        language,
        other: language.other(),
        slug: guide.slug(),
        title: guide.title(language),
        navigation: Guide::ALL.iter().map(entry).collect(),
        text,
    };
    page(&page_of_guide, language)
}

fn page(page: &impl Template, language: Language) -> Result<HttpResponse, ApiError> {
    let text = page.render().map_err(|error| ApiError::defect(&error.to_string()))?;
    Ok(HttpResponse::Ok()
        .content_type("text/html; charset=utf-8")
        .insert_header((CONTENT_SECURITY_POLICY, POLICY))
        .insert_header((CONTENT_LANGUAGE, language.tag()))
        .insert_header((VARY, "Accept-Language, Cookie"))
        .insert_header((CACHE_CONTROL, "max-age=300"))
        .body(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_guide_is_there_in_both_languages_with_its_programs() {
        assert_eq!(RENDERED.len(), Guide::ALL.len() * Language::ALL.len());
        for (guide, language, text) in RENDERED.iter() {
            assert!(text.starts_with("<h1 id="), "{guide:?} {language:?}");
            assert!(!text.contains("{{"), "{guide:?} {language:?} shows all its programs");
        }
        let shown = |guide: Guide| RENDERED.iter().filter(move |(each, ..)| *each == guide);
        for (_, _, text) in shown(Guide::Webhooks) {
            let languages = ["Python", "Node.js", "PHP", "Go"];
            assert!(languages.iter().all(|name| text.contains(&format!("<summary>{name}</summary>"))));
            assert!(text.contains("hmac.compare_digest"));
        }
    }

    #[test]
    fn every_link_within_a_guide_leads_to_a_heading() {
        let mut links = 0;
        for (guide, language, text) in RENDERED.iter() {
            for link in text.split("href=\"#").skip(1) {
                let name = link.split('"').next().unwrap();
                let (name, _) = url::form_urlencoded::parse(name.as_bytes()).next().unwrap();
                assert!(text.contains(&format!(" id=\"{name}\"")), "{guide:?} {language:?}: #{name}");
                links += 1;
            }
        }
        assert!(links > 0);
    }

    #[test]
    fn every_command_of_a_guide_is_of_the_merchant_of_the_quickstart() {
        let mut commands = 0;
        for (guide, language, text) in RENDERED.iter() {
            for name in text.split("--merchant ").skip(1) {
                assert!(
                    name.starts_with("demo") || name.starts_with('…'),
                    "{guide:?} {language:?}: {name:.20}"
                );
                commands += 1;
            }
        }
        assert!(commands > 4);
    }

    #[test]
    fn the_guide_to_errors_has_the_shape_and_every_status_of_an_error() {
        use crate::http::errors::ErrorCode;
        // Of the operators' own listener, and of what only a broken client sends.
        let elsewhere = [410, 421, 431];
        for (guide, language, text) in RENDERED.iter().filter(|(guide, ..)| *guide == Guide::Errors) {
            assert!(text.contains("docUrl"), "{guide:?} {language:?}");
            for status in ErrorCode::ALL.iter().map(|code| code.status().as_u16()) {
                let is_told = text.contains(&status.to_string());
                assert!(is_told || elsewhere.contains(&status), "{guide:?} {language:?}: {status}");
            }
        }
    }

    #[test]
    fn what_looks_like_html_in_a_guide_is_text() {
        let rendered = render("a <script>alert(1)</script>\n\n<b>c</b>\n");
        assert!(!rendered.contains("<script>") && !rendered.contains("<b>"), "{rendered}");
    }
}
