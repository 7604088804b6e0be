import { visitWithCall } from "./pages.ts";
import { bind, endsIn, note, talk, visit } from "./world.ts";
import type { Visitor, World } from "./world.ts";

/** Visitors, accounts, and who may not talk. */
export async function writePeople(world: World): Promise<void> {
  await accounts(world);
  await sameName(world);
  await refused(world);
  await members(world);
  for (const name of ["spare", "another spare"]) await chat(world, await visit(world, name));
}

/** One message and its reply in a new thread. */
async function chat(world: World, visitor: Visitor, fact: { refusal?: 403 } = {}) {
  const threadId = await visitor.openThread();
  await endsIn("done", await visitor.say({ threadId, text: `Hello from ${visitor.name}` }));
  const { slug, name } = visitor;
  note(world, { slug, threadId, speaker: { token: name }, name: `done, of the visitor ${name}`, ...fact });
  return threadId;
}

async function accounts(world: World): Promise<void> {
  const promoted = await visit(world, "promoted");
  await chat(world, promoted);
  await bind(world, promoted, "customer-1", false);
  const merged = await visitWithCall(world, "merged");
  await bind(world, merged, "customer-1", true);
}

/** The account has a thread by the visitor's thread's name already: the visitor's becomes NAME~2. */
async function sameName(world: World): Promise<void> {
  const visitor = await visit(world, "merged with the same name");
  const name = await visitor.openThread();
  await endsIn("done", await visitor.say({ threadId: name, text: "Said by the visitor" }));
  const account = { channel: "shop", userId: "customer-2", threadId: name };
  await talk(world, { ...account, text: "Said by the account", displayName: "Customer Two" });
  await bind(world, visitor, "customer-2", true);
  // The page calls its own thread as before: for its token the two names have changed places.
  note(world, {
    slug: "shop",
    threadId: `${name}~2`,
    listedAs: name,
    speaker: { token: visitor.name },
    name: "the account's thread of a name that both had",
  });
  note(world, {
    slug: "shop",
    threadId: name,
    listedAs: `${name}~2`,
    speaker: { token: visitor.name },
    name: "the visitor's thread of a name that both had",
  });
}

async function refused(world: World): Promise<void> {
  const no = { refusal: 403 } as const;
  const blocked = await visit(world, "blocked", "shop", { state: "refused" });
  const users = JSON.parse(await world.cli("users", "list", "shop", "--json")) as { userId: string }[];
  await chat(world, blocked, no);
  await world.cli("users", "block", "shop", users.at(-1)?.userId ?? "");

  await talk(world, { channel: "shop", userId: "banned", threadId: "before", text: "Hello" });
  await world.cli("users", "block", "shop", "banned");
  const merged = await visit(world, "merged into a blocked account", "shop", { state: "refused" });
  await chat(world, merged, no);
  await bind(world, merged, "banned", true);
}

async function members(world: World): Promise<void> {
  await visit(world, "not whitelisted", "members", { state: "refused" });
  const member = await visit(world, "whitelisted", "members");
  await bind(world, member, "member-1", false);
  await world.cli("users", "whitelist", "members", "member-1");
  await chat(world, member);
}
