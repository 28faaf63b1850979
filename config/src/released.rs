//! Configurations of released versions, which later versions take as they are.
//!
//! `complete.toml` has every option and key of this version. `scripts/golden --release` keeps it as
//! `tests/golden/configuration-V.toml`.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::acquirer::provider_tests::write_pair;
use crate::settings::Settings;
use crate::{Config, option};

fn golden() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("configuration-")).collect()
}

fn complete() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/complete.toml")
}

/// Reads a configuration with the files beside it that it names.
fn read(file: &Path) -> Config {
    let folder = TempDir::new().unwrap();
    write_pair(folder.path(), "client", 2099);
    for (name, text) in [
        ("any.secret", "0123456789abcdef0123456789abcdef"),
        ("forty.secret", "0123456789abcdef0123456789abcdef01234567"),
        ("whsec.secret", "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    // Paths outside of acquirers' tables begin at the working directory.
    let service = folder.path().join("service.secret");
    fs::write(&service, "0123456789abcdef0123456789abcdef").unwrap();
    let text = fs::read_to_string(file).unwrap().replace("service.secret", service.to_str().unwrap());
    let copy = folder.path().join("quita.toml");
    fs::write(&copy, text).unwrap();
    let settings = Settings::gather(vec![("config", copy.to_str().unwrap().to_owned())], std::iter::empty());
    Config::from_settings(settings).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

#[test]
fn what_a_released_version_takes_is_taken() {
    let released = golden();
    assert!(!released.is_empty());
    for file in released.iter().chain([&complete()]) {
        let config = read(file);
        assert_eq!(config.warnings, Vec::<String>::new(), "{}", file.display());
    }
}

#[test]
fn the_complete_configuration_has_every_option_that_a_file_may_have() {
    let text = fs::read_to_string(complete()).unwrap();
    let missing = option::OPTIONS.iter().map(|option| option.name).filter(|name| {
        !text.lines().any(|line| line.starts_with(&format!("{name} = ")) || line == format!("[[{name}]]"))
    });
    let only_elsewhere = ["mail-password", "operator-password", "secret-key"];
    assert_eq!(missing.collect::<Vec<_>>(), only_elsewhere);
}
