import type { Clock } from "../../../src/clock.ts";
import type { Channel } from "../../../src/domain/channels/channel.ts";
import type { Listener } from "../../../src/listener.ts";
import { hashKey } from "../../../src/keys.ts";
import { Secret } from "../../../src/secret.ts";
import { openOpenAi } from "../../../src/models/openai.ts";
import type { Store } from "../../../src/store.ts";
import { ORIGIN, cli, other, shop } from "../../http/service.ts";
import { sampleChannel } from "../../stores/samples.ts";
import { startModelServer } from "../../support/servers/model-server.ts";
import type { ModelServer, Script } from "../../support/servers/model-server.ts";
import { openTestService, ROOMY_LIMITS, TEST_KEY } from "../../support/servers/service.ts";
import type { TestService } from "../../support/servers/service.ts";
import { ask } from "./ask.ts";
import type { Asking, Got } from "./ask.ts";

/** Of an admin. */
export const OPERATOR_KEY = "op_of-the-whole-service";

export const closed = sampleChannel({
  slug: "closed",
  publishableKey: "pk_closed",
  allowedOrigins: ["https://closed.example"],
  enabled: false,
});

/** A whole service on real sockets: listener, HTTP, threads, store and model client; only the model's far end is played. */
export interface Whole extends TestService, Calls {
  model: ModelServer;
}

/** What its clients do. */
export interface Calls {
  ask(asking: Asking): Promise<Got>;
  /** POST with a JSON body and the transport key. */
  transport(path: string, body: unknown): Promise<Got>;
  /** With the origin of `shop` and a visitor's token; a JSON body where there is one. */
  visitor(token: string, method: string, path: string, body?: unknown): Promise<Got>;
  newToken(): Promise<string>;
  newThread(token: string): Promise<string>;
}

export async function openWhole(options: {
  listener?: Listener["kind"];
  env?: Record<string, string>;
  script?: Script;
  /** Stays open, and is its giver's to close. */
  store?: Store;
  clock?: Clock;
  channels?: Channel[];
}): Promise<Whole> {
  const { listener, env = {}, channels = [], store, clock } = options;
  const played = await startModelServer(options.script);
  const model = openOpenAi({ apiKey: "sk-model", baseUrl: played.baseUrl, silenceMs: 30_000 });
  const service = await openTestService({
    env: { ...ROOMY_LIMITS, ...(listener ? { LISTENER: listener } : {}), ...env },
    channels: [shop, other, cli, closed, ...channels],
    model,
    ...(store ? { store } : {}),
    ...(clock ? { clock } : {}),
  });

  const keyHash = hashKey(new Secret(OPERATOR_KEY));
  await service.store.addOperator({ name: "whole", role: "admin", keyHash, channels: null });
  await service.directory.renew();
  return {
    ...service,
    ...callsOf(service.url),
    model: played,
    async close() {
      await service.close();
      await model.close();
      await played.close();
    },
  };
}

export function callsOf(url: string): Calls {
  const asked = (asking: Asking) => ask(url, asking);
  const json = { "content-type": "application/json" };
  const visitor: Calls["visitor"] = (token, method, path, body) =>
    asked({
      method,
      path: `/v1/widget/${path}`,
      headers: { origin: ORIGIN, "x-visitor-token": token, ...(body === undefined ? {} : json) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return {
    ask: asked,
    visitor,
    transport: (path, body) =>
      asked({
        method: "POST",
        path,
        headers: { authorization: `Bearer ${TEST_KEY}`, ...json },
        body: JSON.stringify(body),
      }),
    async newToken() {
      const headers = { origin: ORIGIN, "x-publishable-key": "pk_shop" };
      const got = await asked({ method: "POST", path: "/v1/widget/visitors", headers });
      return String((got.json() as { visitorToken: string }).visitorToken);
    },
    async newThread(token) {
      return String(((await visitor(token, "POST", "threads")).json() as { threadId: string }).threadId);
    },
  };
}
