//! Texts about failures: why a page is not shown.

use super::group;

group! {
    /// Headings and sentences of failures.
    Failures {
        signed_out: "Entre de novo", "Sign in again";
        forbidden: "Seu papel não permite isso", "Your role does not permit this";
        forbidden_sentence: "Peça a quem é dono da conta.", "Ask an owner of the account.";
        foreign_form: "Este formulário não vale mais", "This form is no longer valid";
        foreign_form_sentence: "A sessão mudou, ou o pedido veio de outro site. Nada foi alterado: volte, recarregue a página e tente de novo.",
            "The session has changed, or another site sent this. Nothing was changed: go back, reload the page and try again.";
        unreadable: "Algo não foi entendido", "The input could not be read";
        holds_card_number: "Um dos textos tem o que parece um número de cartão, e isso nunca se guarda aqui: apague-o do texto.",
            "One of the texts contains what looks like a card number. Card numbers are never stored here: remove it.";
        too_large: "O formulário é grande demais.", "The form is too large.";
        too_slow: "O formulário não chegou a tempo", "The form did not arrive in time";
        too_slow_sentence: "Nada foi alterado: tente de novo.", "Nothing was changed: try again.";
        not_found: "Não há nada aqui", "There is nothing here";
        not_found_sentence: "O endereço está errado, ou o que havia nele não é da sua conta.",
            "The address is wrong, or the page belongs to another account.";
        wrong_method: "Isso não se faz neste endereço", "This page does not accept that";
        wrong_method_sentence: "A página existe, mas não aceita este tipo de pedido.",
            "The page exists, but does not accept this kind of request.";
        refused: "Isso não é possível agora", "This is not possible now";
        too_many: "Pedidos demais", "Too many requests";
        too_many_sentence: "Espere {seconds} s e tente de novo.", "Wait {seconds} s and try again.";
        crowded: "Há gente demais entrando agora", "Too many people are signing in";
        crowded_sentence: "Nada de errado com a sua senha: tente de novo em alguns segundos.",
            "Nothing is wrong with your password: try again in a few seconds.";
        unavailable: "Tente de novo em instantes", "Try again in a moment";
        unavailable_sentence: "Algo de que o serviço precisa não respondeu. Nada se perdeu.",
            "A part of the service did not answer. Nothing is lost.";
        retried: "Esta página volta sozinha quando houver resposta.",
            "This page reloads automatically when the service answers.";
        closed: "O console está fechado", "The console is closed";
        closed_sentence: "Ninguém opera este serviço ainda. Crie o primeiro operador com quita users operators create; ou defina QUITA_OPERATOR_PASSWORD, ou operator-password-file, e reinicie.",
            "This service has no operator yet. Create the first one with quita users operators create; or set QUITA_OPERATOR_PASSWORD, or operator-password-file, and restart.";
        taken: "Este e-mail já está em uso.", "This e-mail address is already in use.";
        not_a_password: "Uma senha tem de 15 a 256 caracteres; uma frase serve bem.",
            "A password needs 15 to 256 characters; a sentence works well.";
        same_password: "A senha nova é uma das últimas quatro.",
            "The new password is one of your last four: choose another one.";
        wrong_code: "O código está errado ou já foi usado.", "The code is wrong or has already been used.";
        no_factor: "A verificação em duas etapas não está ativada.", "The second factor is not set up.";
        not_first: "Já existe um operador: a senha da configuração não abre mais nada. Entre com e-mail e senha.",
            "An operator already exists, so the configured password no longer works. Sign in with your e-mail address \
            and password.";
        disabled: "Esta conta ficou 90 dias sem uso e foi desativada. Peça uma senha nova a quem cuida das pessoas: ela volta a valer.",
            "This account was not used for 90 days and is disabled. Ask an owner or another operator for a new \
            password, which enables it again.";
        last_operator: "É o último operador: crie outro antes.", "This is the last operator: create another one first.";
        wrong_password: "A senha atual não confere.", "The current password is wrong.";
        defect: "Um defeito nosso", "Internal error";
        defect_sentence: "Foi registrado. Nada se perdeu.", "It has been logged. Nothing is lost.";
        back: "Ir para o início", "Go to the home page";
    }
}
