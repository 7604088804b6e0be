import { createHash } from "node:crypto";
import { onTestFinished } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import { addOperators } from "../http/operator-api/operators-service.ts";
import { sampleChannel } from "../stores/samples.ts";
import { emptyFolder } from "../support/stores/data-dir.ts";
import type { Script } from "../support/servers/model-server.ts";
import { openModelOn } from "../support/servers/open-model.ts";
import { openTestService } from "../support/servers/service.ts";

const ORIGIN = "https://shop.example";

/** A service with operators, a scripted model, and a web channel `shop` beside `cli`; closed when the test is over. */
export async function startShop(script?: Script) {
  const store = await openEmbeddedStore({ dataDir: emptyFolder(), clock: systemClock });
  const secretKeyHash = createHash("sha256").update("sk_shop").digest("hex");
  await store.putChannel(
    sampleChannel({
      slug: "shop",
      publishableKey: "pk_shop",
      secretKeyHash,
      allowedOrigins: [ORIGIN],
      agent: {},
    }),
  );
  const { model, server, close: closeModel } = await openModelOn(script);
  await addOperators(store);
  const service = await openTestService({ store, model });
  onTestFinished(async () => {
    await service.close();
    await closeModel();
    await store.close();
  });
  return { service, store, server };
}

/** A visitor of the channel `shop`, in a new thread with one page tool. */
export async function enterShop(url: string, tool: string) {
  const post = (path: string, body: object | null, headers: Record<string, string> = {}) =>
    fetch(`${url}/v1/widget${path}`, {
      method: "POST",
      headers: {
        origin: ORIGIN,
        ...(body === null ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === null ? {} : { body: JSON.stringify(body) }),
    });
  const visitor = await post("/visitors", null, { "x-publishable-key": "pk_shop" });
  const { visitorToken } = (await visitor.json()) as { visitorToken: string };
  const token = { "x-visitor-token": visitorToken };
  const { threadId } = (await (await post("/threads", null, token)).json()) as { threadId: string };
  await post("/tools", { threadId, webmcpTools: [{ name: tool, inputSchema: { type: "object" } }] }, token);
  return {
    threadId,
    visitorToken,
    say: async (text: string) => (await post("/messages", { threadId, text }, token)).text(),
    answer: async (callId: string, result: unknown) =>
      (await post("/tool-results", { threadId, callId, tool, result }, token)).text(),
  };
}

/** The callId of the tool_call line that ends a stream. */
export function callIdOf(stream: string): string {
  return /"callId":"([^"]+)"/.exec(stream)?.[1] ?? "";
}
