//! Accounts that nobody uses.

use quita_domain::audit::{AuditAction, AuditScope};
use quita_domain::people::{Operator, OperatorRole};
use quita_domain::time::DAY_MS;
use quita_ports::AuditStore;

use super::*;
use crate::audit::{Audit, Initiator};

async fn job(office: &Office) -> InactiveAccounts {
    let strongbox = strongbox(&office.store, &[KEY]);
    let audit = Audit::open(office.store.clone(), &strongbox, office.clock.clone()).await.unwrap();
    let node = Initiator::service("127.0.0.1:8080");
    let clock: Arc<dyn Clock> = office.clock.clone();
    InactiveAccounts::new(office.store.clone(), clock, audit, node)
}

async fn disabled(office: &Office) -> Vec<String> {
    let entries = office.store.audit(&AuditScope::Everything, None, 100).await.unwrap();
    let disabling = entries.into_iter().filter(|entry| entry.action == AuditAction::AccountDisabled);
    disabling.map(|entry| entry.person.unwrap().subject).collect()
}

#[tokio::test]
async fn an_account_that_nobody_used_for_ninety_days_is_disabled_until_it_gets_a_new_password() {
    let office = office();
    let job = job(&office).await;
    let used = office.create("loja", "ana@loja.example", Role::Owner).await;
    let unused = office.create("loja", "bia@loja.example", Role::Viewer).await;
    let eva = login("eva@quita.example");
    let role = OperatorRole::Operator;
    let operator = office.people.create_operator(eva.clone(), role).await.unwrap();
    office.pass(89 * DAY_MS);
    job.look().await.unwrap();
    assert!(disabled(&office).await.is_empty());
    office.sign_in("ana@loja.example", &used).await.unwrap();
    office.pass(DAY_MS);
    job.look().await.unwrap();
    job.look().await.unwrap();
    let mut subjects = disabled(&office).await;
    subjects.sort_unstable();
    assert_eq!(subjects, ["bia@loja.example", "eva@quita.example"], "once each");
    assert!(office.sign_in("ana@loja.example", &used).await.is_some());
    let people = &office.people;
    let bia = login("bia@loja.example");
    let refused = people.sign_in::<User>(Some(&bia), &unused, origin()).await;
    assert!(matches!(refused, Err(PeopleError::Disabled)));
    let wrong = Secret::new("not the password".to_owned());
    assert!(people.sign_in::<User>(Some(&bia), &wrong, origin()).await.unwrap().is_none(), "nothing is told");
    let refused = people.sign_in::<Operator>(Some(&eva), &operator, origin()).await;
    assert!(matches!(refused, Err(PeopleError::Disabled)), "the last operator too");
    let password = people.reset_password(&merchant("loja"), &bia).await.unwrap();
    assert!(office.sign_in("bia@loja.example", &password).await.is_some());
    let password = people.reset_operator_password(&eva).await.unwrap();
    assert!(people.sign_in::<Operator>(Some(&eva), &password, origin()).await.unwrap().is_some());
    office.pass(89 * DAY_MS);
    job.look().await.unwrap();
    assert_eq!(disabled(&office).await.len(), 2);
}

#[tokio::test]
async fn an_account_of_an_earlier_version_begins_to_count_when_it_is_seen() {
    let office = office();
    let job = job(&office).await;
    let password = office.create("loja", "ana@loja.example", Role::Owner).await;
    let known = office.people.find(&login("ana@loja.example")).await.unwrap();
    let mut earlier = known.clone();
    earlier.credentials.active_at = None;
    assert!(office.store.replace_user(&known, &earlier).await.unwrap());
    office.pass(400 * DAY_MS);
    job.look().await.unwrap();
    assert!(office.sign_in("ana@loja.example", &password).await.is_some());
    office.pass(90 * DAY_MS);
    job.look().await.unwrap();
    assert_eq!(disabled(&office).await, ["ana@loja.example"]);
}

#[tokio::test]
async fn not_every_sign_in_is_one_more_write_but_the_first_one_is() {
    let office = office();
    let password = office.create("loja", "ana@loja.example", Role::Owner).await;
    let ana = async || office.people.find(&login("ana@loja.example")).await.unwrap();
    let used = async || ana().await.credentials.active_at;
    let created = used().await;
    assert_eq!((created, ana().await.is_never_used()), (Some(office.clock.now()), true));
    office.pass(1);
    office.sign_in("ana@loja.example", &password).await.unwrap();
    let first = used().await;
    assert_eq!((first, ana().await.is_never_used()), (Some(office.clock.now()), false));
    office.pass(DAY_MS - 1);
    office.sign_in("ana@loja.example", &password).await.unwrap();
    assert_eq!(used().await, first);
    office.pass(1);
    office.sign_in("ana@loja.example", &password).await.unwrap();
    assert_eq!(used().await, Some(office.clock.now()));
}

#[tokio::test]
async fn an_account_is_never_used_until_its_first_sign_in_whoever_knows_its_password() {
    let office = office();
    let people = &office.people;
    let is_never_used = async |email| people.find(&login(email)).await.unwrap().is_never_used();
    let own = people.create_own(merchant("loja"), login("demo@loja.example"), Role::Owner).await.unwrap();
    assert!(is_never_used("demo@loja.example").await);
    office.pass(1);
    office.sign_in("demo@loja.example", &own).await.unwrap();
    assert!(!is_never_used("demo@loja.example").await, "although the password need not be changed yet");
    let eva = login("eva@quita.example");
    let password = people.create_operator(eva.clone(), OperatorRole::Operator).await.unwrap();
    let operator = async || people.operators().await.unwrap().remove(0);
    assert!(operator().await.is_never_used());
    office.pass(1);
    people.sign_in::<Operator>(Some(&eva), &password, origin()).await.unwrap().unwrap();
    assert!(!operator().await.is_never_used());
}

#[tokio::test]
async fn who_changed_the_first_password_on_the_day_of_the_creation_has_used_the_account() {
    let office = office();
    office.create("loja", "ana@loja.example", Role::Owner).await;
    let mut ana = office.people.find(&login("ana@loja.example")).await.unwrap();
    assert!(ana.is_never_used());
    // An earlier version did not record such a sign-in.
    ana.credentials.must_change_password = false;
    assert!(!ana.is_never_used());
    ana.credentials.active_at = None;
    assert!(!ana.is_never_used(), "nothing is known of it");
}
