//! What surrounds every page: its console and language, the navigation, what was just done.

use quita_domain::time::Timestamp;

use super::console_kind::ConsoleKind;
use super::language::Language;
use super::page_context::PageContext;
use super::texts::Texts;
use crate::http::Mount;

/// An entry of the navigation.
pub(crate) struct Entry {
    pub(crate) address: String,
    pub(crate) name: &'static str,
    pub(crate) is_here: bool,
    /// Number of things that are wrong there.
    pub(crate) troubles: usize,
}

/// What surrounds a page, with the texts of its console and what the bar of that console shows besides.
pub(crate) struct Frame<T: 'static = Texts, B = ()> {
    pub(crate) context: PageContext,
    pub(crate) texts: &'static T,
    pub(crate) bar: B,
    pub(crate) navigation: Vec<Entry>,
    /// What the addresses of this part of the console begin with.
    pub(crate) base: String,
    pub(crate) form_token: String,
    /// What was just done.
    pub(crate) notice: Option<&'static str>,
    /// Whether the page draws plots.
    pub(crate) has_plots: bool,
}

impl Frame {
    /// A page outside of any session.
    pub(crate) fn bare() -> Self {
        Self::new(Texts::current(), ())
    }
}

impl<T, B> Frame<T, B> {
    /// A page for the request that is being handled.
    pub(crate) fn new(texts: &'static T, bar: B) -> Self {
        Self {
            context: PageContext::current(),
            texts,
            bar,
            navigation: Vec::new(),
            base: String::new(),
            form_token: String::new(),
            notice: None,
            has_plots: false,
        }
    }

    /// Address that tells pages whether the store is away.
    pub(crate) fn outage_address(&self) -> String {
        format!("{}/outage", self.context.root())
    }

    /// Since when the store is away; `None` while it is there.
    pub(crate) const fn away_since(&self) -> Option<Timestamp> {
        self.context.away_since
    }

    /// This console's words for it.
    pub(crate) fn outage_sentence(&self) -> &'static str {
        let texts = &Texts::of(self.language()).everywhere;
        if self.is_operators() { texts.outage_for_operators } else { texts.outage_for_merchants }
    }

    /// The language, for words and numbers.
    pub(crate) const fn language(&self) -> Language {
        self.context.language
    }

    /// The other languages that the page could speak.
    pub(crate) fn other_languages(&self) -> impl Iterator<Item = Language> {
        let own = self.language();
        Language::ALL.into_iter().filter(move |language| *language != own)
    }

    /// The address under which the console's pages are.
    pub(crate) fn root(&self) -> String {
        self.context.root()
    }

    /// Beginning of the address of every file that a page refers to.
    pub(crate) const fn mount(&self) -> Mount {
        self.context.mount
    }

    /// The address of the console's mark.
    pub(crate) fn logo(&self) -> String {
        format!("{}{}", self.context.mount, self.context.console.logo())
    }

    /// Whether this is the operator's console.
    pub(crate) fn is_operators(&self) -> bool {
        self.context.console == ConsoleKind::Operator
    }

    /// The version of the program.
    pub(crate) const fn version(&self) -> &'static str {
        env!("CARGO_PKG_VERSION")
    }
}
