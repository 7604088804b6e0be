import { describe, expect, it } from "vitest";
import { createReplyRoom } from "../../src/actors/reply-room.ts";

/** Runs that write in turn, and which of them may. */
function openRoom(room: { longChars: number; chars: number; atOnce: number }) {
  const replyRoom = createReplyRoom(room);
  const runs = new Map<string, object>();
  const waiting = new Set<string>();
  const runOf = (name: string) => {
    const run = runs.get(name) ?? {};
    runs.set(name, run);
    return run;
  };
  return {
    waiting,
    grew(name: string, chars: number) {
      const mayGo = replyRoom.grew(runOf(name), chars);
      if (!mayGo) return;
      waiting.add(name);
      void mayGo.then(() => waiting.delete(name));
    },
    async ended(name: string) {
      replyRoom.left(runOf(name));
      await Promise.resolve();
    },
  };
}

describe("P17: long replies share a room", () => {
  it("lets short ones grow, however many there are", () => {
    const room = openRoom({ longChars: 100, chars: 300, atOnce: 1 });
    for (let each = 0; each < 1_000; each++) room.grew(`short ${each}`, 99);
    expect(room.waiting).toEqual(new Set());
  });

  it("lets all grow while they fit", () => {
    const room = openRoom({ longChars: 100, chars: 300, atOnce: 1 });
    room.grew("a", 140);
    room.grew("b", 140);
    expect(room.waiting).toEqual(new Set());
  });

  it("past that lets one go on to its end, and then the next, in the order of their coming", async () => {
    const room = openRoom({ longChars: 100, chars: 300, atOnce: 1 });
    for (const name of ["a", "b", "c", "d"]) room.grew(name, 140);
    expect(room.waiting).toEqual(new Set(["d"]));
    room.grew("c", 5_000);
    room.grew("a", 150);
    expect(room.waiting).toEqual(new Set(["d", "a"]));
    // Still over: the room holds what the others have written.
    room.grew("b", 200);
    await room.ended("c");
    expect(room.waiting).toEqual(new Set(["a", "b"]));
  });

  it("lets everybody on when there is room again", async () => {
    const room = openRoom({ longChars: 100, chars: 300, atOnce: 1 });
    room.grew("a", 280);
    room.grew("b", 140);
    for (const name of ["c", "d"]) room.grew(name, 100);
    expect(room.waiting).toEqual(new Set(["c", "d"]));
    await room.ended("a");
    await room.ended("b");
    expect(room.waiting).toEqual(new Set());
  });

  it("tells a run that is stopped while it waits, and counts it no more", async () => {
    const room = openRoom({ longChars: 100, chars: 300, atOnce: 1 });
    room.grew("a", 280);
    for (const name of ["b", "c"]) room.grew(name, 140);
    expect(room.waiting).toEqual(new Set(["c"]));
    await room.ended("c");
    expect(room.waiting).toEqual(new Set());
    await room.ended("a");
    room.grew("b", 290);
    expect(room.waiting).toEqual(new Set());
  });

  it("asks again and again of a run whose text was on its way already, and tells it once", async () => {
    const room = openRoom({ longChars: 100, chars: 300, atOnce: 1 });
    room.grew("a", 300);
    room.grew("b", 140);
    room.grew("b", 150);
    expect(room.waiting).toEqual(new Set(["b"]));
    await room.ended("a");
    expect(room.waiting).toEqual(new Set());
  });
});
