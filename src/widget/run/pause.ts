import { delay } from "../service/delay.ts";
import type { Board } from "../view/board.ts";
import type { PageHost } from "./page-host.ts";

/** Counts the seconds down where the visitor sees them; after a cut it also waits for the browser to be online. */
export async function pause(
  { board, host }: { board: Board; host: PageHost },
  seconds: number,
  reason: "cut" | "busy",
  signal?: AbortSignal,
): Promise<void> {
  const strings = host.strings();
  for (let left = seconds; left > 0 && signal?.aborted !== true; left -= 1) {
    board.tell(
      reason === "busy" ? strings.slowDown.replace("{n}", String(left)) : strings.reconnecting,
      false,
    );
    await delay(1_000);
  }
  if (reason === "cut" && !navigator.onLine && signal?.aborted !== true) {
    await new Promise<unknown>((resolve) => {
      window.addEventListener("online", resolve, { once: true });
      signal?.addEventListener("abort", resolve, { once: true });
    });
  }
  board.change({ notice: null });
}
