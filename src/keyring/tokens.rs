//! Tokens of cards: `tok_…`, sealed for one merchant and mode. No part of them is stored.

use std::cell::RefCell;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use quita_domain::card::token::{CardTokens, TokenContents, UsedToken};
use quita_domain::identity::Owner;
use quita_machine::sealed_box;

use super::Keyring;

/// Prefix of every token.
const PREFIX: &str = "tok_";

/// Opener of the tokens of one merchant and mode. It remembers the last token that it saw.
pub(crate) struct OwnTokens<'k> {
    keyring: &'k Keyring,
    owner: &'k Owner,
    seen: RefCell<Option<UsedToken>>,
}

impl<'k> OwnTokens<'k> {
    pub(crate) fn new(keyring: &'k Keyring, owner: &'k Owner) -> Self {
        Self { keyring, owner, seen: RefCell::default() }
    }

    /// Returns the mark of the last token, whether or not it was opened.
    pub(crate) fn into_seen(self) -> Option<UsedToken> {
        self.seen.into_inner()
    }
}

impl CardTokens for OwnTokens<'_> {
    fn open(&self, token: &str) -> Option<TokenContents> {
        // The mark is recorded before the token is opened: a replay must be recognised even if the key has been removed
        // meanwhile.
        *self.seen.borrow_mut() = self.keyring.mark_of_token(token);
        let sealed = sealed_bytes(token)?;
        let context = context(self.owner);
        let opened = self
            .keyring
            .held
            .iter()
            .find_map(|derived| sealed_box::open(derived.token.expose(), &context, &sealed))?;
        TokenContents::from_bytes(opened.expose())
    }
}

impl Keyring {
    /// Seals a card for an owner's merchant and mode. `None` if this node may not derive new values, the machine has no
    /// randomness, or the holder's name is too long.
    pub(crate) fn seal_card(&self, owner: &Owner, contents: &TokenContents) -> Option<String> {
        let key = &self.now()?.token;
        let sealed = sealed_box::seal(key.expose(), &context(owner), contents.to_bytes()?)?;
        Some(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(sealed)))
    }

    /// Returns the mark by which a used token is recognised on every node, with any secret key. `None` if it does not
    /// have the form of a token.
    fn mark_of_token(&self, token: &str) -> Option<UsedToken> {
        Some(UsedToken::of(&sealed_bytes(token)?, self.id_keys.fingerprint()))
    }
}

fn sealed_bytes(token: &str) -> Option<Vec<u8>> {
    // Equal bytes have exactly one text: the decoder refuses any that it would not encode itself.
    URL_SAFE_NO_PAD.decode(token.strip_prefix(PREFIX)?).ok()
}

fn context(owner: &Owner) -> Vec<u8> {
    format!("{}\n{}", owner.mode.as_str(), owner.merchant).into_bytes()
}

#[cfg(test)]
mod tests {
    use quita_domain::card::{CardData, CardNumber, Cvv, Expiry};
    use quita_domain::identity::{ApplicationName, MerchantId, Mode};
    use quita_domain::secret_key::SecretKeyId;
    use quita_domain::time::Timestamp;

    use super::super::tests::{NEW, OLD, keyring};
    use super::*;

    fn owner(merchant: &str, mode: Mode) -> Owner {
        Owner { merchant: MerchantId::new(merchant), application: ApplicationName::new("shop"), mode }
    }

    fn contents(name: &str) -> TokenContents {
        let number = CardNumber::parse("4242424242424242").unwrap();
        let cvv = Cvv::parse("123", number.brand()).unwrap();
        let expiry = Expiry::new(12, 2030).unwrap();
        let card = CardData { number, holder_name: name.into(), expiry, cvv };
        TokenContents { card, expires_at: Timestamp::from_millis(1) }
    }

    fn open(keyring: &Keyring, owner: &Owner, token: &str) -> Option<TokenContents> {
        OwnTokens::new(keyring, owner).open(token)
    }

    #[test]
    fn a_token_opens_for_its_merchant_and_mode_on_nodes_that_still_have_the_key() {
        let old = keyring(&[OLD], OLD);
        let both = keyring(&[NEW, OLD], NEW);
        let new = keyring(&[NEW], NEW);
        let mine = owner("loja", Mode::Test);
        let token = old.seal_card(&mine, &contents("MARIA")).unwrap();
        assert_eq!(open(&old, &mine, &token), Some(contents("MARIA")));
        assert_eq!(open(&both, &mine, &token), Some(contents("MARIA")));
        assert_eq!(open(&new, &mine, &token), None, "its key is gone");
        for other in [owner("outra", Mode::Test), owner("loja", Mode::Live)] {
            assert_eq!(open(&old, &other, &token), None, "{other:?}");
        }
        let application = ApplicationName::new("site");
        assert!(open(&old, &Owner { application, ..mine.clone() }, &token).is_some(), "it is the merchant's");
        for wrong in ["", "tok_", "tok_AAAA", &token.replacen("tok_", "", 1), &format!("{token}A")] {
            assert_eq!(open(&old, &mine, wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_token_is_short_and_as_long_whatever_the_card() {
        let keyring = keyring(&[OLD], OLD);
        let mine = owner("loja", Mode::Test);
        let tokens = ["A", &"é".repeat(100)].map(|name| keyring.seal_card(&mine, &contents(name)).unwrap());
        assert_eq!(tokens[0].len(), tokens[1].len());
        assert!(tokens[0].len() <= 512, "{}", tokens[0].len());
    }

    #[test]
    fn the_mark_of_a_token_is_the_same_whatever_the_secret_key_of_now() {
        let both = keyring(&[NEW, OLD], OLD);
        let token = both.seal_card(&owner("loja", Mode::Test), &contents("MARIA")).unwrap();
        let mark = both.mark_of_token(&token);
        both.make_with(Some(&SecretKeyId::of(NEW.as_bytes())));
        assert!(mark.is_some());
        assert_eq!(both.mark_of_token(&token), mark);
        assert_eq!(both.mark_of_token("tok_"), Some(UsedToken::of(b"", both.fingerprint())));
        assert_eq!(both.mark_of_token("4242"), None);
    }
}
