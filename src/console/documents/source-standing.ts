import type { SourceView } from "../service/views.ts";

/** How a source stands, in a word, and in the colour of a flag. */
export function standingOf({ state, failed }: Pick<SourceView, "state" | "failed">): {
  kind: "bad" | "awaiting" | "well";
  word: string;
} {
  switch (state) {
    case "new":
      return { kind: "awaiting", word: "not read yet" };
    case "reading":
      return { kind: "awaiting", word: "being read" };
    case "failed":
      return { kind: "bad", word: "failed" };
    case "read":
      return failed > 0 ? { kind: "awaiting", word: "read in part" } : { kind: "well", word: "read" };
  }
}

/** Where its documents are. */
export function placeOf({ url, sitemap, folder, file }: SourceView): string {
  return url ?? sitemap ?? folder ?? file ?? "";
}
