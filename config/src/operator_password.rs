//! Password for the first operator: it creates that operator, and afterwards opens nothing.

use std::net::SocketAddr;

use quita_domain::people::{MAX_PASSWORD_CHARACTERS, MIN_PASSWORD_CHARACTERS, is_password};
use quita_domain::secret::Secret;

use super::settings::Settings;
use super::{Environment, safety, secret_text};

/// Password that development on a loopback address uses if none is set. It is public, and accepted nowhere else.
pub const DEVELOPMENT_PASSWORD: &str = "quita-operator-development";

/// Reads the password, or development's. With `None`, nobody can create the first operator in the console.
pub(super) fn read(
    settings: &mut Settings,
    environment: Environment,
    ops_listen: SocketAddr,
) -> Option<Secret<String>> {
    let set = secret_text::read(settings, "operator-password", "operator-password-file");
    if set.as_deref().is_some_and(|password| !is_password(password)) {
        let why = format!(
            "it must have at least {MIN_PASSWORD_CHARACTERS} characters, and at most {MAX_PASSWORD_CHARACTERS}; \
             create one with `openssl rand -base64 24`"
        );
        settings.refuse("operator-password", why);
    }
    let is_for_trying = environment == Environment::Development && safety::is_loopback(ops_listen);
    if !is_for_trying && set.as_deref() == Some(DEVELOPMENT_PASSWORD) {
        let why = "it is the public password of development; create your own with `openssl rand -base64 24`";
        settings.refuse("operator-password", why.into());
    }
    set.or_else(|| is_for_trying.then(|| DEVELOPMENT_PASSWORD.into())).map(Secret::new)
}
