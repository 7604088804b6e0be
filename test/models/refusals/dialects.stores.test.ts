// For src/models/refusals/profiles.ts, src/models/request/
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Line } from "../../../machines/line.ts";
import { openOpenAi } from "../../../src/models/openai.ts";
import { rowsAtLength } from "../../support/lengths.ts";
import { hold, startModelServer } from "../../support/servers/model-server.ts";
import type { ModelServer } from "../../support/servers/model-server.ts";
import { ROOMY_LIMITS, startTestService } from "../../support/servers/service.ts";
import { storeKinds } from "../../support/stores/store-kinds.ts";
import type { TestDatabase } from "../../support/stores/store-kinds.ts";
import { DIALECTS, playDialect } from "./dialects.ts";
import type { Dialect } from "./dialects.ts";
import { openShopper, shopChannel, textOf } from "../shopper.ts";

describe.each(storeKinds)("models as they are, on $name", ({ prepare }) => {
  let database: TestDatabase;
  beforeAll(async () => void (database = await prepare()));
  afterAll(() => database.remove());

  async function serve(dialect: Dialect, server: ModelServer) {
    const store = await database.open();
    const { base = "/v1" } = dialect;
    const baseUrl = server.baseUrl.replace(/\/v1$/, base);
    const model = openOpenAi({
      apiKey: "key",
      baseUrl,
      silenceMs: 30_000,
      ...(dialect.profile ? { profile: dialect.profile } : {}),
    });
    const agent = { maxOutputTokensPerRun: 1_000 };
    const service = await startTestService({
      env: ROOMY_LIMITS,
      store,
      model,
      channels: [shopChannel(agent)],
    });
    const close = async () => {
      await service.close();
      await model.close();
      await store.close();
    };
    return { url: service.url, close };
  }

  const last = (lines: readonly Line[]) => lines.at(-1) ?? { type: "delta" as const, text: "" };

  test.each(rowsAtLength(DIALECTS, 4))(
    "$name: two turns with tools and a later message, the second one taken over by another process",
    async (dialect) => {
      await database.clear();
      const play = playDialect(dialect);
      let holds = false;
      const server = await startModelServer((request, nth) =>
        holds ? [hold(), ...play(request, nth)] : play(request, nth),
      );
      onTestFinished(() => server.close());
      let service = await serve(dialect, server);
      onTestFinished(() => service.close());
      const shopper = await openShopper(() => service.url);

      const buys = async (text: string): Promise<Line[]> => {
        const said = await shopper.say(text);
        if (dialect.withoutTools) return said;
        expect(last(said)).toMatchObject({ type: "tool_call", tool: "buy" });
        return shopper.answer(last(said));
      };
      const first = await buys("Buy one");
      expect([textOf(first), last(first).type]).toEqual(["So it is.", "done"]);
      const lessons = server.requests.length;

      const second = await shopper.say("Buy another one");
      if (!dialect.withoutTools) {
        holds = true;
        // The answer to this instance is not read to its end: the instance goes away meanwhile.
        const cut = shopper.answer(last(second)).catch(() => []);
        await server.held();
        holds = false;
        const gone = service;
        await gone.close();
        await cut;
        service = await serve(dialect, server);
        await expect.poll(async () => last(await shopper.stream()).type).toBe("done");
        expect(textOf(await shopper.stream())).toBe("So it is.");
      }

      const later = await shopper.say("Thanks");
      expect([textOf(later), last(later).type]).toEqual(["So it is.", "done"]);
      const roles = (await shopper.history()).map(({ role }) => role);
      expect(roles.join(" ")).toBe("user assistant user assistant user assistant");
      // What was refused once is not sent again: the first message taught all of it.
      expect(lessons).toBe((dialect.withoutTools ? 1 : 2) + (dialect.lessons ?? 0));
    },
  );
});
