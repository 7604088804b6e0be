// For src/http/operator-api/
import { expect, test } from "vitest";
import { startOperated } from "./operators-service.ts";

test("G20: an operator's name for a user has at most 200 characters; what an earlier version stored is shown so far", async () => {
  const { as, store } = await startOperated();
  const stored = {
    slug: "shop",
    externalId: "kim",
    displayName: "x".repeat(900_000),
    newUserId: "u-kim",
    thread: null,
  };
  await store.admitUser({ ...stored, creates: true, atMs: 1 });
  for (const path of ["/channels/shop/users", "/channels/shop/users/kim"])
    expect((await (await as("admin", "GET", path)).text()).length).toBeLessThan(1_000);
  const renamed = (displayName: string) => as("agent", "PATCH", "/channels/shop/users/kim", { displayName });
  expect((await renamed("y".repeat(201))).status).toBe(422);
  expect((await renamed("y".repeat(200))).status).toBe(200);
});
