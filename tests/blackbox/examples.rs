//! The programs of `examples/`, as whoever copies them runs them.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Client, PATIENCE, Running, TestApp, eventually, pix, sign};

/// A language, and what its programs are run with.
struct Language {
    /// The folder.
    name: &'static str,
    /// The variable with the program that runs or compiles them.
    variable: &'static str,
    /// Arguments that compile them into the folder that comes last; none where they are run as they are.
    compile: &'static [&'static str],
    /// Arguments that run one of them; `{port}` stands for the port to listen on. A compiled one stands first.
    create: &'static [&'static str],
    webhook: &'static [&'static str],
    refund: &'static [&'static str],
}

/// One of the programs, ended: what it printed, and whether it succeeded.
struct Ended {
    is_success: bool,
    printed: String,
    said: String,
}

impl Language {
    fn folder(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(self.name)
    }

    /// Tool that runs or compiles the programs, or none if it is not there.
    fn tool(&self) -> Option<Command> {
        let Ok(program) = std::env::var(self.variable) else {
            println!("skipped: {} is not set; scripts/test sets it", self.variable);
            return None;
        };
        let mut command = Command::new(program);
        command.current_dir(self.folder());
        // What is compiled stays out of the house, and nothing is fetched.
        command.env("PYTHONDONTWRITEBYTECODE", "1").env("GOFLAGS", "-mod=mod").env("GOPROXY", "off");
        Some(command)
    }

    fn compiled(app: &TestApp) -> PathBuf {
        app.directory().join("compiled")
    }

    /// Compiles the programs, where the language is one that is compiled.
    // `go run` is killed alone: what it runs would be left behind.
    fn compile(&self, app: &TestApp) {
        if self.compile.is_empty() {
            return;
        }
        let folder = Self::compiled(app);
        std::fs::create_dir(&folder).unwrap();
        let output = self.tool().unwrap().args(self.compile).arg(folder).arg("./...").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// A program with these arguments.
    fn command(&self, app: &TestApp, arguments: &[&str], more: &[&str], port: u16) -> Command {
        let mut command = self.tool().unwrap();
        let mut arguments = arguments.iter().map(|one| one.replace("{port}", &port.to_string()));
        if !self.compile.is_empty() {
            command = Command::new(Self::compiled(app).join(arguments.next().unwrap()));
        }
        command.args(arguments).args(more);
        command.env("QUITA_URL", app.url()).env("QUITA_KEY", app.key()).env("QUITA_SECRET", app.secret());
        command.env("PORT", port.to_string()).env("POSTBACK_URL", format!("http://127.0.0.1:{port}/"));
        command
    }

    /// Runs a program to its end.
    fn run(&self, app: &TestApp, arguments: &[&str], more: &[&str], port: u16) -> Ended {
        let output = self.command(app, arguments, more, port).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let (printed, said) = (text(output.stdout), text(output.stderr));
        Ended { is_success: output.status.success(), printed, said }
    }
}

fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

/// Creates, is told, and gives back, with the programs of one language alone.
fn check(language: &Language) {
    if language.tool().is_none() {
        return;
    }
    let (app, port) = (TestApp::new(), free_port());
    language.compile(&app);
    let command = language.command(&app, language.webhook, &[], port);
    let mut receiver = Running::start(command, app.directory(), language.name);
    eventually(PATIENCE, "the receiver listens", || {
        assert!(receiver.ended().is_none(), "{}", receiver.stderr());
        std::net::TcpStream::connect(("127.0.0.1", port)).ok()
    });

    let created = language.run(&app, language.create, &["1001", "1000"], port);
    assert!(created.is_success, "{}", created.said);
    let lines: Vec<_> = created.printed.lines().collect();
    let [(first, pending), (last, paid)] = [lines[0], lines[2]].map(|line| line.split_once(' ').unwrap());
    assert_eq!((pending, paid, first), ("pending", "paid", last), "{}", created.printed);
    assert!(lines[1].starts_with("000201"), "a BR Code: {}", lines[1]);
    let told = eventually(PATIENCE, "it is told of the payment", || {
        let printed = receiver.stdout();
        printed.lines().find(|line| line.contains("payment.paid")).map(str::to_owned)
    });
    assert!(told.starts_with("evt_") && told.ends_with(&format!(" test payment.paid {first}")), "{told}");

    let again = language.run(&app, language.create, &["1001", "1000"], port);
    assert_eq!(again.printed.lines().last(), Some(lines[2]), "one order is one payment: {}", again.said);

    let refunded = language.run(&app, language.refund, &[first, "400"], port);
    let outcome = refunded.printed.trim_end();
    assert!(refunded.is_success && outcome.ends_with(" 4.00 succeeded"), "{outcome}{}", refunded.said);
    let rest = language.run(&app, language.refund, &[first], port);
    assert!(rest.is_success && rest.printed.trim_end().ends_with(" 6.00 succeeded"), "{}", rest.said);

    let refused = language.run(&app, language.refund, &[first, "1"], port);
    assert!(!refused.is_success && refused.said.contains("requestId"), "{}", refused.said);
    check_forged(&app, port);
}

/// What Quita did not sign, or signed long ago, is refused.
fn check_forged(app: &TestApp, port: u16) {
    let body = br#"{"event":"payment.paid","mode":"live","transactionId":"1"}"#;
    let created = app.client().create(&pix(10_000))["createdAt"].as_str().unwrap().to_owned();
    let now = chrono::DateTime::parse_from_rfc3339(&created).unwrap().timestamp();
    let send = |sent_at: i64, secret: &str| {
        let sent_at = sent_at.to_string();
        let signature = sign(secret, "evt_1", &sent_at, body);
        let headers =
            [("webhook-id", "evt_1"), ("webhook-timestamp", &*sent_at), ("webhook-signature", &*signature)];
        let receiver = Client::new(&format!("http://127.0.0.1:{port}"), None);
        receiver.send("POST", "/", &headers, body).status
    };
    assert_eq!(send(now, &app.secret()), 200);
    assert_eq!(send(now, "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"), 401);
    assert_eq!(send(now - 3_600, &app.secret()), 401);
}

#[test]
fn the_examples_in_python_create_are_told_and_refund() {
    check(&Language {
        name: "python",
        variable: "QUITA_TEST_PYTHON",
        compile: &[],
        create: &["create.py"],
        webhook: &["webhook.py"],
        refund: &["refund.py"],
    });
}

#[test]
fn the_examples_in_node_create_are_told_and_refund() {
    check(&Language {
        name: "node",
        variable: "QUITA_TEST_NODE",
        compile: &[],
        create: &["create.mjs"],
        webhook: &["webhook.mjs"],
        refund: &["refund.mjs"],
    });
}

#[test]
fn the_examples_in_php_create_are_told_and_refund() {
    check(&Language {
        name: "php",
        variable: "QUITA_TEST_PHP",
        compile: &[],
        create: &["create.php"],
        webhook: &["-S", "127.0.0.1:{port}", "webhook.php"],
        refund: &["refund.php"],
    });
}

#[test]
fn the_examples_in_go_create_are_told_and_refund() {
    check(&Language {
        name: "go",
        variable: "QUITA_TEST_GO",
        compile: &["build", "-o"],
        create: &["create"],
        webhook: &["webhook"],
        refund: &["refund"],
    });
}
