import type { Outlet } from "../../listener.ts";

/**
 * Writes a body whose end is known, as fast as it is read: the next piece is asked for when the last one has left. The
 * connection is cut where a piece cannot be made.
 */
export function writePulled(outlet: Outlet, pieces: AsyncGenerator<string>): void {
  let isAsking = false;
  let isOver = false;

  function over(): void {
    isOver = true;
    void pieces.return(undefined).catch(() => {});
  }

  async function ask(): Promise<void> {
    isAsking = true;
    try {
      const { value = "", done } = await pieces.next();
      isAsking = false;
      if (isOver) return;
      if (done) {
        over();
        outlet.end();
      } else if (value === "") await ask();
      else outlet.write(value);
    } catch {
      if (isOver) return;
      over();
      outlet.cut();
    }
  }

  outlet.onGone(over);
  outlet.pull(() => {
    if (!isAsking && !isOver) void ask();
  });
}
