/**
 * Everything that the typed client can do, once, in any runtime that has `fetch`: CLIENT is its file, BASE and KEY are the
 * service's. Prints what came of each call as one line of JSON; runtimes.process.test.ts says what that must be.
 */
const { CLIENT, BASE, KEY } = process.env;
const { createClient } = await import(CLIENT);

const client = createClient({ baseUrl: BASE, key: KEY });
const userId = "ada";
const thread = { threadId: "a/b", userId };
const cut = { threadId: "cut", userId };
const stopped = { threadId: "stopped", userId };

async function linesOf(reply) {
  const lines = [];
  for await (const line of reply) lines.push(line);
  return lines;
}

const wordsOf = (lines) =>
  lines.map((line) => (line.type === "delta" ? line.text : `[${line.type}]`)).join("");
const statusOf = (asked) =>
  asked.then(
    () => null,
    (error) => error.status,
  );

async function said() {
  const reply = client.send({ ...thread, text: "Hello, 🦉" });
  return { lines: wordsOf(await linesOf(reply)), text: reply.text, end: (await reply.final).type };
}

/** The connection is torn in the middle of the reply. */
async function saidOverACut() {
  return {
    lines: wordsOf(await linesOf(client.send({ ...cut, text: "wait" }))),
    said: await contentsOf(cut),
  };
}

async function contentsOf(of) {
  return (await client.history(of)).map(({ content }) => content);
}

/** Until the reply has come, and then no longer. */
async function followed() {
  const contents = [];
  for await (const line of client.events({ ...thread, after: "" })) {
    if (line.type === "message") contents.push(line.item.content);
    if (contents.length === 2) break;
  }
  return contents;
}

/** A feed that rests, until its signal ends it. */
async function left() {
  const leaving = new AbortController();
  const { signal } = leaving;
  try {
    for await (const line of client.events(thread, { signal })) if (line.type === "state") leaving.abort();
  } catch {
    return "left";
  }
  return "ended";
}

async function stoppedReply() {
  const reply = client.send({ ...stopped, text: "wait for ever" });
  for await (const line of reply) if (line.type === "delta") await client.cancel(stopped);
  return (await reply.final).code;
}

async function rated() {
  await client.feedback({ ...thread, messageId: "2", rating: "up", comment: "Thanks" });
  return (await client.history(thread))[1]?.feedback;
}

/** A list is told of a thread a moment later than the thread. */
async function listed() {
  for (;;) {
    const { items, next } = await client.threads({ userId });
    if (items.length === 3) return { ids: items.map(({ threadId }) => threadId).toSorted(), next };
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const results = {
  said: await said(),
  saidOverACut: await saidOverACut(),
  followed: await followed(),
  left: await left(),
  stopped: await stoppedReply(),
  rated: await rated(),
  listed: await listed(),
  mayTalk: (await client.access({ externalUserId: userId })).allowed,
  unknownChannel: await statusOf(client.send({ ...thread, channel: "unknown", text: "Hello" }).final),
  wrongKey: await statusOf(createClient({ baseUrl: BASE, key: "wrong" }).history(thread)),
  wrongSecretKey: await statusOf(
    client.identify({ channel: "cli", secretKey: "sk_wrong", visitorToken: "vt_x", externalUserId: "ada" }),
  ),
};
console.log(JSON.stringify(results));
