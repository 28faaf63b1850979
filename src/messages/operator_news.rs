//! News of the service for operators: new exceptions, failing acquirers, lost nodes, expiring certificates.

use std::collections::BTreeMap;

use quita_actors::{NodeView, RouteHealth, RouteState};
use quita_domain::exception::Exception;
use quita_domain::time::Timestamp;
use quita_ports::{StoreError, WholeStore};

use super::digest::{Digest, MessageTexts, News, NewsKind, Reader, filled};
use super::merchant_news::is_warned_of;
use super::notifier::NewsRound;
use super::{LASTS_MS, WatchedService};
use crate::console::Language;
use crate::console::operator::exception_kind;

/// Maximum number of open exceptions that are examined, the newest ones.
const LOOK_AT: usize = 1_000;

/// News of the service, regardless of who has received it.
pub(super) struct OperatorNews {
    exceptions: Vec<Exception>,
    /// Failing routes, and the time since which they have failed.
    failing: Vec<(RouteHealth, Timestamp)>,
    lost_nodes: Vec<NodeView>,
    /// Acquirers, and the expiry of their certificates.
    certificates: Vec<(String, Timestamp)>,
}

impl OperatorNews {
    /// Reads possible news of the service.
    pub(super) async fn read(
        store: &dyn WholeStore,
        service: &WatchedService,
        now: Timestamp,
    ) -> Result<Self, StoreError> {
        let fails = |route: RouteHealth| {
            let since = route.failing_since.filter(|_| route.state == RouteState::Failing);
            since.filter(|since| since.plus_ms(LASTS_MS) <= now).map(|since| (route, since))
        };
        let states = service.links.iter().filter_map(|link| link.state());
        let certificates = states.filter_map(|state| {
            state.certificate_until.map(|until| (state.acquirer.as_str().to_owned(), until))
        });
        Ok(Self {
            exceptions: store.exceptions(LOOK_AT).await?,
            failing: service.payments.acquirers().into_iter().filter_map(fails).collect(),
            lost_nodes: service
                .operators
                .nodes()
                .into_iter()
                .filter(quita_actors::NodeView::is_lost)
                .collect(),
            certificates: certificates.collect(),
        })
    }

    /// Creates the news of failing routes.
    #[cfg(test)]
    pub(super) fn of_failing(routes: impl IntoIterator<Item = (RouteHealth, Timestamp)>) -> Self {
        let failing = routes.into_iter().collect();
        Self { exceptions: Vec::new(), failing, lost_nodes: Vec::new(), certificates: Vec::new() }
    }

    /// Selects the news that this operator has not received yet.
    pub(super) fn digest(&self, operator: Reader<'_>, round: &NewsRound) -> Digest {
        let language = operator.language();
        let since = operator.unreported_since(round.now);
        let texts = MessageTexts::of(language);
        let mut digest = Digest::default();
        self.add_exceptions(&mut digest, language, since, round.until);
        for (route, since) in &self.failing {
            let acquirer = route.acquirer.as_str();
            let method = language.method(route.method);
            let trouble = format!("route {acquirer} {}", route.method.as_str());
            // A call was answered before the first lost one, or this node had just started.
            if operator.mailing.is_unreported(&trouble, Some(*since), round.now) {
                let gaps = [("acquirer", acquirer), ("method", method), ("time", &language.time(*since))];
                digest.news.push(news(NewsKind::AcquirerFailing, filled(texts.route_fails, &gaps), *since));
                digest.troubles.push(trouble);
            }
        }
        for NodeView { node, .. } in &self.lost_nodes {
            let trouble = format!("node {}", node.id);
            if operator.mailing.is_unreported(&trouble, None, round.now) {
                let text = filled(texts.node_lost, &[("node", &node.address)]);
                digest.news.push(news(NewsKind::NodeLost, text, node.seen_at));
                digest.troubles.push(trouble);
            }
        }
        for (acquirer, end) in &self.certificates {
            if is_warned_of(*end, since, round.until) {
                let gaps = [("acquirer", acquirer.as_str()), ("time", &language.time(*end))];
                let text = filled(texts.certificate_ends, &gaps);
                digest.news.push(news(NewsKind::CertificateEnding, text, *end));
            }
        }
        digest
    }

    /// Adds exceptions that were reported within a period, by kind.
    fn add_exceptions(&self, digest: &mut Digest, language: Language, since: Timestamp, until: Timestamp) {
        let texts = MessageTexts::of(language);
        let mut kinds: BTreeMap<&str, Vec<Timestamp>> = BTreeMap::new();
        for exception in &self.exceptions {
            if exception.reported_at > since && exception.reported_at <= until {
                kinds.entry(&exception.kind).or_default().push(exception.reported_at);
            }
        }
        for (kind, times) in kinds {
            let Some(last) = times.iter().max() else { continue };
            let count = times.len().to_string();
            let gaps = [("kind", exception_kind(kind, language)), ("count", &*count)];
            digest.news.push(news(NewsKind::ExceptionsReported, filled(texts.exceptions, &gaps), *last));
        }
    }
}

/// Creates a piece of news for operators, without a page: the service does not know the address of their console.
const fn news(kind: NewsKind, text: String, at: Timestamp) -> News {
    News { kind, text, at, page: None }
}

#[cfg(test)]
mod tests {
    use quita_domain::people::{MailLanguage, Mailing};

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_795_262_400_000);

    fn exception(kind: &str, minutes_ago: u64) -> Exception {
        Exception {
            id: format!("{kind} {minutes_ago}"),
            kind: kind.into(),
            transaction_id: None,
            acquirer: None,
            detail: String::new(),
            advice: String::new(),
            reported_at: NOW.minus_ms(minutes_ago * 60_000),
            resolution: None,
        }
    }

    #[test]
    fn an_operator_reads_of_new_exceptions_by_kind_and_of_no_others() {
        let exceptions = vec![
            exception("paid_twice", 0),
            exception("paid_twice", 1),
            exception("paid_twice", 2),
            exception("too_early", 9),
        ];
        let news = OperatorNews {
            exceptions,
            failing: Vec::new(),
            lost_nodes: Vec::new(),
            certificates: Vec::new(),
        };
        let mailing = Mailing {
            language: MailLanguage::English,
            reported_until: Some(NOW.minus_ms(5 * 60_000)),
            ..Mailing::default()
        };
        let operator = Reader { mailing: &mailing, created_at: Timestamp::default() };
        let digest = news.digest(operator, &NewsRound::at(NOW));
        // The newest one may not be stored on every node yet.
        let read: Vec<_> = digest.news.iter().map(|news| (news.kind, news.text.as_str(), news.at)).collect();
        let last = NOW.minus_ms(60_000);
        assert_eq!(read, [(NewsKind::ExceptionsReported, "New exceptions, Paid twice: 2.", last)]);
    }
}
