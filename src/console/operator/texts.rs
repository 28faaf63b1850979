//! Texts of the operator's console.

pub(super) mod people;

use crate::console::kit::texts::{Everywhere, People, Proof, group, texts};
use people::OperatorPeople;

texts! {
    /// Texts of the operator's console.
    OperatorTexts {
        everywhere: Everywhere,
        operators: Operators,
        operator_people: OperatorPeople,
        people: People,
        proof: Proof,
    }
}

group! {
    /// Actors, acquirers, exceptions, store and nodes.
    Operators {
        actors: "Atores", "Actors";
        acquirers: "Adquirentes", "Acquirers";
        exceptions: "Exceções", "Exceptions";
        reconciliation: "Conciliação", "Reconciliation";
        reconciliation_lead: "O que os adquirentes listam e os bancos retornam, comparado com os pagamentos.",
            "Acquirers' lists and banks' return files, compared with the payments.";
        no_lines: "Nada foi comparado nestes dias", "Nothing was compared on these days";
        no_lines_sentence: "Toda noite o serviço compara as listas; arquivos de bancos: quita reconcile --cnab.",
            "The service compares lists every night. For banks' return files, run quita reconcile --cnab.";
        day: "Dia", "Day";
        source: "Origem", "Source";
        verdict: "Resultado", "Verdict";
        all_verdicts: "Todos", "All";
        matched: "Confere", "Matched";
        different: "Diferente", "Different";
        missing_there: "Falta no extrato", "Missing there";
        unknown_here: "Desconhecido aqui", "Unknown here";
        reference: "Referência", "Reference";
        amount: "Valor", "Amount";
        happened_on: "Data", "Date";
        instalment: "parcela {number}", "instalment {number}";
        paid_out_on: "pago em {day}", "paid out on {day}";
        expected_on: "previsto para {day}", "expected on {day}";
        difference: "Diferença", "Difference";
        here_there: "{field}: aqui {here}, lá {there}", "{field}: {here} here, {there} there";
        place: "Onde estava", "Position in the source";
        is_open: "o adquirente ainda não respondeu", "the acquirer has not answered yet";
        earlier_days: "Dias anteriores", "Earlier days";
        later_days: "Dias seguintes", "Later days";
        more_lines: "Mais linhas", "More lines";
        download_csv: "Baixar CSV", "Download CSV";
        overview_lead: "está tudo bem?", "service health";
        all_is_well: "Está tudo bem.", "No problems found.";
        not_all_is_well: "Algo precisa de você: veja o que está em vermelho.", "Something needs attention: see the red tiles.";
        not_all_is_sure: "Algo pode precisar de você: veja o que está em amarelo.", "Something may need attention: see the yellow tiles.";
        not_all_is_known: "Nem tudo se sabe agora: veja o que está em cinza.", "Some values are unknown at the moment: see the grey tiles.";
        unknown_value: "Não se sabe", "Unknown";
        failing_acquirers: "Adquirentes falhando", "Failing acquirers";
        not_called_yet: "ainda não chamados", "not called yet";
        open_exceptions: "Exceções abertas", "Open exceptions";
        ends_soon: "Terminaram ou terminam em 30 dias", "Expired, or expiring within 30 days";
        key: "chave", "key";
        keys: "chaves", "keys";
        certificate: "certificado", "certificate";
        certificates: "certificados", "certificates";
        nodes_lost: "perdidos", "lost";
        nodes_silent: "calados", "silent";
        clocks_differ: "relógios que diferem", "clocks differ";
        nobody_takes: "nenhum adquirente recebe:", "no acquirer accepts:";
        method_unable: "nenhum adquirente consegue receber {method} ({mode}) desde {time}; novos pagamentos são recusados ou ficam iniciais",
            "no acquirer can take {method} ({mode}) since {time}; new payments are declined or stay initial";
        paused_routes: "pausados:", "paused:";
        store_reads_fail: "Leituras falham", "Reads fail";
        store_is_damaged: "Dados danificados", "Data is damaged";
        routes_differ: "roteiam de modos diferentes", "route differently";
        routes_missing: "não configurados, com pagamentos abertos:", "not configured, with open payments:";
        nodes_route_differently: "Os nós roteiam pagamentos por tabelas ou contas diferentes há minutos.",
            "Nodes have been routing with different tables or accounts for several minutes.";
        missing: "Ausente", "Missing";
        route_missing: "Não está configurado aqui, mas pagamentos abertos precisam dele.", "Not configured here, but open payments need it.";
        count: "Quantas", "Count";
        store_and_nodes: "Armazenamento e nós", "Store and nodes";
        now: "Agora", "Now";
        payments_per_second: "Pagamentos por segundo", "Payments per second";
        live_transactions: "Transações na memória", "Transactions in memory";
        webhook_backlog: "Webhooks por confirmar", "Unconfirmed webhooks";
        none_delivered_since: "Nenhum entregue desde", "None delivered since";
        commit_p99: "Gravação, p99", "Commit, p99";
        commit_median: "Gravação, mediana", "Commit, median";
        front_refused: "Recusas na porta", "Refused at the front";
        kinds: "Tipos", "Kinds";
        kind: "Tipo", "Kind";
        find_actor: "Ver ator", "Show the actor";
        transaction_id: "Id da transação", "Transaction id";
        busiest: "Em memória", "In memory";
        live: "Na memória", "In memory";
        depth: "Na fila", "Queued";
        per_second: "Por segundo", "Per second";
        wait_median: "Espera", "Wait";
        wait_p99: "Espera p99", "Wait p99";
        handle_median: "Trabalho", "Handling";
        handle_p99: "Trabalho p99", "Handling p99";
        refused: "Recusas", "Refused";
        restarts: "Recomeços", "Restarts";
        last_cause: "Última causa", "Last cause";
        minutes: "15 minutos", "15 minutes";
        peaks: "(o maior valor de cada minuto)", "(maximum of each minute)";
        plot_payments: "Pagamentos e eventos por segundo", "Payments and events per second";
        plot_depth: "Mensagens na fila", "Queued messages";
        plot_wait: "Espera na fila, p99", "Wait in the mailbox, p99";
        plot_handle: "Trabalho, p99", "Handling, p99";
        plot_webhooks: "Entregas por segundo", "Deliveries per second";
        payments: "pagamentos", "payments";
        events: "eventos", "events";
        delivered: "confirmadas", "confirmed";
        failed: "sem resposta", "no answer";
        kind_lead: "Cada mensagem deste tipo de ator, no último minuto.", "Messages to this kind of actor in the last minute.";
        message: "Mensagem", "Message";
        no_messages: "Nenhuma mensagem no último minuto", "No messages in the last minute";
        of_looked_at: ", as mais ocupadas de {looked} que foram comparadas",
            ", the busiest of {looked} compared";
        shard: "Porta {number}: {live} em memória", "Front {number}: {live} in memory";
        in_memory_lead: "As transações mais ocupadas deste nó.", "The busiest transactions on this node.";
        load: "Fila e trabalho", "Queued and handled";
        last_used: "Última mensagem", "Last message";
        nobody: "Ninguém em memória", "No transactions in memory";
        not_in_memory: "Não está em memória neste nó. O próximo pedido a traz do armazenamento.",
            "Not in memory on this node. The next request loads it from the store.";
        in_memory_since: "Em memória desde", "In memory since";
        actor_dead: "Morto: volta do armazenamento com a próxima mensagem", "Crashed: the next message reloads it from the store";
        holds_card: "Guarda um cartão por cobrar", "Holds a card to be charged";
        version: "Versão", "Version";
        revision: "Revisão", "Revision";
        mailbox: "Caixa de entrada", "Mailbox";
        waiting: "esperando", "queued";
        handling: "em trabalho", "being handled";
        last_messages: "Últimas mensagens", "Last messages";
        when: "Quando", "When";
        waited: "Esperou", "Waited";
        took: "Levou", "Took";
        due: "Próximo prazo", "Next due";
        merchant: "Lojista", "Merchant";
        state: "Estado", "State";
        not_called: "Ainda não chamado", "Not called yet";
        healthy: "Saudável", "Healthy";
        failing: "Falhando", "Failing";
        paused: "Pausado", "Paused";
        draining: "Drenando", "Draining";
        drained: "Drenado", "Drained";
        acquirers_lead: "Diretivas valem em todos os nós em dois segundos, e depois de reinícios. O resto é deste nó.",
            "Directives take effect on every node within two seconds and survive restarts. Everything else is about this node.";
        no_acquirers: "Nenhum adquirente configurado", "No acquirers configured";
        breaker: "Disjuntor", "Breaker";
        breaker_closed: "Fechado", "Closed";
        breaker_open: "Aberto até {time}: é tentado por último", "Open until {time}: tried last";
        failing_since: "Falhando desde", "Failing since";
        failures_in_a_row: "Chamadas perdidas seguidas", "Consecutive lost calls";
        lost_charges: "{count} cobranças e operações", "{count} charges and operations";
        last_failure: "Última falha", "Last failure";
        last_answer: "Última resposta", "Last answer";
        throttled_until: "Pede espera até", "Throttled until";
        provider: "Provedor", "Provider";
        certificate_expired: "Terminou", "Expired";
        certificate_until: "Certificado até", "Certificate valid until";
        token_until: "Token até", "Token valid until";
        last_success: "Último sucesso", "Last success";
        last_error: "Último erro", "Last error";
        callbacks: "Avisos do banco", "Bank callbacks";
        callbacks_registered: "registrados", "registered";
        callbacks_foreign: "vão para outro endereço: {host}", "sent to another address: {host}";
        callbacks_failed: "não registrados: {why}", "not registered: {why}";
        never: "nunca", "never";
        latency: "Tempo de resposta", "Latency";
        approval: "Aprovação", "Approval";
        outcomes: "Desfechos", "Outcomes";
        answered: "respondidas", "answered";
        refused_calls: "recusadas", "refused";
        not_delivered: "não entregues", "not delivered";
        unknown: "desconhecidas", "unknown";
        throttled: "pediram menos chamadas", "throttled";
        under_way: "Em andamento", "In progress";
        directed_at: "Diretiva de", "Directive set at";
        pause: "Pausar", "Pause";
        resume: "Retomar", "Resume";
        drain: "Drenar", "Drain";
        pause_question: "Pausar {route}?", "Pause {route}?";
        pause_sentence: "Nenhum pagamento novo vai para lá, em nenhum nó. O que já está lá continua: consultas, capturas, devoluções.",
            "No node sends new payments there. Inquiries, captures and refunds of existing payments continue.";
        drain_question: "Drenar {route}?", "Drain {route}?";
        drain_sentence: "Nada mais é enviado: nem pagamentos novos, nem capturas ou devoluções, que esperam. O que está em andamento termina; depois aparece «Drenado».",
            "Nothing more is sent: no new payments, and captures and refunds wait. Calls in progress finish; then the \
            state changes to \"Drained\".";
        resume_question: "Retomar {route}?", "Resume {route}?";
        resume_sentence: "Volta a receber pagamentos novos, e o que esperava continua.",
            "The route accepts new payments again, and waiting operations continue.";
        last_route: "Não há outra rota para este método: pagamentos novos serão recusados com 503.",
            "This is the only route for this method: new payments will be refused with 503.";
        exceptions_lead: "O que precisa de uma pessoa: dinheiro que não confere e respostas que não vieram.",
            "Cases that need a person: amounts that do not match, and answers that never arrived.";
        open: "Abertas", "Open";
        resolved: "Resolvidas", "Resolved";
        no_exceptions: "Nenhuma exceção aberta", "No open exceptions";
        no_resolved: "Nenhuma exceção resolvida", "No resolved exceptions";
        more_open: "São mostradas as {shown} mais novas. As outras aparecem quando algumas destas se resolvem.",
            "The newest {shown} are shown. Others appear as these are resolved.";
        more_resolved: "São mostradas as {shown} resolvidas por último. As outras estão no registro de auditoria.",
            "The {shown} most recently resolved are shown. The others are in the audit log.";
        what_to_do: "O que fazer", "What to do";
        payment: "Pagamento", "Payment";
        acquirer: "Adquirente", "Acquirer";
        resolved_by: "Resolvida por {who}", "Resolved by {who}";
        note: "Nota", "Note";
        note_hint: "O que foi feito, para quem vier depois. Até 500 caracteres.", "What was done, for the next person to read. Up to 500 characters.";
        bad_note: "Escreva o que foi feito, em até 500 caracteres.", "Write what was done, in up to 500 characters.";
        resolve: "Marcar como resolvida", "Mark as resolved";
        resolve_effect: "Fecha esta exceção com a sua nota; nem o pagamento nem dinheiro algum é tocado.",
            "Closes this exception with your note. No money moves, and the payment does not change.";
        ask_acquirer: "Perguntar ao adquirente agora", "Ask the acquirer now";
        ask_effect: "Pergunta agora o que foi do pagamento; a resposta vale como se tivesse vindo sozinha.",
            "Sends an inquiry about the payment now. The answer is processed like any other.";
        notice_resolved: "Exceção resolvida.", "Exception resolved.";
        notice_asked: "O adquirente está sendo perguntado; a resposta aparece no pagamento.",
            "The acquirer is being asked; the answer will appear on the payment's page.";
        notice_nothing_to_ask: "Não há nada em aberto para perguntar agora.", "There is nothing to ask the acquirer about at the moment.";
        notice_withheld: "Nada é enviado a este adquirente agora: está drenado, ou não está mais configurado.",
            "Nothing is sent to this acquirer now: it is drained, or no longer configured.";
        open_operations: "Operações em aberto", "Open operations";
        operation: "Operação", "Operation";
        resolve_operation: "Encerrar operação", "End the operation";
        resolve_operation_effect: "Encerra aqui uma operação da qual o adquirente não diz o fim. Confira antes no adquirente: nada é enviado, e o pagamento segue como se ele tivesse respondido.",
            "Ends an operation whose outcome the acquirer does not report. First check with the acquirer: nothing is \
            sent, and the payment continues as if the acquirer had answered.";
        charge: "Cobrança", "Charge";
        resolve_charge: "Encerrar cobrança", "End the charge";
        resolve_charge_effect: "Nenhuma resposta do adquirente diz o que foi desta cobrança. Confira antes no adquirente que ele não tem dinheiro nem limite por ela: nada é enviado, e o pagamento fica recusado. O que ainda chegar é devolvido.",
            "The acquirer does not report the outcome of this charge. First check with the acquirer that it holds no \
            money and no reserved card limit for it: nothing is sent, and the payment is declined. Money that still \
            arrives is refunded.";
        resolve_charge_hint: "Como se sabe disso. Fica na auditoria; o lojista lê só que o pagamento foi interrompido.",
            "How you know this. It is kept in the audit log; the merchant only sees that the payment was interrupted.";
        charge_holds_nothing: "O adquirente não tem nada por ela, e não vai ter.",
            "The acquirer holds nothing for this charge, and never will.";
        end_mismatch: "Encerrar pagamento", "End the payment";
        end_mismatch_effect: "O adquirente não aceita mais dinheiro por este pagamento, e o que entrou não é o que se pediu. Devolva o dinheiro por lá, ou acerte com o lojista, antes: nada é enviado, e o pagamento fica cancelado.",
            "The acquirer accepts no more money for this payment, and the amount received is not the amount charged. \
            First refund the money at the acquirer, or settle it with the merchant: nothing is sent, and the payment \
            is cancelled.";
        end_mismatch_hint: "O que se fez com o dinheiro. Fica na auditoria; o lojista lê só que o valor não confere.",
            "What was done with the money. It is kept in the audit log; the merchant only sees that the amount does not match.";
        what_became_of_it: "O que aconteceu com ela?", "What was the outcome?";
        operation_done: "O adquirente a fez.", "The acquirer carried it out.";
        operation_refused: "O adquirente não a fez, e não vai fazer.",
            "The acquirer did not carry it out, and will not.";
        reason: "Motivo", "Reason";
        reason_hint: "Como se sabe disso. Fica na auditoria; o lojista lê só que um operador encerrou a operação.",
            "How you know this. It is kept in the audit log; the merchant only sees that an operator ended the operation.";
        bad_verdict: "Escolha o que aconteceu com a operação.", "Choose the outcome of the operation.";
        already_resolved: "Esta exceção já foi resolvida.", "This exception has already been resolved.";
        batch: "Escritas por lote, mediana", "Writes per batch, median";
        conflicts: "Conflitos", "Conflicts";
        plot_commit: "Tempo de gravação", "Commit time";
        median: "mediana", "median";
        plot_backlog: "Por fazer", "Backlog";
        webhooks: "webhooks", "webhooks";
        timers: "prazos", "timers";
        notices: "avisos", "notices";
        timer_backlog: "Prazos vencidos", "Overdue";
        inbox_backlog: "Avisos por fazer", "Unprocessed notices";
        store: "Armazenamento", "Store";
        store_answers: "Responde", "Available";
        store_away: "Ausente", "Not available";
        store_no_writes: "Não grava", "Read-only";
        store_disk_full: "Disco cheio", "Disk full";
        store_broken: "Danificado", "Broken";
        nodes: "Nós", "Nodes";
        this_node: "este nó", "this node";
        lost: "Perdido", "Lost";
        alive: "Vivo", "Alive";
        silent: "Calado", "Silent";
        seen_seconds_ago: "há {seconds} s", "{seconds} s ago";
        payment_is_now: "Pagamento agora", "Payment now";
        settled_by_itself: "Resolveu-se por si: o pagamento agora está “{status}”, e nenhum desfecho é mais desconhecido. Nada a fazer além de resolver a exceção.",
            "Settled by itself: the payment is now “{status}”, and no outcome is unknown any more. Nothing to do but to resolve the exception.";
        seen_lately: "há pouco", "a moment ago";
        clock_ahead: "relógio {seconds} s adiantado", "clock {seconds} s ahead";
        clock_behind: "relógio {seconds} s atrasado", "clock {seconds} s behind";
        jobs: "Tarefas de fundo", "Background jobs";
        failed_jobs: "Tarefas que falharam", "Failed jobs";
        jobs_lead: "Deste nó. Cada uma roda uma por vez; a que falha roda de novo em um minuto, depois cada vez mais raramente.",
            "Jobs of this node. Only one run of each job at a time. A failed job is retried within a minute, then at \
            increasing intervals.";
        job: "Tarefa", "Job";
        job_began: "Última vez", "Last run";
        job_took: "Duração", "Duration";
        job_next: "Próxima", "Next";
        job_every: "A cada", "Interval";
        job_runs: "Vezes", "Runs";
        job_done: "Concluída", "Done";
        job_failed: "Falhou", "Failed";
        job_failures: "Falhas", "Failures";
        job_waits: "Aguardando", "Waiting";
        job_runs_now: "rodando agora", "running now";
        job_overruns: "Demora demais", "Takes too long";
        job_runs_for: "roda há", "has been running for";
        job_run_now: "Rodar agora", "Run now";
        job_run_effect: "Roda uma vez, agora ou logo depois da rodada em curso. Não move dinheiro.",
            "Runs the job once, now or right after the current run. No money moves.";
        take_off: "Tirar da lista", "Remove from the list";
        take_off_effect: "Este nó não parou e não é mais visto: morreu, ou perdeu o armazenamento. Se ainda viver, volta à lista sozinho; nada do que fazia se perde, os outros continuam.",
            "This node did not shut down and no longer sends heartbeats: it crashed, or lost the store. If it is still running, it returns to the list by itself. Nothing that it did is lost; the other nodes continue.";
        node: "Nó", "Node";
        routing_version: "Rotas · contas", "Routes · accounts";
        stored_form: "Forma armazenada", "Stored form";
        form_is_older: "O armazenamento tem uma forma anterior", "The store has an earlier form";
        form_is_older_sentence:
            "Esta versão conhece uma forma mais nova. Até `quita store upgrade`, o que precisa dela é recusado com 409 store_form.",
            "This version supports a newer form. Until you run `quita store upgrade`, requests that need it are \
            refused with 409 store_form.";
        form_is_upgrading: "A forma está sendo atualizada", "The form is being upgraded";
        form_is_upgrading_sentence:
            "Se `quita store upgrade` não está em execução, chame-o de novo: ele continua de onde parou.",
            "If `quita store upgrade` is not running, run it again: it continues where it stopped.";
        address: "Endereço", "Address";
        started: "Começou", "Started";
        seen: "Visto", "Last seen";
    }
}
