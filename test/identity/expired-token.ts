import { expect } from "vitest";
import { createVisitors } from "../../src/visitors/visitors.ts";
import { systemClock } from "../../src/clock.ts";
import { readVisitorToken } from "../../src/domain/people/visitor-token.ts";
import type { House } from "../scenarios/houses.ts";

/** A token of the channel, one millisecond after its lifetime of one. Its user stays, and nobody comes back for it. */
export async function expiredToken({ store }: House, slug: string): Promise<string> {
  const { visitorToken } = await createVisitors({ store, clock: systemClock, ttlMs: 1 }).mint(slug);
  const tokenHash = readVisitorToken(visitorToken)?.tokenHash ?? "";
  const isGone = async () => (await store.readIdentity(slug, tokenHash, "nobody")).visitor === null;
  await expect.poll(isGone, { interval: 1 }).toBe(true);
  return visitorToken;
}
