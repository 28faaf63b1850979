//! Addresses on the command line: of the service, and of its metrics.

use std::ffi::OsStr;

use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use clap::{Arg, Command};
use url::Url;

use super::super::http_client::server_url;

/// Parser of an address. Its errors never repeat the value, which may contain a password.
#[derive(Debug, Clone, Copy)]
pub(super) struct ServiceUrlParser;

impl TypedValueParser for ServiceUrlParser {
    type Value = Url;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, clap::Error> {
        let parsed = service_url(&value.to_string_lossy());
        parsed.map_err(|wrong| {
            let name = argument.map(ToString::to_string).unwrap_or_default();
            let variable = argument.and_then(Arg::get_env).map(OsStr::to_string_lossy);
            let variable = variable.map(|name| format!(" or {name}")).unwrap_or_default();
            let message = format!("invalid value for '{name}'{variable}: {wrong}\n");
            clap::Error::raw(ErrorKind::ValueValidation, message).with_cmd(command)
        })
    }
}

/// Parses an address to which paths are appended.
fn service_url(text: &str) -> Result<Url, String> {
    let url = server_url(text)?;
    if !url.username().is_empty() || url.password().is_some() {
        Err("a user or password in the address is not used; remove what stands before @".into())
    } else if url.query().is_some() {
        Err("an address with a query is not allowed; remove ? and what follows".into())
    } else if url.fragment().is_some() {
        Err("an address with a fragment is not allowed; remove # and what follows".into())
    } else {
        Ok(url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Url, String> {
        let argument = Arg::new("url").long("url").value_parser(ServiceUrlParser).env("QUITA_URL");
        let command = Command::new("load").arg(argument);
        let parsed = command.try_get_matches_from(["load", "--url", text]);
        parsed.map(|found| found.get_one::<Url>("url").unwrap().clone()).map_err(|error| {
            assert_eq!(error.exit_code(), 2);
            error.to_string()
        })
    }

    #[test]
    fn an_address_has_only_a_host_and_a_path() {
        assert_eq!(parse("http://127.0.0.1:8080/base").unwrap().as_str(), "http://127.0.0.1:8080/base");
        for (text, expected) in [
            ("http://127.0.0.1:8080/?x=1", "a query"),
            ("http://127.0.0.1:8080/#f", "a fragment"),
            ("http://maria@127.0.0.1:8080", "a user or password"),
            ("127.0.0.1:8080", "must be an http or https URL"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
            assert!(error.contains("'--url <url>' or QUITA_URL"), "{error}");
        }
    }

    #[test]
    fn a_password_in_an_address_is_never_printed() {
        for text in ["http://maria:segredo@127.0.0.1:8080", "ftp://maria:segredo@host", "maria:segredo@host"]
        {
            let error = parse(text).unwrap_err();
            assert!(!error.contains("segredo") && !error.contains("maria"), "{error}");
        }
    }
}
