//! Texts about operators as people.

use crate::console::kit::texts::group;

group! {
    /// Operators, their roles, and the creation of the first one.
    OperatorPeople {
        role_operator: "Operador", "Operator";
        role_auditor: "Auditor", "Auditor";
        operator_may: "Tudo, inclusive pessoas.", "Everything, including people.";
        auditor_may: "Só olhar, inclusive a auditoria.", "Read only, including the audit log.";
        remove_sentence: "As sessões terminam agora.", "Their sessions end now.";
        not_yourself: "O próprio papel não se muda, nem se remove a própria conta: peça a outro operador.",
            "You can't change your own role or remove your own account: ask another operator.";
        factor_is_required: "Quem opera este serviço precisa da verificação em duas etapas.", "Operators of this service need a second factor.";
        first_title: "O primeiro operador", "The first operator";
        first_lead: "Ninguém opera este serviço ainda. Com a senha da configuração se cria o primeiro operador; depois disso ela não abre mais nada.",
            "This service has no operator yet. The configured password creates the first one; after that it no longer works.";
        first_setup_password: "Senha da configuração (QUITA_OPERATOR_PASSWORD)",
            "Configured password (QUITA_OPERATOR_PASSWORD)";
        first_email: "Seu e-mail", "Your e-mail";
        first_password: "Sua senha", "Your password";
        first_password_hint: "De 15 a 256 caracteres; uma frase serve bem.", "15 to 256 characters; a sentence works well.";
        first_button: "Criar e entrar", "Create and sign in";
        first_failed: "A senha da configuração não confere.", "This is not the configured password.";
        first_is_there: "Já existe um operador: a senha da configuração não abre mais nada. Entre com e-mail e senha.",
            "An operator already exists, so the configured password no longer works. Sign in with your e-mail address \
            and password.";
    }
}
