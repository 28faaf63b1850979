//! API keys that need attention: old ones, and those that expire soon.

use quita_config::Environment;
use quita_domain::access::ApiKey;
use quita_domain::time::Timestamp;

use super::finding::Finding;

/// Maximum number of keys that a finding names.
const KEYS_SHOWN: usize = 10;

/// Checks that an API key is in use, and that none is old or expires soon.
pub(super) fn check(keys: &[ApiKey], environment: Environment, now: Timestamp) -> Vec<Finding> {
    let troubles: Vec<_> = [old_keys(keys, now), ending_keys(keys, now)].into_iter().flatten().collect();
    if troubles.is_empty() { vec![keys_in_use(keys, environment, now)] } else { troubles }
}

fn old_keys(keys: &[ApiKey], now: Timestamp) -> Option<Finding> {
    let live = keys.iter().filter(|key| key.is_live(now)).count();
    let old: Vec<_> = keys.iter().filter(|key| key.is_old(now)).map(|key| key.id.as_str()).collect();
    if old.is_empty() {
        return None;
    }
    let text = format!("{live} in use, {} of them older than a year: {}", old.len(), old.join(", "));
    let mend = "create a new key, switch the merchant's program to it, then run `quita keys revoke KEYID`";
    Some(Finding::warn("keys", text, mend))
}

/// Names the keys that expire soon, by the rule of the console and of `quita_api_keys_ending_soon`.
fn ending_keys(keys: &[ApiKey], now: Timestamp) -> Option<Finding> {
    let mut ending: Vec<_> = keys.iter().filter_map(|key| Some((key.ends_soon(now)?, key))).collect();
    if ending.is_empty() {
        return None;
    }
    ending.sort_unstable_by_key(|(at, _)| *at);
    let named = |(at, key): &(Timestamp, &ApiKey)| {
        format!("{} of merchant {:?} at {at}", key.id, key.owner.merchant.as_str())
    };
    let mut shown: Vec<_> = ending.iter().take(KEYS_SHOWN).map(named).collect();
    let hidden = ending.len().saturating_sub(KEYS_SHOWN);
    if hidden > 0 {
        shown.push(format!("and {hidden} more, see `quita keys list`"));
    }
    let live = keys.iter().filter(|key| key.is_live(now)).count();
    let text =
        format!("{live} in use, {} of them expiring within 30 days: {}", ending.len(), shown.join(", "));
    let mend = "create a new key with `quita keys create`, and switch the merchant's program to it before then, unless \
                that is already done";
    Some(Finding::warn("keys", text, mend))
}

fn keys_in_use(keys: &[ApiKey], environment: Environment, now: Timestamp) -> Finding {
    let live = keys.iter().filter(|key| key.is_live(now)).count();
    if live > 0 {
        return Finding::ok("keys", format!("{live} in use"));
    }
    match environment {
        Environment::Development if keys.is_empty() => {
            Finding::warn("keys", "there is none yet", "`quita serve` creates one for the merchant demo")
        }
        Environment::Development | Environment::Production => {
            Finding::warn("keys", "none is in use", "`quita keys create --merchant NAME` creates one")
        }
    }
}

#[cfg(test)]
mod tests {
    use quita_domain::access::{KeyKind, PresentedKey};
    use quita_domain::identity::{ApplicationName, MerchantId, Mode, Owner};

    use super::super::finding::Level;
    use super::*;

    fn levels(findings: &[Finding]) -> Vec<Level> {
        findings.iter().map(|finding| finding.level).collect()
    }

    /// Returns a key made in 1970 that ends at this time.
    fn key_until(expires_at: Option<Timestamp>) -> ApiKey {
        let made = PresentedKey::from_random(KeyKind::Secret, Mode::Live, [1; 8], [2; 32]);
        let owner = Owner {
            merchant: MerchantId::new("acme"),
            application: ApplicationName::new("shop"),
            mode: Mode::Live,
        };
        ApiKey {
            id: made.id.clone(),
            kind: KeyKind::Secret,
            owner,
            secret_hash: made.secret_hash(),
            scopes: Vec::new(),
            created_at: Timestamp::from_millis(0),
            made_by: None,
            expires_at,
            revoked_at: None,
            exposed_at: None,
            last_used_at: None,
        }
    }

    fn day(days: i64) -> Timestamp {
        Timestamp::from_millis(days * 86_400_000)
    }

    #[test]
    fn keys_older_than_a_year_are_named() {
        let key = key_until(None);
        let after = |days| check(std::slice::from_ref(&key), Environment::Production, day(days));
        assert_eq!([364, 365].map(|days| levels(&after(days))), [[Level::Ok], [Level::Warn]]);
        assert!(after(365)[0].to_string().contains("0101010101010101"), "{}", after(365)[0]);
    }

    #[test]
    fn keys_that_expire_soon_are_named_with_their_merchant_and_end() {
        let all = [key_until(Some(day(100))), key_until(None)];
        let on = |days| check(&all, Environment::Production, day(days));
        assert_eq!(
            [69, 70, 99, 100].map(|days| on(days)[0].level),
            [Level::Ok, Level::Warn, Level::Warn, Level::Ok]
        );
        let found = on(99);
        let expected = format!(
            "2 in use, 1 of them expiring within 30 days: 0101010101010101 of merchant \"acme\" at {}",
            day(100)
        );
        assert_eq!((found.len(), &found[0].text), (1, &expected));
        assert!(
            found[0].mend.as_ref().is_some_and(|mend| mend.contains("quita keys create")),
            "{}",
            found[0]
        );
        let many = vec![key_until(Some(day(100))); KEYS_SHOWN + 2];
        let found = check(&many, Environment::Production, day(99));
        assert!(found[0].text.ends_with(", and 2 more, see `quita keys list`"), "{}", found[0]);
        let old = check(&[key_until(Some(day(400)))], Environment::Production, day(399));
        assert_eq!(levels(&old), [Level::Warn, Level::Warn], "old, and at its end");
    }
}
