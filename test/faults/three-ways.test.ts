// For src/models/providers.ts, src/models/responses/, src/models/packages/, src/models/reply/
import { describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { ModelFault } from "../../src/model.ts";
import { openProvider } from "../../src/models/openai.ts";
import type { Provider } from "../../src/models/openai.ts";
import { openPackage } from "../../src/models/packages/open-package.ts";
import { openProviders } from "../../src/models/providers.ts";
import { WIRES } from "../models/packages/wires.ts";
import type { PlayedTurn, Wire } from "../models/packages/wires.ts";
import { noPause, plainRequest } from "../support/servers/open-model.ts";
import { openHttpServer } from "../support/servers/http-server.ts";

/** Every way to ask a model, and the wire that its server speaks. */
const WAYS = [
  { way: "chat", wire: wireOf("@ai-sdk/openai-compatible") },
  { way: "responses", wire: wireOf("@ai-sdk/openai") },
  { way: "package", wire: wireOf("@ai-sdk/anthropic") },
] as const;

function wireOf(name: string): Wire {
  const wire = WIRES.find((each) => each.package === name);
  if (wire === undefined) throw new Error(`There is no wire of ${name}`);
  return wire;
}

/** A server whose answer breaks off behind so many frames; null: it is whole. */
async function serve({ frames, contentType }: Wire, turn: PlayedTurn, cutAfter: number | null) {
  let requests = 0;
  const url = await openHttpServer((incoming, outgoing) => {
    requests += 1;
    incoming.resume();
    incoming.on("end", () => {
      outgoing.writeHead(200, { "content-type": contentType });
      outgoing.flushHeaders();
      const all = frames(turn);
      for (const frame of all.slice(0, cutAfter ?? all.length)) outgoing.write(frame);
      if (cutAfter === null) outgoing.end();
      else setImmediate(() => outgoing.destroy());
    });
  });
  return { url, requests: () => requests };
}

async function providerOf(
  { way, wire }: (typeof WAYS)[number],
  name: string,
  url: string,
): Promise<Provider> {
  const given = { name, silenceMs: 30_000, pause: noPause };
  const provider =
    way === "package"
      ? await openPackage({ ...given, package: wire.package, settings: wire.settings(url) })
      : openProvider({ ...given, apiKey: "k", api: way, baseUrl: `${url}/v1` });
  onTestFinished(() => provider.close());
  return provider;
}

const usage = { input: 12, output: 5 };
const late: PlayedTurn = { text: "The second one.", usage };
const first: PlayedTurn = {
  thought: { text: "Hm.", signature: "c2lnbmVk" },
  text: "The first one.",
  calls: [{ id: "call_1", name: "stock", arguments: { of: "kettle" } }],
  usage,
};

describe.each(WAYS)("an answer by $way that breaks off", (ill) => {
  const next = WAYS[(WAYS.indexOf(ill) + 1) % WAYS.length] ?? ill;
  const steps = ill.wire.frames(first).length;

  test.each(Array.from({ length: steps + 1 }, (_, cutAfter) => cutAfter))(
    "behind frame %i is the next way's whole answer, or ends where its own text has been passed on",
    async (cutAfter) => {
      const broken = await serve(ill.wire, first, cutAfter);
      const whole = await serve(next.wire, late, null);
      const members = ["ill/m", "well/m"].map((name) => ({ provider: name.split("/")[0] ?? "", model: "m" }));
      const model = openProviders({
        kind: "openai",
        providers: [await providerOf(ill, "ill", broken.url), await providerOf(next, "well", whole.url)],
        names: { membersOf: () => members, defaultModel: "default" },
        clock: systemClock,
        log: { warn() {}, info() {} },
        onCall: () => {},
      });
      let written = "";
      const turn = model.stream(plainRequest, (text) => void (written += text), new AbortController().signal);
      const ended = await turn.catch((error: unknown) => error);
      expect(broken.requests()).toBe(1);
      if (ended instanceof ModelFault) {
        // Its own text, never followed by another one's.
        expect(written).not.toBe("");
        expect(first.text?.startsWith(written)).toBe(true);
        expect(whole.requests()).toBe(0);
      } else if (written === late.text) {
        expect(ended).toMatchObject({ by: "well/m", text: late.text });
        expect(whole.requests()).toBe(1);
      } else {
        // All that mattered had come.
        expect(ended).toMatchObject({ by: "ill/m", text: first.text, calls: [{ name: "stock" }] });
        expect(whole.requests()).toBe(0);
      }
    },
  );
});
