// For src/admission/keys.ts, src/keys.ts
import { expect, test } from "vitest";
import { rotateKeys } from "../../../src/operators/channels.ts";
import { SECRET_KEY, startService } from "../service.ts";
import type { Service } from "../service.ts";

const HOUR_MS = 3_600_000;

/** Statuses of a page and a backend that use these keys: 201 and 404 (an unknown visitor) where they are good, else 401. */
async function statusesOf({ post }: Service, publishableKey: string, secretKey: string): Promise<number[]> {
  const page = await post("/v1/widget/visitors", "", { headers: { "x-publishable-key": publishableKey } });
  const identity = { visitorToken: "vt_shop_nobody", externalUserId: "ada" };
  const headers = { authorization: `Bearer ${secretKey}` };
  const backend = await post("/v1/channels/shop/identify", identity, { headers });
  return [page.status, backend.status];
}

async function rotate({ store, clock, renew }: Service, overlapHours?: number) {
  const channel = await store.channel("shop");
  if (channel === null) throw new Error("Cannot rotate: there is no channel");
  const acting = { store, clock: { now: () => clock.nowMs }, operator: "command line" as const };
  const rotated = await rotateKeys(acting, channel, overlapHours);
  if (rotated === null) throw new Error("Cannot rotate: somebody else wrote the channel");
  const { keys } = rotated;
  await renew();
  return [keys.publishableKey, keys.secretKey.reveal()] as const;
}

test("a rotation with an overlap leaves the old keys valid until it is over, and the ones before them too", async () => {
  const service = await startService();
  const oldest = ["pk_shop", SECRET_KEY] as const;
  const older = await rotate(service, 24);
  service.clock.nowMs += 20 * HOUR_MS;
  const newest = await rotate(service, 24);
  for (const keys of [oldest, older, newest]) expect(await statusesOf(service, ...keys)).toEqual([201, 404]);
  service.clock.nowMs += 5 * HOUR_MS;
  expect(await statusesOf(service, ...oldest)).toEqual([401, 401]);
  expect(await statusesOf(service, ...older)).toEqual([201, 404]);
  service.clock.nowMs += 20 * HOUR_MS;
  expect(await statusesOf(service, ...older)).toEqual([401, 401]);
  expect(await statusesOf(service, ...newest)).toEqual([201, 404]);
});

test("a rotation without an overlap ends all keys at once, and writes the channel as it was always written", async () => {
  const service = await startService();
  const older = await rotate(service, 24);
  const newest = await rotate(service);
  for (const keys of [["pk_shop", SECRET_KEY] as const, older])
    expect(await statusesOf(service, ...keys)).toEqual([401, 401]);
  expect(await statusesOf(service, ...newest)).toEqual([201, 404]);
  expect(await service.store.channel("shop")).not.toHaveProperty("olderKeys");
});
