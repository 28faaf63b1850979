<?php
// Gives money back and waits until it went: php refund.php TRANSACTION_ID [CENTS]

declare(strict_types=1);

require __DIR__ . '/quita.php';

if ($argc < 2 || $argc > 3 || $argv[1] === '') {
    stop('usage: php refund.php TRANSACTION_ID [CENTS]', 2);
}
$transactionId = $argv[1];
$body = $argc === 2 ? [] : ['amount' => whole_cents($argv[2])]; // all that is left, or a part
// The key belongs to the wish to refund: sent again, it gives nothing back twice. This one is the same for the same
// sum. A shop that gives back R$ 4,00 twice numbers its wishes in its store: "refund-$wishId".
$key = "Idempotency-Key: refund-$transactionId-" . ($argv[2] ?? 'all');
$refund = call('POST', "/pay/payments/$transactionId/refunds", $body, [$key]);
for ($tries = 0; $tries < 60 && $refund['status'] === 'processing'; $tries++) {
    sleep(1);
    $payment = call('GET', "/pay/payments/$transactionId");
    $known = array_filter($payment['refunds'], fn (array $one) => $one['refundId'] === $refund['refundId']);
    $refund = array_values($known)[0];
}
echo "{$refund['refundId']} {$refund['amount']} {$refund['status']}\n";
