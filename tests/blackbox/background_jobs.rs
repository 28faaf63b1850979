//! Background jobs: an operator sees each, and runs one at once.

use crate::support::{PATIENCE, TestApp, Visitor, eventually};

/// The cells of a job's row, without their markup.
fn row(page: &str, name: &str) -> String {
    let row = page.split("<tr>").find(|row| row.contains(&format!("<code class=\"sub\">{name}</code>")));
    row.unwrap_or_else(|| panic!("no job {name}: {page}")).to_owned()
}

fn runs(page: &str, name: &str) -> u64 {
    let row = row(page, name);
    let (_, cell) = row.split_once("data-label=\"Runs\" class=\"number\">").unwrap();
    cell.split('<').next().unwrap().replace(',', "").parse().unwrap()
}

#[test]
fn an_operator_sees_when_each_job_ran_and_runs_one_at_once() {
    let app = TestApp::builder().start();
    let operator = Visitor::operator(&app);
    let page = eventually(PATIENCE, "the keys that end soon are counted", || {
        Some(operator.page("/jobs")).filter(|page| runs(page, "ending-keys") == 1)
    });
    assert!(page.contains("<code class=\"sub\">inactive-accounts</code>"), "{page}");
    for name in ["store-probe", "last-uses", "certificates", "sealing", "current-secret-key"] {
        assert!(row(&page, name).contains("<time "), "{page}");
    }
    assert!(!page.contains(">retention<"), "nothing is erased by itself here: {page}");
    assert!(operator.page("/jobs/ending-keys").contains("Run now?"));
    assert_eq!(operator.post("/jobs/ending-keys", &[]).status, 303);
    // Otherwise it runs once a minute.
    eventually(PATIENCE, "it ran again", || {
        (runs(&operator.page("/jobs"), "ending-keys") == 2).then_some(())
    });
    assert!(operator.page("/audit").contains("ran the job"));
    assert_eq!(operator.get("/jobs/retention").status, 404);
    assert!(operator.page("/actors").contains("href=\"/jobs\""));
}

#[test]
fn a_job_that_the_configuration_asks_for_is_there() {
    let app = TestApp::builder().arg("--retain-personal-data", "5y").start();
    let operator = Visitor::operator(&app);
    assert_eq!(operator.post("/jobs/retention", &[]).status, 303);
    let page = eventually(PATIENCE, "payers are looked for", || {
        Some(operator.page("/jobs")).filter(|page| runs(page, "retention") > 0)
    });
    assert!(row(&page, "retention").contains(">Done<"), "{page}");
}
