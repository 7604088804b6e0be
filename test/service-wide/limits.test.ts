// For src/http/, src/domain/threads/
import { expect, test } from "vitest";
import { ORIGIN } from "../http/service.ts";
import { describeEachListener } from "../support/servers/each-listener.ts";
import { noStore, seen, toPage } from "./bad-input.ts";
import { openWhole } from "./clients/open-whole.ts";
import type { Whole } from "./clients/open-whole.ts";

describeEachListener("limits by address and token", (listener) => {
  const toolsOf = (whole: Whole, token: string, threadId: string) =>
    whole.visitor(token, "POST", "tools", { threadId, webmcpTools: [] });

  test("the 11th message of a token in a minute is 429, and says for how long", async () => {
    const clock = { now: () => Date.UTC(2026, 10, 21, 12, 0, 5), elapsed: () => performance.now() };
    const whole = await openWhole({ listener, env: { WIDGET_MESSAGES_PER_MINUTE: "10" }, clock });
    try {
      const token = await whole.newToken();
      const threadId = await whole.newThread(token);
      for (let use = 0; use < 10; use++) {
        expect((await toolsOf(whole, token, threadId)).status).toBe(204);
      }
      const got = await whole.visitor(token, "POST", "messages", { threadId, text: "x" });
      expect(seen(got)).toEqual(toPage(429, { ...noStore, "retry-after": "55" }));
      expect(whole.model.requests).toHaveLength(0);
    } finally {
      await whole.close();
    }
  });

  test("with x-forwarded-for as source, the rightmost of all its lines counts and is blocked", async () => {
    const env = { CLIENT_IP_SOURCE: "x-forwarded-for", WIDGET_VISITORS_PER_HOUR_PER_IP: "1" };
    const whole = await openWhole({ listener, env });
    try {
      const from = async (forwarded: string | string[]) => {
        const headers = { origin: ORIGIN, "x-publishable-key": "pk_shop", "x-forwarded-for": forwarded };
        return (await whole.ask({ method: "POST", path: "/v1/widget/visitors", headers })).status;
      };
      expect(await from("192.0.2.1")).toBe(201);
      expect(await from("198.51.100.1, 192.0.2.1")).toBe(429);
      expect(await from(["198.51.100.2", "192.0.2.1"])).toBe(429);
      expect(await from("192.0.2.1, 192.0.2.2")).toBe(201);
      await whole.store.blockIp("203.0.113.7");
      await whole.directory.renew();
      expect(await from("192.0.2.9, 203.0.113.7")).toBe(403);
      expect(await from("203.0.113.7, 192.0.2.9")).toBe(201);
    } finally {
      await whole.close();
    }
  });

  test("with the socket as source, no header is an address", async () => {
    const whole = await openWhole({ listener, env: { WIDGET_VISITORS_PER_HOUR_PER_IP: "1" } });
    try {
      const statuses = [];
      for (const name of ["x-forwarded-for", "x-real-ip", "cf-connecting-ip", "forwarded"]) {
        const headers = { origin: ORIGIN, "x-publishable-key": "pk_shop", [name]: "192.0.2.1" };
        const got = await whole.ask({ method: "POST", path: "/v1/widget/visitors", headers });
        statuses.push(got.status);
      }
      expect(statuses).toEqual([201, 429, 429, 429]);
    } finally {
      await whole.close();
    }
  });
});
