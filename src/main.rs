//! temp
fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let mut flags: Vec<(&'static str, String)> = Vec::new();
    let args: Vec<String> = std::env::args().skip(2).collect();
    for pair in args.chunks(2) {
        let name = match pair[0].as_str() {
            "--listen" => "listen",
            "--ops-listen" => "ops-listen",
            "--store" => "store",
            _ => "x",
        };
        flags.push((name, pair[1].clone()));
    }
    let settings = quita::config::settings::Settings::gather(flags, std::env::vars_os());
    let config = quita::config::Config::from_settings(settings).map_err(|e| anyhow::anyhow!("{e}"))?;
    actix_web::rt::System::new().block_on(quita::serve::run(config))
}
