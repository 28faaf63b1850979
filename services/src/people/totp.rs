//! Codes of an authenticator: TOTP with SHA-1, six digits and steps of 30 seconds, which every app supports (RFC
//! 6238).

use quita_domain::people::{CODE_STEP_SECONDS, Login};
use quita_domain::secret::Secret;
use quita_domain::time::Timestamp;
use quita_machine::{NoRandomness, random_bytes};
use totp_rs::{Algorithm, Builder, Totp};
use url::form_urlencoded::byte_serialize;

/// Bytes of a secret: as many as SHA-1 returns (RFC 4226, section 4, R6).
const SECRET_BYTES: usize = 20;
/// Digits of a code.
const DIGITS: u8 = 6;
/// Steps before and after the current one whose codes are accepted too (RFC 6238, section 5.2).
const SKEW: u16 = 1;
/// Issuer, as the app shows it.
const ISSUER: &str = "Quita";

/// Returns a new secret in the form to be typed: base 32 (RFC 4648).
pub(super) fn new_secret() -> Result<Secret<String>, NoRandomness> {
    Ok(Secret::new(totp_rs::Secret::from(random_bytes::<SECRET_BYTES>()?).to_base32()))
}

/// Returns the time step of this code: the current one, or one before or after. Returns `None` for a wrong code and
/// for an invalid secret.
pub(super) fn step_of(secret: &Secret<String>, code: &str, now: Timestamp) -> Option<i64> {
    let seconds = u64::try_from(now.millis()).ok()? / 1_000;
    i64::try_from(totp(secret)?.check(code, seconds)?).ok()
}

/// Returns the digits of a typed code, which apps show in two groups. Returns `None` if it is none.
pub(super) fn code_in(text: &str) -> Option<String> {
    let digits: String = text.chars().filter(|character| !character.is_whitespace()).collect();
    let is_code = digits.len() == usize::from(DIGITS) && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_code.then_some(digits)
}

/// Returns the address that an authenticator reads from a QR code (Key Uri Format of Google Authenticator).
pub(super) fn address(login: &Login, secret: &Secret<String>) -> String {
    // In a path a space is `%20`, but the encoder writes `+`. Neither an address nor the issuer has a space.
    let login: String = byte_serialize(login.as_str().as_bytes()).collect();
    format!(
        "otpauth://totp/{ISSUER}:{login}?secret={}&issuer={ISSUER}&algorithm=SHA1&digits={DIGITS}&period={CODE_STEP_SECONDS}",
        secret.expose()
    )
}

fn totp(secret: &Secret<String>) -> Option<Totp> {
    let secret = totp_rs::Secret::try_from_base32(secret.expose()).ok()?;
    let is_ours = secret.as_ref().len() == SECRET_BYTES;
    let builder = Builder::new().with_algorithm(Algorithm::SHA1).with_digits(DIGITS).with_skew(SKEW);
    let builder = builder.with_step_duration(CODE_STEP_SECONDS).with_secret(secret);
    is_ours.then(|| builder.build().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `12345678901234567890`, RFC 6238, appendix B.
    const RFC: &str = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

    fn secret(text: &str) -> Secret<String> {
        Secret::new(text.into())
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1_000)
    }

    #[test]
    fn the_codes_are_those_of_the_standard() {
        // The last six of the eight digits of RFC 6238, appendix B.
        for (seconds, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            assert_eq!(step_of(&secret(RFC), code, at(seconds)), Some(seconds / 30), "{seconds}");
        }
    }

    #[test]
    fn a_code_is_right_a_step_early_and_a_step_late_and_no_more() {
        let step = |seconds| step_of(&secret(RFC), "287082", at(seconds));
        assert_eq!([0, 29, 30, 59, 60, 89].map(step), [Some(1); 6]);
        assert_eq!([90, 120].map(step), [None; 2]);
    }

    #[test]
    fn nonsense_is_no_code_and_no_secret() {
        for code in ["", "28708", "2870822", "28708x", "２８７０８２"] {
            assert_eq!((code_in(code), step_of(&secret(RFC), code, at(59))), (None, None), "{code}");
        }
        assert_eq!(code_in(" 287 082 "), Some(String::from("287082")));
        for wrong in ["", "GEZDGNBV", "not base 32 at all!", &RFC.repeat(2)] {
            assert_eq!(step_of(&secret(wrong), "287082", at(59)), None, "{wrong}");
        }
    }

    #[test]
    fn an_authenticator_reads_who_asks_and_the_secret() {
        let login = Login::parse("ana+1@loja.example").unwrap();
        assert_eq!(
            address(&login, &secret(RFC)),
            format!(
                "otpauth://totp/Quita:ana%2B1%40loja.example?secret={RFC}&issuer=Quita&algorithm=SHA1&digits=6&period=30"
            )
        );
        assert_eq!(new_secret().unwrap().expose().len(), 32);
        assert_ne!(new_secret().unwrap(), new_secret().unwrap());
    }
}
