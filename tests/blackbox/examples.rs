//! The programs of `examples/`, as whoever copies them runs them.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::UNIX_EPOCH;

use serde_json::json;
use tempfile::TempDir;

use crate::support::{Client, PATIENCE, Reply, Running, TestApp, TestReceiver, eventually, sign};

/// A language, and what its programs are run with.
struct Language {
    /// The folder.
    name: &'static str,
    /// The variable with the program that runs or compiles them.
    variable: &'static str,
    /// Arguments that compile them into the folder that comes last; none where they are run as they are.
    compile: &'static [&'static str],
    /// Command of one of them: arguments, in which `{port}` stands for the port to listen on, or what was compiled.
    create: &'static str,
    webhook: &'static str,
    refund: &'static str,
}

static PYTHON: Language = Language {
    name: "python",
    variable: "QUITA_TEST_PYTHON",
    compile: &[],
    create: "create.py",
    webhook: "webhook.py",
    refund: "refund.py",
};

static NODE: Language = Language {
    name: "node",
    variable: "QUITA_TEST_NODE",
    compile: &[],
    create: "create.mjs",
    webhook: "webhook.mjs",
    refund: "refund.mjs",
};

static PHP: Language = Language {
    name: "php",
    variable: "QUITA_TEST_PHP",
    compile: &[],
    create: "create.php",
    webhook: "-S 127.0.0.1:{port} webhook.php",
    refund: "refund.php",
};

static GO: Language = Language {
    name: "go",
    variable: "QUITA_TEST_GO",
    compile: &["build", "-o"],
    create: "create",
    webhook: "webhook",
    refund: "refund",
};

static LANGUAGES: [&Language; 4] = [&PYTHON, &NODE, &PHP, &GO];

/// The programs of a language, ready to be run.
struct Programs {
    language: &'static Language,
    /// Folder for what is compiled, and for what receivers print.
    folder: TempDir,
    /// Variables that they read, with their values.
    variables: Vec<(&'static str, String)>,
    /// Number of receivers that were started.
    receivers: AtomicUsize,
}

/// The receiver of webhooks, started: it listens, or has ended.
struct Receiver {
    process: Running,
    port: u16,
}

/// One of the programs, ended: its exit code, and what it printed.
struct Ended {
    code: Option<i32>,
    printed: String,
    said: String,
}

impl Language {
    /// Tool that runs or compiles the programs, or none if it is not there.
    fn tool(&self) -> Option<Command> {
        let Ok(program) = std::env::var(self.variable) else {
            println!("skipped: {} is not set; scripts/test sets it", self.variable);
            return None;
        };
        let mut command = Command::new(program);
        command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(self.name));
        // What is compiled stays out of the house, and nothing is fetched.
        command.env("PYTHONDONTWRITEBYTECODE", "1").env("GOFLAGS", "-mod=mod").env("GOPROXY", "off");
        Some(command)
    }
}

impl Programs {
    /// Those of a language that call this address, compiled where it is one that is compiled.
    // `go run` is killed alone: what it runs would be left behind.
    fn new(language: &'static Language, url: &str) -> Option<Self> {
        let mut tool = language.tool()?;
        let folder = TempDir::new().unwrap();
        if !language.compile.is_empty() {
            let output = tool.args(language.compile).arg(folder.path()).arg("./...").output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        let variables = Vec::new();
        let receivers = AtomicUsize::new(0);
        Some(Self { language, folder, variables, receivers }.with("QUITA_URL", url))
    }

    fn with(mut self, variable: &'static str, value: &str) -> Self {
        self.variables.push((variable, value.to_owned()));
        self
    }

    /// A program with these arguments, which reads no variable of the surroundings.
    fn command(&self, program: &str, more: &[&str]) -> Command {
        let mut command = if self.language.compile.is_empty() {
            let mut command = self.language.tool().unwrap();
            command.args(program.split(' '));
            command
        } else {
            Command::new(self.folder.path().join(program))
        };
        for name in ["QUITA_URL", "QUITA_KEY", "QUITA_SECRET", "PORT", "POSTBACK_URL"] {
            command.env_remove(name);
        }
        command.args(more).envs(self.variables.iter().cloned());
        command
    }

    fn create(&self, arguments: &[&str]) -> Ended {
        Ended::of(self.command(self.language.create, arguments))
    }

    fn refund(&self, arguments: &[&str]) -> Ended {
        Ended::of(self.command(self.language.refund, arguments))
    }

    fn receiver(&self, secret: Option<&str>) -> Receiver {
        let port = free_port();
        let mut command = self.command(&self.language.webhook.replace("{port}", &port.to_string()), &[]);
        command.env("PORT", port.to_string()).envs(secret.map(|secret| ("QUITA_SECRET", secret)));
        // A port that was free again would share its log with an earlier receiver.
        let number = self.receivers.fetch_add(1, Ordering::Relaxed);
        let mut process = Running::start(command, self.folder.path(), &format!("receiver-{number}"));
        eventually(PATIENCE, "the receiver listens or ends", || {
            let is_there = TcpStream::connect(("127.0.0.1", port)).is_ok();
            (is_there || process.ended().is_some()).then_some(())
        });
        Receiver { process, port }
    }
}

impl Receiver {
    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    #[track_caller]
    fn expect_listening(&mut self) {
        assert!(self.process.ended().is_none(), "{}", self.process.stderr());
    }

    /// Posts an event, signed with this secret so many seconds ago, and returns the answer's status.
    fn post(&self, secret: &str, seconds_ago: u64) -> u16 {
        let body = br#"{"event":"payment.paid","mode":"live","transactionId":"1"}"#;
        let sent_at = (UNIX_EPOCH.elapsed().unwrap().as_secs() - seconds_ago).to_string();
        let signature = sign(secret, "evt_1", &sent_at, body);
        let headers =
            [("webhook-id", "evt_1"), ("webhook-timestamp", &*sent_at), ("webhook-signature", &*signature)];
        Client::new(&self.url(), None).send("POST", "", &headers, body).status
    }
}

impl Ended {
    fn of(mut command: Command) -> Self {
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), printed: text(output.stdout), said: text(output.stderr) }
    }

    /// Checks that it ended with this code and said one line, which has this in it.
    #[track_caller]
    fn check(&self, code: i32, line: &str) {
        assert_eq!((self.code, &*self.printed), (Some(code), ""), "{}", self.said);
        assert!(
            self.said.lines().count() == 1 && self.said.contains(line),
            "no line with {line}: {}",
            self.said
        );
    }
}

fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

/// Creates, is told, and gives back, with the programs of one language alone.
fn check(language: &'static Language) {
    if language.tool().is_none() {
        return;
    }
    let app = TestApp::new();
    let Some(programs) = Programs::new(language, &app.url()) else { return };
    let mut receiver = programs.receiver(Some(&app.secret()));
    receiver.expect_listening();
    let programs = programs.with("QUITA_KEY", app.key()).with("POSTBACK_URL", &receiver.url());

    let created = programs.create(&["1001", "1000"]);
    assert_eq!((created.code, &*created.said), (Some(0), ""));
    let lines: Vec<_> = created.printed.lines().collect();
    let [(first, pending), (last, paid)] = [lines[0], lines[2]].map(|line| line.split_once(' ').unwrap());
    assert_eq!((pending, paid, first), ("pending", "paid", last), "{}", created.printed);
    assert!(lines[1].starts_with("000201"), "a BR Code: {}", lines[1]);
    let told = eventually(PATIENCE, "it is told of the payment", || {
        let printed = receiver.process.stdout();
        printed.lines().find(|line| line.contains("payment.paid")).map(str::to_owned)
    });
    assert!(told.starts_with("evt_") && told.ends_with(&format!(" test payment.paid {first}")), "{told}");

    let again = programs.create(&["1001", "1000"]);
    assert_eq!(again.printed.lines().last(), Some(lines[2]), "one order is one payment: {}", again.said);
    assert!(again.said.starts_with("Idempotency-Replayed: "), "{}", again.said);

    let refunded = programs.refund(&[first, "400"]);
    assert_eq!((refunded.code, &*refunded.said), (Some(0), ""));
    assert!(refunded.printed.ends_with(" 4.00 succeeded\n"), "{}", refunded.printed);
    let same = programs.refund(&[first, "400"]);
    assert_eq!((same.code, &same.printed), (Some(0), &refunded.printed), "{}", same.said);
    assert!(
        same.said.starts_with("Idempotency-Replayed: ") && same.said.lines().count() == 1,
        "{}",
        same.said
    );
    assert_eq!(app.client().get(&format!("/pay/payments/{first}")).json()["refundedAmount"], "4.00");
    let rest = programs.refund(&[first]);
    assert!(rest.code == Some(0) && rest.printed.ends_with(" 6.00 succeeded\n"), "{}", rest.said);

    programs.refund(&[first, "1"]).check(1, "requestId");
    check_forged(&receiver, &app.secret());
}

/// Checks that an event that Quita did not sign, or signed long ago, is refused, and its developer learns where to look.
fn check_forged(receiver: &Receiver, secret: &str) {
    let told = || {
        let said = receiver.process.stderr();
        assert!(!said.contains("v1,"), "a header is in what it says: {said}");
        said.matches("signature is bad: is QUITA_SECRET the one of this mode").count()
    };
    assert_eq!((receiver.post(secret, 0), told()), (200, 0));
    assert_eq!((receiver.post("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", 0), told()), (401, 1));
    assert_eq!((receiver.post(secret, 3_600), told()), (401, 2));
}

/// Starts receivers with what is no secret, and posts what anybody could sign to the one that starts.
fn check_needs_secret(language: &'static Language) {
    const ANYBODYS: &str = "whsec_";
    let Some(programs) = Programs::new(language, "http://127.0.0.1:1") else { return };
    for (secret, wrong) in [
        (None, "not set"),
        (Some(""), "not set"),
        (Some("\n"), "not set"),
        (Some(ANYBODYS), "no webhook secret"),
        (Some("whsec_AAAA"), "no webhook secret"),
        (Some("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="), "no webhook secret"),
        (Some("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA!"), "no webhook secret"),
        (Some("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"), "no webhook secret"),
    ] {
        let mut receiver = programs.receiver(secret);
        match receiver.process.ended() {
            Some(status) => assert_eq!(status.code(), Some(2), "{}: {secret:?}", language.name),
            // PHP runs the program at each request.
            None => assert_eq!(receiver.post(ANYBODYS, 0), 500, "{}: {secret:?}", language.name),
        }
        let said = receiver.process.stderr();
        let line = format!("QUITA_SECRET is {wrong}; it is what `quita secrets show --merchant …` prints\n");
        assert_eq!(said.matches(&line).count(), 1, "{}: {secret:?}: {said}", language.name);
        assert!(!said.contains("Traceback"), "{}: {secret:?}: {said}", language.name);
        assert!(!receiver.process.stdout().contains("payment.paid"), "{}: {secret:?}", language.name);
    }
}

/// Starts a receiver with what `quita secrets show` prints after a rotation, the newest first.
fn check_takes_newest(language: &'static Language) {
    let Some(programs) = Programs::new(language, "http://127.0.0.1:1") else { return };
    let newest = "whsec_NEWESTNEWESTNEWESTNEWESTNEWESTNE";
    let older = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let mut receiver = programs.receiver(Some(&format!("{newest}\n{older}")));
    receiver.expect_listening();
    assert_eq!([newest, older, "whsec_"].map(|secret| receiver.post(secret, 0)), [200, 401, 401]);
}

/// A service that answers as Quita does to a test key whose request has names without meaning.
fn quita_that_ignores() -> (TestReceiver, String) {
    let quita = TestReceiver::start();
    let url = quita.url().trim_end_matches("/webhooks").to_owned();
    quita.answer_with(|request| {
        let answer = if request.path.ends_with("/refunds") {
            json!({"refundId": "r", "amount": "10.50", "status": "succeeded"})
        } else {
            json!({"transactionId": "t", "status": "paid", "pix": {"code": "000201"}})
        };
        Reply::status(201).header("quita-ignored", "colour, size").body(&answer.to_string())
    });
    (quita, url)
}

/// Calls with what is no amount of whole cents, which is never sent, and then with one that is.
fn check_amounts(language: &'static Language) {
    let (quita, url) = quita_that_ignores();
    let Some(programs) = Programs::new(language, &url) else { return };
    let programs = programs.with("QUITA_KEY", "qk_test_1");
    for amount in ["10,50", "100.50", ""] {
        programs.create(&["1001", amount]).check(2, "is no amount in whole cents");
    }
    for amount in "|0|10,50|100.50|-1|1e3|0x10| 100|100\n|10000000000|١٠".split('|') {
        programs.refund(&["t", amount]).check(2, "is no amount in whole cents");
    }
    assert!(quita.received().is_empty(), "{:?}", quita.received());
    assert_eq!(programs.create(&["1001", "1050"]).code, Some(0));
    assert_eq!(programs.refund(&["t", "9999999999"]).code, Some(0));
    let received = quita.received();
    let sent: Vec<_> = received.iter().map(|request| request.json()["amount"].clone()).collect();
    assert_eq!(sent, [json!(1_050), json!(9_999_999_999_u64)]);
}

/// Prints what the service ignored.
fn check_ignored(language: &'static Language) {
    let (_quita, url) = quita_that_ignores();
    let Some(programs) = Programs::new(language, &url) else { return };
    let programs = programs.with("QUITA_KEY", "qk_test_1");
    for ended in [programs.create(&["1001", "1050"]), programs.refund(&["t", "1050"])] {
        assert_eq!((ended.code, &*ended.said), (Some(0), "Quita-Ignored: colour, size\n"));
    }
}

/// Calls with too little, too much, without a key, and a service that is not there or is another one.
fn check_wrong_usage(language: &'static Language) {
    let quita = TestReceiver::start();
    quita.answer_with(|_| Reply::status(502).body("<html>Bad Gateway</html>"));
    let Some(programs) = Programs::new(language, quita.url().trim_end_matches("/webhooks")) else { return };
    programs.create(&["1001", "1000"]).check(2, "QUITA_KEY is not set");
    programs.refund(&["t"]).check(2, "QUITA_KEY is not set");
    let programs = programs.with("QUITA_KEY", "qk_test_1");
    for arguments in [&[][..], &["1001"], &["", "1000"], &["1001", "10", "50"]] {
        programs.create(arguments).check(2, "usage: ");
    }
    for arguments in [&[][..], &[""], &["t", "10", "50"]] {
        programs.refund(arguments).check(2, "usage: ");
    }
    assert!(quita.received().is_empty(), "{:?}", quita.received());
    programs.create(&["1001", "1000"]).check(1, "no answer of Quita's from http://127.0.0.1:");
    let nobody = format!("http://127.0.0.1:{}", free_port());
    let programs = programs.with("QUITA_URL", &nobody);
    for ended in [programs.create(&["1001", "1000"]), programs.refund(&["t"])] {
        ended.check(1, &format!("no answer of Quita's from {nobody}: "));
    }
}

#[test]
fn the_examples_in_python_create_are_told_and_refund() {
    check(&PYTHON);
}

#[test]
fn the_examples_in_node_create_are_told_and_refund() {
    check(&NODE);
}

#[test]
fn the_examples_in_php_create_are_told_and_refund() {
    check(&PHP);
}

#[test]
fn the_examples_in_go_create_are_told_and_refund() {
    check(&GO);
}

#[test]
fn no_receiver_takes_a_forged_event_for_want_of_a_secret() {
    LANGUAGES.into_iter().for_each(check_needs_secret);
}

#[test]
fn a_receiver_takes_the_newest_of_several_secrets() {
    LANGUAGES.into_iter().for_each(check_takes_newest);
}

#[test]
fn an_amount_that_is_no_whole_cents_is_refused_and_never_sent() {
    LANGUAGES.into_iter().for_each(check_amounts);
}

#[test]
fn names_that_the_service_ignored_are_printed() {
    LANGUAGES.into_iter().for_each(check_ignored);
}

#[test]
fn wrong_usage_and_a_service_that_is_not_there_are_one_line() {
    LANGUAGES.into_iter().for_each(check_wrong_usage);
}
