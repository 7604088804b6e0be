import type { Listener } from "../../src/listener.ts";

/** Accepted outcomes: a status, 0 for a close without an answer, null for no answer until a timer closes it. */
export type Outcomes = readonly (number | null)[];

export interface Row {
  /** The row of the list of bad input, and what it sends. */
  name: string;
  /** `PATH` stands for the path that this row's request must have. */
  bytes: string;
  expect: Outcomes | Record<Listener["kind"], Outcomes>;
  /** How often a handler gets the whole request, its body included. */
  handled: number | Record<Listener["kind"], number>;
  /** The body that the handler gets; `hello` where the row has one. */
  body?: string;
  /** Implementations whose handler runs all the same, and whose answer never leaves. */
  handledInVain?: readonly Listener["kind"][];
}

const OK: Outcomes = [200];
const BAD: Outcomes = [400];
/** 400 from the guard or the parser, or a connection that closes with nothing said. */
const REFUSED: Outcomes = [400, 0];

/** What uWebSockets.js takes for the beginning of a longer request, and closes when its timer of 10 s does. */
const LATE_ON_UWS: Row["expect"] = { uws: [400, null], node: REFUSED };
/** As uWebSockets.js says it of every request line that it cannot read. */
const NOT_HTTP: Outcomes = [400, 505, 0];

function post(headers: string, body = "hello"): string {
  return `POST PATH HTTP/1.1\r\nHost: x\r\n${headers}\r\n${body}`;
}

const chunkedHello = "5\r\nhello\r\n0\r\n\r\n";
const smuggled = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n";
const chunked = (body: string): string => post("Transfer-Encoding: chunked\r\n", body);

function taken(name: string, bytes: string): Row {
  return { name, bytes, expect: OK, handled: 1 };
}

function refused(name: string, bytes: string, expect: Row["expect"] = REFUSED): Row {
  return { name, bytes, expect, handled: 0 };
}

/** The chunk parser of uWebSockets.js lets it pass; the connection closes, so that nothing can follow. */
function lax(name: string, bytes: string, body = "hello"): Row {
  return {
    name,
    body,
    bytes,
    expect: { uws: [200, 400], node: REFUSED },
    handled: { uws: 1, node: 0 },
  };
}

export const framingRows: Row[] = [
  taken("a good POST", post("Content-Length: 5\r\n")),
  refused("two equal Content-Lengths", post("Content-Length: 5\r\nContent-Length: 5\r\n")),
  refused(
    "two different Content-Lengths",
    post("Content-Length: 5\r\nContent-Length: 50\r\n", `hello${smuggled}`),
  ),
  refused("a list of Content-Lengths", post("Content-Length: 5, 5\r\n")),
  ...["+5", "-5", "0x5", "5_0", "\u00b5", "5 5"].map((value) =>
    refused(`Content-Length ${JSON.stringify(value)}`, post(`Content-Length: ${value}\r\n`)),
  ),
  taken("Content-Length with spaces around", post("Content-Length:  5 \r\n")),
  refused("an empty Content-Length", post("Content-Length:\r\n")),
  refused(
    "both Content-Length and chunked",
    post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", chunkedHello),
    BAD,
  ),
  refused(
    "Content-Length and an empty Transfer-Encoding",
    post("Content-Length: 5\r\nTransfer-Encoding:\r\n"),
  ),
  taken("a chunked body", chunked(chunkedHello)),
  taken("a chunked body, the coding in capitals", post("Transfer-Encoding: CHUNKED\r\n", chunkedHello)),
  ...["identity", "xchunked", "chunked, identity", "chunked;q=1", "gzip, chunked"].flatMap((coding) => [
    refused(`Transfer-Encoding ${coding}`, post(`Transfer-Encoding: ${coding}\r\n`, chunkedHello), BAD),
    refused(`Transfer-Encoding ${coding}, no chunks`, post(`Transfer-Encoding: ${coding}\r\n`), BAD),
  ]),
  refused(
    "two Transfer-Encodings",
    post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", chunkedHello),
  ),
  ...["G", "0x5", "-1"].map((size) =>
    refused(`chunk size ${size}`, chunked(`${size}\r\nhello\r\n0\r\n\r\n`), LATE_ON_UWS),
  ),
  {
    name: "a header line without a name before Content-Length",
    bytes: `POST PATH HTTP/1.1\r\nHost: x\r\n: x\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`,
    // uWS hides what follows the line: the POST is taken for one without a body, and what it hid closes the connection.
    expect: { uws: [0], node: REFUSED },
    handled: 0,
    handledInVain: ["uws"],
  },
  refused("a chunk size of 36 bits: more is waited for", chunked("FFFFFFFFF\r\nhello\r\n0\r\n\r\n"), [
    400,
    0,
    null,
  ]),
  lax("a space before the chunk size", chunked(" 5\r\nhello\r\n0\r\n\r\n"), ""),
  lax("a chunk size that ends in LF alone", chunked("5\nhello\r\n0\r\n\r\n")),
  {
    name: "a chunk extension",
    bytes: chunked("5;ext=1\r\nhello\r\n0\r\n\r\n"),
    expect: { uws: [400], node: OK },
    handled: { uws: 0, node: 1 },
  },
  lax("chunk data without its CRLF", chunked("5\r\nhelloXX0\r\n\r\n")),
  {
    name: "A8: a trailer",
    bytes: chunked("5\r\nhello\r\n0\r\nX-A: b\r\n\r\n"),
    // uWS takes it for a request that it cannot read: nothing of what it refuses is done.
    expect: { uws: [505], node: OK },
    handled: { uws: 0, node: 1 },
  },
  refused("A8: a request where a trailer would be", chunked(`5\r\nhello\r\n0\r\n${smuggled}`)),
  refused("a folded header", post("X-A: b\r\n c\r\nContent-Length: 5\r\n")),
  refused("a space before the colon", post("X-A : b\r\nContent-Length: 5\r\n")),
  refused("an @ in a header's name", post("X@A: b\r\nContent-Length: 5\r\n")),
  taken("an underscore in a header's name", post("x_trace: 1\r\nContent-Length: 5\r\n")),
  refused("NUL in a header", post("X-A: a\0b\r\nContent-Length: 5\r\n")),
  refused("0x01 in a header", post("X-A: a\u0001b\r\nContent-Length: 5\r\n")),
  refused("a lone CR in a header", post("X-A: a\rb\r\nContent-Length: 5\r\n"), LATE_ON_UWS),
  refused("a lone LF in a header", post("X-A: a\nb\r\nContent-Length: 5\r\n")),
  refused("bare LF line ends", `GET PATH HTTP/1.1\nHost: x\n\n`, {
    uws: NOT_HTTP,
    node: REFUSED,
  }),
  {
    name: "version HTTP/1.0",
    bytes: "GET PATH HTTP/1.0\r\nHost: x\r\n\r\n",
    expect: { uws: [505], node: OK },
    handled: { uws: 0, node: 1 },
  },
  ...["HTTP/1.2", "HTTP/2.0", "http/1.1", ""].map((version) =>
    refused(`version ${JSON.stringify(version)}`, `GET PATH ${version}\r\nHost: x\r\n\r\n`, NOT_HTTP),
  ),
  refused("no Host", "GET PATH HTTP/1.1\r\nX-A: b\r\n\r\n"),
  refused("an empty Host", "GET PATH HTTP/1.1\r\nHost:\r\n\r\n"),
  refused("two Hosts", "GET PATH HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n"),
  ...["http://xPATH", "HTTP://user@x:80PATH", "https://[::1]:8443PATH?q"].map((target): Row => ({
    name: `D4: the absolute form ${target}`,
    bytes: `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`,
    // The parser of uWS reads no target that does not begin with a slash.
    expect: { uws: [505], node: OK },
    handled: { uws: 0, node: 1 },
  })),
  refused("D4: the absolute form of another scheme", "GET ftp://xPATH HTTP/1.1\r\nHost: x\r\n\r\n", {
    uws: [505],
    node: BAD,
  }),
  taken(
    "60 headers",
    `GET PATH HTTP/1.1\r\nHost: x\r\n${Array.from({ length: 60 }, (_, index) => `X-${index}: a\r\n`).join("")}\r\n`,
  ),
  // The handler refuses what is longer than MAX_HEAD_BYTES; the parser, what is twice as long.
  ...[3_900, 6_000, 16_000, 30_000].map((bytes) =>
    taken(
      `D8, N6: a head of ${bytes} bytes`,
      `GET PATH HTTP/1.1\r\nHost: x\r\nCookie: ${"a".repeat(bytes)}\r\n\r\n`,
    ),
  ),
  ...[40_000, 1_048_576].map((bytes) =>
    refused(`a head of ${bytes} bytes`, `GET PATH HTTP/1.1\r\nHost: x\r\nX-A: ${"a".repeat(bytes)}\r\n\r\n`, {
      uws: [400, 431],
      node: [431, 0],
    }),
  ),
  {
    name: "a body longer than its length",
    bytes: post("Content-Length: 5\r\n", `hello${smuggled}`),
    expect: REFUSED,
    handled: 1,
  },
  taken("a GET with a body", "GET PATH HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"),
  taken("Expect: 100-continue", post("Expect: 100-continue\r\nContent-Length: 5\r\n")),
  taken(
    "an upgrade that nobody takes",
    "GET PATH HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
  ),
  refused("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", NOT_HTTP),
  refused(
    "a TLS hello",
    "\u0016\u0003\u0001\u0000\u00a5\u0001\u0000\u0000\u00a1\u0003\u0003\r\n\r\n",
    NOT_HTTP,
  ),
  refused("a PROXY protocol line", `PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n${smuggled}`, NOT_HTTP),
  ...["x-visitor-token", "authorization", "origin", "x-publishable-key", "content-type"].map((name) =>
    refused(
      `two lines of ${name}`,
      `GET PATH HTTP/1.1\r\nHost: x\r\n${name}: a\r\n${name}: a\r\n\r\n`,
      [400],
    ),
  ),
  taken("Connection: close", "GET PATH HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
  taken(
    "a header that Connection names",
    "GET PATH HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, x-visitor-token\r\nx-visitor-token: t\r\n\r\n",
  ),
];
