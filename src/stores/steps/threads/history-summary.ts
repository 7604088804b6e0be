import { HISTORY_SUMMARY } from "../../../domain/threads/history-summary.ts";
import type { HistorySummary } from "../../../domain/threads/history-summary.ts";
import type { ThreadStore } from "../../../store/threads.ts";
import { UnreadableRecord } from "../../../store.ts";
import { isSealedPart, openedPart, sealedPart } from "../../content-keys/sealed-records.ts";
import type { Open } from "../../content-keys/sealed-records.ts";
import { slotOf } from "../../engine.ts";
import { jsonValue } from "../../records/json-value.ts";
import { historySummaryKind, readHistorySummary } from "../../records/records.ts";
import { rangesText } from "../../../domain/threads/branches.ts";
import { HEADER, tables } from "../../tables.ts";
import type { StepsContext } from "../context.ts";
import { fieldIs } from "../field-is.ts";
import type { KnownFacts } from "./facts.ts";
import { readField } from "./read-field.ts";
import { partId, partName } from "./texts.ts";

/** There is one, which is replaced: a reader gets the former one or this. */
export const SUMMARY_FIELD = partName(HISTORY_SUMMARY, 0);
const READ = { name: "historySummary" };

/** The summary of a thread's history. The header says whether there is one: hardly any thread has, and those read nothing more. */
export function historySummarySteps(
  { engine, codec }: StepsContext,
  known: KnownFacts,
): Pick<ThreadStore, "historySummary" | "keepHistorySummary"> {
  return {
    async historySummary(uid) {
      const text = await readField(engine, tables.parts.key(uid), SUMMARY_FIELD, READ);
      return text === null ? null : codec.read(uid, (open) => historySummaryFrom(text, uid, open));
    },

    async keepHistorySummary({ uid, slug, summary, after, hidden = [] }) {
      const key = tables.header.key(uid);
      const seal = await codec.sealOf({ uid, slug: known.get(uid)?.slug ?? slug, userId: null });
      const json = JSON.stringify(historySummaryKind.stored(summary));
      const text = seal ? sealedPart(json, partId(HISTORY_SUMMARY, 0), seal) : json;
      const applied = await engine.apply({
        name: "keepHistorySummary",
        slot: slotOf(key),
        checks: [
          fieldIs(key, HEADER.deletedAtMs, null),
          fieldIs(key, HEADER.slug, slug),
          { check: "field", key, field: HEADER.summarized, is: after === 0 ? [null, ""] : [String(after)] },
          {
            check: "field",
            key,
            field: HEADER.hidden,
            is: hidden.length === 0 ? [null, ""] : [rangesText(hidden)],
          },
        ],
        writes: [
          { write: "set", key: tables.parts.key(uid), fields: [[SUMMARY_FIELD, text]] },
          { write: "set", key, fields: [[HEADER.summarized, String(summary.upTo)]] },
        ],
      });
      return applied.type !== "failed";
    },
  };
}

/** As it is stored. */
export function historySummaryFrom(text: string | null, uid: string, open: Open): HistorySummary {
  if (text === null) throw new UnreadableRecord("summary of the history", uid, "it is not there");
  return readHistorySummary(jsonValue(openedPart(text, partId(HISTORY_SUMMARY, 0), open)), uid);
}

/** Throws UnreadableRecord if it is unreadable whatever its key is. */
export function readableSummary(text: string | null, uid: string): void {
  if (text === null || !isSealedPart(text)) historySummaryFrom(text, uid, (sealed) => sealed);
}
