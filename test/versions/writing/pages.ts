import { toolAnswer } from "../fleet/shop-tools.ts";
import { call, comesTo, endsIn, eventually, hold, longText, note, offeredName, say, visit } from "./world.ts";
import type { Visitor, World } from "./world.ts";

const CART = { name: "show_cart", description: "Shows the cart" };
const CATALOG = [
  CART,
  {
    name: "add_to_cart",
    description: "Puts an article into the cart",
    inputSchema: { type: "object", properties: { article: { type: "string" } }, required: ["article"] },
  },
  { name: "constructor", description: "Builds a bicycle" },
  { name: "öffne Körbe", description: "Opens every basket" },
];
const CONTEXT = { plan: "gold", visits: 7, isNew: false };

/** In the first process, whose page calls expire after a second. */
export async function letACallExpire(world: World, visitor: Visitor): Promise<void> {
  const { threadId } = await openCart(world, visitor, "Show what nobody shows");
  await eventually("the call's end", async () => (await visitor.history(threadId)).items.length === 2);
  note(world, { ...named(visitor, threadId), name: "expired" });
}

/** Threads of pages, all of one anonymous visitor. */
export async function writePages(world: World, visitor: Visitor): Promise<void> {
  await neverSpoken(world, visitor);
  await doneWithPageTool(world, visitor);
  await endedCalls(world, visitor);
  await pendingCalls(world, visitor);
  await severalCallsLeft(world, visitor);
  await longThenCall(world, visitor);
  await runningPages(world, visitor);
}

function named(visitor: Visitor, threadId: string) {
  return { slug: visitor.slug, threadId, speaker: { token: visitor.name } };
}

/** A new thread with a catalog, in which the model calls the cart's tool. */
async function openCart(
  world: World,
  visitor: Visitor,
  text: string,
): Promise<{ threadId: string; callId: string }> {
  world.teach(text, [say("One moment. "), call("show_cart", { _progress: "Looking into the cart" })]);
  const threadId = await visitor.openThread();
  await visitor.register(threadId, [CART]);
  return { threadId, callId: await endsIn("tool_call", await visitor.say({ threadId, text })) };
}

async function neverSpoken(world: World, visitor: Visitor): Promise<void> {
  const bare = await visitor.openThread();
  note(world, { ...named(visitor, bare), name: "never spoken in" });
  const withCatalog = await visitor.openThread();
  await visitor.register(withCatalog, CATALOG);
  note(world, { ...named(visitor, withCatalog), name: "never spoken in, with a catalog" });
  const cleared = await visitor.openThread();
  await visitor.register(cleared, CATALOG);
  await visitor.register(cleared, []);
  note(world, { ...named(visitor, cleared), name: "never spoken in, with a catalog that was cleared" });
}

async function doneWithPageTool(world: World, visitor: Visitor): Promise<void> {
  const text = "Show my cart";
  world.teach(text, [call("show_cart")], "Two mugs.");
  const threadId = await visitor.openThread();
  await visitor.register(threadId, [CART]);
  const said = { threadId, text, page: "/home?from=mail", customerContext: CONTEXT };
  const callId = await endsIn("tool_call", await visitor.say(said));
  const result = { content: [{ type: "text", text: "mug, mug" }] };
  await endsIn("done", await visitor.answer({ threadId, callId, tool: "show_cart", result, page: "/cart" }));
  note(world, { ...named(visitor, threadId), name: "done, with a page tool" });
}

async function endedCalls(world: World, visitor: Visitor): Promise<void> {
  const superseded = await openCart(world, visitor, "Show the cart that nobody waits for");
  await endsIn("done", await visitor.say({ threadId: superseded.threadId, text: "Never mind" }));
  note(world, { ...named(visitor, superseded.threadId), name: "superseded, then done" });
  const cancelled = await openCart(world, visitor, "Show the cart that is cancelled");
  await visitor.cancel(cancelled.threadId);
  note(world, { ...named(visitor, cancelled.threadId), name: "cancelled while a call was pending" });
}

async function pendingCalls(world: World, visitor: Visitor): Promise<void> {
  const answers = [{ tool: "show_cart", result: "A cup" }];
  const one = await openCart(world, visitor, "Show the cart now");
  const follows = ["One moment. The tools said: A cup"];
  note(world, {
    ...named(visitor, one.threadId),
    ...one,
    name: "a call pending",
    state: "awaiting",
    answers,
    follows,
  });

  const left = await openCart(world, visitor, "Show the cart some day");
  note(world, {
    ...named(visitor, left.threadId),
    ...left,
    name: "a call pending that nobody answers",
    state: "awaiting",
    follows: ["One moment. "],
  });

  const strange = await visitor.openThread();
  await visitor.register(strange, CATALOG);
  world.teach("Open all baskets", (request) => [call(offeredName(request, "Opens every basket"))]);
  const callId = await endsIn(
    "tool_call",
    await visitor.say({ threadId: strange, text: "Open all baskets" }),
  );
  note(world, {
    ...named(visitor, strange),
    name: "a call pending of a tool that is offered by another name",
    state: "awaiting",
    callId,
    answers: [{ tool: "öffne Körbe", result: "Three \u{1F9FA}" }],
    follows: ["The tools said: Three \u{1F9FA}"],
  });
}

/** One call of the turn is answered, one is pending, and two are left, a server's among them. */
async function severalCallsLeft(world: World, visitor: Visitor): Promise<void> {
  const text = "Do it all";
  world.teach(text, [
    say("All at once. "),
    call("constructor"),
    call("show_cart"),
    call("lookup", { article: "1006" }),
    call("constructor", { wheels: 2 }),
  ]);
  const threadId = await visitor.openThread();
  await visitor.register(threadId, CATALOG);
  const first = await endsIn("tool_call", await visitor.say({ threadId, text, page: "/workshop" }));
  const built = { threadId, callId: first, tool: "constructor", result: "Built", page: "/workshop/2" };
  const callId = await endsIn("tool_call", await visitor.answer(built));
  note(world, {
    ...named(visitor, threadId),
    name: "a call pending, one of its turn answered, and two left",
    state: "awaiting",
    callId,
    answered: { callId: first, tool: "constructor" },
    answers: [
      { tool: "show_cart", result: "A bicycle" },
      { tool: "constructor", result: "Built again" },
    ],
    follows: [
      `All at once. The tools said: Built | A bicycle | ${toolAnswer("lookup", "1006")} | Built again`,
    ],
    told: ["/workshop/2"],
  });
}

async function longThenCall(world: World, visitor: Visitor): Promise<void> {
  const text = "Tell of the tides, then show the cart";
  world.teach(text, [...longText(), say("Now the cart. "), call("show_cart")]);
  const threadId = await visitor.openThread();
  await visitor.register(threadId, [CART]);
  const callId = await endsIn("tool_call", await visitor.say({ threadId, text }));
  note(world, {
    ...named(visitor, threadId),
    name: "a call pending of a run whose text is kept in parts",
    state: "awaiting",
    callId,
    answers: [{ tool: "show_cart", result: "Shells" }],
    follows: ["The tide comes in…Now the cart. The tools said: Shells"],
  });
}

async function runningPages(world: World, visitor: Visitor): Promise<void> {
  const text = "Show the cart, then think";
  world.teach(text, [say("The cart: "), call("show_cart")], [say("it holds "), hold()]);
  const threadId = await visitor.openThread();
  await visitor.register(threadId, [CART]);
  const callId = await endsIn("tool_call", await visitor.say({ threadId, text }));
  const answered = { threadId, callId, tool: "show_cart", result: "A plum", page: "/plums" };
  await comesTo("it holds ", await visitor.answer(answered));
  note(world, {
    ...named(visitor, threadId),
    name: "thinking in a stream that a page's result has opened",
    state: "running",
    answered: { callId, tool: "show_cart" },
    follows: ["The cart: The tools said: A plum"],
    told: ["/plums"],
  });

  world.teach("Sing", [say("La "), hold()]);
  const singing = await visitor.openThread();
  await visitor.register(singing, [CART]);
  await comesTo("La ", await visitor.say({ threadId: singing, text: "Sing", page: "/stage" }));
  await visitor.say({ threadId: singing, text: "Louder", page: "/stage/2", customerContext: CONTEXT });
  note(world, {
    ...named(visitor, singing),
    name: "thinking for a page, and a message waits",
    state: "running",
    follows: ["You said: Sing", "Louder", "You said: Louder"],
    told: ["/stage", JSON.stringify(CONTEXT)],
  });
}

/** A visitor with one pending call: whom it belongs to may change meanwhile. */
export async function visitWithCall(world: World, name: string): Promise<Visitor> {
  const visitor = await visit(world, name);
  const { threadId, callId } = await openCart(world, visitor, `Show the cart of ${name}`);
  note(world, {
    ...named(visitor, threadId),
    name: `a call pending of the visitor ${name}`,
    state: "awaiting",
    callId,
    answers: [{ tool: "show_cart", result: "A fig" }],
    follows: ["One moment. The tools said: A fig"],
  });
  return visitor;
}
