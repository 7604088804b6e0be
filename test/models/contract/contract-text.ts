import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { TURN_TEXT_CHARS } from "../../../src/model.ts";
import { plainRequest, startTurn } from "../../support/servers/open-model.ts";
import { hold, read } from "./far-end.ts";
import type { Play } from "./far-end.ts";

/** What a turn tells, and what it resolves to. */
export function textPromises(play: Play): void {
  test("`wrote` is called once for each read that brought text, with all of that read's text", async () => {
    const { model, release, held } = await play([read("Hel", "lo"), hold, read("", ""), hold, read(" you")]);
    const { turn, written } = startTurn(model);
    await expect.poll(() => written).toEqual(["Hello"]);
    release();
    await held();
    release();
    expect((await turn).text).toBe("Hello you");
    expect(written).toEqual(["Hello", " you"]);
  });

  test("P4: half of a surrogate pair waits for its other half, which may never come", async () => {
    const { model, release } = await play([
      read("a\ud83d"),
      hold,
      read("\ude00b"),
      hold,
      read("\ude00c\ud83d"),
    ]);
    const { turn, written } = startTurn(model);
    await expect.poll(() => written).toEqual(["a"]);
    release();
    await expect.poll(() => written).toEqual(["a", "😀b"]);
    release();
    expect((await turn).text).toBe("a😀b\ufffdc\ufffd");
    expect(written.join("")).toBe("a😀b\ufffdc\ufffd");
  });

  test("P4: a turn's text is the beginning of a longer one, never cut inside a pair, and all of it is told", async () => {
    const most = "x".repeat(TURN_TEXT_CHARS - 1);
    for (const [rest, kept] of [
      ["y", "y"],
      ["yz", "y"],
      ["😀", ""],
    ] as const) {
      const { model } = await play([read(most), read(rest)], [read(most), read(rest), read(" and so on")]);
      for (const more of ["", " and so on"]) {
        const { turn, written } = startTurn(model);
        expect((await turn).text).toBe(most + kept);
        expect(written.join("")).toBe(most + rest + more);
      }
    }
  });

  test("usage is what was reported, and null where none was", async () => {
    const { model } = await play(
      [read("a"), { type: "usage", usage: { input: 12, output: 3 } }],
      [read("a")],
    );
    expect((await startTurn(model).turn).usage).toEqual({ input: 12, output: 3 });
    expect((await startTurn(model).turn).usage).toBeNull();
  });

  test("P28: arguments are as the model wrote them, also where they do not parse, and each call has its own id", async () => {
    const { model } = await play([
      read("Let me see. "),
      { type: "call", name: "clock", arguments: '{"zone": ' },
      { type: "call", name: "search", arguments: '{"words":"mug"}' },
    ]);
    const { text, calls } = await startTurn(model).turn;
    expect(text).toBe("Let me see. ");
    expect(calls.map((call) => [call.name, call.arguments])).toEqual([
      ["clock", '{"zone": '],
      ["search", '{"words":"mug"}'],
    ]);
    expect(new Set(calls.map(({ callId }) => callId)).size).toBe(2);
  });

  test("P17: while a promise of `wrote` is open the model is not read on, and then all of it is told", async () => {
    const block = "x".repeat(65_536);
    const blocks = 400;
    const { model } = await play(Array.from({ length: blocks }, () => read(block)));
    let told = 0;
    let open = () => {};
    const opened = new Promise<void>((resolve) => (open = resolve));
    const wrote = (text: string) => {
      told += text.length;
      return opened;
    };
    const turn = model.stream(plainRequest, wrote, new AbortController().signal);
    turn.catch(() => {});
    // Until nothing moves any more.
    for (let before = -1, still = 0; still < 20; await pause(10)) {
      still = told > 0 && told === before ? still + 1 : 0;
      before = told;
    }
    expect(told).toBeLessThan((blocks / 2) * block.length);
    open();
    await turn;
    expect(told).toBe(blocks * block.length);
  });
}
