import * as fc from "fast-check";
import type { Step } from "../../../src/stores/engine.ts";
import { createMemoryEngine } from "./memory-engine.ts";
import { clear, contentsOf, draft, someRead, stepFrom } from "./random-steps.ts";
import type { Draft } from "./random-steps.ts";
import type { StoppableEngine } from "./stoppable.ts";

/** What one round of the property does: a step after some others, stopped or beside another one. */
export const round = fc.record({
  before: fc.array(draft, { maxLength: 4 }),
  step: draft,
  /** Before which of its writes the step is stopped, again and again until it is through. */
  stops: fc.array(fc.nat({ max: 6 }), { maxLength: 3 }),
  /** What is asked in the end. */
  reads: fc.array(someRead, { minLength: 1, maxLength: 4 }),
  /** Another step, sent at the same moment; null: none. */
  beside: fc.option(draft, { nil: null }),
});
export type Round = typeof round extends fc.Arbitrary<infer Drawn> ? Drawn : never;

/**
 * The theorem of engine.ts, for one round. Null: it holds; otherwise what differs.
 *
 * A step that is stopped after any of its writes, and sent again, leaves what it would have left without the stop; sent once
 * more, as after a lost answer, it changes nothing. Two steps at the same moment leave what one order of them would. What the
 * engine leaves and reads is what the engine in memory does.
 */
export async function breaks(
  { engine, stopBefore, goOn, isStop }: StoppableEngine,
  { before, step, stops, reads, beside }: Round,
): Promise<string | null> {
  await clear(engine);
  let nth = 0;
  const sent: Step[] = [];
  const make = async (drafted: Draft) => stepFrom(drafted, await contentsOf(engine), nth++);
  for (const drafted of before) {
    const made = await make(drafted);
    sent.push(made);
    await engine.apply(made);
  }
  const tested = await make(step);

  if (beside) {
    const other = await make(beside);
    await Promise.all([engine.apply(tested), engine.apply(other)]);
    const found = JSON.stringify(await contentsOf(engine));
    const orders = [
      [tested, other],
      [other, tested],
    ];
    const expected = await Promise.all(orders.map((order) => after([...sent, ...order])));
    return expected.includes(found) ? null : `two at once: ${found}, not one of ${expected.join(" | ")}`;
  }

  const answers: string[] = [];
  const twin = createMemoryEngine();
  for (const made of sent) await twin.apply(made);
  const expectedAnswer = (await twin.apply(tested)).type;
  for (const stop of [...stops, null]) {
    if (stop !== null) await stopBefore(stop);
    try {
      answers.push((await engine.apply(tested)).type);
      break;
    } catch (error) {
      if (!isStop(error)) throw error;
    }
  }
  await goOn();
  const expected = JSON.stringify(await contentsOf(twin));
  const found = JSON.stringify(await contentsOf(engine));
  if (found !== expected) return `stopped before ${stops.join(", ")}: ${found}, not ${expected}`;
  const [answer = ""] = answers;
  // Stopped among what comes after, it had counted already.
  if (answer !== expectedAnswer && answer !== "repeated") return `answered ${answer}, not ${expectedAnswer}`;
  await engine.apply(tested);
  const again = JSON.stringify(await contentsOf(engine));
  if (again !== found) return `sent once more: ${again}, not ${found}`;
  const [read, expectedRead] = (await Promise.all([engine.read(reads), twin.read(reads)])).map((one) =>
    JSON.stringify(one),
  );
  return read === expectedRead ? null : `reads ${read}, not ${expectedRead}`;
}

async function after(steps: readonly Step[]): Promise<string> {
  const twin = createMemoryEngine();
  for (const step of steps) await twin.apply(step);
  return JSON.stringify(await contentsOf(twin));
}
