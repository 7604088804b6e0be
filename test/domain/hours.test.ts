// For src/domain/channels/hours.ts
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { hoursFault, isOpenAt, opensAt, WEEKDAYS } from "../../src/domain/channels/hours.ts";
import type { Hours } from "../../src/domain/channels/hours.ts";
import { randomRuns } from "../support/lengths.ts";

const BERLIN: Hours = {
  timeZone: "Europe/Berlin",
  week: { mon: ["09:00-12:00", "13:00-17:30"], fri: ["09:00-17:00"], sun: ["02:30-03:30"] },
  holidays: ["2026-12-25"],
};
const at = (text: string) => Date.parse(text);
const text = (atMs: number | null) => (atMs === null ? null : new Date(atMs).toISOString());

test.each([
  ["2026-11-30T08:00:00Z", true],
  ["2026-11-30T07:59:59Z", false],
  ["2026-11-30T11:00:00Z", false],
  ["2026-11-30T12:00:00Z", true],
  // Summer time.
  ["2026-07-06T07:00:00Z", true],
  ["2026-12-25T10:00:00Z", false],
])("at %s somebody is there: %s", (moment, is) => {
  expect(isOpenAt(BERLIN, at(moment))).toBe(is);
});

test.each([
  ["while it is open: now", "2026-11-30T08:30:00Z", "2026-11-30T08:30:00.000Z"],
  ["later on the day", "2026-11-30T11:10:00Z", "2026-11-30T12:00:00.000Z"],
  ["on another day, past a holiday", "2026-12-24T18:00:00Z", "2026-12-27T01:30:00.000Z"],
  [
    "in the night of the change to summer time, at a time that is left out",
    "2026-03-28T12:00:00Z",
    "2026-03-29T01:00:00.000Z",
  ],
  [
    "in the night of the change back, at a time that comes twice: the first",
    "2026-10-24T12:00:00Z",
    "2026-10-25T00:30:00.000Z",
  ],
])("the next opening is %s", (_, moment, opens) => {
  expect(text(opensAt(BERLIN, at(moment)))).toBe(opens);
});

test.each([
  ["into the middle of a range", "02:30-09:00", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00.000Z"],
  ["past a whole range", "02:10-02:40", "2026-03-28T12:00:00Z", "2026-04-05T00:10:00.000Z"],
  ["back into a range", "01:30-02:30", "2026-10-25T00:35:00Z", "2026-10-25T01:00:00.000Z"],
  ["back before a range", "02:30-02:45", "2026-10-25T00:50:00Z", "2026-10-25T01:30:00.000Z"],
])("where the clock is put %s", (_, range, moment, opens) => {
  const hours = { timeZone: "Europe/Berlin", week: { sun: [range] } };
  expect(text(opensAt(hours, at(moment)))).toBe(opens);
});

test("an owner who opens on no day opens never", () => {
  expect(opensAt({ timeZone: "UTC", week: {} }, at("2026-11-30T08:00:00Z"))).toBeNull();
});

test.each([
  [{ timeZone: "Mars/Olympus" }, "timeZone: Mars/Olympus is no time zone"],
  [{ week: { mon: ["9:00-17:00"] } }, "week.mon: 9:00-17:00 is no range"],
  [{ week: { mon: ["17:00-09:00"] } }, "week.mon: the ranges overlap"],
  [{ week: { mon: ["09:00-12:00", "11:00-13:00"] } }, "week.mon: the ranges overlap"],
  [{ holidays: ["2026-02-30"] }, "holidays: 2026-02-30 is no day"],
])("what is wrong with %j is said", (change, says) => {
  expect(hoursFault({ ...BERLIN, ...change })).toContain(says);
});

describe("for all hours and moments", () => {
  const minute = fc.nat(24 * 60 - 2);
  const clock = (minutes: number) =>
    `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
  const range = fc.tuple(minute, fc.integer({ min: 1, max: 24 * 60 })).map(([from, length]) => {
    return `${clock(from)}-${clock(Math.min(from + length, 24 * 60))}`;
  });
  const hours = fc.record({
    timeZone: fc.constantFrom("UTC", "Europe/Berlin", "America/St_Johns", "Pacific/Apia", "Asia/Kathmandu"),
    week: fc.dictionary(fc.constantFrom(...WEEKDAYS), fc.tuple(range)),
    holidays: fc.array(fc.constantFrom("2026-11-29", "2026-11-30"), { maxLength: 2 }),
  });
  const near = (change: string) =>
    fc.integer({ min: -2 * 86_400_000, max: 86_400_000 }).map((by) => at(change) + by);
  const moment = fc.oneof(
    fc.integer({ min: at("2026-01-01T00:00:00Z"), max: at("2027-12-31T00:00:00Z") }),
    near("2026-03-29T01:00:00Z"),
    near("2026-10-25T01:00:00Z"),
  );

  it("they are accepted, and the next opening is open, not before now, with nothing open between", () => {
    fc.assert(
      fc.property(hours, moment, fc.double({ min: 0, max: 1, noNaN: true }), (given, nowMs, share) => {
        expect(hoursFault(given)).toBeNull();
        const opens = opensAt(given, nowMs);
        if (opens === null) {
          expect(isOpenAt(given, nowMs)).toBe(false);
          return;
        }
        expect(opens).toBeGreaterThanOrEqual(nowMs);
        expect(isOpenAt(given, opens)).toBe(true);
        const between = Math.floor(nowMs + share * (opens - nowMs));
        if (between < opens) expect(isOpenAt(given, between)).toBe(false);
      }),
      { numRuns: randomRuns(300) },
    );
  });
});
