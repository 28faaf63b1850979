//! Passwords that have to be changed, and factors that are required.

use quita_domain::people::{MerchantPolicy, Operator, OperatorRole};
use quita_domain::time::DAY_MS;

use super::*;

#[tokio::test]
async fn a_password_that_was_made_for_its_own_user_is_changed_within_a_day() {
    let office = office();
    let ana = login("ana@loja.example");
    let password = office.people.create_own(merchant("loja"), ana.clone(), Role::Owner).await.unwrap();
    let duty = async || {
        let user = office.people.user(&merchant("loja"), &ana).await.unwrap();
        office.people.duty(&user).await.unwrap()
    };
    office.pass(DAY_MS - 1);
    assert_eq!(duty().await, None);
    office.pass(1);
    assert_eq!(duty().await, Some(Duty::ChangePassword));
    let token = office.sign_in("ana@loja.example", &password).await.unwrap().token;
    let signed = office.signed(&token).await;
    let own = Secret::new(String::from("um barco verde na janela dela"));
    office.people.replace_given_password(&signed, &own).await.unwrap();
    office.pass(DAY_MS * 30);
    assert_eq!(duty().await, None, "an own one stays");
    office.people.reset_password(&merchant("loja"), &ana).await.unwrap();
    assert_eq!(duty().await, Some(Duty::ChangePassword), "another's is changed at once");
}

#[tokio::test]
async fn none_of_the_last_four_passwords_is_taken_again() {
    let office = office();
    let given = office.create("loja", "ana@loja.example", Role::Owner).await;
    let own: Vec<_> = ["azuis", "verdes", "antigos", "velozes"]
        .iter()
        .map(|which| Secret::new(format!("sete barcos {which} no quintal")))
        .collect();
    let mut current = given.clone();
    let mut change = async |new: &Secret<String>| {
        let token = office.sign_in("ana@loja.example", &current).await.unwrap().token;
        let signed = office.signed(&token).await;
        let changed = office.people.change_password(&signed, &current, new).await.map(drop);
        if changed.is_ok() {
            current = new.clone();
        }
        changed
    };
    for password in &own {
        change(password).await.unwrap();
    }
    for used in &own {
        let again = change(used).await;
        assert!(matches!(again, Err(PeopleError::SamePassword)), "{again:?}");
    }
    change(&given).await.unwrap();
    change(&own[0]).await.unwrap();
}

#[tokio::test]
async fn operators_change_a_given_password_before_they_set_a_second_factor_up() {
    let office = office();
    let ana = login("ana@quita.example");
    office.people.create_operator(ana.clone(), OperatorRole::Auditor).await.unwrap();
    let operator = async || office.people.find_someone::<Operator>(&ana).await.unwrap();
    let duty = |operator: &Operator, needs| office.people.duty_of_operator(operator, needs);
    let given = operator().await;
    assert_eq!([true, false].map(|needs| duty(&given, needs)), [Some(Duty::ChangePassword); 2]);
    let mut own = given.clone();
    own.credentials.must_change_password = false;
    assert_eq!([true, false].map(|needs| duty(&own, needs)), [Some(Duty::SetUpFactor), None]);
    let secret = office.factors.propose().unwrap();
    office.factors.set_up(&given, &secret, &office.code(&secret)).await.unwrap();
    own.credentials.second_factor = operator().await.credentials.second_factor;
    assert_eq!([true, false].map(|needs| duty(&own, needs)), [None; 2]);
}

#[tokio::test]
async fn users_change_a_given_password_before_they_set_a_required_factor_up() {
    let office = office();
    let ana = login("ana@loja.example");
    office.people.create_own(merchant("loja"), ana.clone(), Role::Owner).await.unwrap();
    let policy = MerchantPolicy { second_factor_required: true, ..MerchantPolicy::default() };
    office.people.set_policy(&merchant("loja"), &policy).await.unwrap();
    let duty = async || {
        let user = office.people.user(&merchant("loja"), &ana).await.unwrap();
        office.people.duty(&user).await.unwrap()
    };
    assert_eq!(duty().await, Some(Duty::SetUpFactor), "the password is its user's own");
    let given = office.people.reset_password(&merchant("loja"), &ana).await.unwrap();
    assert_eq!(duty().await, Some(Duty::ChangePassword), "whoever made it could set the factor up");
    let token = office.sign_in("ana@loja.example", &given).await.unwrap().token;
    let own = Secret::new(String::from("um barco verde na janela dela"));
    office.people.replace_given_password(&office.signed(&token).await, &own).await.unwrap();
    assert_eq!(duty().await, Some(Duty::SetUpFactor));
}
