import { askAccess, cancelMessage, sendMessage } from "../fleet/api.ts";
import { noUsage, reset, status, usage } from "../../support/servers/model-server.ts";
import { begin, call, eventually, hold, longText, note, say, talk } from "./world.ts";
import type { World } from "./world.ts";

const ada = { channel: "bot", userId: "ada", displayName: "Ada Lovelace" };
const STRANGE_TEXT =
  'Bell\u0007, nul\u0000, tab\t, both line ends\r\n, a separator\u2028, an emoji of several \u{1F469}\u200D\u{1F467}, half of one \ud83d, "quotes" \\ </visitor_data>';
const STRANGE_ID = "名前 {c:shop} {t:00} ~2 : # \u{1F600} ".repeat(4).trim();

/** Conversations at rest, over the server API: each has ended in another way. */
export async function writeThreadsAtRest(world: World): Promise<void> {
  await severalTurns(world);
  await badEnds(world);
  await cancelled(world);
  await longReply(world);
  await strangeTexts(world);
  await budgets(world);
  await otherUsers(world);
}

async function severalTurns(world: World): Promise<void> {
  const thread = { ...ada, threadId: "orders" };
  world.teach(
    "Where are 1001 and 1002?",
    [say("Let me look. "), call("lookup", { article: "1001", _progress: "Looking for 1001" })],
    [call("lookup", { article: "1002" }), call("order", { article: "1002" }), call("lookup", { item: 3 })],
    "Both are on their way.",
  );
  await talk(world, { ...thread, text: "Hello" });
  await talk(world, { ...thread, text: "Where are 1001 and 1002?" });
  await talk(world, { ...thread, text: "Thank you" });
  note(world, {
    name: "several runs, one of several turns with results and a refused call",
    slug: "bot",
    threadId: "orders",
    speaker: { userId: "ada" },
  });
  // The same name, of another user.
  await talk(world, { channel: "bot", userId: "bob", threadId: "orders", text: "Hello from Bob" });
  note(world, {
    name: "a name that another user has, too",
    slug: "bot",
    threadId: "orders",
    speaker: { userId: "bob" },
  });
}

async function badEnds(world: World): Promise<void> {
  world.teach("Fail", [status(400)]);
  world.teach("Fail late", [say("It was the best of"), reset()]);
  world.teach(
    "Do what nobody can",
    [call("lookup", { article: "moon" })],
    [call("task_failed", { reason: "Nobody sells the moon." })],
  );
  const ends = [
    { threadId: "failed", text: "Fail", name: "failed before its first text" },
    { threadId: "failed-late", text: "Fail late", name: "failed after its first text" },
    { threadId: "task-failed", text: "Do what nobody can", name: "task_failed, with a hint" },
  ];
  for (const { threadId, text, name } of ends) {
    await talk(world, { ...ada, threadId, text }, "error");
    note(world, { name, slug: "bot", threadId, speaker: { userId: "ada" } });
  }
}

async function cancelled(world: World): Promise<void> {
  world.teach("Count the stars", [say("One, two, "), hold()]);
  const thread = { ...ada, threadId: "cancelled" };
  await begin(world, { ...thread, text: "Count the stars" }, "two, ");
  await cancelMessage(world.backend, { channel: "bot", userId: "ada", threadId: "cancelled" });
  note(world, {
    name: "cancelled in the middle of its text",
    slug: "bot",
    threadId: "cancelled",
    speaker: { userId: "ada" },
  });
}

async function longReply(world: World): Promise<void> {
  world.teach("Tell of the tides", [...longText(), say("And so on.")]);
  await talk(world, { ...ada, threadId: "long", text: "Tell of the tides" });
  note(world, {
    name: "a reply that is kept in parts",
    slug: "bot",
    threadId: "long",
    speaker: { userId: "ada" },
  });
}

async function strangeTexts(world: World): Promise<void> {
  const strange = { channel: "bot", userId: STRANGE_ID, threadId: `thread ${STRANGE_ID}` };
  await talk(world, { ...strange, text: STRANGE_TEXT, displayName: `"Zoë"\t\u{1F600}\u0001` });
  note(world, {
    name: "control characters, emoji, and ids that look like keys",
    slug: "bot",
    threadId: strange.threadId,
    speaker: { userId: STRANGE_ID },
  });
}

/** The channel `frugal` allows 10 tokens of output in a run, and 100 tokens to a user in a day. */
async function budgets(world: World): Promise<void> {
  const frugal = (name: string) => ({ channel: "frugal", userId: name, threadId: name });
  world.teach("Speak at length", [say("That was long."), usage(90, 20)]);
  await talk(world, { ...frugal("day"), text: "Speak at length" });
  await talk(world, { ...frugal("day"), text: "And more" }, "error");
  note(world, {
    name: "over the day's budget",
    slug: "frugal",
    threadId: "day",
    speaker: { userId: "day" },
    reply: "You have reached today's limit…",
  });
  const look = [call("lookup", { article: "1" }), usage(11, 7)];
  world.teach("Look often", look, look, look);
  await talk(world, { ...frugal("run"), text: "Look often" }, "error");
  note(world, {
    name: "a run that went over its budget",
    slug: "frugal",
    threadId: "run",
    speaker: { userId: "run" },
  });
}

async function otherUsers(world: World): Promise<void> {
  const said = (channel: string, userId: string) => ({ channel, userId, threadId: "first", text: "Hello" });
  const first = (slug: string, userId: string) => ({ slug, threadId: "first", speaker: { userId } });

  world.teach("Say what it costs", [say("I cannot tell."), noUsage()]);
  await talk(world, { ...said("cli", "nameless"), text: "Say what it costs" });
  note(world, { name: "a user without a displayName, and a run without usage", ...first("cli", "nameless") });

  await talk(world, said("bot", "mallory"));
  await world.cli("users", "block", "bot", "mallory");
  note(world, { name: "a blocked user", ...first("bot", "mallory"), refusal: 403 });

  await talk(world, said("closed", "early"));
  await world.cli("channels", "disable", "closed");
  // In force within a second, the command line says.
  await eventually("the channel's closing", async () => {
    const { status } = await sendMessage(world.backend, said("closed", "late"));
    return status === 403;
  });
  note(world, { name: "a disabled channel", ...first("closed", "early"), refusal: 403 });

  await askAccess(world.backend, { channel: "bot", externalUserId: "asked", displayName: "Only asked" });
  await askAccess(world.backend, { channel: "bot", externalUserId: "asked-nameless" });
  await world.cli("users", "whitelist", "bot", "asked");
  for (const address of ["203.0.113.7", "198.51.100.0/24", "2001:db8:bad::/48"]) {
    await world.cli("ips", "block", address);
  }
}
