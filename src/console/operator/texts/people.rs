//! Texts about operators as people.

use crate::console::kit::texts::group;

group! {
    /// Operators, their roles, and how the first one gets in.
    OperatorPeople {
        lead: "Quem entra neste console, e o que pode fazer.", "Who gets into this console, and what they may do.";
        role: "Papel", "Role";
        role_operator: "Operador", "Operator";
        role_auditor: "Auditor", "Auditor";
        operator_may: "Tudo, inclusive pessoas.", "Everything, people included.";
        auditor_may: "Só olhar, inclusive a auditoria.", "Look only, audit log included.";
        you: "você", "you";
        since: "Desde", "Since";
        factor: "Segundo fator", "Second factor";
        factor_on: "Ativo", "On";
        factor_off: "Não", "Off";
        add: "Nova pessoa", "New person";
        add_button: "Criar", "Create";
        change_role: "Mudar papel", "Change role";
        reset_password: "Nova senha", "New password";
        reset_factor: "Tirar segundo fator", "Remove second factor";
        remove: "Remover", "Remove";
        remove_question: "Remover {login}?", "Remove {login}?";
        remove_sentence: "As sessões terminam agora.", "Their sessions end now.";
        reset_question: "Dar uma senha nova a {login}?", "Give {login} a new password?";
        reset_sentence: "A senha atual deixa de valer e as sessões terminam agora. A nova é trocada na primeira entrada.",
            "The current password stops working and their sessions end now. The new one is changed at the first sign-in.";
        reset_factor_question: "Tirar o segundo fator de {login}?", "Remove the second factor of {login}?";
        reset_factor_sentence: "Para quem perdeu o telefone e os códigos. A pessoa entra só com a senha, até cadastrar outro. As sessões terminam agora.",
            "For who lost phone and codes. They get in with the password alone until they set up another. Their sessions end now.";
        password_for: "Senha de {login}", "Password of {login}";
        password_shown_once: "Copie agora: ela não aparece de novo. Ela é trocada na primeira entrada.",
            "Copy it now: it is not shown again. It is changed at the first sign-in.";
        not_an_email: "Este e-mail não é válido.", "This is not an e-mail address.";
        not_yourself: "O próprio papel não se muda, nem se remove a própria conta: peça a outro operador.",
            "Nobody changes the own role or removes the own account: ask another operator.";
        removed: "Pessoa removida.", "Person removed.";
        role_changed: "Papel mudado.", "Role changed.";
        factor_removed: "Segundo fator removido.", "Second factor removed.";
        first_title: "O primeiro operador", "The first operator";
        first_lead: "Ninguém opera este serviço ainda. Com a senha da configuração se cria o primeiro operador; depois disso ela não abre mais nada.",
            "Nobody operates this service yet. The password of the configuration makes the first operator; after that it opens nothing.";
        first_setup_password: "Senha da configuração (QUITA_OPERATOR_PASSWORD)", "Password of the configuration (QUITA_OPERATOR_PASSWORD)";
        first_email: "Seu e-mail", "Your e-mail";
        first_password: "Sua senha", "Your password";
        first_password_hint: "De 15 a 256 caracteres; uma frase serve bem.", "15 to 256 characters; a sentence serves well.";
        first_button: "Criar e entrar", "Create and sign in";
        first_failed: "A senha da configuração não confere.", "The password of the configuration is wrong.";
        first_is_there: "Já existe um operador: a senha da configuração não abre mais nada. Entre com e-mail e senha.",
            "There is an operator already: the password of the configuration opens nothing any more. Sign in with e-mail and password.";
    }
}
