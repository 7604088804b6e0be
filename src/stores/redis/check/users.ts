import type { Suspicion } from "../../backup/rules.ts";
import { externalIdKey, userKeys, usersKey } from "../keys.ts";
import { hashPages } from "../pages.ts";
import { textOrNull } from "../records.ts";
import type { Probe } from "./probe.ts";

const DAY_MS = 24 * 3_600_000;

/** Rules for users, their external ids and tokens: each checks the key that it is given. */
export function userRules({ redis, exists, field, score, mend, suspect }: Probe) {
  async function userSuspicions(key: string, slug: string, userId: string): Promise<Suspicion[]> {
    const users = usersKey(slug);
    const unlisted = suspect({
      rule: "user is not listed",
      what: key,
      isStill: async () => !(await score(users, userId)) && (await exists(key)),
      mend: mend(key, ["present"], users, "ZADD", "NX", String(Date.now() * 1000), userId),
    });
    const external = await field(key, "external");
    if (external === null) return unlisted;
    const leads = externalIdKey(slug, external);
    const unreached = suspect({
      rule: "account is not reached",
      what: key,
      isStill: async () =>
        textOrNull(await redis.read(leads, "GET", leads)) === null &&
        (await field(key, "external")) === external,
      mend: mend(key, ["is", "external", external], leads, "SET", userId, "NX"),
    });
    return [...(await unlisted), ...(await unreached)];
  }

  async function listedSuspicions(key: string, slug: string): Promise<Suspicion[]> {
    const found: Suspicion[] = [];
    for await (const pairs of hashPages(redis, key, 500, "ZSCAN")) {
      const suspicions = pairs.map(([userId]) => {
        const { user } = userKeys(slug, userId);
        return suspect({
          rule: "listed user is gone",
          what: user,
          isStill: async () => !(await exists(user)) && (await score(key, userId)),
          mend: mend(user, ["absent"], key, "ZREM", userId),
        });
      });
      found.push(...(await Promise.all(suspicions)).flat());
    }
    return found;
  }

  async function externalSuspicions(key: string, slug: string): Promise<Suspicion[]> {
    const leadsTo = async () => textOrNull(await redis.read(key, "GET", key));
    const userId = await leadsTo();
    if (userId === null) return [];
    return suspect({
      rule: "external id leads to nobody",
      what: key,
      isStill: async () => !(await exists(userKeys(slug, userId).user)) && (await leadsTo()) === userId,
      // A deleted user does not come back.
      mend: mend(key, ["says", "", userId], key, "DEL"),
    });
  }

  async function tokenSuspicions(key: string, slug: string): Promise<Suspicion[]> {
    const userId = await field(key, "user");
    if (userId === null) return [];
    const [stray, endless] = await Promise.all([
      suspect({
        rule: "token leads to nobody",
        what: key,
        // In this order: an identify that moves the token removes its user.
        isStill: async () =>
          !(await exists(userKeys(slug, userId).user)) && (await field(key, "user")) === userId,
        mend: mend(key, ["is", "user", userId], key, "DEL"),
      }),
      suspect({
        rule: "token never ends",
        what: key,
        isStill: async () => (await redis.read(key, "PTTL", key)) === -1,
        mend: mend(key, ["present"], key, "PEXPIRE", String(DAY_MS), "NX"),
      }),
    ]);
    return [...stray, ...endless];
  }

  return { userSuspicions, listedSuspicions, externalSuspicions, tokenSuspicions };
}
