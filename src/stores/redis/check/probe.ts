import type { Suspicion } from "../../backup/rules.ts";
import type { RedisCommands } from "../commands.ts";
import { hashPages } from "../pages.ts";
import { textOrNull } from "../records.ts";

/** How the rules read Redis, and repair it. */
export type Probe = ReturnType<typeof probeOf>;

export function probeOf(redis: RedisCommands) {
  const exists = async (key: string) => (await redis.read(key, "EXISTS", key)) === 1;
  const field = async (key: string, name: string) => textOrNull(await redis.read(key, "HGET", key, name));
  const score = async (key: string, member: string) =>
    (await redis.read(key, "ZSCORE", key, member)) !== null;

  /** A command on a key that runs only if the test holds for another key of its slot. */
  const mend =
    (
      witness: string,
      test: [name: string, field?: string, value?: string],
      target: string,
      ...command: string[]
    ) =>
    async () => {
      const [name, tested = "", value = ""] = test;
      await redis.call("mend", { witness, target }, { test: name, field: tested, value }, command);
    };

  /** The suspicion, if it holds now; else none. */
  async function suspect(suspicion: Suspicion): Promise<Suspicion[]> {
    return (await suspicion.isStill()) ? [suspicion] : [];
  }

  /** A key that means nothing without another one. */
  const orphan = (rule: Suspicion["rule"], key: string, owner: string): Promise<Suspicion[]> =>
    suspect({
      rule,
      what: key,
      isStill: async () => (await exists(key)) && !(await exists(owner)),
      mend: mend(owner, ["absent"], key, "DEL"),
    });

  return { redis, exists, field, score, mend, suspect, orphan };
}

const MEMBERS_AT_ONCE = 500;

/** Collects the suspicions about each member of a sorted set. */
export async function ofMembers(
  redis: RedisCommands,
  key: string,
  look: (member: string) => Promise<Suspicion[]>,
): Promise<Suspicion[]> {
  const found: Suspicion[] = [];
  for await (const pairs of hashPages(redis, key, MEMBERS_AT_ONCE, "ZSCAN")) {
    found.push(...(await Promise.all(pairs.map(([member]) => look(member)))).flat());
  }
  return found;
}
