<?php
// PHP's own stream, which does not decompress: fopen() and fgets(). Without stream_set_chunk_size(), fgets() waits until
// 8,192 bytes are there, or the end.
[, $url] = $argv;
$context = stream_context_create(["http" => [
    "method" => "POST",
    "header" => "content-type: application/json",
    "content" => '{"text":"Hi"}',
    "protocol_version" => 1.1,
]]);
$stream = fopen($url, "r", false, $context);
stream_set_chunk_size($stream, 1);
while (($line = fgets($stream)) !== false) {
    echo $line;
}
