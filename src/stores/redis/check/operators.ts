import type { Suspicion } from "../../backup/rules.ts";
import { isReadable } from "../../checks.ts";
import { operatorKind } from "../../operator-records.ts";
import { globalKeys } from "../keys.ts";
import { placedEntry } from "../operators.ts";
import { hashPages } from "../pages.ts";
import { jsonValue, pairsOf } from "../records.ts";
import type { Probe } from "./probe.ts";

/** Operators with unreadable records. */
export async function operatorSuspicions({ redis, field, suspect }: Probe): Promise<Suspicion[]> {
  const { operators } = globalKeys;
  const suspicions = pairsOf(await redis.read(operators, "HGETALL", operators)).map(([name]) =>
    suspect({
      rule: "record cannot be read",
      what: `${operators} ${name}`,
      isStill: async () => {
        const record = await field(operators, name);
        return record !== null && !isReadable(() => operatorKind.read(jsonValue(record), name));
      },
    }),
  );
  return (await Promise.all(suspicions)).flat();
}

/** Unreadable entries of the audit. */
export async function auditSuspicions({ redis, score, suspect }: Probe): Promise<Suspicion[]> {
  const { audit } = globalKeys;
  const found: Suspicion[] = [];
  for await (const pairs of hashPages(redis, audit, 500, "ZSCAN")) {
    for (const pair of pairs.filter((one) => !isReadable(() => placedEntry(one)))) {
      const what = `${audit} ${pair[1]}`;
      found.push(
        ...(await suspect({ rule: "record cannot be read", what, isStill: () => score(audit, pair[0]) })),
      );
    }
  }
  return found;
}
