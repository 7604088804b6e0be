import { expect, test } from "vitest";
import { ModelFault } from "../../../src/model.ts";
import { plainRequest, startTurn } from "../../support/servers/open-model.ts";
import { hold, lost, read } from "./far-end.ts";
import type { FarTurn, Play } from "./far-end.ts";

export function faultPromises(play: Play): void {
  test("P28: a fault before the first text is tried again", async () => {
    const { model, requests } = await play(
      [lost],
      [{ type: "call", name: "clock", arguments: "{}" }, lost],
      [read("Here I am")],
    );
    const { turn, written } = startTurn(model);
    expect((await turn).text).toBe("Here I am");
    expect(written).toEqual(["Here I am"]);
    expect(requests()).toBe(3);
  });

  test("P28: a fault that stays is a ModelFault after three tries", async () => {
    const { model, requests } = await play([lost], [lost], [lost], [read("too late")]);
    await expect(startTurn(model).turn).rejects.toThrow(ModelFault);
    expect(requests()).toBe(3);
  });

  test("P28: a fault after the first text is a ModelFault at once: nothing is said twice", async () => {
    const { model, requests, release } = await play([read("Hel"), hold, lost], [read("Hello")]);
    const { turn, written } = startTurn(model);
    await expect.poll(() => written).toEqual(["Hel"]);
    release();
    await expect(turn).rejects.toThrow(ModelFault);
    expect(written).toEqual(["Hel"]);
    expect(requests()).toBe(1);
  });
}

export function abortPromises(play: Play): void {
  test("aborted before it begins: no request", async () => {
    const { model, requests } = await play([read("late")]);
    await expect(startTurn(model, { signal: AbortSignal.abort("why") }).turn).rejects.toBe("why");
    expect(requests()).toBe(0);
  });

  test.each<[string, FarTurn]>([
    ["before the first byte", [hold, read("late")]],
    ["in mid-text", [read("a"), hold, read("late")]],
    ["in a tool call", [{ type: "call", name: "clock", arguments: "{}" }, hold]],
  ])("aborted %s: rejects with the reason, says no more, and the request ends at once", async (_, turn) => {
    const { model, held, requests, left } = await play(turn);
    const stop = new AbortController();
    const begun = startTurn(model, { signal: stop.signal });
    await held();
    stop.abort("visitor left");
    const before = [...begun.written];
    await expect(begun.turn).rejects.toBe("visitor left");
    await expect.poll(left).toBe(1);
    expect(begun.written).toEqual(before);
    expect(requests()).toBe(1);
  });

  test("P17: aborted while `wrote` waits: rejects with the reason, and the request ends at once", async () => {
    const { model, held, left } = await play([read("a"), hold]);
    const stop = new AbortController();
    const forEver = new Promise<void>(() => {});
    const turn = model.stream(plainRequest, () => forEver, stop.signal);
    turn.catch(() => {});
    await held();
    stop.abort("enough");
    await expect(turn).rejects.toBe("enough");
    await expect.poll(left).toBe(1);
  });
}
