import { ANSWERERS, MOST_SHOWN } from "../../../domain/threads/answerer-change.ts";
import type { AnswererChange } from "../../../domain/threads/answerer-change.ts";
import type { ThreadStore } from "../../../store/threads.ts";
import type { Seal } from "../../content-keys/sealed-records.ts";
import type { Write } from "../../engine.ts";
import { answererKind, readAnswererChange } from "../../records/records.ts";
import { tables } from "../../tables.ts";
import type { StepsContext } from "../context.ts";
import { partName, recordOfPart, recordPart } from "./texts.ts";

/** Each change of who answers is a part of its own, numbered by its epoch: a commit adds one without having read the others. */
export function answererWrite(uid: string, change: AnswererChange, seal: Seal | null): Write {
  const part = recordPart(answererKind.stored(change), ANSWERERS, change.epoch, seal);
  return { write: "set", key: tables.parts.key(uid), fields: [part] };
}

export function answererSteps({ engine, codec }: StepsContext): Pick<ThreadStore, "answererChanges"> {
  return {
    async answererChanges(uid, epoch) {
      if (epoch === 0) return [];
      const count = Math.min(epoch, MOST_SHOWN);
      const epochs = Array.from({ length: count }, (_, at) => epoch - count + 1 + at);
      const fields = epochs.map((nth) => partName(ANSWERERS, nth));
      const reads = [{ read: "fields", key: tables.parts.key(uid), fields }] as const;
      const [texts] = await engine.read(reads, { name: "answererChanges" });
      return codec.read(uid, (open) =>
        texts.flatMap((text, at) => {
          if (text === null) return [];
          return [readAnswererChange(recordOfPart(text, ANSWERERS, epochs[at] ?? 0, open), uid)];
        }),
      );
    },
  };
}
