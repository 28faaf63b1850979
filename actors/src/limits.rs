//! Every limit of the actor system, with its name.

use std::time::Duration;

/// Characters that are kept of what an actor said when it died, and of why a call failed.
pub(crate) const CAUSE_LENGTH: usize = 256;

/// Messages of a transaction that are remembered for the page that shows it.
pub(crate) const MESSAGES_REMEMBERED: usize = 8;

/// Minutes whose calls to an acquirer are shown, the one that has just begun included.
pub(crate) const MINUTES_OF_CALLS: usize = 5;

/// Readings of the meters that are kept, as often as samples are: they cover the last minute.
pub(crate) const READINGS_KEPT: usize = 12;

/// Sizes of mailboxes and queues, and how long things may take; grouped by the folder that keeps to them.
#[derive(Debug, Clone)]
pub struct Limits {
    // actor/
    /// How long an actor that died stays away before it is recreated, doubled for each death in a row.
    pub restart_after: Duration,
    /// How often the supervisor looks for what died.
    pub supervision_interval: Duration,

    // transaction/
    /// Messages that may wait for one front shard.
    pub front_mailbox: usize,
    /// Messages that may wait for one transaction.
    pub transaction_mailbox: usize,
    /// Live transactions of one shard; beyond this, new ones are refused until some are idle.
    pub live_transactions: usize,
    /// How long a transaction stays in memory after its last message; once more if it was read meanwhile.
    pub idle_after: Duration,
    /// How long a card stays in memory while its charge is under way. Such a transaction is not idle.
    pub card_held_for: Duration,
    /// How long a caller waits for the acquirer's answer to a creation, or for an operation to end.
    pub answer_within: Duration,
    /// Live transactions of one shard that are shown at once.
    pub transactions_shown: usize,
    /// Live transactions of one shard that are looked at to find these.
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
    /// How long a payment waits for its write before it counts as not made.
    pub write_time_out: Duration,
    /// How long the store may take to count how often a card was tried; then it is not tried further.
    pub count_time_out: Duration,

    // acquirers/
    /// Messages that may wait for one acquirer actor, and local charges whose beginning it may still have to note.
    pub acquirer_mailbox: usize,
    /// Failures in a row after which an acquirer is tried last for a while.
    pub breaker_failures: u32,
    /// How long such an acquirer is tried last.
    pub breaker_open: Duration,
    /// Notices that may wait to be stored.
    pub inbox_mailbox: usize,
    /// Notices worked at once.
    pub inbox_in_flight: usize,

    // webhooks/
    /// What the webhook pool keeps to.
    pub webhooks: WebhookLimits,

    // upkeep/
    /// How often the timer looks for what is due.
    pub timer_interval: Duration,
    /// How much of what is due the timer takes at once.
    pub timer_batch: usize,
    /// Due payments woken at once.
    pub timer_in_flight: usize,
    /// Payments that could not be woken, and notices that could not be worked, that are remembered so that they are
    /// left alone for a while.
    pub failed_lately: usize,
    /// How often it is counted how much waits, which is for metrics only.
    pub backlog_interval: Duration,
    /// As far as it is counted: then it costs the same however much waits.
    pub backlog_counted: u32,
    /// Exceptions that may wait until the store takes them; one more is only logged.
    pub exceptions_waiting: usize,
    /// How often the operators' directives, which every node follows, are read from the store.
    pub directives_interval: Duration,
    /// How long the store may take for it.
    pub directives_time_out: Duration,
    /// How often a node tells the store that it is alive.
    pub node_interval: Duration,
    /// How long ago a node may have done so and still be shown.
    pub node_seen_within: Duration,

    // watch/
    /// How often a sample is taken of how the actors are.
    pub sample_interval: Duration,
    /// One of this many samples is kept, and covers the time of all of them.
    pub samples_per_kept: u32,
    /// Samples that are kept.
    pub samples_kept: usize,
}

/// The lines of the webhook pool: to new, to prompt and to slow receivers, each of test and of live.
pub(crate) const LINES: usize = 6;

/// Exchanges at once in one line, however few files may be open.
const FEWEST_PLACES: usize = 8;

/// What the webhook pool keeps to. A line is what goes to new, to prompt or to slow receivers, each of test and of live.
#[derive(Debug, Clone)]
pub struct WebhookLimits {
    /// Messages that may wait for the pool.
    pub mailbox: usize,
    /// Exchanges at once in one line, of which a merchant may have half: what is bounded is sockets.
    pub places: usize,
    /// Bytes of events under way in one line, about, of which a merchant may have half.
    pub bytes: usize,
    /// Exchanges that one receiver may have at once; it begins with one, and each answer doubles them.
    pub places_per_receiver: usize,
    /// Bytes of events that wait for prompt receivers; those of others are read again when their turn comes.
    pub bytes_held: usize,
    /// Payments that may wait here for one receiver; the store has the others.
    pub waiting_per_receiver: usize,
    /// Payments that may wait here for one merchant, in each mode.
    pub waiting_per_merchant: usize,
    /// Receivers that are remembered although nothing waits for them.
    pub receivers_remembered: usize,
    /// Workers that are kept although they have nothing to do.
    pub idle_workers: usize,
    /// Outcomes of deliveries that may wait to be stored; until some are, nothing more is sent.
    pub outcomes: usize,
    /// How long a prompt receiver may take.
    pub prompt: Duration,
    /// How often the store is asked for what became due.
    pub interval: Duration,
    /// How much it is asked for at once.
    pub page: usize,
    /// How often, at most, the store is asked for all that is due, however long ago.
    pub review: Duration,
    /// How long a payment that could not be claimed is left alone.
    pub retry: Duration,
}

impl WebhookLimits {
    /// For a process that may have this many sockets for webhooks: all lines together keep to them.
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

impl Default for Limits {
    fn default() -> Self {
        Self {
            restart_after: Duration::from_millis(50),
            supervision_interval: Duration::from_millis(20),
            front_mailbox: 8_192,
            transaction_mailbox: 128,
            live_transactions: 1_000_000,
            idle_after: Duration::from_secs(3),
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
            node_seen_within: Duration::from_secs(60),
            sample_interval: Duration::from_secs(1),
            samples_per_kept: 5,
            samples_kept: 180,
        }
    }
}
