import type { Hold, InstanceMessage, InstanceStore } from "../../store/instances.ts";
import { isText, kindOf, shape } from "../checks.ts";
import { readText } from "../records.ts";
import { keyPart } from "./db.ts";
import type { EmbeddedDb } from "./db.ts";

export const holdKind = kindOf("hold", shape<Hold>({ uid: isText, fence: isText }));

/**
 * Only one process serves a data directory (data-dir-lock.ts): any other holder is a dead process. So heartbeats do
 * nothing, and a process sends messages only to itself.
 */
export function embeddedLiveness(db: EmbeddedDb, processId: string): InstanceStore {
  let deliver: ((message: InstanceMessage) => void) | undefined;

  return {
    processId,

    beat: () => db.read("look for silent processes", () => []),

    retire: () => db.read("retire", () => {}),

    enter: () => db.read("enter a process", () => {}),

    holders: () => db.read("list holders", () => []),

    heldBy: (asked) =>
      db.read("list held threads", () => {
        const all = db.range(asked === null ? ["held"] : ["held", keyPart(asked)], holdKind.read);
        const own = keyPart(processId);
        return [...all].filter(({ key }) => asked !== null || key[1] !== own).map(({ value }) => value);
      }),

    forget: () => db.read("forget a process", () => {}),

    due: (atMs, limit, _share, except = new Set()) =>
      db.read("list expired calls", () => {
        const uids: string[] = [];
        for (const { key, value } of db.range(["due"], readText)) {
          if (uids.length === limit || Number(key[1]) > atMs) break;
          if (!except.has(value)) uids.push(value);
        }
        return uids;
      }),

    onReconnect: () => () => {},

    send(to, message) {
      if (to !== processId) return;
      // A message is a copy that arrives later, as it would from another process.
      const copy = structuredClone(message);
      setImmediate(() => deliver?.(copy));
    },

    onMessage(handler) {
      deliver = handler;
    },
  };
}
