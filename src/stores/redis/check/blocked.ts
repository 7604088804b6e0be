import type { Suspicion } from "../../backup/rules.ts";
import { isFilled } from "../filled.ts";
import { blockedUsersKey, userKeys, usersKey } from "../keys.ts";
import { numberOf } from "../records.ts";
import { ofMembers } from "./probe.ts";
import type { Probe } from "./probe.ts";

/** Rules for the list of blocked users. A channel that is not filled yet (fill-orders.ts) is not checked. */
export function blockedRules({ redis, field, score, mend, suspect }: Probe) {
  /** Checks the list of blocked users. */
  async function listedSuspicions(key: string, slug: string): Promise<Suspicion[]> {
    if (!(await isFilled(redis, slug))) return [];
    return ofMembers(redis, key, async (userId) => {
      const { user } = userKeys(slug, userId);
      return suspect({
        rule: "listed user is not blocked",
        what: `${key} ${userId}`,
        isStill: async () => (await score(key, userId)) && (await field(user, "blocked")) !== "1",
        async mend() {
          const command = ["ZREM", userId];
          await mend(user, ["absent"], key, ...command)();
          await mend(user, ["is", "blocked", "0"], key, ...command)();
        },
      });
    });
  }

  async function userSuspicions(key: string, slug: string, userId: string): Promise<Suspicion[]> {
    if ((await field(key, "blocked")) !== "1" || !(await isFilled(redis, slug))) return [];
    const [blocked, users] = [blockedUsersKey(slug), usersKey(slug)];
    return suspect({
      rule: "blocked user is not listed",
      what: key,
      isStill: async () => !(await score(blocked, userId)) && (await field(key, "blocked")) === "1",
      async mend() {
        const place = (await redis.read(users, "ZSCORE", users, userId)) ?? Date.now() * 1000;
        await mend(key, ["is", "blocked", "1"], blocked, "ZADD", "NX", String(numberOf(place)), userId)();
      },
    });
  }

  return { listedSuspicions, userSuspicions };
}
