//! News of a merchant for its owners: events that were given up, receivers that fail, keys that expire.

use std::collections::BTreeMap;

use quita_domain::access::ApiKey;
use quita_domain::delivery::{DeliveryAttempt, DeliveryState};
use quita_domain::identity::{MerchantId, Mode};
use quita_domain::listing::DeliveryFilter;
use quita_domain::payment::Payment;
use quita_domain::people::MAIL_LOOK_BACK_MS;
use quita_domain::time::{DAY_MS, Timestamp};
use quita_domain::webhook::address::receiver_of;
use quita_ports::{StoreError, WholeStore};

use super::digest::{Digest, MessageTexts, News, NewsKind, Reader, filled};
use super::notifier::NewsRound;
use super::receivers::{self, FailingReceiver};
use crate::console::Language;
use crate::console::merchant::delivery_attempts::{GONE, in_words, outcome_of};

/// Maximum number of payments with a delivery in a given state that are examined, the newest ones.
pub(super) const LOOK_AT: usize = 200;

/// Times before the expiry of a key or a certificate at which it is reported.
const WARNINGS_MS: [u64; 2] = [7 * DAY_MS, DAY_MS];

/// Event that was given up.
#[derive(Debug, Clone, PartialEq, Eq)]
struct GivenUp {
    mode: Mode,
    receiver: String,
    at: Timestamp,
    /// Last attempt; `None` for events after the receiver was gone.
    attempt: Option<DeliveryAttempt>,
}

/// News of one merchant, regardless of who has received it.
pub(super) struct MerchantNews {
    given_up: Vec<GivenUp>,
    failing: Vec<(Mode, FailingReceiver)>,
    keys: Vec<ApiKey>,
}

/// Returns the filter for a merchant's deliveries in a state.
pub(super) fn filter(merchant: &MerchantId, mode: Mode, state: DeliveryState) -> DeliveryFilter {
    DeliveryFilter { merchant: merchant.clone(), mode, transaction_id: None, state: Some(state) }
}

/// Returns a page of the merchants' console, below the public URL.
fn page(mode: Mode, name: &str) -> String {
    format!("/console/{}/{name}", mode.as_str())
}

/// Returns true if one of the warnings before this expiry falls into a period.
pub(super) fn is_warned_of(end: Timestamp, since: Timestamp, until: Timestamp) -> bool {
    let warnings = WARNINGS_MS.map(|before| end.minus_ms(before));
    // The start is excluded and the end included, so a warning falls into exactly one of two consecutive periods.
    warnings.into_iter().any(|warning| warning > since && warning <= until)
}

impl MerchantNews {
    /// Reads possible news of a merchant.
    pub(super) async fn read(
        store: &dyn WholeStore,
        merchant: &MerchantId,
        now: Timestamp,
    ) -> Result<Self, StoreError> {
        let mut given_up = Vec::new();
        let mut failing = Vec::new();
        for mode in [Mode::Live, Mode::Test] {
            let filter = filter(merchant, mode, DeliveryState::Exhausted);
            let listed = store.list_with_deliveries(&filter, None, LOOK_AT).await?;
            let recent = now.minus_ms(MAIL_LOOK_BACK_MS);
            let found = listed.iter().flatten().flat_map(|payment| given_up_of(payment, mode));
            given_up.extend(found.filter(|given_up| given_up.at > recent));
            let receivers = receivers::read(store, merchant, mode, now).await?;
            failing.extend(receivers.into_iter().map(|receiver| (mode, receiver)));
        }
        let mut keys = store.keys_of(merchant).await?;
        keys.retain(|key| key.ends_soon(now).is_some());
        Ok(Self { given_up, failing, keys })
    }

    /// Selects the news that this owner has not received yet.
    pub(super) fn digest(&self, owner: Reader<'_>, round: &NewsRound) -> Digest {
        let language = owner.language();
        let since = owner.unreported_since(round.now);
        let mut digest = Digest::default();
        self.add_given_up(&mut digest, language, since, round.until);
        let texts = MessageTexts::of(language);
        for (mode, FailingReceiver { receiver, since, confirmed_at }) in &self.failing {
            let trouble = format!("receiver {} {receiver}", mode.as_str());
            if owner.mailing.is_unreported(&trouble, *confirmed_at, round.now) {
                let time = language.time(*since);
                let gaps = [("receiver", &**receiver), ("mode", texts.mode(*mode)), ("time", &time)];
                let text = filled(texts.receiver_fails, &gaps);
                let page = Some(page(*mode, "deliveries"));
                digest.news.push(News { kind: NewsKind::ReceiverFailing, text, at: *since, page });
                digest.troubles.push(trouble);
            }
        }
        for key in &self.keys {
            // The creator of a short-lived key knows about its expiry.
            let since = since.max(key.created_at);
            if let Some(end) = key.expires_at.filter(|end| is_warned_of(*end, since, round.until)) {
                let mode = texts.mode(key.owner.mode);
                let time = language.time(end);
                let application = key.owner.application.as_str();
                let gaps =
                    [("key", &*key.id), ("application", application), ("mode", mode), ("time", &*time)];
                let text = filled(texts.key_ends, &gaps);
                let page = Some(page(key.owner.mode, "applications"));
                digest.news.push(News { kind: NewsKind::KeyEnding, text, at: end, page });
            }
        }
        digest
    }

    fn add_given_up(&self, digest: &mut Digest, language: Language, since: Timestamp, until: Timestamp) {
        let mut receivers: BTreeMap<(&str, &str), Vec<&GivenUp>> = BTreeMap::new();
        let texts = MessageTexts::of(language);
        for given_up in self.given_up.iter().filter(|given_up| given_up.at > since && given_up.at <= until) {
            let of = (texts.mode(given_up.mode), given_up.receiver.as_str());
            receivers.entry(of).or_default().push(given_up);
        }
        for ((mode, receiver), events) in receivers {
            let Some(last) = events.iter().max_by_key(|given_up| given_up.at) else { continue };
            let count = events.len().to_string();
            let time = language.time(last.at);
            let gone = || in_words(Some(GONE), None, language);
            let outcome = last.attempt.as_ref().map_or_else(gone, |attempt| outcome_of(attempt, language));
            let gaps = [("receiver", receiver), ("mode", mode), ("count", &*count), ("time", &*time)];
            let text = filled(texts.given_up, &[&gaps[..], &[("outcome", &*outcome)]].concat());
            let page = Some(page(last.mode, "deliveries"));
            digest.news.push(News { kind: NewsKind::EventsExhausted, text, at: last.at, page });
        }
    }
}

fn given_up_of(payment: &Payment, mode: Mode) -> impl Iterator<Item = GivenUp> {
    let receiver = receiver_of(payment.order.postback_url.as_deref().unwrap_or_default());
    let given_up = payment.outbox.iter().filter(|delivery| delivery.state == DeliveryState::Exhausted);
    given_up.filter_map(move |delivery| {
        // Nothing more is sent to a receiver that is gone, so its later events have no attempt.
        let attempt = delivery.attempts.last().cloned();
        let occurred_at = || payment.event(delivery.sequence).map(|event| event.occurred_at);
        let at = attempt.as_ref().map(DeliveryAttempt::ended_at).or_else(occurred_at)?;
        Some(GivenUp { mode, receiver: receiver.clone(), at, attempt })
    })
}

#[cfg(test)]
mod tests {
    use quita_domain::people::{MAIL_GAP_MS, Mailing};

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_795_262_400_000);

    #[test]
    fn a_receiver_that_confirmed_and_fails_anew_is_reported_anew() {
        let mut mailing = Mailing::default();
        let troubles = |mailing: &Mailing, confirmed_at: Option<Timestamp>, now: Timestamp| {
            let receiver = String::from("loja.example");
            let failing = FailingReceiver { receiver, since: now.minus_ms(DAY_MS), confirmed_at };
            let failing = vec![(Mode::Live, failing)];
            let news = MerchantNews { given_up: Vec::new(), failing, keys: Vec::new() };
            let owner = Reader { mailing, created_at: Timestamp::default() };
            news.digest(owner, &NewsRound::at(now)).troubles
        };
        let first = troubles(&mailing, None, NOW);
        assert_eq!(first, ["receiver live loja.example"]);
        mailing.sent(NOW, first, NOW);
        let later = NOW.plus_ms(MAIL_GAP_MS);
        assert!(troubles(&mailing, None, later).is_empty(), "its last confirmation is not known");
        assert!(troubles(&mailing, Some(NOW.minus_ms(1)), later).is_empty(), "it fails still");
        assert_eq!(troubles(&mailing, Some(NOW.plus_ms(1)), later).len(), 1);
    }
}
