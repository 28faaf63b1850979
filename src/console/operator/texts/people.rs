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
        code_title: "Segundo fator", "Second factor";
        code_lead: "Digite o código do seu aplicativo, ou um código de recuperação.", "Enter the code of your app, or a recovery code.";
        code: "Código", "Code";
        code_failed: "O código está errado ou já foi usado.", "The code is wrong, or was used before.";
        new_password_title: "Escolha sua senha", "Choose your password";
        new_password_lead: "Outra pessoa fez a senha com que você entrou. Escolha a sua para continuar.",
            "Somebody else made the password that you signed in with. Choose your own to go on.";
        new_password: "Senha nova", "New password";
        current_password: "Senha atual", "Current password";
        change_password: "Mudar senha", "Change password";
        password_hint: "De 15 a 256 caracteres; uma frase serve bem. Suas outras sessões terminam.",
            "15 to 256 characters; a sentence serves well. Your other sessions end.";
        password_changed: "Senha mudada. Suas outras sessões terminaram.", "Password changed. Your other sessions have ended.";
        factor_sentence: "Um código de um aplicativo autenticador, além da senha.", "A code of an authenticator app, besides the password.";
        factor_since: "Desde {time}; códigos de recuperação restantes: {left}.", "Since {time}; recovery codes left: {left}.";
        set_up_factor: "Ativar", "Set up";
        set_up_title: "Ativar o segundo fator", "Set up the second factor";
        set_up_lead: "Leia o código QR com um aplicativo autenticador, ou digite a chave nele. Depois digite o código que ele mostra.",
            "Read the QR code with an authenticator app, or type the key there. Then enter the code that it shows.";
        factor_key: "Chave", "Key";
        recovery_title: "Códigos de recuperação", "Recovery codes";
        recovery_lead: "Guarde-os agora, fora do telefone: não aparecem de novo. Cada um entra uma vez no lugar do código.",
            "Keep them now, not on the phone: they are not shown again. Each gets you in once in place of a code.";
        renew_codes: "Novos códigos", "New codes";
        prove: "Código do aplicativo ou de recuperação", "Code of the app, or a recovery code";
        factor_is_on: "O segundo fator já está ativo.", "The second factor is on already.";
        sessions: "Suas sessões", "Your sessions";
        session_here: "esta", "this one";
        session_began: "Começou", "Began";
        session_seen: "Último uso", "Last used";
        session_from: "De onde", "From";
        end_session: "Encerrar", "End";
        end_others: "Encerrar as outras", "End the others";
        sessions_ended: "Sessões encerradas.", "Sessions ended.";
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
