<?php
// One call of Quita's API, and how the programs end when something is wrong.

declare(strict_types=1);

function call(string $method, string $path, ?array $body = null, array $headers = []): array
{
    $url = getenv('QUITA_URL') ?: 'http://127.0.0.1:8080';
    $key = getenv('QUITA_KEY') ?: stop('QUITA_KEY is not set; it is an API key of yours', 2);
    array_push($headers, "Authorization: Bearer $key", 'Content-Type: application/json');
    $options = ['method' => $method, 'header' => $headers, 'timeout' => 30, 'ignore_errors' => true];
    if ($body !== null) {
        // An empty array would be [], which is no JSON object.
        $options['content'] = json_encode((object) $body, JSON_THROW_ON_ERROR);
    }
    $stream = @fopen($url . $path, 'r', false, stream_context_create(['http' => $options]));
    $answer = $stream ? json_decode((string) stream_get_contents($stream), true) : null;
    if (!is_array($answer)) {
        stop("no answer of Quita's from $url" . strrchr(error_get_last()['message'] ?? '', ':'));
    }
    $head = stream_get_meta_data($stream)['wrapper_data'];
    foreach (preg_grep('/^Quita-Ignored:/i', $head) as $line) {
        fwrite(STDERR, 'Quita-Ignored' . strstr($line, ':') . "\n");
    }
    if (preg_grep('/^Idempotency-Replayed:/i', $head)) {
        fwrite(STDERR, "Idempotency-Replayed: this key was used before, nothing new was done\n");
    }
    if ((int) explode(' ', $head[0])[1] >= 400) {
        stop("{$answer['code']}: {$answer['message']} (requestId {$answer['requestId']})");
    }
    return $answer;
}

/** Reads an amount in cents. What has a comma or a point in it is refused: it would be another amount. */
function whole_cents(string $text): int
{
    if (!preg_match('/^[1-9][0-9]{0,9}$/D', $text)) {
        stop(json_encode($text) . ' is no amount in whole cents, such as 1050 for R$ 10,50', 2);
    }
    return (int) $text;
}

function stop(string $line, int $code = 1): never
{
    fwrite(STDERR, "$line\n");
    exit($code);
}
