// For src/agent.ts, src/agent/create-agent.ts, src/agent/budget.ts, src/agent/turn-end.ts, src/agent/turn-cost.ts,
// src/agent/abortable.ts, src/agent/unknown-models.ts, src/agent/model-notes.ts
import { describe, expect, it, onTestFinished } from "vitest";
import type { Agent, Turn, TurnEnd } from "../../src/agent.ts";
import { createAgent } from "../../src/agent/create-agent.ts";
import type { AgentOptions } from "../../src/agent/create-agent.ts";
import type { Spending } from "../../src/agent/budget.ts";
import { systemClock } from "../../src/clock.ts";
import type { AgentSettings } from "../../src/domain/channels/channel.ts";
import { ModelFault } from "../../src/model.ts";
import { call, hold, noUsage, say, status, usage } from "../support/servers/model-server.ts";
import type { ModelServer, Script } from "../support/servers/model-server.ts";
import { openScriptedModel } from "../support/servers/open-model.ts";
import { chunk } from "../models/refusals/dialects.ts";
import { channelWith, message, newRun, newTurn, silentLog } from "./run.ts";

const buy = {
  name: "buy",
  inputSchema: { type: "object" as const, properties: { sku: { type: "string" } }, required: ["sku"] },
};

async function openAgent(
  script: Script,
  {
    settings = {},
    ...options
  }: { settings?: AgentSettings } & Partial<Pick<AgentOptions, "spending" | "caps" | "onSpent">> = {},
): Promise<{ agent: Agent; server: ModelServer; think: (turn?: Partial<Turn>) => Promise<TurnEnd> }> {
  const { server, model } = await openScriptedModel(script);
  const agent = createAgent({
    model,
    channel: () => channelWith(settings),
    defaultModel: "default-model",
    maxInputTokens: 32_000,
    clock: systemClock,
    log: silentLog,
    ...options,
  });
  onTestFinished(() => agent.close());
  return {
    agent,
    server,
    think: (turn) => agent.think(newTurn(turn), () => {}, new AbortController().signal),
  };
}

describe("a turn that was cut off", () => {
  it.each(["length", "content_filter", "MAX_TOKENS"])(
    "M28: B1: makes none of its calls, whole or not: %s",
    async (reason) => {
      const part = (index: number, args: string) =>
        chunk({ tool_calls: [{ index, id: `c${index}`, function: { name: "buy", arguments: args } }] });
      for (const last of ['{"sku":"re', "", '{"sku":"red"}']) {
        const { think } = await openAgent([[part(0, '{"sku":"red"}'), part(1, last), chunk({}, reason)]]);
        const run = newRun({ api: "widget" });
        expect(await think({ run, catalog: [buy] })).toMatchObject({
          type: "called",
          calls: [
            {
              kind: "refused",
              reason: expect.stringMatching(/^Cannot call buy: your answer was cut off/) as string,
            },
            { kind: "refused" },
          ],
        });
      }
    },
  );
});

describe("a turn", () => {
  it("finishes with the model's text and usage", async () => {
    const { agent, server } = await openAgent([[say("Hel"), say("lo"), usage(7, 3)]]);
    const written: string[] = [];
    const end = await agent.think(newTurn(), (text) => void written.push(text), new AbortController().signal);
    expect(end).toEqual({
      type: "finished",
      item: { type: "assistant", text: "Hello", calls: [], by: "openai/default-model" },
      usage: { input: 7, output: 3 },
    });
    expect(written.join("")).toBe("Hello");
    expect(server.requests[0]?.body.model).toBe("default-model");
    expect(server.requests[0]?.body.tools ?? []).toEqual([]);
  });

  it.each([
    ["stop", "The model gave no answer"],
    ["length", "The answer reached its length limit before its first word"],
    ["content_filter", "The answer was withheld by the model's content filter"],
  ])("says why there is no answer, after %s", async (reason, message) => {
    const { think } = await openAgent([[chunk({ content: "<think>Hm" }, reason), usage(7, 3)]]);
    expect(await think()).toMatchObject({ type: "saidNothing", message, usage: { input: 7, output: 3 } });
  });

  it("ends without a word where the run said something before", async () => {
    const { think } = await openAgent([[]]);
    const run = newRun({ lines: [{ type: "delta", text: "Let me see." }] });
    expect(await think({ run })).toMatchObject({ type: "finished", item: { text: "" } });
  });

  it("tells how the model ended where it did not of itself", async () => {
    const { think } = await openAgent([
      [chunk({ content: "Hel" }, "length")],
      [chunk({ content: "Hello" }, "stop")],
    ]);
    expect(await think()).toMatchObject({ type: "finished", finishReason: "length" });
    expect(await think()).not.toHaveProperty("finishReason");
  });

  it("asks the channel's own model", async () => {
    const { server, think } = await openAgent(["ok"], { settings: { model: "channel-model" } });
    await think();
    expect(server.requests[0]?.body.model).toBe("channel-model");
  });

  it("calls a page tool under its own name, with its progress text apart from its arguments", async () => {
    const { think } = await openAgent([
      [say("One moment. "), call("buy", { sku: "a", _progress: "Kaufe ein …" })],
    ]);
    const end = await think({ catalog: [buy] });
    expect(end).toMatchObject({
      type: "called",
      calls: [
        {
          kind: "page",
          tool: "buy",
          arguments: { sku: "a" },
          progress: "Kaufe ein …",
          repeatable: false,
        },
      ],
    });
    if (end.type !== "called") return;
    expect(end.calls[0]).not.toHaveProperty("arguments._progress");
  });

  it("says the tool's name in words where the model gives no progress text", async () => {
    for (const _progress of [undefined, "  ", 7]) {
      const { think } = await openAgent([[call("add_to_cart", { _progress })]]);
      expect(await think({ catalog: [{ name: "add_to_cart" }] })).toMatchObject({
        calls: [{ progress: "add to cart", arguments: {} }],
      });
    }
  });

  it("leaves a _progress of the tool's own among its arguments", async () => {
    const upload = {
      name: "upload",
      inputSchema: { type: "object" as const, properties: { _progress: {} } },
    };
    const { think } = await openAgent([[call("upload", { _progress: 50 })]]);
    expect(await think({ catalog: [upload] })).toMatchObject({
      calls: [{ progress: "upload", arguments: { _progress: 50 } }],
    });
  });

  it("takes no arguments at all as an empty object", async () => {
    const { think } = await openAgent([[call("go", "")]]);
    const end = await think({ catalog: [{ name: "go" }] });
    expect(end).toMatchObject({ calls: [{ arguments: {} }], item: { calls: [{ arguments: "{}" }] } });
  });

  it("maps a safe name back to the tool's own", async () => {
    const { think } = await openAgent((request) => [
      call(request.body.tools?.[0] ? toolName(request.body.tools[0]) : ""),
    ]);
    expect(await think({ catalog: [{ name: "购物车 öffnen" }] })).toMatchObject({
      calls: [{ kind: "page", tool: "购物车 öffnen" }],
    });
  });

  it("offers page tools on the widget API alone", async () => {
    const { server, think } = await openAgent([[call("buy", { sku: "a" })]]);
    const end = await think({ catalog: [buy], run: newRun({ api: "server" }) });
    expect(server.requests[0]?.body.tools ?? []).toEqual([]);
    expect(end).toMatchObject({ type: "called", calls: [{ kind: "refused" }] });
  });

  it("P33: gives every call an id of its own, 128 bits, whatever the model's ids are", async () => {
    const { think } = await openAgent([
      [call("buy", { sku: "a" }, "call_1"), call("buy", { sku: "b" }, "call_1")],
    ]);
    const end = await think({ catalog: [buy] });
    if (end.type !== "called" || end.item.type !== "assistant") throw new Error("expected calls");
    const ids = end.calls.map(({ callId }) => callId);
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9_-]{22}$/);
    expect(new Set(ids).size).toBe(2);
    expect(end.item.calls.map(({ callId }) => callId)).toEqual(ids);
  });

  it("refuses a tool that is not offered, and tells the model which are", async () => {
    const { think } = await openAgent([[call("drop tables", {})]]);
    const end = await think({ catalog: [buy] });
    expect(end).toMatchObject({
      type: "called",
      calls: [
        { kind: "refused", reason: 'Cannot call "drop tables": there is no such tool. The tools are: buy.' },
      ],
      item: { calls: [{ offeredName: expect.stringMatching(/^drop_tables_[0-9a-f]{8}$/) as string }] },
    });
  });

  it.each<[string, string, string]>([
    ["no JSON", '{"sku":', "Cannot call buy: the arguments are not valid JSON"],
    ["no object", '["a"]', "Cannot call buy: the arguments are not a JSON object"],
    ["null", "null", "Cannot call buy: arguments must have required property 'sku'"],
    [
      "1 MB long",
      JSON.stringify({ sku: "x".repeat(1_000_000) }),
      "Cannot call buy: the arguments are longer than",
    ],
    [
      "too deep",
      `{"sku":${"[".repeat(40)}${"]".repeat(40)}}`,
      "Cannot call buy: the arguments are nested deeper",
    ],
    ["a misfit", '{"sku":1}', "Cannot call buy: arguments.sku must be string"],
  ])("refuses arguments that are %s", async (_, args, reason) => {
    const { think } = await openAgent([[call("buy", args)]]);
    const end = await think({ catalog: [buy] });
    if (end.type !== "called" || end.item.type !== "assistant") throw new Error("expected calls");
    expect(end.calls).toMatchObject([{ kind: "refused", reason: expect.stringContaining(reason) as string }]);
    // What the model is given back is a JSON object, whatever it wrote.
    expect(JSON.parse(end.item.calls[0]?.arguments ?? "")).toBeTypeOf("object");
    expect(end.item.calls[0]?.arguments.length).toBeLessThan(1_000);
  });

  it("keeps the model's order, refused calls among the others", async () => {
    const { think } = await openAgent([[call("buy", { sku: "a" }), call("nope"), call("buy", { sku: "b" })]]);
    const end = await think({ catalog: [buy] });
    expect(end).toMatchObject({
      calls: [{ arguments: { sku: "a" } }, { kind: "refused" }, { arguments: { sku: "b" } }],
    });
  });

  it("P28: hears at most 256 calls of one turn", async () => {
    const { think } = await openAgent([Array.from({ length: 300 }, () => call("buy", { sku: "a" }))]);
    const end = await think({ catalog: [buy] });
    expect(end).toMatchObject({ calls: { length: 256 }, item: { calls: { length: 256 } } });
  });

  it("gives up where the model calls task_failed, whatever else it calls", async () => {
    const { think } = await openAgent([
      [call("buy", { sku: "a" }), call("task_failed", { reason: "Sold out" })],
    ]);
    const end = await think({ catalog: [buy] });
    expect(end).toMatchObject({
      type: "gaveUp",
      reason: "Sold out",
      item: { calls: [{ offeredName: "task_failed" }] },
    });
  });

  it.each(["", "nonsense", "{}", '{"reason":7}', '{"reason":" "}'])(
    "gives up with a reason of its own where the model's is %j",
    async (args) => {
      const { think } = await openAgent([[call("task_failed", args)]]);
      expect(await think({ catalog: [buy] })).toMatchObject({
        type: "gaveUp",
        reason: "The agent could not do what was asked.",
      });
    },
  );

  it("takes task_failed for an unknown tool where none is offered", async () => {
    const { think } = await openAgent([[call("task_failed", { reason: "x" })]]);
    expect(await think()).toMatchObject({ type: "called", calls: [{ kind: "refused" }] });
  });

  it("P28: rejects with the model's fault", async () => {
    const { think } = await openAgent([[status(401)]]);
    await expect(think()).rejects.toBeInstanceOf(ModelFault);
  });

  it("rejects with the signal's reason", async () => {
    const { agent, server } = await openAgent([[say("Hel"), hold(), say("lo")]]);
    const controller = new AbortController();
    const thinking = agent.think(newTurn(), () => {}, controller.signal);
    await server.held();
    controller.abort(new Error("stopped"));
    await expect(thinking).rejects.toThrow("stopped");
  });
});

describe("the budgets", () => {
  it("P35: gives the model what is left of the run's output tokens", async () => {
    const { server, think } = await openAgent(["ok"], { settings: { maxOutputTokensPerRun: 100 } });
    await think({ usage: { input: 1_000, output: 60 } });
    const { max_completion_tokens: limit, max_tokens: oldLimit } = server.requests[0]?.body ?? {};
    expect(limit ?? oldLimit).toBe(40);
  });

  it("P35: makes no model call once the run's output tokens are spent", async () => {
    const { server, think } = await openAgent([], { settings: { maxOutputTokensPerRun: 100 } });
    expect(await think({ usage: { input: 0, output: 100 } })).toMatchObject({ type: "overBudget" });
    expect(server.requests).toHaveLength(0);
  });

  it("P35: estimates the run's output where no usage was told", async () => {
    const { server, think } = await openAgent([], { settings: { maxOutputTokensPerRun: 100 } });
    const run = newRun({ turns: [{ type: "assistant", text: "x".repeat(400), calls: [] }] });
    expect(await think({ run, usage: null })).toMatchObject({ type: "overBudget" });
    expect(server.requests).toHaveLength(0);
  });

  function ledger(): Spending & { total: number; asked: number; counts: Record<string, number> } {
    const counts: Record<string, number> = {};
    const book = {
      total: 0,
      asked: 0,
      counts,
      today: () => "2026-11-25",
      spent: (slug: string, userId: string, day: string) => {
        expect([slug, userId, day]).toEqual(["shop", "user-1", "2026-11-25"]);
        book.asked += 1;
        return Promise.resolve(book.total);
      },
      spend: ({ slug, userId, day, tokens }: Parameters<Spending["spend"]>[0]) => {
        expect([slug, userId, day]).toEqual(["shop", "user-1", "2026-11-25"]);
        book.total += tokens;
        return Promise.resolve();
      },
      counted: (names: readonly string[]) => {
        book.asked += 1;
        return Promise.resolve(names.map((name) => book.counts[name] ?? 0));
      },
      count: ({ names, tokens }: Parameters<Spending["count"]>[0]) => {
        for (const name of names) book.counts[name] = (book.counts[name] ?? 0) + tokens;
        return Promise.resolve();
      },
    };
    return book;
  }

  it("P35: stops a user at the day's tokens, and calls no model any more", async () => {
    const spending = ledger();
    const script = [
      [say("a"), usage(60, 10)],
      [say("b"), usage(60, 10)],
    ];
    const { server, think } = await openAgent(script, {
      settings: { maxTokensPerUserPerDay: 100 },
      spending,
    });
    expect((await think()).type).toBe("finished");
    expect((await think()).type).toBe("finished");
    expect(await think()).toMatchObject({
      type: "overBudget",
      message: expect.stringContaining("tomorrow") as string,
    });
    expect(spending.total).toBe(140);
    expect(server.requests).toHaveLength(2);
  });

  it("P35: counts a turn that calls tools like any other", async () => {
    const spending = ledger();
    const { think } = await openAgent([[call("buy", { sku: "red" }), usage(60, 10)]], {
      settings: { maxTokensPerUserPerDay: 100 },
      spending,
    });
    expect((await think({ catalog: [buy] })).type).toBe("called");
    expect(spending.total).toBe(70);
  });

  it("P35: the day's tokens are spent when as many were used, not one later", async () => {
    const spending = ledger();
    const { server, think } = await openAgent([], { settings: { maxTokensPerUserPerDay: 100 }, spending });
    spending.total = 99;
    expect((await think()).type).toBe("finished");
    spending.total = 100;
    expect((await think()).type).toBe("overBudget");
    expect(server.requests).toHaveLength(1);
  });

  it("P35: counts an estimate where the model server tells no usage", async () => {
    const spending = ledger();
    const { think } = await openAgent([[say("x".repeat(4_000)), noUsage()]], {
      settings: { maxTokensPerUserPerDay: 100 },
      spending,
    });
    await think();
    expect(spending.total).toBeGreaterThan(1_000);
  });

  it("P35: counts an estimate of what the model was given, where that was made shorter", async () => {
    const spending = ledger();
    const tooLong = status(400, {}, '{"error":{"code":"context_length_exceeded"}}');
    const { server, think } = await openAgent([[tooLong], [say("a"), noUsage()]], {
      settings: { maxTokensPerUserPerDay: 10_000 },
      spending,
    });
    const long = "x".repeat(4_000);
    const before = [message(1, "user", long), message(2, "assistant", long)];
    await think({ before });
    expect(server.requests.map(({ body }) => body.messages.length)).toEqual([4, 2]);
    expect(spending.total).toBeLessThan(1_000);
  });

  it.each([
    ["the channel", { maxTokensPerDay: 100 }, {}, "channel shop", "channel"],
    ["the installation", {}, { installation: 100, address: null }, "installation", "installation"],
    ["an address", {}, { installation: null, address: 100 }, "address a1", "address"],
  ])("P35: stops at the day's tokens of %s, and says which", async (_, settings, caps, name, cap) => {
    const spending = ledger();
    const told: unknown[] = [];
    const { server, think } = await openAgent([[say("a"), usage(60, 10)]], {
      settings,
      spending,
      caps: { installation: null, address: null, ...caps },
      onSpent: (spent) => void told.push(spent),
    });
    const run = newRun({ address: "a1" });
    spending.counts[name] = 99;
    expect((await think({ run })).type).toBe("finished");
    expect(spending.counts).toEqual({ [name]: 169 });
    expect(spending.total).toBe(0);
    spending.counts[name] = 100;
    expect(await think({ run })).toMatchObject({
      type: "overBudget",
      message: expect.stringContaining("tomorrow") as string,
    });
    expect(told).toEqual([{ slug: "shop", cap }]);
    expect(server.requests).toHaveLength(1);
    // Whose address nobody knows is not counted by one.
    spending.counts[name] = 100;
    expect((await think({ run: newRun() })).type).toBe(cap === "address" ? "finished" : "overBudget");
  });

  it("asks nobody on a channel without a daily cap", async () => {
    const spending = ledger();
    const { think } = await openAgent([[say("a"), usage(60, 10)]], { spending });
    await think();
    expect([spending.asked, spending.total]).toEqual([0, 0]);
  });

  it("keeps the turn where its tokens cannot be noted", async () => {
    const spending = { ...ledger(), spent: async () => 0, spend: () => Promise.reject(new Error("down")) };
    const { think } = await openAgent(["ok"], { settings: { maxTokensPerUserPerDay: 100 }, spending });
    expect((await think()).type).toBe("finished");
  });
});

function toolName(tool: { type: string }): string {
  return (tool as { function?: { name: string } }).function?.name ?? "";
}
