//! News of the service for operators: exceptions, acquirers that fail, nodes that were lost, certificates that end.

use std::collections::BTreeMap;

use quita_actors::{NodeView, RouteHealth, RouteState};
use quita_domain::exception::Exception;
use quita_domain::people::Operator;
use quita_domain::time::Timestamp;
use quita_ports::{StoreError, WholeStore};

use super::digest::{Digest, MailTexts};
use super::merchant_news::is_warned_of;
use super::notifier::Look;
use super::{LASTS_MS, WatchedService};
use crate::console::Language;
use crate::console::operator::exception_kind;

/// Open exceptions that are looked at, the newest.
const LOOK_AT: usize = 1_000;

/// News of the service, whoever was told.
pub(super) struct OperatorNews {
    exceptions: Vec<Exception>,
    /// Routes that fail, and since when.
    failing: Vec<(RouteHealth, Timestamp)>,
    lost_nodes: Vec<NodeView>,
    /// Acquirers with the end of their certificate.
    certificates: Vec<(String, Timestamp)>,
}

impl OperatorNews {
    /// Reads what may be news of the service.
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
            lost_nodes: service.operators.nodes().into_iter().filter(|view| view.is_lost).collect(),
            certificates: certificates.collect(),
        })
    }

    /// Picks what this operator was not told yet.
    pub(super) fn digest(&self, operator: &Operator, look: &Look) -> Digest {
        let (mailing, language) = (&operator.mailing, Language::of_mail(operator.mailing.language));
        let texts = MailTexts::of(language);
        let since = mailing.unreported_since(operator.created_at, look.now);
        let mut digest = Digest::default();
        let is_news = |at: Timestamp| at > since && at <= look.until;
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        for exception in self.exceptions.iter().filter(|exception| is_news(exception.reported_at)) {
            let count = kinds.entry(&exception.kind).or_default();
            *count = count.saturating_add(1);
        }
        for (kind, count) in kinds {
            let count = count.to_string();
            digest.add(texts.exceptions, &[("kind", exception_kind(kind, language)), ("count", &count)]);
        }
        for (route, since) in &self.failing {
            let (acquirer, method) = (route.acquirer.as_str(), language.method(route.method));
            let trouble = format!("route {acquirer} {}", route.method.as_str());
            if mailing.is_unreported(&trouble, look.now) {
                let time = language.time(*since);
                digest.add(texts.route_fails, &[("acquirer", acquirer), ("method", method), ("time", &time)]);
                digest.troubles.push(trouble);
            }
        }
        for view in &self.lost_nodes {
            let trouble = format!("node {}", view.node.id);
            if mailing.is_unreported(&trouble, look.now) {
                digest.add(texts.node_lost, &[("node", &view.node.address)]);
                digest.troubles.push(trouble);
            }
        }
        for (acquirer, end) in &self.certificates {
            if is_warned_of(*end, since, look.until) {
                let time = language.time(*end);
                digest.add(texts.certificate_ends, &[("acquirer", acquirer), ("time", &time)]);
            }
        }
        digest
    }
}

#[cfg(test)]
mod tests {
    use quita_domain::people::{Credentials, Login, MailLanguage, Mailing, OperatorRole};

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
        let operator = Operator {
            login: Login::parse("olga@ops.example").unwrap(),
            role: OperatorRole::Operator,
            credentials: Credentials::new(String::new(), 1, false),
            created_at: Timestamp::default(),
            mailing,
        };
        let digest = news.digest(&operator, &Look::at(NOW));
        // The newest one may not be stored on every node yet.
        assert_eq!(digest.lines, ["New exceptions, Paid twice: 2."]);
    }
}
