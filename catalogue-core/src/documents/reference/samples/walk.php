<?php
$first = 'ADDRESS';
$context = stream_context_create(['http' => [
    'header' => 'Authorization: Bearer ' . getenv('API_KEY'),
]]);
$address = $first;
while ($address) {
    $body = file_get_contents($address, false, $context);
    if ($body === false) exit(1);
    $page = json_decode($body);
    foreach ($page->data as $item) {
        echo json_encode($item), "\n";
    }
    $cursor = $page->meta->nextCursor;
    $address = $cursor ? "$first&cursor=$cursor" : null;
}
