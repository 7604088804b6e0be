import { describe, expect, test } from "vitest";
import { ModelFault } from "../../../src/model.ts";
import { plainRequest, startTurn } from "../../support/servers/open-model.ts";
import { abortPromises, faultPromises } from "./contract-faults.ts";
import { textPromises } from "./contract-text.ts";
import type { FarTurn, ModelImplementation } from "./far-end.ts";

/** Holds an implementation to every sentence of src/model.ts. */
export function describeModel(name: string, implementation: ModelImplementation): void {
  describe(`${name} keeps the model's contract`, () => {
    answeredPromises(implementation);
    describe.skipIf(implementation.play === null)("with a far end that is played", () => {
      const play = (...turns: FarTurn[]) => {
        if (!implementation.play) throw new Error("Cannot play: this far end answers as it likes");
        return implementation.play(turns);
      };
      textPromises(play);
      faultPromises(play);
      abortPromises(play);
    });
  });
}

/** What holds whatever the far end says. */
function answeredPromises({ kind, answering }: ModelImplementation): void {
  test("it says its kind, and is told text as it comes: what was told is the turn's text", async () => {
    const { model, request } = await answering("text");
    expect(model.kind).toBe(kind);
    const { turn, written } = startTurn(model, { request });
    const { text, calls, usage } = await turn;
    expect(written.length).toBeGreaterThan(1);
    expect(written).not.toContain("");
    expect(written.join("")).toBe(text);
    expect(calls).toEqual([]);
    expect(usage?.input).toBeGreaterThan(0);
    expect(usage?.output).toBeGreaterThan(0);
  });

  test("a call has an id, a name and JSON text; a turn without text tells none", async () => {
    const { model, request } = await answering("call");
    const { turn, written } = startTurn(model, { request });
    const { text, calls } = await turn;
    expect([text, written]).toEqual(["", []]);
    expect(calls).toEqual([
      { callId: expect.stringMatching(/./), name: "clock", arguments: expect.any(String) as string },
    ]);
    expect(JSON.parse(calls[0]?.arguments ?? "")).toEqual({});
  });

  test("aborted before it begins, or in mid-text: rejects with the reason, and tells no more", async () => {
    const { model, request } = await answering("text");
    const begun = startTurn(model, { request, signal: AbortSignal.abort("too early") });
    await expect(begun.turn).rejects.toBe("too early");
    expect(begun.written).toEqual([]);

    const stop = new AbortController();
    const heard: string[] = [];
    const turn = model.stream(
      { ...plainRequest, ...request },
      (text) => {
        heard.push(text);
        stop.abort("visitor left");
      },
      stop.signal,
    );
    await expect(turn).rejects.toBe("visitor left");
    expect(heard).toHaveLength(1);
  });

  test("a model that is closed ends its turns, and begins none", async () => {
    const { model, request } = await answering("text");
    const closing: Promise<void>[] = [];
    const wrote = () => void closing.push(model.close());
    const turn = model.stream({ ...plainRequest, ...request }, wrote, new AbortController().signal);
    await expect(turn).rejects.toThrow(ModelFault);
    await Promise.all(closing);
    expect(closing).toHaveLength(1);
    await expect(startTurn(model, { request }).turn).rejects.toThrow(ModelFault);
  });
}
