import fc from "fast-check";
import { expect, it } from "vitest";
import { webChannel } from "../scenarios/houses.ts";
import type { House } from "../scenarios/houses.ts";
import { startBoth } from "./both-sides.ts";
import { clientOf } from "./channel-client.ts";
import { command } from "./commands.ts";
import type { Command } from "./commands.ts";
import { expiredToken } from "./expired-token.ts";
import { randomRuns } from "../support/lengths.ts";

/** Nothing can be done where nobody has come. */
const OPENING: Command[] = [
  { type: "visit" },
  { type: "visit" },
  { type: "open thread", who: 0 },
  { type: "open thread", who: 1 },
];

/** P11, P12, P13 for any sequence of requests: each is answered as the reference says, and both hold the same in the end. */
export function itFollowsTheReference(open: () => House, runs: number): void {
  it("P11, P12, P13: any sequence of requests is answered as the reference answers it", async () => {
    const house = open();
    await house.putChannel(webChannel("elsewhere"));
    const foreign = (await clientOf(house, "elsewhere").newVisitor()).token;
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 10, maxLength: 50, size: "max" }), async (commands) => {
        const slug = `run-${run++}`;
        await house.putChannel(webChannel(slug));
        const strange = {
          unknown: `vt_${slug}_${"A".repeat(43)}`,
          expired: await expiredToken(house, slug),
          foreign,
        };
        const both = await startBoth(house, slug, strange);
        for (const each of [...OPENING, ...commands]) await both.perform(each);
        await both.compare();
      }),
      { numRuns: randomRuns(runs) },
    );
    expect(await house.faults()).toEqual([]);
  });
}
