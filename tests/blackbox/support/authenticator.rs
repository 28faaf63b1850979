//! A foreign authenticator: the Python package `pyotp`.

use std::process::Command;

/// An authenticator, or `None` where no Python is named: `scripts/test` names one.
pub(crate) struct Authenticator {
    python: String,
}

impl Authenticator {
    /// The one of this machine.
    pub(crate) fn open() -> Option<Self> {
        let Ok(python) = std::env::var("QUITA_TEST_PYTHON") else {
            println!("skipped: QUITA_TEST_PYTHON is not set; scripts/test sets it");
            return None;
        };
        Some(Self { python })
    }

    /// The code of a secret, so many steps from now.
    #[track_caller]
    pub(crate) fn code(&self, secret: &str, steps: i32) -> String {
        let script = "import pyotp, sys, time; \
            print(pyotp.TOTP(sys.argv[1]).at(time.time() + 30 * int(sys.argv[2])))";
        self.run(&["-c", script, secret, &steps.to_string()])
    }

    /// The secret, the name of the account and the issuer in what a QR code holds, as an app reads them.
    #[track_caller]
    pub(crate) fn read(&self, address: &str) -> Vec<String> {
        let script = "import pyotp, sys; otp = pyotp.parse_uri(sys.argv[1]); \
            print(otp.secret, otp.name, otp.issuer, otp.digits, otp.interval, sep='\\n')";
        self.run(&["-c", script, address]).lines().map(str::to_owned).collect()
    }

    #[track_caller]
    fn run(&self, arguments: &[&str]) -> String {
        let output = Command::new(&self.python).args(arguments).output();
        let output = output
            .unwrap_or_else(|error| panic!("QUITA_TEST_PYTHON={} does not start: {error}", self.python));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "pyotp failed (is it installed? scripts/lib/test-requirements.txt): {errors}"
        );
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }
}
