//! Tokens of cards: contents of a sealed token, and the mark of one that was used.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{CardData, CardNumber, Cvv, Expiry};
use crate::secret::Secret;
use crate::secret_key::mac;
use crate::text::hex;
use crate::time::Timestamp;

/// Lifetime of a token.
pub const TOKEN_LIFE_MS: u64 = 15 * 60_000;

/// Maximum number of bytes of the holder's name in a token, so that a token has at most 512 characters.
pub const MAX_TOKEN_NAME_BYTES: usize = 300;

/// Version of the contents.
const VERSION: u8 = 1;

/// Number of bytes of the contents, whatever the card: the length of a token reveals nothing.
const BYTES: usize = 340;

/// Contents of a token. `Debug` shows nothing of the card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenContents {
    /// The card.
    pub card: CardData,
    /// Expiry of the token.
    pub expires_at: Timestamp,
}

impl TokenContents {
    /// Returns the contents as bytes, to be sealed. `None` if the holder's name is longer than
    /// [`MAX_TOKEN_NAME_BYTES`].
    pub fn to_bytes(&self) -> Option<Secret<Vec<u8>>> {
        let CardData { number, holder_name, expiry, cvv } = &self.card;
        if holder_name.len() > MAX_TOKEN_NAME_BYTES {
            return None;
        }
        // Allocated at its final size: a vector that grew would leave digits behind in freed memory.
        let mut bytes = Secret::new(Vec::with_capacity(BYTES));
        let to = bytes.expose_mut();
        to.push(VERSION);
        to.extend_from_slice(&self.expires_at.millis().to_be_bytes());
        to.push(u8::try_from(expiry.month()).ok()?);
        to.extend_from_slice(&u16::try_from(expiry.year()).ok()?.to_be_bytes());
        for text in [number.expose(), cvv.expose()] {
            to.push(u8::try_from(text.len()).ok()?);
            to.extend_from_slice(text.as_bytes());
        }
        to.extend_from_slice(&u16::try_from(holder_name.len()).ok()?.to_be_bytes());
        to.extend_from_slice(holder_name.as_bytes());
        if to.len() > BYTES {
            return None;
        }
        to.resize(BYTES, 0);
        Some(bytes)
    }

    /// Reads the contents of an opened token. `None` for anything that [`TokenContents::to_bytes`] does not write.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut rest = Rest(bytes);
        if rest.take::<1>()? != [VERSION] {
            return None;
        }
        let expires_at = Timestamp::from_millis(i64::from_be_bytes(rest.take()?));
        let [month] = rest.take()?;
        let year = u16::from_be_bytes(rest.take()?);
        let expiry = Expiry::new(month.into(), year.into()).ok()?;
        let number = CardNumber::parse(rest.short_text()?).ok()?;
        let cvv = Cvv::parse(rest.short_text()?, number.brand()).ok()?;
        let length = u16::from_be_bytes(rest.take()?);
        let holder_name = rest.text(length.into())?.to_owned();
        Some(Self { card: CardData { number, holder_name, expiry, cvv }, expires_at })
    }

    /// Returns true once it has expired.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at <= now
    }
}

/// Bytes that were not read yet.
struct Rest<'b>(&'b [u8]);

impl<'b> Rest<'b> {
    fn take<const COUNT: usize>(&mut self) -> Option<[u8; COUNT]> {
        let (first, rest) = self.0.split_first_chunk::<COUNT>()?;
        self.0 = rest;
        Some(*first)
    }

    fn text(&mut self, length: usize) -> Option<&'b str> {
        let (first, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        str::from_utf8(first).ok()
    }

    /// Reads a text preceded by its length in one byte.
    fn short_text(&mut self) -> Option<&'b str> {
        let [length] = self.take()?;
        self.text(length.into())
    }
}

/// Mark of a token that a payment has used: a keyed hash, 32 hexadecimal digits, the same on every node. It reveals
/// nothing about the token, and no two payments have the same one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UsedToken(String);

/// Prefix of every mark: another encoding needs another name.
const MARK: &[u8] = b"quita used token 1\n";

/// Number of bytes of the hash that are kept.
const MARK_BYTES: usize = 16;

impl UsedToken {
    /// Computes the mark of a token from its sealed bytes.
    pub fn of(sealed: &[u8], key: &[u8]) -> Self {
        let hash = mac(key, &[MARK, sealed]);
        Self(hex(hash.get(..MARK_BYTES).unwrap_or_default()))
    }

    /// Returns the digits, for the store and nothing else.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for UsedToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UsedToken(***)")
    }
}

/// Opens tokens of the caller's merchant and mode.
pub trait CardTokens {
    /// Opens a token; `None` if it belongs to another merchant or mode, or its secret key is gone.
    fn open(&self, token: &str) -> Option<TokenContents>;
}

/// Opener that yields the same dummy card for every token. Used to read the rest of a request.
#[derive(Debug, Clone, Copy)]
pub struct AnyToken;

impl CardTokens for AnyToken {
    fn open(&self, _: &str) -> Option<TokenContents> {
        let number = CardNumber::parse("4000000000000002").ok()?;
        let cvv = Cvv::parse("000", number.brand()).ok()?;
        let expiry = Expiry::new(12, 9999).ok()?;
        let card = CardData { number, holder_name: String::from("X"), expiry, cvv };
        Some(TokenContents { card, expires_at: Timestamp::from_millis(i64::MAX) })
    }
}

/// Opener that knows no token.
#[derive(Debug, Clone, Copy)]
pub struct NoTokens;

impl CardTokens for NoTokens {
    fn open(&self, _: &str) -> Option<TokenContents> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(number: &str, cvv: &str, name: &str) -> TokenContents {
        let number = CardNumber::parse(number).unwrap();
        let cvv = Cvv::parse(cvv, number.brand()).unwrap();
        let card = CardData { number, holder_name: name.into(), expiry: Expiry::new(12, 2030).unwrap(), cvv };
        TokenContents { card, expires_at: Timestamp::from_millis(1_795_262_400_000) }
    }

    #[test]
    fn every_card_reads_back_from_as_many_bytes() {
        for (number, cvv, name) in [
            ("4242424242424242", "123", "MARIA DA SILVA"),
            ("378282246310005", "1234", "é"),
            ("4242424242424242", "123", &"漢".repeat(100)),
        ] {
            let contents = contents(number, cvv, name);
            let bytes = contents.to_bytes().unwrap();
            assert_eq!(bytes.expose().len(), BYTES);
            assert_eq!(TokenContents::from_bytes(bytes.expose()), Some(contents));
        }
        assert_eq!(contents("4242424242424242", "123", &"x".repeat(301)).to_bytes(), None);
    }

    #[test]
    fn what_was_cut_or_is_of_another_version_is_not_read() {
        let bytes = contents("4242424242424242", "123", "MARIA").to_bytes().unwrap();
        for length in 0..40 {
            assert_eq!(TokenContents::from_bytes(&bytes.expose()[..length]), None, "{length}");
        }
        let mut later = bytes.expose().clone();
        later[0] = 2;
        assert_eq!(TokenContents::from_bytes(&later), None);
    }

    #[test]
    fn a_token_is_good_until_its_end() {
        let contents = contents("4242424242424242", "123", "MARIA");
        let at = |ms: i64| Timestamp::from_millis(contents.expires_at.millis() + ms);
        assert!(!contents.is_expired(at(-1)) && contents.is_expired(at(0)));
        assert!(!format!("{contents:?}").contains("4242"), "{contents:?}");
    }

    #[test]
    fn the_mark_of_a_token_needs_the_key_and_is_not_printed() {
        let mark = UsedToken::of(b"sealed", b"key");
        assert_eq!(mark, UsedToken::of(b"sealed", b"key"));
        assert_ne!(mark, UsedToken::of(b"sealed", b"another"));
        assert_ne!(mark, UsedToken::of(b"other", b"key"));
        assert_eq!((mark.as_str().len(), format!("{mark:?}")), (32, "UsedToken(***)".into()));
    }
}
