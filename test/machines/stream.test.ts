// For machines/line.ts, machines/stream.ts
import fc from "fast-check";
import { expect, it } from "vitest";
import { isTerminal } from "../../machines/line.ts";
import type { Line } from "../../machines/line.ts";
import { createReply } from "../../src/threads/hold/reply.ts";

const line: fc.Arbitrary<Line> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ type: fc.constant("delta" as const), text: fc.string() }) },
  fc.record({
    type: fc.constant("step" as const),
    id: fc.string(),
    phase: fc.constantFrom("running" as const, "done" as const, "failed" as const),
    text: fc.string(),
  }),
  fc.record({ type: fc.constant("done" as const), elapsedMs: fc.nat() }),
  fc.record({ type: fc.constant("error" as const), message: fc.string() }),
);

it("S1 S2 P3: whatever is said to a reply, its reader gets everything up to the first terminal line and nothing after it", () => {
  fc.assert(
    fc.property(fc.array(fc.array(line, { maxLength: 3 })), fc.nat(10), (said, readsAfter) => {
      const reply = createReply("r1");
      const read: Line[] = [];
      said.forEach((lines, i) => {
        if (i === readsAfter) reply.read((taken) => read.push(...taken));
        reply.say(lines);
      });
      if (said.length <= readsAfter) reply.read((taken) => read.push(...taken));

      const all = said.flat();
      const end = all.findIndex(isTerminal);
      expect(read).toEqual(end < 0 ? all : all.slice(0, end + 1));
      expect(reply.over).toBe(end >= 0);
    }),
  );
});
