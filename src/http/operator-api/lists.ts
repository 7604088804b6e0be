import { z } from "zod";
import { Refusal } from "../../domain/refusal.ts";
import { pageOf } from "../../store.ts";
import type { HttpAnswer } from "../../listener.ts";
import { queryOf } from "../body.ts";
import { documentedJson } from "../reference/shared-documentation.ts";
import { jsonAnswer } from "../route.ts";
import type { AnswerDocumentation, Field, RouteRequest } from "../route.ts";

const LIMIT = 50;
const LIMIT_MAX = 100;

export const limitText = z
  .string()
  .regex(/^\d{1,3}$/)
  .transform(Number)
  .refine((limit) => limit >= 1 && limit <= LIMIT_MAX)
  .default(LIMIT);

const listQuery = z.object({
  limit: limitText,
  cursor: z.string().nullable().default(null),
});

export const listFields: Record<"limit" | "cursor", Field> = {
  limit: {
    description: "How many at most",
    schema: z.int().min(1).max(LIMIT_MAX).default(LIMIT),
    required: false,
    example: LIMIT,
  },
  cursor: {
    description: "`next` of the page before",
    schema: z.string(),
    required: false,
    example: "dXNlcnMgMQ",
  },
};

/** Where a list continues. `after`: the last place of the page before. */
export interface Listing<Query> {
  limit: number;
  after: string | null;
  query: Query;
}

/** The query of a GET of a list. `kind` names the list: another list's cursor is invalid. Throws Refusal("invalid"). */
export function listingOf<Shape extends z.ZodRawShape>(
  { request }: Pick<RouteRequest, "request">,
  kind: string,
  schema: z.ZodObject<Shape>,
): Listing<z.infer<z.ZodObject<Shape>>> {
  const { limit, cursor } = queryOf(request, listQuery);
  const query = queryOf<z.infer<z.ZodObject<Shape>>>(request, schema);
  return { limit, after: cursor === null ? null : placeOf(cursor, kind), query };
}

export function listAnswer(kind: string, items: readonly unknown[], next: string | null): HttpAnswer {
  return jsonAnswer(200, { items, next: next === null ? null : cursorOf(next, kind) });
}

/** A list that is in memory, sorted by the texts that are its items' places. */
export function listOfAll<Item>(
  { incoming, kind }: { incoming: RouteRequest; kind: string },
  all: readonly Item[],
  { placeOf: place, viewOf }: { placeOf: (item: Item) => string; viewOf: (item: Item) => unknown },
): HttpAnswer {
  const { limit, after } = listingOf(incoming, kind, z.object({}));
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
  const text = Buffer.from(cursor, "base64url").toString();
  const place = text.slice(kind.length + 1);
  if (cursorOf(place, kind) !== cursor)
    throw new Refusal("invalid", "The query does not match the schema: cursor");
  return place;
}
