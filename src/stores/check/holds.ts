import { DELETED_FENCE } from "../../domain/threads/fence.ts";
import { waitsAlone } from "../busy-states.ts";
import type { Engine } from "../engine.ts";
import { fieldIs } from "../steps/field-is.ts";
import { bucketOf, HEADER, tables } from "../tables.ts";
import { fieldsChecker, keyChecker, keyIs, membersChecker, mending, remove, take } from "./checker.ts";
import type { Checker, Fault } from "./checker.ts";

/** The thread may be listed with a deadline. */
export function isResting(state: string | null, fence: string | null): boolean {
  return waitsAlone(state) && !fence;
}

/** Rules for what is listed of threads in their bucket, and for what is stored beside a thread. The header decides. */
export function holdCheckers(engine: Engine): Record<"held" | "due" | "part", Checker[]> {
  const headersOf = (uids: readonly string[]) =>
    Promise.all(
      uids.map(async (uid) => {
        const key = tables.header.key(uid);
        const [[state, fence]] = await engine.read([
          { read: "fields", key, fields: [HEADER.state, HEADER.fence] },
        ]);
        return { uid, key, state: state ?? null, fence: fence ?? null };
      }),
    );

  const held = fieldsChecker(engine, async ({ key }, holds) => {
    const headers = await headersOf(holds.map(([uid]) => uid));
    return headers.flatMap(({ uid, fence }, nth): Fault[] => {
      const listed = holds[nth]?.[1] ?? null;
      if (fence === listed) return [];
      // A released fence never comes back.
      const mend = mending(engine, [fieldIs(key, uid, listed)], remove(key, uid));
      return [{ rule: "hold of a thread that is not held so", what: `${key} ${uid}`, entry: uid, mend }];
    });
  });

  const due = membersChecker(engine, async ({ key, tag }, members) => {
    const headers = await headersOf(members.map(([uid]) => uid));
    return headers
      .filter(({ state, fence }) => !isResting(state, fence))
      .map((header) => {
        const { uid, state, fence } = header;
        // In another bucket it means nothing whatever the header says.
        const isHere = bucketOf(uid) === tag;
        const checks = isHere
          ? [fieldIs(header.key, HEADER.state, state), fieldIs(header.key, HEADER.fence, fence)]
          : [];
        const mend = mending(engine, checks, take(key, uid));
        return { rule: "deadline of a thread that does not rest", what: `${key} ${uid}`, entry: uid, mend };
      });
  });

  /** Images are stored before their thread: if the process dies then, they stay. */
  const part = keyChecker(async ({ key, id: uid }) => {
    const header = tables.header.key(uid);
    const [isThere, hasHeader, [fence = null]] = await engine.read([
      { read: "exists", key },
      { read: "exists", key: header },
      { read: "fields", key: header, fields: [HEADER.fence] },
    ]);
    if (!isThere || (hasHeader && !fence?.startsWith(DELETED_FENCE))) return [];
    const isGone = hasHeader ? fieldIs(header, HEADER.fence, fence) : keyIs(header, false);
    const mend = mending(engine, [isGone], { write: "drop", key });
    return [{ rule: "part of a thread that is not there", what: key, settles: true, mend }];
  });

  return { held: [held], due: [due], part: [part] };
}
