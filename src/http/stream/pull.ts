import type { Outlet } from "../../listener.ts";

/**
 * Writes a body of known end as fast as its reader takes it: asks for the next piece when the last one has been sent.
 * Cuts the connection if a piece cannot be made.
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
    } catch (error) {
      if (isOver) return;
      over();
      outlet.cut(error);
    }
  }

  outlet.onGone(over);
  outlet.pull(() => {
    if (!isAsking && !isOver) void ask();
  });
}
