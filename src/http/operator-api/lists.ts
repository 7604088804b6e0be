import { z } from "zod";
import { pageOf } from "../../store.ts";
import type { HttpAnswer } from "../../listener.ts";
import { limitField } from "../endpoint.ts";
import { documentedJson } from "../reference/shared-documentation.ts";
import { jsonAnswer } from "../route.ts";
import type { AnswerDocumentation } from "../route.ts";

const LIMIT = 50;

export const listLimit = limitField(LIMIT);

/** Where a list continues: `cursor` is the last place of the page before. `kind`: another list's cursor is invalid. */
export function listFields(kind: string) {
  return {
    limit: listLimit,
    cursor: {
      description: "`next` of the page before",
      schema: z
        .string()
        .refine((cursor) => cursorOf(placeOf(cursor, kind), kind) === cursor)
        .transform((cursor) => placeOf(cursor, kind))
        .nullable()
        .default(null),
      shown: z.string(),
      example: "dXNlcnMgMQ",
    },
  };
}

export function listAnswer(kind: string, items: readonly unknown[], next: string | null): HttpAnswer {
  return jsonAnswer(200, { items, next: next === null ? null : cursorOf(next, kind) });
}

/** A list that is in memory, sorted by the texts that are its items' places. */
export function listOfAll<Item>(
  { kind, limit, cursor: after }: { kind: string; limit: number; cursor: string | null },
  all: readonly Item[],
  { placeOf: place, viewOf }: { placeOf: (item: Item) => string; viewOf: (item: Item) => unknown },
): HttpAnswer {
  const placed = all
    .map((item) => ({ item, place: place(item) }))
    .toSorted((a, b) => (a.place < b.place ? -1 : 1))
    .filter((one) => after === null || one.place > after);
  const { items, next } = pageOf(placed, limit);
  return listAnswer(
    kind,
    items.map(({ item }) => viewOf(item)),
    next,
  );
}

export function documentedList(description: string, item: z.ZodType, example: unknown): AnswerDocumentation {
  const schema = z.object({
    items: z.array(item),
    next: z.string().nullable().describe("The cursor of the next page; null at the end"),
  });
  return documentedJson(description, schema, { items: [example], next: null });
}

/** Opaque, so that clients do not parse it. */
function cursorOf(place: string, kind: string): string {
  return Buffer.from(`${kind} ${place}`).toString("base64url");
}

function placeOf(cursor: string, kind: string): string {
  return Buffer.from(cursor, "base64url")
    .toString()
    .slice(kind.length + 1);
}
