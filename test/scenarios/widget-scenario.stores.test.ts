// For src/http/widget-api/, src/threads/
import { expect, inject, onTestFinished, test } from "vitest";
import { embedded, openHouse, ORIGIN, redisCluster, webChannel } from "./houses.ts";
import type { Site } from "./houses.ts";
import { MODEL_CALLS, shopper } from "./shopper.ts";
import { playWidget } from "./widget-scenario.ts";

test.each<Site>(inject("stores").map((kind) => (kind === "embedded" ? embedded : redisCluster)))(
  "P7, P8: a page's whole conversation, on $name, over every instance",
  async (site) => {
    const house = await openHouse(site, shopper);
    onTestFinished(() => house.close());
    await house.putChannel(webChannel("shop"));
    await playWidget({ urls: house.urls, origin: ORIGIN, publishableKey: "pk_shop" });
    expect(house.model.requests).toHaveLength(MODEL_CALLS);
    expect(await house.faults()).toEqual([]);
  },
);
