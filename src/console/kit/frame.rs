//! Frame around every page: console and language, navigation, confirmation of the last action.

use quita_actors::StoreTrouble;

use super::console_kind::ConsoleKind;
use super::language::Language;
use super::outage::OutageWords;
use super::page_context::{Outage, PageContext};
use super::texts::SharedTexts;
use crate::http::Mount;

/// Entry of the navigation.
pub(crate) struct NavigationEntry {
    pub(crate) address: String,
    pub(crate) name: &'static str,
    pub(crate) is_here: bool,
    /// Number of problems in that section.
    pub(crate) troubles: usize,
}

/// Frame around a page, with the texts and the bar of its console.
pub(crate) struct Frame<T: 'static = SharedTexts, B = ()> {
    pub(crate) context: PageContext,
    pub(crate) texts: &'static T,
    pub(crate) bar: B,
    pub(crate) navigation: Vec<NavigationEntry>,
    /// Start of the addresses in this part of the console.
    pub(crate) base: String,
    pub(crate) form_token: String,
    /// Confirmation of the last action.
    pub(crate) notice: Option<&'static str>,
    /// True if the page draws plots.
    pub(crate) has_plots: bool,
}

impl Frame {
    /// Creates the frame of a page outside any session.
    pub(crate) fn bare() -> Self {
        Self::new(SharedTexts::current(), ())
    }
}

impl<T, B> Frame<T, B> {
    /// Creates the frame of a page for the current request.
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

    /// Returns the address at which open pages query an outage of the store.
    pub(crate) fn outage_address(&self) -> String {
        format!("{}/outage", self.context.root())
    }

    /// Returns the outage of the store; `None` while it is available.
    pub(crate) const fn outage(&self) -> Option<Outage> {
        self.context.outage
    }

    /// Returns the kind of the outage; empty if there is none.
    pub(crate) fn trouble(&self) -> &'static str {
        self.outage().map_or("", |outage| outage.trouble.as_str())
    }

    /// Returns this console's words about each kind of outage.
    pub(crate) fn outages(&self) -> [OutageWords; 4] {
        StoreTrouble::ALL.map(|trouble| self.words_about(trouble))
    }

    /// Returns this console's words about the current outage.
    pub(crate) fn outage_words(&self) -> Option<OutageWords> {
        self.outage().map(|outage| self.words_about(outage.trouble))
    }

    fn words_about(&self, trouble: StoreTrouble) -> OutageWords {
        OutageWords::of(trouble, self.context.console, &SharedTexts::of(self.language()).everywhere)
    }

    /// Returns the language, for words and numbers.
    pub(crate) const fn language(&self) -> Language {
        self.context.language
    }

    /// Returns the languages other than the page's own.
    pub(crate) fn other_languages(&self) -> impl Iterator<Item = Language> {
        let own = self.language();
        Language::ALL.into_iter().filter(move |language| *language != own)
    }

    /// Returns the address below which the console's pages are.
    pub(crate) fn root(&self) -> String {
        self.context.root()
    }

    /// Returns the start of the address of every file that a page refers to.
    pub(crate) const fn mount(&self) -> Mount {
        self.context.mount
    }

    /// Returns the address of the console's logo.
    pub(crate) fn logo(&self) -> String {
        format!("{}{}", self.context.mount, self.context.console.logo())
    }

    /// Returns true for the operator's console.
    pub(crate) fn is_operators(&self) -> bool {
        self.context.console == ConsoleKind::Operator
    }

    /// Returns the version of the program.
    pub(crate) const fn version(&self) -> &'static str {
        env!("CARGO_PKG_VERSION")
    }
}
