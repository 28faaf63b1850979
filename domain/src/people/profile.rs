//! Profile of a merchant, as shown to its payers.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::logo::Logo;
use crate::identity::MerchantId;
use crate::text::is_invisible;

/// Maximum number of characters of a display name, which is a heading on a phone's screen.
pub const MAX_DISPLAY_NAME: usize = 60;
/// Maximum number of characters of a contact.
pub const MAX_CONTACT: usize = 100;

/// Name, contact and logo that payers see on their pages; the first two also on slips. Empty until an owner fills it
/// in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MerchantProfile {
    /// Name to be shown instead of the technical one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    display_name: Option<String>,
    /// E-mail address, telephone number or web address for questions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    contact: Option<String>,
    /// Picture above the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    logo: Option<Logo>,
}

/// Reason why a text may not be shown to payers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ProfileError {
    /// The name is too long, or contains unprintable characters.
    #[error("a display name has at most {MAX_DISPLAY_NAME} printable characters")]
    DisplayName,
    /// The contact is too long, or contains unprintable characters.
    #[error("a contact has at most {MAX_CONTACT} printable characters, such as ajuda@loja.com.br")]
    Contact,
}

impl MerchantProfile {
    /// Returns the profile with another display name. An empty one removes it.
    ///
    /// # Errors
    /// [`ProfileError::DisplayName`].
    pub fn with_display_name(self, text: &str) -> Result<Self, ProfileError> {
        let display_name = printable(text, MAX_DISPLAY_NAME).ok_or(ProfileError::DisplayName)?;
        Ok(Self { display_name, ..self })
    }

    /// Returns the profile with another contact. An empty one removes it.
    ///
    /// # Errors
    /// [`ProfileError::Contact`].
    pub fn with_contact(self, text: &str) -> Result<Self, ProfileError> {
        let contact = printable(text, MAX_CONTACT).ok_or(ProfileError::Contact)?;
        Ok(Self { contact, ..self })
    }

    /// Returns the profile with another logo, or without one.
    #[must_use]
    pub fn with_logo(self, logo: Option<Logo>) -> Self {
        Self { logo, ..self }
    }

    /// Returns the display name, if there is one.
    pub fn display_name(&self) -> Option<&str> {
        self.display_name.as_deref()
    }

    /// Returns the contact, if there is one.
    pub fn contact(&self) -> Option<&str> {
        self.contact.as_deref()
    }

    /// Returns the logo, if there is one.
    pub const fn logo(&self) -> Option<&Logo> {
        self.logo.as_ref()
    }

    /// Returns the name that payers see: the display name, or else the technical one.
    pub fn name_of<'a>(&'a self, merchant: &'a MerchantId) -> &'a str {
        self.display_name().unwrap_or(merchant.as_str())
    }
}

impl fmt::Display for MerchantProfile {
    /// Writes name, contact, and format and size of the logo, for the audit log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.display_name();
        let contact = self.contact();
        write!(f, "name {}; contact {}; logo ", name.unwrap_or("none"), contact.unwrap_or("none"))?;
        match self.logo() {
            Some(logo) => logo.fmt(f),
            None => f.write_str("none"),
        }
    }
}

/// Returns the trimmed text, `Some(None)` if it is empty, or `None` if it may not be shown.
fn printable(text: &str, most: usize) -> Option<Option<String>> {
    let text = text.trim();
    // Characters that change the direction of writing could disguise the name.
    let is_shown = |character: char| !character.is_control() && !is_invisible(character);
    let fits = text.chars().count() <= most && text.chars().all(is_shown);
    fits.then(|| Some(text.to_owned()).filter(|text| !text.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payers_read_the_display_name_if_there_is_one() {
        let merchant = MerchantId::new("demo");
        let profile = MerchantProfile::default();
        assert_eq!(profile.name_of(&merchant), "demo");
        let named = profile.with_display_name("  Padaria Estrela ").unwrap();
        assert_eq!(named.name_of(&merchant), "Padaria Estrela");
        assert_eq!(named.with_display_name(" ").unwrap(), MerchantProfile::default());
    }

    #[test]
    fn what_could_not_be_read_is_refused() {
        for text in ["a\nb", "a\u{202e}b", "\u{200b}x", &"x".repeat(MAX_DISPLAY_NAME + 1)] {
            let refused = MerchantProfile::default().with_display_name(text);
            assert_eq!(refused, Err(ProfileError::DisplayName), "{text:?}");
        }
        assert!(MerchantProfile::default().with_display_name(&"É".repeat(MAX_DISPLAY_NAME)).is_ok());
        let contact = "x".repeat(MAX_CONTACT + 1);
        assert_eq!(MerchantProfile::default().with_contact(&contact), Err(ProfileError::Contact));
    }

    #[test]
    fn an_empty_document_is_an_empty_profile() {
        let profile: MerchantProfile = serde_json::from_str("{}").unwrap();
        assert_eq!(profile, MerchantProfile::default());
        assert_eq!(serde_json::to_string(&profile).unwrap(), "{}");
    }
}
