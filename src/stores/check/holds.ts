import { DELETED_FENCE } from "../../domain/fence.ts";
import type { Engine } from "../engine.ts";
import { fieldIs } from "../steps/field-is.ts";
import { bucketOf, HEADER, tables } from "../tables.ts";
import { keyIs, mending, take } from "./checker.ts";
import type { Checker, Fault } from "./checker.ts";

/** Nobody holds the thread, and it waits for a call or a person. */
export function isResting(state: string | null, fence: string | null): boolean {
  return (state === "awaiting" || state === "waiting_for_person") && !fence;
}

/** Rules for what is listed of threads in their bucket, and for what is stored beside a thread. The header decides. */
export function holdCheckers(engine: Engine): Record<"held" | "due" | "part", Checker[]> {
  const mend = mending(engine);

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

  const held: Checker = {
    of: "fields",
    async look({ key }, holds) {
      const headers = await headersOf(holds.map(([uid]) => uid));
      return headers.flatMap(({ uid, fence }, nth): Fault[] => {
        const listed = holds[nth]?.[1] ?? null;
        if (fence === listed) return [];
        // A released fence never comes back.
        const repair = mend([fieldIs(key, uid, listed)], { write: "remove", key, fields: [uid] });
        const rule = "hold of a thread that is not held so";
        return [{ rule, what: `${key} ${uid}`, entry: uid, mend: repair }];
      });
    },
  };

  const due: Checker = {
    of: "members",
    async look({ key, tag }, members) {
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
          const rule = "deadline of a thread that does not rest";
          return { rule, what: `${key} ${uid}`, entry: uid, mend: mend(checks, take(key, uid)) };
        });
    },
  };

  /** Images are stored before their thread: if the process dies then, they stay. */
  const part: Checker = {
    of: "key",
    async look({ key, id: uid }) {
      const header = tables.header.key(uid);
      const [isThere, hasHeader, [fence = null]] = await engine.read([
        { read: "exists", key },
        { read: "exists", key: header },
        { read: "fields", key: header, fields: [HEADER.fence] },
      ]);
      if (!isThere || (hasHeader && !fence?.startsWith(DELETED_FENCE))) return [];
      const isGone = hasHeader ? fieldIs(header, HEADER.fence, fence) : keyIs(header, false);
      const repair = mend([isGone], { write: "drop", key });
      return [{ rule: "part of a thread that is not there", what: key, settles: true, mend: repair }];
    },
  };

  return { held: [held], due: [due], part: [part] };
}
