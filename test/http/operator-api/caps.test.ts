// For src/http/operator-api/caps.ts
import { expect, test } from "vitest";
import { dayOf } from "../../../src/domain/day.ts";
import { shop } from "../service.ts";
import { startOperated } from "./operators-service.ts";

async function withCaps(env: Record<string, string> = {}) {
  const service = await startOperated(env);
  await service.store.putChannel({ ...shop, agent: { maxTokensPerDay: 5_000 } });
  const day = dayOf(service.clock.nowMs);
  const names = ["channel shop", "installation"];
  await service.store.countTokens({ names, day, tokens: 1_200 });
  const capsOf = async (name: string) => {
    const got = await service.as(name, "GET", "/caps");
    expect(got.status).toBe(200);
    return got.json();
  };
  return { ...service, day, capsOf };
}

test("the caps of installation, address and channels, with what is used of them today", async () => {
  const { capsOf, clock, day } = await withCaps({
    MAX_TOKENS_PER_DAY: "9000",
    ADDRESS_MAX_TOKENS_PER_DAY: "700",
  });
  const ofShop = { channel: "shop", limit: 5_000, used: 1_200 };
  const installation = { limit: 9_000, used: 1_200 };
  expect(await capsOf("auditor")).toEqual({
    day,
    installation,
    address: { limit: 700 },
    channels: [ofShop],
  });
  // Whoever is limited to channels sees theirs alone.
  expect(await capsOf("shop-agent")).toEqual({ day, installation: null, address: null, channels: [ofShop] });
  clock.nowMs += 86_400_000;
  expect(await capsOf("admin")).toMatchObject({
    installation: { limit: 9_000, used: 0 },
    channels: [{ ...ofShop, used: 0 }],
  });
});

test("what has no cap is not told", async () => {
  const { store, capsOf, day } = await withCaps();
  await store.putChannel(shop);
  expect(await capsOf("admin")).toEqual({ day, installation: null, address: null, channels: [] });
});
