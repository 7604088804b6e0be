// For src/stores/redis.ts, src/stores/deadline.ts, src/start/
import { expect, test } from "vitest";
import { answersOf, bugs, everyRoute, health, outages, unavailable } from "./clients/every-route.ts";
import { describeEachListener } from "../support/servers/each-listener.ts";
import { openWhole } from "./clients/open-whole.ts";

describeEachListener("P24: without its store", (listener) => {
  test("the embedded store closed: every route is 503 at once", async () => {
    const whole = await openWhole({ listener });
    try {
      const token = await whole.newToken();
      const routes = everyRoute(token, await whole.newThread(token));
      expect(await outages(whole, routes)).toEqual([]);
      await whole.store.close();
      expect(await answersOf(whole, routes)).toEqual(unavailable(routes));
      expect(await health(whole)).toEqual([503, "unavailable"]);
      expect(bugs(whole)).toEqual([]);
    } finally {
      await whole.close();
    }
  });
});
