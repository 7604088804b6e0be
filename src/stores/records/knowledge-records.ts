import type { PageDocument, PageFailure, PageRecord, SourceRecord, StoredPassage } from "../../store.ts";
import { isFlag, isNumber, isText, kindOf, listOf, nullable, optional, shape } from "../checks.ts";

/** What is kept of a channel's documents. */

export const sourceKind = kindOf(
  "source of documents",
  shape<SourceRecord>({
    name: isText,
    settings: isText,
    dueAtMs: isNumber,
    readAtMs: nullable(isNumber),
    pages: isNumber,
    passages: isNumber,
    failed: isNumber,
    failures: listOf(shape<PageFailure>({ url: isText, why: isText })),
    fault: nullable(isText),
    sync: nullable(shape<NonNullable<SourceRecord["sync"]>>({ id: isText, sinceMs: isNumber, anew: isFlag })),
  }),
);

export const pageKind = kindOf(
  "page",
  shape<PageRecord>({
    url: isText,
    title: isText,
    etag: nullable(isText),
    lastModified: nullable(isText),
    hash: isText,
    passages: isNumber,
    rev: isText,
    sync: isText,
  }),
);

export const documentKind = kindOf(
  "text of a page",
  shape<PageDocument>({
    links: listOf(isText),
    passages: listOf(shape<StoredPassage>({ heading: isText, text: isText, vector: optional(isText) })),
  }),
);
