//! All limits of the actor system.

use std::time::Duration;

/// Characters kept of a panic's message, and of the error of a failed call.
pub(crate) const CAUSE_LENGTH: usize = 256;

/// Age of the last heartbeat up to which a node counts as alive, unless a test needs it shorter.
pub const NODE_SEEN_WITHIN: Duration = Duration::from_secs(60);

/// Number of heartbeat intervals after which the next heartbeat is late: the store accepted none for a while.
const INTERVALS_WITHOUT_GAP: u32 = 3;

/// Messages of a transaction that are kept for the page that shows it.
pub(crate) const MESSAGES_REMEMBERED: usize = 8;

/// Number of minutes whose calls to an acquirer are shown, including the current one.
pub(crate) const MINUTES_OF_CALLS: usize = 5;

/// Readings of the meters that are kept, at the interval of samples: they cover the last minute.
pub(crate) const READINGS_KEPT: usize = 12;

/// Sizes of mailboxes and queues, intervals and time-outs, grouped by the folder that uses them.
#[derive(Debug, Clone)]
pub struct Limits {
    // actor/
    /// Pause before a dead actor is recreated, doubled for each death in a row.
    pub restart_after: Duration,
    /// Interval at which the supervisor looks for dead actors.
    pub supervision_interval: Duration,

    // transaction/
    /// Messages that may wait for one front shard.
    pub front_mailbox: usize,
    /// Messages that may wait for one transaction.
    pub transaction_mailbox: usize,
    /// Live transactions of one shard; beyond this, new ones are refused until some are idle.
    pub live_transactions: usize,
    /// Time for which a transaction stays in memory after its last message. Starts again if it was read in the
    /// meantime.
    pub idle_after: Duration,
    /// Payments whose confirmations may wait to be stored until their payers pay, about ten seconds longer than others.
    pub confirmed_long: usize,
    /// Time for which a card stays in memory while its charge is under way. Such a transaction is not idle.
    pub card_held_for: Duration,
    /// Time for which a caller waits for the acquirer's answer to a creation, or for an operation to end.
    pub answer_within: Duration,
    /// Live transactions of one shard that are shown at once.
    pub transactions_shown: usize,
    /// Live transactions of one shard that are examined to find these.
    pub transactions_looked_at: usize,

    // store/
    /// Messages that may wait for the journal.
    pub journal_mailbox: usize,
    /// Writes in one batch.
    pub journal_batch: usize,
    /// Batches under way at once.
    pub journal_in_flight: usize,
    /// Messages that may wait for the reader.
    pub reader_mailbox: usize,
    /// Ids in one read.
    pub reader_batch: usize,
    /// Reads under way at once.
    pub reader_in_flight: usize,
    /// Time for which a payment waits for its write; after that the outcome is unknown.
    pub write_time_out: Duration,
    /// Time for which the store may count a card's tries; after that the card is not tried further.
    pub count_time_out: Duration,

    // acquirers/
    /// Messages that may wait for one acquirer actor, and local charges that it may still have to record.
    pub acquirer_mailbox: usize,
    /// Failures in a row after which an acquirer is tried last for a while.
    pub breaker_failures: u32,
    /// Time for which such an acquirer is tried last.
    pub breaker_open: Duration,
    /// Notices that may wait to be stored.
    pub inbox_mailbox: usize,
    /// Notices processed at once.
    pub inbox_in_flight: usize,

    // webhooks/
    /// Limits of the webhook pool.
    pub webhooks: WebhookLimits,

    // upkeep/
    /// Interval at which the timer looks for what is due.
    pub timer_interval: Duration,
    /// Due payments, and due notices, that the timer takes at once.
    pub timer_batch: usize,
    /// Due payments woken at once.
    pub timer_in_flight: usize,
    /// Payments that could not be woken, and notices that could not be processed, that are remembered for back-off.
    pub failed_lately: usize,
    /// Interval at which backlogs are counted, for metrics only.
    pub backlog_interval: Duration,
    /// Number up to which they are counted, so that counting costs the same however long the backlog.
    pub backlog_counted: u32,
    /// Exceptions that may wait to be stored; any more are only logged.
    pub exceptions_waiting: usize,
    /// Interval at which every node reads the operators' directives from the store.
    pub directives_interval: Duration,
    /// Time-out of that read.
    pub directives_time_out: Duration,
    /// Interval of a node's heartbeat to the store.
    pub node_interval: Duration,
    /// Age of the last heartbeat up to which a node is shown.
    pub node_seen_within: Duration,

    // watch/
    /// Interval at which the state of the actors is sampled.
    pub sample_interval: Duration,
    /// Samples for each one that is kept, which covers the time of all of them.
    pub samples_per_kept: u32,
    /// Samples that are kept.
    pub samples_kept: usize,
}

/// Lines of the webhook pool: to new, prompt and slow receivers, each for test and live.
pub(crate) const LINES: usize = 6;

/// Minimum number of concurrent exchanges in one line, however few files may be open.
const FEWEST_PLACES: usize = 8;

/// Limits of the webhook pool. A line serves new, prompt or slow receivers, in test or in live mode.
#[derive(Debug, Clone)]
pub struct WebhookLimits {
    /// Messages that may wait for the pool.
    pub mailbox: usize,
    /// Exchanges at once in one line, of which a merchant may have half. This bounds sockets.
    pub places: usize,
    /// Approximate bytes of events under way in one line, of which a merchant may have half.
    pub bytes: usize,
    /// Maximum number of concurrent exchanges with one receiver. It starts with one, and each answer doubles the
    /// number.
    pub places_per_receiver: usize,
    /// Bytes of events held for prompt receivers. Events for others are read again when their turn comes.
    pub bytes_held: usize,
    /// Payments that may wait here for one receiver; the others stay in the store.
    pub waiting_per_receiver: usize,
    /// Payments that may wait here for one merchant, in each mode.
    pub waiting_per_merchant: usize,
    /// Receivers that are remembered although nothing waits for them.
    pub receivers_remembered: usize,
    /// Idle workers that are kept.
    pub idle_workers: usize,
    /// Delivery outcomes that may wait to be stored. At this number sending pauses.
    pub outcomes: usize,
    /// Time within which a prompt receiver answers.
    pub prompt: Duration,
    /// Interval at which the store is asked for newly due deliveries.
    pub interval: Duration,
    /// Deliveries read at once.
    pub page: usize,
    /// Minimum interval at which the store is asked for all due deliveries, however old.
    pub review: Duration,
    /// Pause after a payment's deliveries could not be claimed.
    pub retry: Duration,
}

impl WebhookLimits {
    /// Returns limits for a process that may use this many sockets for webhooks, over all lines.
    #[must_use]
    pub fn with_sockets(sockets: u64) -> Self {
        let most = Self::default();
        let of_each = usize::try_from(sockets).unwrap_or(usize::MAX) / LINES;
        Self { places: of_each.clamp(FEWEST_PLACES, most.places), ..most }
    }
}

impl Default for WebhookLimits {
    fn default() -> Self {
        Self {
            mailbox: 50_000,
            places: 256,
            bytes: 16 * 1024 * 1024,
            places_per_receiver: 64,
            bytes_held: 16 * 1024 * 1024,
            waiting_per_receiver: 2_000,
            waiting_per_merchant: 20_000,
            receivers_remembered: 16_384,
            idle_workers: 128,
            outcomes: 4_096,
            prompt: Duration::from_secs(1),
            interval: Duration::from_millis(250),
            page: 512,
            review: Duration::from_secs(60),
            retry: Duration::from_secs(5),
        }
    }
}

impl Limits {
    /// Returns the time between two views of the nodes above which the store counts as having been silent.
    pub(crate) fn longest_heartbeat_gap(&self) -> Duration {
        self.node_interval.saturating_mul(INTERVALS_WITHOUT_GAP)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            restart_after: Duration::from_millis(50),
            // Each look wakes a process that has nothing else to do: every 20 ms, it was a third of all wake-ups.
            supervision_interval: Duration::from_millis(100),
            front_mailbox: 8_192,
            transaction_mailbox: 128,
            live_transactions: 1_000_000,
            idle_after: Duration::from_secs(3),
            confirmed_long: 8_192,
            card_held_for: Duration::from_secs(300),
            answer_within: Duration::from_secs(8),
            transactions_shown: 50,
            transactions_looked_at: 10_000,
            journal_mailbox: 16_384,
            journal_batch: 512,
            journal_in_flight: 2,
            reader_mailbox: 16_384,
            reader_batch: 256,
            reader_in_flight: 2,
            write_time_out: Duration::from_secs(10),
            count_time_out: Duration::from_secs(2),
            acquirer_mailbox: 8_192,
            breaker_failures: 10,
            breaker_open: Duration::from_secs(10),
            inbox_mailbox: 16_384,
            inbox_in_flight: 512,
            webhooks: WebhookLimits::default(),
            timer_interval: Duration::from_millis(250),
            timer_batch: 512,
            timer_in_flight: 64,
            failed_lately: 4_096,
            backlog_interval: Duration::from_secs(2),
            backlog_counted: 10_000,
            exceptions_waiting: 1_024,
            directives_interval: Duration::from_secs(1),
            directives_time_out: Duration::from_secs(5),
            node_interval: Duration::from_secs(5),
            node_seen_within: NODE_SEEN_WITHIN,
            sample_interval: Duration::from_secs(1),
            samples_per_kept: 5,
            samples_kept: 180,
        }
    }
}
