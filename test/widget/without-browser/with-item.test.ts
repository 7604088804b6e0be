// For src/widget/run/messages/with-item.ts, src/widget/view/view-state.ts
import fc from "fast-check";
import { expect, test } from "vitest";
import { isBefore, lastIdOf, withItem, withLater } from "../../../src/widget/run/messages/with-item.ts";
import type { ShownMessage } from "../../../src/widget/view/view-state.ts";

const shown = (more: Partial<ShownMessage> & Pick<ShownMessage, "key">): ShownMessage => ({
  id: null,
  role: "user",
  text: "",
  clientMessageId: null,
  steps: [],
  live: false,
  atMs: 1,
  isCutOff: false,
  problem: null,
  ...more,
});

/** An item of the history: odd ids are the visitor's. */
const item = (id: number, clientMessageId: string | null = null): ShownMessage =>
  shown({
    key: `h${id}`,
    id: String(id),
    role: id % 2 === 1 ? "user" : "assistant",
    text: `item ${id}`,
    clientMessageId,
  });

const said = (name: string, more: Partial<ShownMessage> = {}) =>
  shown({ key: `l-${name}`, text: name, clientMessageId: name, ...more });
const reply = (key: string, more: Partial<ShownMessage> = {}) =>
  shown({ key, role: "assistant", live: true, ...more });

const keys = (messages: readonly ShownMessage[]) => messages.map(({ key, id }) => `${key}=${id ?? "?"}`);

test("a message of this tab, and the reply that it saw, get the place of their items and stay the same on the page", () => {
  const messages = [item(1), item(2), said("mine"), reply("l-reply", { text: "item" })];
  const next = [item(3, "mine"), item(4)].reduce(withItem, messages);
  expect(keys(next)).toEqual(["h1=1", "h2=2", "l-mine=3", "l-reply=4"]);
  expect(next.at(-1)).toMatchObject({ text: "item 4", live: false });
});

test("what was said elsewhere comes before what this tab is still sending", () => {
  const messages = [item(1), item(2), said("mine"), reply("l-reply")];
  const next = [item(3), item(4), item(5, "mine"), item(6)].reduce(withItem, messages);
  expect(keys(next)).toEqual(["h1=1", "h2=2", "h3=3", "h4=4", "l-mine=5", "l-reply=6"]);
});

test("a run that ended without a word stays behind its message", () => {
  const problem = { text: "Stopped", retry: null };
  const messages = [item(1), reply("l-stopped", { live: false, problem })];
  const next = [item(3), item(4)].reduce(withItem, messages);
  expect(keys(next)).toEqual(["h1=1", "l-stopped=?", "h3=3", "h4=4"]);
});

test.each([
  ["attach", null],
  ["resend", null],
  ["again", "again"],
] as const)("a problem that says %s is, when its item is there, %s", (retry, left) => {
  const problem = { text: "Something", retry };
  const messages = [item(1), said("mine", { problem })];
  expect(withItem(messages, item(3, "mine")).at(-1)?.problem?.retry ?? null).toBe(left);
});

test("a history that has what is being sent, and its reply: both get the place of their items, and stay the same", () => {
  const history = [item(1), item(2), item(3, "mine"), item(4), item(5), item(6)];
  const later = [said("mine"), reply("l-reply", { text: "it" }), item(7), item(8)];
  const messages = withLater(history, later);
  const inPlace = ["h1=1", "h2=2", "l-mine=3", "l-reply=4", "h5=5", "h6=6"];
  expect(keys(messages)).toEqual([...inPlace, "h7=7", "h8=8"]);
  expect(messages[3]).toMatchObject({ text: "item 4", live: false });
});

test("a history that has no reply yet to what is being sent: it stays behind its message, and what was not sent below all", () => {
  const history = [item(1, "mine"), said("unsent")];
  expect(keys(withLater(history, [said("mine"), reply("l-reply"), item(3)]))).toEqual([
    "l-mine=1",
    "l-reply=?",
    "h3=3",
    "l-unsent=?",
  ]);
});

test("the last id is that of the history, whatever is below it", () => {
  expect(lastIdOf([])).toBe("");
  expect(lastIdOf([item(9), item(10), said("mine")])).toBe("10");
  expect([isBefore("9", "10"), isBefore("10", "9"), isBefore("", "1")]).toEqual([true, false, true]);
});

test("however often the history is told, from whatever place on: each item once, in the order of the history", () => {
  const told = fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 40 });
  const own = fc.uniqueArray(fc.constantFrom<number>(1, 3, 5, 7, 9, 11), { maxLength: 3 });
  fc.assert(
    fc.property(told, own, (ids, ownIds) => {
      const start = ownIds.toSorted((a, b) => a - b).map((id) => said(`own ${id}`));
      const next = ids
        .map((id) => item(id, ownIds.includes(id) ? `own ${id}` : null))
        // A feed tells in order; a second one may begin again at any place.
        .toSorted((a, b) => Number(a.id) - Number(b.id))
        .flatMap((one) => [one, one])
        .reduce(withItem, start);
      const known = next.flatMap(({ id }) => (id === null ? [] : [Number(id)]));
      expect(known).toEqual([...new Set(ids)].toSorted((a, b) => a - b));
      expect(new Set(next.map(({ key }) => key)).size).toBe(next.length);
      expect(next).toHaveLength(new Set([...ids, ...ownIds]).size);
    }),
  );
});
