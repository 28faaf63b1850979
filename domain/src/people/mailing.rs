//! Messages to a person by e-mail or webhook. Each channel has its own state.

use serde::{Deserialize, Serialize};

use crate::time::{DAY_MS, Timestamp};

/// Shortest gap between two messages to one person. Events in between go into the next one.
pub const MAIL_GAP_MS: u64 = 15 * 60_000;

/// Age of the oldest event that a message reports.
pub const MAIL_LOOK_BACK_MS: u64 = 7 * DAY_MS;

/// Time after which a trouble that lasts is reported again.
pub const MAIL_REMINDER_MS: u64 = DAY_MS;

/// Gap after the first message that could not be sent; doubled for each one after it.
const FIRST_RETRY_MS: u64 = 60_000;
/// Longest of these gaps.
const LONGEST_RETRY_MS: u64 = 6 * 3_600_000;
/// Doublings after which the longest gap is reached.
const MAX_DOUBLINGS: u32 = 9;
/// Time for which a message that was begun may be under way.
const UNDER_WAY_MS: u64 = 30_000;
/// Maximum number of lasting troubles that are stored: those reported last.
const MAX_TROUBLES: usize = 50;

/// Language of messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum MailLanguage {
    /// Brazilian Portuguese.
    #[default]
    #[serde(rename = "pt-BR")]
    Portuguese,
    /// English.
    #[serde(rename = "en")]
    English,
}

impl MailLanguage {
    /// Every language.
    pub const ALL: [Self; 2] = [Self::Portuguese, Self::English];

    /// Returns its tag (BCP 47), as the command line and the store spell it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Portuguese => "pt-BR",
            Self::English => "en",
        }
    }

    /// Reads a tag.
    pub fn parse(tag: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.as_str() == tag)
    }
}

/// A trouble that lasts, and that was reported to a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportedTrouble {
    /// Name of the trouble: `receiver live loja.example`, `route bank pix`, …
    pub trouble: String,
    /// Time of the message.
    pub at: Timestamp,
}

/// A person's settings for messages of one channel, and what was already reported.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Mailing {
    /// True if the person wants no messages.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_off: bool,
    /// Language of the messages.
    #[serde(default)]
    pub language: MailLanguage,
    /// Events up to this time were reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported_until: Option<Timestamp>,
    /// Lasting troubles that were reported within [`MAIL_REMINDER_MS`], oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub troubles: Vec<ReportedTrouble>,
    /// No message leaves before this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_at: Option<Timestamp>,
    /// Messages that were begun since one was sent.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub begun: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde asks for it")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Mailing {
    /// Returns true if nothing was ever changed: then nothing is stored.
    pub fn is_untouched(&self) -> bool {
        *self == Self::default()
    }

    /// Returns true if a message may leave now.
    pub fn is_due(&self, now: Timestamp) -> bool {
        !self.is_off && self.next_at.is_none_or(|next_at| next_at <= now)
    }

    /// Returns true if a message about a new trouble may leave now. The gap after a message does not hold it back, but
    /// the pause after a failed one does.
    pub fn is_due_for_trouble(&self, now: Timestamp) -> bool {
        self.is_due(now) || (!self.is_off && self.begun == 0)
    }

    /// Returns true while a message that was begun, by whichever process, waits for its next try.
    pub fn is_unsent(&self, now: Timestamp) -> bool {
        let Some(next_at) = self.next_at.filter(|next_at| !self.is_off && *next_at > now) else {
            return false;
        };
        let Some(before) = self.begun.checked_sub(1) else { return false };
        now.ms_since(next_at.minus_ms(retry_gap_ms(before))) >= UNDER_WAY_MS
    }

    /// Returns the time after which events are unreported, for a person who was created at this time.
    pub fn unreported_since(&self, created_at: Timestamp, now: Timestamp) -> Timestamp {
        self.reported_until.unwrap_or(created_at).max(now.minus_ms(MAIL_LOOK_BACK_MS))
    }

    /// Returns true if a lasting trouble was not reported for [`MAIL_REMINDER_MS`], or ended since. `well_at` is the
    /// last time at which all was well. Without it, the trouble counts as the same for as long as it is stored.
    pub fn is_unreported(&self, trouble: &str, well_at: Option<Timestamp>, now: Timestamp) -> bool {
        let is_this_one = |at: Timestamp| well_at.is_none_or(|well_at| well_at <= at);
        !self.recent(trouble, now).any(|reported| is_this_one(reported.at))
    }

    /// Returns true if a lasting trouble was reported within [`MAIL_REMINDER_MS`], even if it has ended since. Its
    /// recurrence waits for the gap after a message, so that an intermittent trouble does not cause a message each
    /// time.
    pub fn is_known(&self, trouble: &str, now: Timestamp) -> bool {
        self.recent(trouble, now).next().is_some()
    }

    fn recent<'a>(&'a self, trouble: &'a str, now: Timestamp) -> impl Iterator<Item = &'a ReportedTrouble> {
        self.troubles.iter().filter(move |reported| reported.trouble == trouble && is_recent(reported, now))
    }

    /// Turns messages on or off. What happened while they were off is not reported later.
    pub fn turn(&mut self, is_on: bool, now: Timestamp) {
        if is_on && self.is_off {
            *self = Self { language: self.language, reported_until: Some(now), ..Self::default() };
        }
        self.is_off = !is_on;
    }

    /// Claims a message that begins now. The next attempt is scheduled first, so it happens even if this process dies.
    pub fn begin(&mut self, now: Timestamp) {
        self.next_at = Some(now.plus_ms(retry_gap_ms(self.begun)));
        self.begun = self.begun.saturating_add(1);
    }

    /// Returns true if this is still the claim that `claimed` made.
    pub fn is_same_claim(&self, claimed: &Self) -> bool {
        // The language may have been changed meanwhile.
        Self { language: claimed.language, ..self.clone() } == *claimed
    }

    /// Records a sent message, which reported events up to `until` and these troubles.
    pub fn sent(&mut self, until: Timestamp, troubles: impl IntoIterator<Item = String>, now: Timestamp) {
        self.reported_until = Some(until);
        self.next_at = Some(now.plus_ms(MAIL_GAP_MS));
        self.begun = 0;
        self.troubles.retain(|reported| is_recent(reported, now));
        for trouble in troubles {
            // Moved to the end, since only the oldest are dropped when there are too many.
            self.troubles.retain(|reported| reported.trouble != trouble);
            self.troubles.push(ReportedTrouble { trouble, at: now });
        }
        let surplus = self.troubles.len().saturating_sub(MAX_TROUBLES);
        self.troubles.drain(..surplus);
    }
}

/// Returns the gap to the next try after this many tries that failed, and one that begins.
fn retry_gap_ms(failed: u32) -> u64 {
    FIRST_RETRY_MS.saturating_mul(1 << failed.min(MAX_DOUBLINGS)).min(LONGEST_RETRY_MS)
}

fn is_recent(reported: &ReportedTrouble, now: Timestamp) -> bool {
    reported.at.plus_ms(MAIL_REMINDER_MS) > now
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_000_000_000);

    #[test]
    fn a_message_that_is_not_sent_is_tried_again_with_growing_gaps() {
        let mut mailing = Mailing::default();
        let mut gaps = Vec::new();
        for _ in 0..11 {
            mailing.begin(NOW);
            let next_at = mailing.next_at.unwrap();
            assert!(!mailing.is_due(NOW) && mailing.is_due(next_at));
            gaps.push(next_at.ms_since(NOW) / 60_000);
        }
        assert_eq!(gaps, [1, 2, 4, 8, 16, 32, 64, 128, 256, 360, 360]);
    }

    #[test]
    fn a_message_is_unsent_from_half_a_minute_after_its_begin_until_its_next_try() {
        let mut mailing = Mailing::default();
        assert!(!mailing.is_unsent(NOW));
        for gap_ms in [60_000, 120_000] {
            mailing.begin(NOW);
            let is_unsent = |after_ms| mailing.is_unsent(NOW.plus_ms(after_ms));
            assert_eq!(
                [0, 29_999, 30_000, gap_ms - 1, gap_ms].map(is_unsent),
                [false, false, true, true, false]
            );
        }
        mailing.sent(NOW, [], NOW);
        assert!(!mailing.is_unsent(NOW.plus_ms(30_000)));
    }

    #[test]
    fn a_trouble_does_not_wait_for_the_next_digest_but_for_a_server_that_failed() {
        let mut mailing = Mailing::default();
        mailing.begin(NOW);
        assert!(!mailing.is_due_for_trouble(NOW), "a message is under way, or failed");
        mailing.sent(NOW, [], NOW);
        assert!(!mailing.is_due(NOW) && mailing.is_due_for_trouble(NOW));
        mailing.is_off = true;
        assert!(!mailing.is_due_for_trouble(NOW));
    }

    #[test]
    fn after_a_message_the_next_one_waits_and_reports_what_came_later() {
        let mut mailing = Mailing::default();
        mailing.begin(NOW);
        mailing.sent(NOW, [], NOW);
        assert_eq!((mailing.begun, mailing.unreported_since(Timestamp::default(), NOW)), (0, NOW));
        assert!(!mailing.is_due(NOW.plus_ms(MAIL_GAP_MS - 1)) && mailing.is_due(NOW.plus_ms(MAIL_GAP_MS)));
    }

    #[test]
    fn a_trouble_that_lasts_is_reported_once_a_day() {
        let mut mailing = Mailing::default();
        assert!(mailing.is_unreported("store", None, NOW));
        mailing.sent(NOW, ["store".into()], NOW);
        assert!(!mailing.is_unreported("store", None, NOW.plus_ms(MAIL_REMINDER_MS - 1)));
        assert!(mailing.is_unreported("node", None, NOW));
        let next_day = NOW.plus_ms(MAIL_REMINDER_MS);
        assert!(mailing.is_unreported("store", None, next_day));
        mailing.sent(next_day, (0..=MAX_TROUBLES).map(|number| number.to_string()), next_day);
        assert_eq!(mailing.troubles.len(), MAX_TROUBLES);
        assert!(!mailing.is_unreported(&MAX_TROUBLES.to_string(), None, next_day), "the last ones are kept");
    }

    #[test]
    fn a_trouble_that_returns_after_all_was_well_is_reported_again() {
        let mut mailing = Mailing::default();
        mailing.sent(NOW, ["route bank pix".into()], NOW);
        let later = NOW.plus_ms(MAIL_GAP_MS);
        for (well_at, is_unreported) in
            [(None, false), (Some(NOW.minus_ms(1)), false), (Some(NOW), false), (Some(NOW.plus_ms(1)), true)]
        {
            assert_eq!(mailing.is_unreported("route bank pix", well_at, later), is_unreported, "{well_at:?}");
        }
        assert!(mailing.is_known("route bank pix", later) && !mailing.is_known("route bank boleto", later));
        mailing.sent(later, ["route bank pix".into()], later);
        assert_eq!(mailing.troubles, [ReportedTrouble { trouble: "route bank pix".into(), at: later }]);
        assert!(!mailing.is_unreported("route bank pix", Some(NOW.plus_ms(1)), later), "it was told now");
    }

    #[test]
    fn who_wants_no_messages_gets_none_and_no_old_news_afterwards() {
        let mut mailing = Mailing { language: MailLanguage::English, ..Mailing::default() };
        mailing.sent(NOW, ["store".into()], NOW);
        mailing.turn(false, NOW);
        assert!(!mailing.is_due(NOW.plus_ms(MAIL_GAP_MS)));
        let later = NOW.plus_ms(MAIL_LOOK_BACK_MS / 2);
        mailing.turn(true, later);
        assert!(mailing.is_due(later) && mailing.language == MailLanguage::English);
        assert_eq!(mailing.unreported_since(Timestamp::default(), later), later);
        let on = mailing.clone();
        mailing.turn(true, later.plus_ms(1));
        assert_eq!(mailing, on, "nothing changes");
    }

    #[test]
    fn the_first_message_reports_nothing_from_before_the_person_nor_from_long_ago() {
        let fresh = Mailing::default();
        assert_eq!(fresh.unreported_since(NOW, NOW.plus_ms(5)), NOW);
        assert_eq!(fresh.unreported_since(NOW, NOW.plus_ms(MAIL_LOOK_BACK_MS + 7)), NOW.plus_ms(7));
    }

    #[test]
    fn a_language_is_read_as_it_is_spelt() {
        assert_eq!(
            MailLanguage::ALL.map(|language| MailLanguage::parse(language.as_str())),
            MailLanguage::ALL.map(Some)
        );
        assert_eq!(MailLanguage::parse("pt"), None);
    }
}
