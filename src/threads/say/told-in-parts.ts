import { cutText } from "../../../machines/line.ts";
import type { Line, ProgressLine, TerminalLine } from "../../../machines/line.ts";
import type { KeptText, RunLine } from "../../domain/threads/kept-text.ts";
import type { Store } from "../../store.ts";
import { INTERRUPTED } from "../recover/interrupted.ts";
import type { Reply } from "../hold/reply.ts";
import { extent } from "../hold/run-log.ts";

/** The lines of a run that is over, with its text stored in parts. */
export interface SaidInParts {
  uid: string;
  runId: string;
  lines: readonly RunLine[];
  /** How many parts there are. */
  parts: number;
  terminal: TerminalLine;
  /** The position to start from. */
  from: number;
}

/** About as much as a connection takes at once. */
const PIECE_CHARS = 32_768;

/** The stream of a run that is over; its text is read from the store only as fast as the reader takes it. */
export function toldInParts(store: Pick<Store, "keptText">, said: SaidInParts): Reply {
  let left = false;
  return {
    runId: said.runId,
    pieces: () => piecesOf(store, said),
    read(take) {
      void (async () => {
        for await (const lines of piecesOf(store, said)) {
          if (left) return;
          take(lines);
        }
      })();
    },
    leave: () => void (left = true),
  };
}

/** The last piece ends with the terminal line, or with `interrupted` if the store lacks some of the text. */
async function* piecesOf(store: Pick<Store, "keptText">, said: SaidInParts): AsyncGenerator<Line[]> {
  const { lines, terminal, from } = said;
  const text = partReader(store, said);
  let position = 0;
  for (const line of lines) {
    const start = position;
    position += extent(line);
    if (line.type !== "delta") {
      if (start >= from) yield [line];
      continue;
    }
    let untold = Math.max(from - start, 0);
    for (let left = line.kept ?? 0; left > 0;) {
      const piece = await text(left);
      if (piece === null) return yield [INTERRUPTED];
      left -= piece.length;
      if (piece.length > untold) yield [deltaOf(piece.slice(untold))];
      untold = Math.max(untold - piece.length, 0);
    }
    if (line.text.length > untold) yield [deltaOf(line.text.slice(untold))];
  }
  yield [terminal];
}

/** The whole text of a run's parts. Rejects if the store lacks some of it. */
export async function* keptPieces(
  store: Pick<Store, "keptText">,
  { uid, runId, kept }: { uid: string; runId: string; kept: KeptText },
): AsyncGenerator<string> {
  const text = partReader(store, { uid, runId, parts: kept.parts });
  for (let left = kept.chars; left > 0;) {
    const piece = await text(left);
    if (piece === null) throw new Error(`Cannot read all of a reply of thread ${uid}: the store lacks some`);
    left -= piece.length;
    yield piece;
  }
}

/** Reads the next `mostChars` units of the parts' text, never half a surrogate pair. null: the store has no more. */
function partReader(
  store: Pick<Store, "keptText">,
  { uid, runId, parts }: Pick<SaidInParts, "uid" | "runId" | "parts">,
): (mostChars: number) => Promise<string | null> {
  let nth = 0;
  let text = "";
  return async (mostChars) => {
    if (text === "" && nth < parts) {
      text = await store.keptText(uid, runId, nth + 1, nth).catch(() => "");
      nth++;
    }
    const piece = cutText(text, Math.min(mostChars, PIECE_CHARS));
    text = text.slice(piece.length);
    return piece === "" ? null : piece;
  };
}

function deltaOf(text: string): ProgressLine {
  return { type: "delta", text };
}
