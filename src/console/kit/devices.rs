//! Browsers in which somebody has signed in to an account before. Each carries a mark that only this service can
//! create.
//!
//! A marked browser has its own sign-in attempts, so strangers' guesses do not lock the owner out. See OWASP, Slow Down
//! Online Guessing Attacks with Device Cookies. A mark grants no access: the password is still required.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use quita_domain::secret::Secret;
use quita_domain::secret_key::{derive, mac};
use quita_domain::time::{DAY_MS, Timestamp};
use quita_machine::{NoRandomness, random_bytes};
use subtle::ConstantTimeEq;

use super::attempts::account_key;
use super::console_kind::ConsoleKind;
use quita_config::secret_key::{SecretKey, SecretKeys};

/// Number of days for which a browser stays known after a sign-in.
pub(crate) const KNOWN_FOR_DAYS: u32 = 365;

/// Length of a device's id in bytes.
const ID_BYTES: usize = 16;
/// Length in bytes of the creation time of a mark, in milliseconds.
const TIME_BYTES: usize = 8;

/// Id of one browser on one account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Device([u8; ID_BYTES]);

impl From<[u8; ID_BYTES]> for Device {
    fn from(id: [u8; ID_BYTES]) -> Self {
        Self(id)
    }
}

/// Creator and verifier of device marks. Nodes with the same secret keys recognise each other's marks.
pub(crate) struct Devices {
    console: ConsoleKind,
    /// Keys derived from each available secret key, newest first.
    keys: Vec<Secret<Vec<u8>>>,
}

impl Devices {
    pub(crate) fn new(console: ConsoleKind, secret_keys: &SecretKeys) -> Self {
        let keys = secret_keys.each().map(SecretKey::expose);
        Self { console, keys: keys.map(|key| derive(key, "quita device 1")).collect() }
    }

    /// Returns the mark for a browser in which somebody has just signed in to this account. A known device keeps its
    /// id, so frequent sign-ins do not give more attempts.
    ///
    /// # Errors
    /// [`NoRandomness`] if the machine has no randomness.
    pub(crate) fn mark(
        &self,
        account: &str,
        known: Option<Device>,
        now: Timestamp,
    ) -> Result<Secret<String>, NoRandomness> {
        let Device(id) = match known {
            Some(device) => device,
            None => Device(random_bytes()?),
        };
        let made_at = now.millis().to_be_bytes();
        let proof = self.keys.first().map(|key| self.proof(key, &id, &made_at, account));
        let mark = [&id[..], &made_at[..], &proof.unwrap_or_default()[..]].concat();
        Ok(Secret::new(URL_SAFE_NO_PAD.encode(mark)))
    }

    /// Returns the device of a mark, if the mark was created for this account with any of the keys, and has not
    /// expired.
    pub(crate) fn known(&self, account: &str, mark: &Secret<String>, now: Timestamp) -> Option<Device> {
        let bytes = URL_SAFE_NO_PAD.decode(mark.expose()).ok()?;
        let (id, rest) = bytes.split_first_chunk::<ID_BYTES>()?;
        let (made_at, proof) = rest.split_first_chunk::<TIME_BYTES>()?;
        let is_proof = |key| bool::from(self.proof(key, id, made_at, account).ct_eq(proof));
        let ends = Timestamp::from_millis(i64::from_be_bytes(*made_at))
            .plus_ms(u64::from(KNOWN_FOR_DAYS).saturating_mul(DAY_MS));
        (self.keys.iter().any(is_proof) && now < ends).then_some(Device(*id))
    }

    /// Returns the authentication code of a mark.
    fn proof(
        &self,
        key: &Secret<Vec<u8>>,
        id: &[u8; ID_BYTES],
        made_at: &[u8; TIME_BYTES],
        account: &str,
    ) -> Vec<u8> {
        let console: &[u8] = match self.console {
            ConsoleKind::Merchant => b"m",
            ConsoleKind::Operator => b"o",
        };
        // Every part except the last has a fixed length, so different marks never have the same bytes.
        mac(key.expose(), &[console, id, made_at, account_key(account).as_bytes()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quita_config::Config;
    use quita_config::settings::Settings;

    const OLD: &str = "an-old-secret-key-that-is-long-enough";
    const NEW: &str = "a-new-secret-key-that-is-long-enough!";
    const ANA: &str = "ana@loja.example";

    fn devices(console: ConsoleKind, keys: &[&str]) -> Devices {
        let variable = ("QUITA_SECRET_KEY".into(), keys.join("\n").into());
        let keys = Config::from_settings(Settings::gather([], [variable])).unwrap().secret_keys;
        Devices::new(console, &keys)
    }

    fn now() -> Timestamp {
        Timestamp::from_millis(1_000)
    }

    #[test]
    fn a_mark_is_known_again_for_its_own_account_alone_and_not_for_ever() {
        let devices = self::devices(ConsoleKind::Merchant, &[OLD]);
        let mark = devices.mark(ANA, None, now()).unwrap();
        let device = devices.known(" Ana@Loja.example", &mark, now()).unwrap();
        assert_eq!(devices.known("bia@loja.example", &mark, now()), None);
        let last = now().plus_ms(365 * DAY_MS - 1);
        assert_eq!(devices.known(ANA, &mark, last), Some(device));
        assert_eq!(devices.known(ANA, &mark, last.plus_ms(1)), None);
        let again = devices.mark(ANA, Some(device), last).unwrap();
        assert_eq!(devices.known(ANA, &again, last.plus_ms(1)), Some(device), "the same device, marked anew");
        assert!(!mark.expose().contains("ana"), "it says nothing of whose it is");
    }

    #[test]
    fn nobody_else_makes_a_mark() {
        let devices = self::devices(ConsoleKind::Merchant, &[OLD]);
        let mark = devices.mark(ANA, None, now()).unwrap();
        let changed = |place: usize| {
            let mut bytes = URL_SAFE_NO_PAD.decode(mark.expose()).unwrap();
            bytes[place] ^= 1;
            URL_SAFE_NO_PAD.encode(bytes)
        };
        for text in
            ["", "x", &changed(0), &changed(ID_BYTES + 7), &changed(ID_BYTES + TIME_BYTES), &"A".repeat(75)]
        {
            assert_eq!(devices.known(ANA, &Secret::new(text.to_owned()), now()), None, "{text}");
        }
        let operators = self::devices(ConsoleKind::Operator, &[OLD]);
        assert_eq!(operators.known(ANA, &mark, now()), None, "the other console's");
        assert_eq!(self::devices(ConsoleKind::Merchant, &[NEW]).known(ANA, &mark, now()), None);
    }

    #[test]
    fn a_mark_outlives_a_change_of_the_secret_key() {
        let old = devices(ConsoleKind::Merchant, &[OLD]);
        let both = devices(ConsoleKind::Merchant, &[NEW, OLD]);
        let mark = old.mark(ANA, None, now()).unwrap();
        let device = both.known(ANA, &mark, now());
        assert!(device.is_some());
        let renewed = both.mark(ANA, device, now()).unwrap();
        assert_eq!(devices(ConsoleKind::Merchant, &[NEW]).known(ANA, &renewed, now()), device);
        assert_eq!(old.known(ANA, &renewed, now()), None);
    }
}
